"""What was meant by a word or sign that the language has not: a misspelt keyword, one of SQL,
XPath, XQuery or a programming language, a missing `;`.

It is looked at only where a text was refused, so that every name can still be a name.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from difflib import get_close_matches

from xscl.language.checks.likeness import NO_UNLIKENESS
from xscl.language.checks.names import NAME
from xscl.language.patterns.refused import JOINED
from xscl.language.problems import Problem

__all__ = ["meant", "misspelt_beginning"]

_KEYWORDS = {
    "SELECT": "SELECT",
    "DECLARE": "DECLARE",
    "NAMESPACE": "NAMESPACE",
    "FROM": "FROM",
    "PUBLISH": "PUBLISH",
    "FOLLOWED": "FOLLOWED BY",
    "FOLLOWEDBY": "FOLLOWED BY",
    "JOIN": "JOIN",
    "EVENT": "EVENT",
    "PATTERN": "PATTERN",
    "FILTER": "FILTER",
    "WINDOW": "WINDOW",
    "NEXT": "NEXT",
    "FOLD": "FOLD",
    "UNION": "UNION",
}
_WITH_BRACES = ("FILTER", "WINDOW", "NEXT", "FOLD")
_LIKENESS = 0.7

_FILTER = "a filter is written in brackets after its step, as in `S//item[title = 'x']`"
_JOIN = "write `FOLLOWED BY {x = y, 7 days}` or `JOIN {x = y, 7 days}`"
_WINDOW = "the time between documents is written in the braces, after a comma: `{x = y, 7 days}`"
_COMMENT = "a comment is `-- to the end of the line` or `(: in signs like these :)`"
_QUOTES = "write strings in straight quotes, 'so' or \"so\""
_TEXT = "write a function in a filter, as in `[contains(title, 'x')]` or `[matches(title, '^x')]`"
_NOT_HERE = "matches are written as they are found, so that nothing sorts, groups or ends them"
_NEGATION = "write `!=`, or in a filter `not(…)`"
_FIRST = "a query begins with a stream, as in `S//item`, or with `SELECT … FROM`"
_BRACES = "write in braces what joins the two, as in `FOLLOWED BY {x = y, 7 days}`"

_WORDS = {
    "where": f"{_FILTER}, and what joins two documents in braces, as in `JOIN {{x = y}}`",
    "on": _JOIN,
    "using": _JOIN,
    "inner": _JOIN,
    "outer": _JOIN,
    "left": _JOIN,
    "right": _JOIN,
    "full": _JOIN,
    "cross": _JOIN,
    "natural": _JOIN,
    "precedes": _JOIN,
    "then": _JOIN,
    "within": _WINDOW,
    "window": _WINDOW,
    "during": _WINDOW,
    "between": _WINDOW,
    "like": _TEXT,
    "ilike": _TEXT,
    "rlike": _TEXT,
    "regexp": _TEXT,
    "contains": _TEXT,
    "matches": _TEXT,
    "group": _NOT_HERE,
    "order": _NOT_HERE,
    "having": _NOT_HERE,
    "limit": _NOT_HERE,
    "union": "write two queries, with `;` between them",
    "intersect": "write `AND` in the braces",
    "not": _NEGATION,
    "is": "write `[exists(./x)]` or `[empty(./x)]` in a filter",
    "in": "write each value, as in `[. = 'a' or . = 'b']`",
    "for": _FIRST,
    "from": _FIRST,
    "let": _FIRST,
    "with": _FIRST,
    "return": _FIRST,
    "eq": "write `=`",
    "ne": "write `!=`",
    "lt": "write `<`",
    "le": "write `<=`",
    "gt": "write `>`",
    "ge": "write `>=`",
}
_OPENING = ("for", "from", "let", "not", "with")
"""Words that are refused only at what follows them."""

_SIGNS = {
    "==": "write `=`",
    "<>": "write `!=`",
    "=>": "write `>=`",
    "=<": "write `<=`",
    "&&": "write `AND` in braces, `and` in brackets",
    "||": "write `OR` in braces, `or` in brackets",
    "&": "write `AND` in braces, `and` in brackets",
    "|": "write `OR` in braces, `or` in brackets; for two kinds of elements two queries",
    "<!--": _COMMENT,
    "/*": _COMMENT,
    "*/": _COMMENT,
    "#": _COMMENT,
    "%": _COMMENT,
    "!": _NEGATION,
    "“": _QUOTES,
    "”": _QUOTES,
    "„": _QUOTES,
    "‘": _QUOTES,
    "’": _QUOTES,
    "`": _QUOTES,
}
_SIGN = re.compile("|".join(map(re.escape, sorted(_SIGNS, key=len, reverse=True))))
_WORD = re.compile(NAME)
_LAST_WORD = re.compile(rf"{NAME}\Z")
_LONGEST_WORD = 100
_LONGEST_LIST = 1_000
_BEGINNING = re.compile(rf"(?ai:SELECT|DECLARE)\b|{NAME}[ \t]*(?:/|\Z)|\(")
_STREAM = re.compile(r"[ \t\r\n]*(?:/|(?ai:JOIN|FOLLOWED)\b)")
"""What follows a stream, and neither SELECT nor DECLARE."""
_PATTERN = re.compile(r"\b(?ai:EVENT|PATTERN)[ \t\r\n]+\Z")
_OPERATOR = re.compile(r"(?ai:\bBY|\bJOIN)\Z")
_NOT = re.compile(r"(?:[{(]|\b(?ai:AND|OR))[ \t\r\n]*(?ai:NOT)\Z")
_LIKENESS_CALL = re.compile(r"similar[ \t\r\n]*\(")
_LIST = re.compile(r"(?ai:SELECT)\b(?!.*\b(?ai:FROM)\b)[^{}<>]*\Z", re.DOTALL)
_COMPUTES = re.compile(r"[-+*/('\"0-9]")
_COMPUTED = "event queries compute, as in `SELECT 2*x AS y FROM FILTER{}(S/item)`"


def meant(statement: str, at: int, accepted: Collection[str]) -> Problem | None:
    """What was meant at the offset where a statement was refused, None if nothing is known;
    `accepted` are the terminals that could have stood there."""
    if (misspelt := misspelt_beginning(statement, at)) is not None:
        return misspelt
    if (pattern := _PATTERN.search(statement, 0, at)) is not None:
        return Problem(pattern.start(), JOINED)
    if statement.startswith("/") and at == 0 and not statement.startswith("/*"):
        comment = f"; {_COMMENT}" if statement.startswith("//") else ""
        return Problem(0, f"a path follows a stream, as in `S//item`{comment}")
    if _COMPUTES.match(statement, at) and _LIST.match(statement[: min(at, _LONGEST_LIST)]):
        return Problem(at, f"found `{statement[at]}`; {_COMPUTED}")
    for begin in range(at, max(at - 3, -1), -1):
        sign = _SIGN.match(statement, begin)
        if sign is not None and sign.end() > at:
            return _refused(begin, sign[0], _SIGNS[sign[0]])
    before = statement[:at].rstrip()
    if before.endswith("/*"):
        return _refused(len(before) - 2, "/*", _COMMENT)
    begins = "\n" in statement[len(before) : at]
    if begins and "$END" in accepted and _BEGINNING.match(statement, at):
        missing = "a new query seems to begin here, but the one before has not ended: write `;`"
        return Problem(at, missing)
    # Not from each letter of a long text: what is looked for is short.
    last = _LAST_WORD.search(before, max(0, len(before) - _LONGEST_WORD))
    if last is not None and _NOT.search(before, max(0, last.start() - _LONGEST_WORD)):
        unlike = _LIKENESS_CALL.match(statement, at) is not None
        return _refused(last.start(), last[0], NO_UNLIKENESS if unlike else _NEGATION)
    if last is not None and last[0].lower() in _OPENING and (last[0] == "not" or not last.start()):
        return _refused(last.start(), last[0], _WORDS[last[0].lower()])
    found = _WORD.match(statement, at)
    if found is None:
        braces = statement.startswith("{", at) and last is not None
        keyword = _keyword(last[0], _WITH_BRACES) if braces and last is not None else None
        if keyword is None or last is None:
            return None
        return Problem(last.start(), f"`{last[0]}` is no keyword; did you mean `{keyword}`?")
    word = found[0]
    if "LBRACE" in accepted and _OPERATOR.search(before):
        return Problem(at, f"found `{word[:_LONGEST_WORD]}`, expected `{{`; {_BRACES}")
    if word.upper() == "SELECT":
        return Problem(at, "`SELECT` comes first, as in `SELECT x FROM S//item->x`")
    if advice := _WORDS.get(word.lower()):
        return _refused(at, word, advice)
    for one in (found, last):
        if one is not None and (keyword := _keyword(one[0], _KEYWORDS)):
            return Problem(one.start(), f"`{one[0]}` is no keyword; did you mean `{keyword}`?")
    return None


def misspelt_beginning(statement: str, at: int) -> Problem | None:
    """The problem of a first word that is all but a keyword that begins a statement, which was
    refused at an offset."""
    first = _WORD.match(statement)
    if first is None:
        return None
    keyword = None
    if not _STREAM.match(statement, first.end()):
        keyword = _keyword(first[0], ("SELECT", "DECLARE"))
    # EQL takes SEQ for a variable.
    if keyword is None and statement[first.end() : at].strip().upper() in ("", "SEQ"):
        keyword = _keyword(first[0], ("EVENT", "PATTERN"))
    if keyword is None:
        return None
    return Problem(0, f"`{first[0]}` is read as a stream; did you mean `{keyword}`?")


def _refused(at: int, found: str, advice: str) -> Problem:
    return Problem(at, f"`{found}` is not part of the language; {advice}")


def _keyword(word: str, among: Iterable[str]) -> str | None:
    """The keyword that a word is all but; None where it is one, or like none."""
    if len(word) > _LONGEST_WORD or word.upper() in among:
        return None
    some = get_close_matches(word.upper(), [*among], n=1, cutoff=_LIKENESS)
    return _KEYWORDS[some[0]] if some else None
