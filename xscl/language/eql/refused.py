"""What was meant where an EQL query was refused (docs/semantics.md#refused-eql-queries).

It is looked at only then, so that every name can still be a name.
"""

from __future__ import annotations

import re

from xscl.language.checks.names import VARIABLE
from xscl.language.checks.other_languages import misspelt_beginning
from xscl.language.eql.check import unbound
from xscl.language.eql.walk import events_of, name_of
from xscl.language.problems import Problem
from xscl.language.syntax import Block, Composition, Query, Source

__all__ = ["continued", "meant_by_eql"]

_CONTINUED = "; the `;` before ended a statement: write `FROM ( … ; … )` where both are one pattern"
_ORDER = "SELECT, FROM, WHERE, CONSISTENCY, PUBLISH"
_RESERVED = re.compile(
    r"(?ai:(?:WHERE|CONSISTENCY|PUBLISH|AS|JOIN|FOLLOWED|NEXT|FOLD|UNION|GROUP)\b)"
)
_LIST = re.compile(r"(?ai:SELECT)\b(?!.*\b(?ai:FROM)\b)", re.DOTALL)
_FILTER = re.compile(r"\b(?ai:FILTER)[ \t\r\n]*\Z")
_QUANTIFIED = re.compile(r"\b(?ai:(PREV|ALL))[ \t\r\n]*\([^()]*\Z")
_QUANTIFIER = re.compile(r"(?ai:PREV|ALL)[ \t\r\n]*\(")
_CALL = re.compile(r"(?<![\w.-])([\w-]+)[ \t\r\n]*\Z")
_DASHED = re.compile(r"\.([\w-]+)[ \t\r\n]*\Z")
_AND = re.compile(r"(?ai:AND|OR)\b")
_ASKS = re.compile(r"\b(?ai:WHERE)\b")
_OCCURS = re.compile(
    rf"(?:{VARIABLE}[ \t\r\n]*)?,[ \t\r\n]*{VARIABLE}[ \t\r\n]+(?ai:OCCURS)\b|(?ai:OCCURS|WITHIN)\b"
)
_BINDING = re.compile(r"->[ \t\r\n]*\$?[\w-]+'*[ \t\r\n]*\Z")
_NUMBER = re.compile(r"\b(?ai:WITHIN)[ \t\r\n]*\Z")
_QUERY = "put the pattern in parentheses, as a query with a path: `(SELECT … FROM (A; B))/result R`"
_SIGNS = {
    "&": "write `AND`",
    "|": "write `OR`",
    "!": "write `NOT` before a predicate, `<>` between values",
    "@": "an XML attribute is read as `A.@x`, the time of an event as `A.timestamp`",
    "like": "write `A.x CONTAINS 'text'`",
    "in": "write each value, as in `A.x = 1 OR A.x = 2`",
    "between": "write both bounds, as in `A.x >= 1 AND A.x <= 2`",
    "is": "a comparison that reads what an event lacks is false",
    "having": f"a query's parts come in the order {_ORDER}",
    "select": f"a query's parts come in the order {_ORDER}",
    "order": "matches are written as they are found, so that nothing sorts or ends them",
    "limit": "matches are written as they are found, so that nothing sorts or ends them",
    "group": f"nothing is grouped here; {_QUERY}",
    "join": _QUERY,
    "followed": _QUERY,
    "next": "write `;` in a parenthesis, as in `(A; B)`",
    "fold": "write `+`, as in `(A; B+)`",
    "union": "write `|`",
}
_SIGN = re.compile(rf"(?ai:\b(?:{'|'.join(one for one in _SIGNS if one.isalpha())})\b)|[&|!@]")
_IN_PATTERNS = {
    "&": "write `;` for what comes next, `|` for either",
    ",": "write `;` between what comes one after the other, as in `(A; B)`",
    "*": "write `+` for one event or more",
    "?": "write two queries, with it and without",
    "!": "write `\\` before what must not occur, as in `(A; B \\ C)`",
    "@": "write `(A, B) OCCURS WITHIN 5 min` in WHERE",
    "then": "write `;` in a parenthesis, as in `(A; B)`",
    "and": "write `;` for what comes next",
    "or": "write `|`",
    "except": "write `\\`, as in `(A; B \\ C)`",
}
_IN_PATTERN = re.compile(r"(?ai:\b(?:then|or|and|except)\b)|[&,*?!@]")
_LAST = re.compile(r"(?ai:\b(?:then|or|and|except))\Z")


def meant_by_eql(query: str, at: int, accepted: set[str]) -> Problem | None:
    """What was meant at the offset where an EQL query was refused, None if nothing is known;
    `accepted` are the terminals that could have stood there."""
    before = query[:at].rstrip()
    if (misspelt := misspelt_beginning(query, at)) is not None:
        return misspelt
    if _LIST.match(before) is not None:
        return None
    asks = _ASKS.search(before) is not None
    if not asks and (problem := _of_pattern(query, at, before, accepted)) is not None:
        return problem
    if asks and (problem := _of_predicate(query, at, before, accepted)) is not None:
        return problem
    sign = _SIGN.match(query, at)
    if sign is not None and (asks or len(sign[0]) > 1):
        return Problem(at, f"found `{sign[0]}`; {_SIGNS[sign[0].lower()]}")
    if (word := _RESERVED.match(query, at)) is not None:
        parts = f"a query's parts come in the order {_ORDER}"
        return Problem(at, f"found `{word[0]}`, which is no variable; {parts}")
    return None


