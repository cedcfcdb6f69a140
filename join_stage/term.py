"""Conjunctive queries as small Datalog terms: one definition, rendered for each engine
(docs/laws.md#one-conjunctive-query).

The thesis' CQ_T (section 6.4.4, figure 6.7) for a template is such a term.  A variable that occurs
in several atoms makes these columns equal; comparisons are the built-in predicates.  The last atom
is R_T: the rows of all queries of the template.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Atom", "Comparison", "ConjunctiveQuery"]


@dataclass(frozen=True, slots=True)
class Atom:
    """A relation, with variables for the columns that matter: ((column, variable), …)."""

    relation: str
    arguments: tuple[tuple[str, str], ...]

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables, in order, each once."""
        return tuple(dict.fromkeys(variable for _, variable in self.arguments))

    def __str__(self) -> str:
        return f"{self.relation}({', '.join(f'{c}: {v}' for c, v in self.arguments)})"


@dataclass(frozen=True, slots=True)
class Comparison:
    """A comparison of two string values: `=` and `!=` of their numbers (`left` and `right` are
    one variable each), `<` and the like of (value, double) pairs of variables; or of a likeness
    with a threshold, which are numbers."""

    operator: str
    left: tuple[str, ...]
    right: tuple[str, ...]

    @property
    def variables(self) -> frozenset[str]:
        """The variables compared."""
        return frozenset((*self.left, *self.right))

    def __str__(self) -> str:
        return f"{self.left[0]} {self.operator} {self.right[0]}"


@dataclass(frozen=True, slots=True)
class ConjunctiveQuery:
    """`name(head) :- body, rows, comparisons`; a head variable is in the body or in `rows`.

    `rows` is R_T, whose column and variable `r` numbers its rows.
    """

    name: str
    head: tuple[str, ...]
    body: tuple[Atom, ...]
    rows: Atom
    comparisons: tuple[Comparison, ...] = ()

    def __post_init__(self) -> None:
        bound = {v for atom in (*self.body, self.rows) for v in atom.variables}
        used = set(self.head).union(*(c.variables for c in self.comparisons))
        if missing := used - bound:
            raise ValueError(f"unbound variables: {sorted(missing)}")

    def __str__(self) -> str:
        parts = [str(part) for part in (*self.body, self.rows, *self.comparisons)]
        return f"{self.name}({', '.join(self.head)}) :-\n  " + ",\n  ".join(parts) + "."
