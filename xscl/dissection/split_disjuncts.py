"""The predicates of all operators, in value-join normal form, as disjuncts of the whole query.

OR splits the query into conjunctive ones (section 6.2); the disjuncts of several operators
multiply.  Equal ones are merged.
"""

from __future__ import annotations

from itertools import chain, product

from xscl.dissection.draft import DisjunctDraft, Draft
from xscl.language.normal_form import disjuncts
from xscl.language.walk import operators, selected_variables

__all__ = ["split_disjuncts"]


def split_disjuncts(draft: Draft) -> Draft:
    """Adds a draft for each conjunction of comparisons; at least one of them must hold."""
    query, patterns = draft.query, draft.patterns
    wholes = product(*(disjuncts(join.predicate) for join, _ in operators(query.source)))
    conjunctions = dict.fromkeys(
        tuple(dict.fromkeys(chain.from_iterable(whole))) for whole in wholes
    )
    selected = {name: patterns.variables[name] for name in selected_variables(query)}
    split = (DisjunctDraft(query, conjuncts, patterns, selected) for conjuncts in conjunctions)
    return draft._replace(disjuncts=tuple(split))
