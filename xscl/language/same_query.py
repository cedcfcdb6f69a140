"""Whether two queries say the same: their value-join normal forms are equal (section 6.2).

Comments, white space and quotes are not in the syntax tree; places are taken out of it, and a
predicate is the set of its disjuncts, each the set of its conjuncts.  Names of variables count: the
bindings of matches have them.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from weakref import WeakKeyDictionary

from xscl.language.automata.description import Arc
from xscl.language.normal_form import disjuncts
from xscl.language.parameters import Prepared
from xscl.language.problems import Unbound
from xscl.language.syntax import Join, Predicate, Query, Window

__all__ = ["bare", "normal_form", "normal_form_of"]

_ASIDE = frozenset({"at"})
_ASIDE_OF_QUERY = frozenset({"at", "text", "name", "named_at"})

_prepared: WeakKeyDictionary[Prepared, object] = WeakKeyDictionary()


def normal_form(query: Query) -> object:
    """The normal form of a query, whatever its name and place; its parameters are bound.

    >>> from xscl.language import parse
    >>> (one, other), _ = parse("S//a->x JOIN {x = y AND x > 1} S//b->y; "
    ...                         "S//a->x JOIN {x > 1.0 AND (x = y)} S//b->y -- the same")
    >>> normal_form(one) == normal_form(other)
    True
    """
    return bare(query)


def normal_form_of(prepared: Prepared) -> object:
    """The normal form of a query with parameters, which stand for themselves."""
    if prepared not in _prepared:
        _prepared[prepared] = bare(prepared.query)
    return _prepared[prepared]


def bare(node: object) -> object:
    """A node without its place, as a value that is equal for what says the same."""
    if isinstance(node, tuple):
        return tuple(map(bare, node))
    if not is_dataclass(node) or isinstance(node, type):
        # 1 is 1.0, but not true.
        return (type(node), node) if isinstance(node, bool) else node
    if isinstance(node, Window) and node.parameter is None:
        return "Window", node.length
    # An arc's `at` is a time.
    aside = _ASIDE_OF_QUERY if isinstance(node, Query) else () if isinstance(node, Arc) else _ASIDE
    parts: list[object] = []
    for member in fields(node):
        if member.name not in aside:
            value = getattr(node, member.name)
            joined = isinstance(node, Join) and member.name == "predicate"
            parts.append(_predicate(value) if joined else bare(value))
    return type(node).__name__, *parts


def _predicate(predicate: Predicate | None) -> object:
    try:
        return frozenset(frozenset(map(bare, some)) for some in disjuncts(predicate))
    except Unbound:
        # With parameters in it, it may have no normal form yet.
        return bare(predicate)