def continued(before: Query, query: Query | None, problems: list[Problem]) -> list[Problem]:
    """The problems of the statement behind an EQL query's `;`, which may have been meant as one
    with that: it does not parse, or names a variable of the query before."""
    places: set[int] = set()
    if query is None:
        places = {problem.at for problem in problems}
    elif isinstance(query.source, Composition):
        names = _names(before.source)
        places = {name.at for name in unbound(query) if name.text in names}
    return [Problem(at, text + _CONTINUED if at in places else text) for at, text in problems]


def _names(source: Source) -> set[str | None]:
    """The variables of an EQL query, or of a stream alone that is none without a `;`."""
    if isinstance(source, Composition):
        return {name_of(event) for event in events_of(source.pattern)}
    return {source.stream.text} if isinstance(source, Block) and not source.steps else set()


def _of_pattern(query: str, at: int, before: str, accepted: set[str]) -> Problem | None:
    place = len(before) - 1
    if query.startswith(")", at) and before.endswith("("):
        return Problem(place, "found `()`, expected a stream such as `t` in the parenthesis")
    if query.startswith(")", at) and before.endswith(";"):
        problem = "found `;` before `)`, expected what comes next; leave the last `;` out"
        return Problem(place, problem)
    if query.startswith("+", at) and before.endswith("+"):
        problem = "found `++`; one `+` is one event or more, and `(A+)+` repeats that"
        return Problem(at, problem)
    if query[at : at + 1] in ("-", ".") and before and query[:at] == before:
        return Problem(at, f"found `{query[at]}`; a variable has letters, digits and `_` alone")
    if "NOUN" in accepted and not accepted & {"PLUS", "_ELSE"}:
        return Problem(at, _unnamed(query, at, before))
    if before.endswith(")") and accepted <= {"SLASH", "DSLASH"}:
        problem = "a query in a pattern has a path and a variable, as in `(SELECT …)/result R`"
        return Problem(at, problem)
    for sign in (_IN_PATTERN.match(query, at), _LAST.search(before)):
        if sign is not None and before:
            return Problem(sign.start(), f"found `{sign[0]}`; {_IN_PATTERNS[sign[0].lower()]}")
    return None


def _unnamed(query: str, at: int, before: str) -> str:
    """What is said of a path without a variable; before WHERE it may be that of a join."""
    asks = _ASKS.match(query, at) is not None
    asked = " WHERE A.x = 1" if asks else ""
    problem = f"a path wants a variable behind it, as in `t//item A{asked}`"
    if _BINDING.search(before):
        problem += " (`->` binds what is an attribute of the event)"
    if asks:
        problem += "; without one, a filter is written in brackets after its step, as in "
        problem += "`S//item[title = 'x']`, and what joins two documents in braces"
    return problem


def _of_predicate(query: str, at: int, before: str, accepted: set[str]) -> Problem | None:
    opens = query.startswith("(", at)
    if opens and (word := _FILTER.search(before)) is not None:
        problem = "FILTER stands alone between commas, not under AND, OR or NOT; write a comma"
        return Problem(word.start(), problem)
    filtered = "_COMMA" in accepted and "_ALSO" not in accepted
    if filtered and (word := _AND.match(query, at)) is not None:
        problem = (
            f"found `{word[0]}` behind FILTER, which stands alone between commas; write a comma"
        )
        return Problem(at, problem)
    if (word := _QUANTIFIED.search(before)) is not None or (
        opens and (word := _QUANTIFIED.search(query[: at + 1])) is not None
    ):
        name = word[1].upper()
        problem = f"`{name}` is of one field, as in `{name}(A.x)`; compute with what it gives"
        return Problem(at, problem)
    if (
        query.startswith(".", at)
        and (name := _DASHED.search(before)) is not None
        and "-" in name[1]
    ):
        spaced = name[1].replace("-", " - ", 1)
        problem = f"`{name[1]}` is one name: a subtraction wants white space, `{spaced}`"
        return Problem(name.start(1), problem)
    if opens and (call := _CALL.search(before)) is not None:
        instead = "; write `A.x CONTAINS 'text'`" if call[1].lower() == "contains" else ""
        problem = f"`{call[1]}()` is no function of EQL, which has PREV, ALL and CONTAINS{instead}"
        return Problem(call.start(1), problem)
    if _NUMBER.search(before):
        return Problem(at, f"{_found(query, at)}, expected a duration such as `12 hours`")
    if _OCCURS.match(query, at) is not None:
        problem = "a time is asked of two variables in parentheses: `(A, B) OCCURS WITHIN 5 min`"
        return Problem(at, f"{_found(query, at)}; {problem}")
    return None


def _found(query: str, at: int) -> str:
    from xscl.language.problem_words import found

    return f"found {found(query, at, len(query))}"
