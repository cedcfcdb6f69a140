"""The functions of event queries: which there are, and how many arguments each takes
(docs/event-queries.md#names)."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from xscl.counts import counted
from xscl.language.problems import enumerated
from xscl.language.syntax import Call
from xscl.language.values.calls import bad_measure
from xscl.pattern_stage.algebra.nodes.aggregate import is_aggregate

__all__ = ["NUMERIC", "OWN", "TESTS", "bad_call", "may_aggregate", "nearest"]

_MANY = 1_000

TESTS = {"contains": (2, 2), "starts-with": (2, 2), "ends-with": (2, 2), "matches": (2, 2)}
_FUNCTIONS = {
    "canonical": (1, 1),
    "similar": (2, 3),
    "string-length": (1, 1),
    "lower-case": (1, 1),
    "upper-case": (1, 1),
    "normalize-space": (1, 1),
    "concat": (2, _MANY),
    "string": (1, 1),
    "number": (1, 1),
    "abs": (1, 1),
    "min": (2, _MANY),
    "max": (2, _MANY),
    "document": (0, 0),
    "timestamp": (0, 0),
}
_AGGREGATES = {
    "count": (1, 1),
    "sum": (1, 1),
    "avg": (1, 1),
    "min": (1, 1),
    "max": (1, 1),
    "argmax": (2, 2),
    "argmin": (2, 2),
}
_ELSEWHERE = {"mean": "avg", "total": "sum", "len": "string-length", "trim": "normalize-space"}
"""The names that other languages have for some."""
OWN = frozenset(["document", "timestamp"])
"""The functions without arguments: the id and the time of the document that an event is."""
NUMERIC = frozenset(["number", "string-length", "abs", "min", "max", "similar", "timestamp"])
"""The functions that are arithmetic."""


def may_aggregate(function: str, arguments: int) -> bool:
    """Whether a function is an aggregate, or none that there is, so that one may be meant."""
    known = function in _FUNCTIONS or function in TESTS
    return is_aggregate(function, arguments) or not known


def bad_call(call: Call, *, test: bool, aggregate: bool, selected: bool = False) -> str | None:
    """What is wrong with a call where a test may stand, or a value: in it an aggregate, or not.
    What is `selected` may have been meant for an aggregate."""
    name, given = call.function, len(call.arguments)
    if test and name not in TESTS:
        if name in _FUNCTIONS or name in _AGGREGATES:
            return f"`{name}()` is a value; compare it, as in `{name}(…) = 1`"
        return _unknown(name, TESTS, "tests are")
    if not test and name in TESTS:
        return f"`{name}()` is a test: it is a condition by itself"
    if not test and name not in _FUNCTIONS and name not in _AGGREGATES:
        return _unknown(name, _FUNCTIONS, "functions are", _AGGREGATES if selected else ())
    if is_aggregate(name, given) and not aggregate:
        problem = f"`{name.upper()}` is an aggregate: it is allowed in SELECT, but not in another"
        return problem + f"; of two it is none: `{name}(x, y)`" * (name in _FUNCTIONS)
    arities = TESTS if test else _AGGREGATES if is_aggregate(name, given) else _FUNCTIONS
    least, most = arities[name]
    if least <= given <= most:
        return bad_measure(call) if name == "similar" else None
    takes = f"{least} or more arguments" if most == _MANY else counted(least, "argument")
    if least < most < _MANY:
        takes = f"{least} or {counted(most, 'argument')}"
    shown = name.upper() if name in _AGGREGATES else name
    return f"`{shown}()` takes {takes}, found {given}"


def _unknown(name: str, known: Iterable[str], are: str, aggregates: Iterable[str] = ()) -> str:
    summing = [one.upper() for one in aggregates]
    near = nearest(_ELSEWHERE.get(name, name), [*summing, *known])
    instead = "" if near is None else f" (did you mean `{near}`?)"
    listed = [enumerated((f"`{one}`" for one in known), "and")]
    listed += [f"aggregates {enumerated((f'`{one}`' for one in summing), 'and')}"] * bool(summing)
    return f"there is no function `{name}` here{instead}; {are} {', '.join(listed)}"


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The name that one was meant to be, perhaps."""
    by_folded = {one.casefold(): one for one in known}
    near = get_close_matches(name.casefold(), by_folded, n=1, cutoff=0.6)
    return by_folded[near[0]] if near else None
