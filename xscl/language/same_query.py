"""Whether two queries say the same: their value-join normal forms are equal (section 6.2).

Comments, white space and quotes are not in the syntax tree; places are taken out of it, a predicate
is the set of its disjuncts, each the set of its conjuncts, and what AND or OR joins elsewhere is a
set, too.  Names of variables count: the bindings of matches have them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass
from weakref import WeakKeyDictionary

from xscl.language.automata.description import Arc
from xscl.language.normal_form import disjuncts
from xscl.language.parameters import Prepared
from xscl.language.problems import Unbound
from xscl.language.syntax import (
    Binary,
    Component,
    Composition,
    Conjunction,
    Disjunction,
    Either,
    Every,
    Join,
    JSONConstant,
    Predicate,
    Query,
    Window,
)

__all__ = ["bare", "normal_form", "normal_form_of"]

_ASIDE = frozenset({"at"})
_ASIDE_OF_QUERY = frozenset({"at", "text", "name", "named_at"})

_JOINING = frozenset({"and", "or"})
_SETS = frozenset(
    {
        *((kind, "parts") for kind in (Conjunction, Disjunction, Every, Either)),
        (Composition, "qualifications"),
    }
)
"""Members whose order says nothing."""

_prepared: WeakKeyDictionary[Prepared, object] = WeakKeyDictionary()


def normal_form(query: Query) -> object:
    """The normal form of a query, whatever its name and place; its parameters are bound.

    >>> from xscl.language import parse
    >>> (one, other), _ = parse("S//a->x JOIN {x = y AND x > 1} S//b->y; "
    ...                         "S//a->x JOIN {x > 1.0 AND (x = y)} S//b->y -- the same")
    >>> normal_form(one) == normal_form(other)
    True
    """
    return _bare(query, unordered=True)


def normal_form_of(prepared: Prepared) -> object:
    """The normal form of a query with parameters, which stand for themselves."""
    if prepared not in _prepared:
        _prepared[prepared] = _bare(prepared.query, unordered=True)
    return _prepared[prepared]


def bare(node: object) -> object:
    """A node without its place, as a value that is equal for what says the same in this order:
    operators that are told apart by it show their conditions in theirs."""
    return _bare(node, unordered=False)


def _bare(node: object, *, unordered: bool) -> object:
    if isinstance(node, tuple):
        return tuple([_bare(one, unordered=unordered) for one in node])
    if not is_dataclass(node) or isinstance(node, type):
        # 1 is 1.0, but not true.
        return (type(node), node) if isinstance(node, bool) else node
    if isinstance(node, JSONConstant):
        return type(node.value), repr(node.value)
    if isinstance(node, Window) and node.parameter is None:
        return "Window", node.length
    # An arc's `at` is a time.
    aside = _ASIDE_OF_QUERY if isinstance(node, Query) else () if isinstance(node, Arc) else _ASIDE
    if unordered and isinstance(node, Binary) and node.operator in _JOINING:
        return node.operator, _set(_joined(node, node.operator))
    parts: list[object] = []
    for member in fields(node):
        if member.name not in aside:
            value = getattr(node, member.name)
            if isinstance(node, Join) and member.name == "predicate":
                parts.append(_predicate(value, unordered=unordered))
            elif unordered and (type(node), member.name) in _SETS:
                parts.append(_set(value))
            elif unordered and isinstance(node, Component) and member.name == "brackets":
                # `A+ a` is `A+ a[]`; elsewhere they are refused.
                continue
            else:
                parts.append(_bare(value, unordered=unordered))
    return type(node).__name__, *parts


def _set(parts: Iterable[object]) -> frozenset[object]:
    return frozenset(_bare(one, unordered=True) for one in parts)


def _joined(node: object, operator: str) -> Iterator[object]:
    """What a chain of one operator joins."""
    if isinstance(node, Binary) and node.operator == operator:
        yield from _joined(node.left, operator)
        yield from _joined(node.right, operator)
    else:
        yield node


def _predicate(predicate: Predicate | None, *, unordered: bool) -> object:
    try:
        some = disjuncts(predicate)
    except Unbound:
        # With parameters in it, it may have no normal form yet.
        return _bare(predicate, unordered=unordered)
    return frozenset(frozenset(_bare(each, unordered=unordered) for each in one) for one in some)
