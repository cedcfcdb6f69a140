"""What was meant where an event query's text was refused (docs/semantics.md#refused-event-queries).

It is looked at only then, so that every name can still be a name.
"""

from __future__ import annotations

import re

from xscl.language.checks.closest import closest
from xscl.language.checks.names import VARIABLE
from xscl.language.patterns.refused import OF_EVENTS
from xscl.language.problems import Problem

__all__ = ["EVENT_WORDS", "meant_by_events"]

EVENT_WORDS = ("FILTER", "WINDOW", "NEXT", "FOLD", "UNION", "GROUP")
"""The operators of event queries, and what begins GROUP BY."""

_FUNCTIONS = (
    *("contains", "starts-with", "ends-with", "matches", "string-length", "lower-case"),
    *("upper-case", "normalize-space", "canonical", "similar", "concat", "string", "number"),
    *("abs", "min", "max"),
    *("count", "sum", "avg", "argmax", "argmin"),
)
_KNOWN = {*_FUNCTIONS, *map(str.lower, EVENT_WORDS), "and", "or", "not", "from", "as", "by"}
_FILTER = "write a condition in FILTER, as in `FILTER{x > 1}(S)`"
_LENGTH = "write a time in a condition, as in `NEXT{DUR <= 5 min}` or `FILTER{DUR <= 5 min}(…)`"
_SIGNS = {
    "&": "write `AND`",
    "|": "write `OR`",
    "!": "write `NOT` before a condition, `!=` between values",
    "%": "`%` follows a number, as in `80%*$1.x`",
    "where": _FILTER,
    "having": _FILTER,
    "on": _FILTER,
    "within": _LENGTH,
    "like": "write `contains(x, 'a')` or `matches(x, '^a')`",
    "contains": "write `contains(x, 'a')`",
    "matches": "write `matches(x, '^a')`",
    "@": "an XML attribute is read by its name, as in `lang = 'en'`",
    ":": "bind a name with a prefix in the block, as in `S//item[./dc:creator->who]`",
    "in": "write each value, as in `x = 1 OR x = 2`",
    "between": "write both bounds, as in `x >= 1 AND x <= 2`",
    "is": "a comparison that reads what an event lacks is false",
    "order": "matches are written as they are found, so that nothing sorts or ends them",
    "limit": "matches are written as they are found, so that nothing sorts or ends them",
    "distinct": "equal events that start and end together are one; group to count each once",
    "then": "write `NEXT`",
    "followed": "write `NEXT`, or put the join in parentheses, as a query",
    "select": "a query within another is written in parentheses",
}
_SIGN = re.compile(rf"(?ai:\b(?:{'|'.join(word for word in _SIGNS if word.isalpha())})\b)|[&|!%@:]")
_WORD = re.compile(VARIABLE)
_LAST = re.compile(rf"({VARIABLE})[ \t\r\n]*\Z")
_PATTERN = re.compile(r"\b(?ai:EVENT|PATTERN)[ \t\r\n]+\Z")
_CALLED = re.compile(r"([\w-]+)[ \t\r\n]*\([^()]*\)[ \t\r\n]*\Z")
_DECORATED = re.compile(r"\$\w*\.?|\w*\Z")
_BRACES = {
    "FILTER": "`FILTER` has its condition in braces, then what it filters in parentheses: "
    "`FILTER{x > 1}(S)`",
    "WINDOW": "`WINDOW` has its length in braces, then its events in parentheses: "
    "`WINDOW{60 s}(S)`",
}
_BEFORE = re.compile(r"(?ai:\b(FILTER|WINDOW))[ \t\r\n]*(?:\{[^{}]*\}[ \t\r\n]*)?\Z")
_VARIABLE = re.compile(rf"({VARIABLE})[ \t\r\n]*(?:[);]|\Z|(?ai:NEXT|FOLD|UNION)\b)")
_BLOCK = re.compile(rf"(?:/|\}}|\b(?ai:FROM|NEXT|UNION)[ \t\r\n])[ \t\r\n]*{VARIABLE}[ \t\r\n]+\Z")
_LONGEST = 100


def meant_by_events(query: str, at: int) -> Problem | None:
    """What was meant at the offset where an event query was refused, None if nothing is known."""
    before = query[max(0, at - 10 * _LONGEST) : at]
    skipped = at - len(before)
    if (pattern := _PATTERN.search(before)) is not None:
        return Problem(skipped + pattern.start(), f"found `{pattern[0].strip()}`; {OF_EVENTS}")
    if (operator := _BEFORE.search(before)) is not None and query[at : at + 1] not in ("{", ""):
        return Problem(skipped + operator.start(), _BRACES[operator[1].upper()])
    if query.startswith("$", at):
        written = _DECORATED.match(query, at)
        assert written is not None
        problem = "the decorators are `$1.`, `$2.` and in FOLD `$.`, right before a name"
        return Problem(at, f"found `{written[0][:_LONGEST]}`; {problem}")
    last = _LAST.search(before[-_LONGEST:])
    if query.startswith(".", at) and last is not None:
        problem = "names end before `.`: write `$1.x` or `$2.x` for whose attribute it is, or bind "
        return Problem(at, f"found `.`; {problem}a longer path in the block, as in `S//a[./b->x]`")
    if (sign := _SIGN.match(query, at)) is not None:
        return Problem(at, f"found `{sign[0]}`; {_SIGNS[sign[0].lower()]}")
    if last is not None and last[1].lower() in ("select", "distinct"):
        place = at - len(last[0])
        return Problem(place, f"found `{last[1]}`; {_SIGNS[last[1].lower()]}")
    if query.startswith("/", at) and before.rstrip().endswith(")"):
        problem = (
            "a path behind a parenthesis is a query of its own: put both in parentheses, as in "
        )
        return Problem(at, f"found `/`; {problem}`((A NEXT B)/c->x) NEXT D`")
    variable = _VARIABLE.match(query, at)
    if variable is not None and _BLOCK.search(before):
        problem = "no variable follows a block here: `$1.x` and `$2.x` say whose `x` it is"
        return Problem(at, f"found `{variable[1][:_LONGEST]}`; {problem}")
    called = _CALLED.search(before)
    if called is not None and called[1].lower() not in _KNOWN:
        near = closest(called[1], _FUNCTIONS)
        instead = "" if near is None else f"; did you mean `{near}`?"
        problem = f"`{called[1][:_LONGEST]}` is no function of event queries{instead}"
        return Problem(skipped + called.start(), problem)
    for found in (_WORD.match(query, at), last):
        if found is not None and len(found[0]) <= _LONGEST:
            word = found[1] if found is last else found[0]
            near = closest(word, [one.lower() for one in EVENT_WORDS])
            if near is not None and word.upper() not in EVENT_WORDS:
                place = at if found is not last else at - len(before[-_LONGEST:]) + found.start()
                problem = f"`{word}` is no keyword; did you mean `{near.upper()}`?"
                return Problem(place, problem)
    return None
