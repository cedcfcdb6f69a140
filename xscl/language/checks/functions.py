"""The functions that a query may call: in filters, and around a side of a comparison.

Anything else is refused by name, so that no filter can run without bound
(docs/semantics.md#filters): the patterns of `matches()` are RE2's, which it matches in linear time.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from xscl.counts import counted
from xscl.language.problems import Problem, enumerated
from xscl.language.syntax import Function, Literal, Parameter, Path
from xscl.xpath_stage.texts.likeness import MEASURES

__all__ = [
    "FILTERING",
    "NO_MEASURE",
    "NO_PATTERN",
    "WRAPPING",
    "bad_pattern",
    "misused",
    "not_wrapping",
]

FILTERING = {
    "contains": (2, 2),
    "count": (1, 1),
    "empty": (1, 1),
    "ends-with": (2, 2),
    "exists": (1, 1),
    "last": (0, 0),
    "lower-case": (1, 1),
    "matches": (2, 2),
    "normalize-space": (0, 1),
    "not": (1, 1),
    "number": (0, 1),
    "similar": (2, 3),
    "starts-with": (2, 2),
    "string": (0, 1),
    "string-length": (0, 1),
    "substring-after": (2, 2),
    "substring-before": (2, 2),
    "upper-case": (1, 1),
}
"""The functions of filters, and how few and how many arguments each takes."""

WRAPPING = ("canonical", "lower-case", "normalize-space", "number")
"""The functions that may wrap a side of a comparison in a join's predicate."""

NO_PATTERN = "the pattern of `matches()` must be a string in quotes: it is compiled beforehand"

NO_MEASURE = "this is no measure of likeness; there are " + enumerated(
    (f"'{one}'" for one in MEASURES), "and"
)

_OF_PATHS = {
    "count": "counts the nodes of a path, nothing else",
    "empty": "asks for the nodes of a path, nothing else",
    "exists": "asks for the nodes of a path, nothing else",
}
_OTHER_NAMES = {
    "length": "string-length",
    "len": "string-length",
    "lower": "lower-case",
    "upper": "upper-case",
    "trim": "normalize-space",
}
_SYNTAX = "its syntax: https://github.com/google/re2/wiki/Syntax"
_LONGEST = 100


def not_wrapping(name: str) -> str:
    """The sentence about a function that may not wrap a side of a comparison."""
    if name == "similar":
        return "`similar()` is no value; say how alike is enough, as in `similar(x, y) >= 0.6`"
    if name.lower() == "not":
        return f"`{name}` is not part of the language of joins; write `!=`, or in a filter `not(…)`"
    allowed = enumerated((f"`{function}`" for function in WRAPPING), "and")
    return f"the function `{name}` is not allowed in a predicate; allowed are {allowed}"


def misused(call: Function) -> Iterator[Problem]:
    """The problems of a call in a filter, without those of its arguments."""
    if call.name not in FILTERING:
        allowed = enumerated((f"`{name}`" for name in FILTERING), "and")
        from xscl.language.checks.closest import closest

        near = _OTHER_NAMES.get(call.name) or closest(call.name, FILTERING)
        instead = "" if near is None else f" (did you mean `{near}`?)"
        if call.name == "position":
            instead = " (a number alone is a position, as in `[1]`)"
        if call.name == "canonical":
            instead = " (a predicate has it, as in `JOIN {canonical(x) = canonical(y)}`, WHERE)"
        yield Problem(
            call.at, f"the function `{call.name}` is not allowed{instead}; allowed are {allowed}"
        )
        return
    least, most = FILTERING[call.name]
    given = len(call.arguments)
    if not least <= given <= most:
        either = f"{least} or " if least != most else ""
        arguments = either + counted(most, "argument")
        yield Problem(call.at, f"`{call.name}()` takes {arguments}, found {given}")
        return
    if call.name in _OF_PATHS and not isinstance(call.arguments[0], Path):
        yield Problem(call.arguments[0].at, f"`{call.name}()` {_OF_PATHS[call.name]}")
    if call.name == "similar" and given == most:
        measure = call.arguments[2]
        if not isinstance(measure, Literal) or measure.value not in MEASURES:
            yield Problem(measure.at, NO_MEASURE)
    if call.name == "matches":
        pattern = call.arguments[1]
        if isinstance(pattern, Parameter):
            return  # Its pattern is checked when it is bound.
        text = pattern.value if isinstance(pattern, Literal) else None
        problem = bad_pattern(text) if isinstance(text, str) else NO_PATTERN
        if problem is not None:
            yield Problem(pattern.at, problem)


@lru_cache(maxsize=1024)
def bad_pattern(pattern: str) -> str | None:
    """RE2's objection to a pattern, if it has one."""
    import re2  # most queries have no `matches`

    quiet = re2.Options()
    quiet.log_errors = False
    try:
        re2.compile(pattern, quiet)
    except re2.error as refusal:
        reason = refusal.args[0]
        text = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
        if len(text) > _LONGEST:
            text = text[: _LONGEST - 1] + "…"
        return f"RE2 refuses this pattern: {text} ({_SYNTAX})"
    return None
