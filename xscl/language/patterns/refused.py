"""What was meant where a pattern's text was refused (docs/semantics.md#refused-patterns).

It is looked at only then, so that every name can still be a name.
"""

from __future__ import annotations

import re

from xscl.language.problems import Problem

__all__ = ["JOINED", "OF_EVENTS", "meant_by_pattern"]

_NOT = re.compile(r"(?ai:\bNOT)[ \t\r\n]*\Z")
_SEQ = re.compile(r"(?ai:\bSEQ)[ \t\r\n]*\Z")
_CALL = re.compile(r"([\w.-]+)[ \t\r\n]*\Z")
_ASKS = re.compile(r"(?ai:\bWHERE\b)")
_OPTIONS = ("WHERE", "WITHIN", "OUTPUT", "CONSISTENCY", "PUBLISH")
_OPTION = re.compile(rf"(?ai:{'|'.join(_OPTIONS)})\b")
_OPERATOR = re.compile(r"(?ai:NEXT|FOLD|UNION|GROUP)\b")
OF_EVENTS = "put the pattern in parentheses, as in `(EVENT A a) NEXT B`"
JOINED = (
    "what a pattern finds is joined as a query in parentheses with a path behind it, as in "
    "`(EVENT …)/result->r JOIN {…} …`"
)
_SIGNS = {
    "&": "write `AND`",
    "|": "write `OR`",
    "like": "a block has filters, as in `S/item[contains(title, 'x')] a`",
    "in": "write each value, as in `a.x = 1 OR a.x = 2`",
    "between": "write both bounds, as in `a.x >= 1 AND a.x <= 2`",
    "is": "a comparison that reads what an event lacks is false",
    "*": "write `+` for one event or more",
    "?": "write two queries, with it and without",
    "join": JOINED,
    "followed": JOINED,
    ",": "several components are written in parentheses, as in `SEQ(A a, B b)`",
}
_IN_STRUCTURES = ("*", "?", "|", ",", "JOIN", "FOLLOWED", "join", "followed")
_SIGN = re.compile(r"(?ai:\b(?:LIKE|IN|BETWEEN|IS|JOIN|FOLLOWED)\b)|[&|*?,]")
_UNIT = re.compile(rf"(?<=[0-9 \t\r\n]){_OPTION.pattern}(?=[ \t\r\n]*\Z)")
_NUMBER_BEFORE = re.compile(r"[0-9.][ \t\r\n]*\Z")


def meant_by_pattern(pattern: str, at: int) -> Problem | None:
    """What was meant at the offset where a pattern was refused, None if nothing is known."""
    before = pattern[:at]
    asks = _ASKS.search(before) is not None
    if asks and (word := _NOT.search(before)) is not None:
        problem = "`NOT` is not part of patterns; turn the comparison around: `!=`, `<=` for `>`"
        return Problem(word.start(), problem)
    if not asks and (word := _SEQ.search(before)) is not None:
        problem = "no SEQ is allowed in another; write all components in one, or publish the inner"
        return Problem(word.start(), problem)
    if not asks and pattern.startswith("+", at) and before.rstrip().endswith(")"):
        return Problem(at, "`+` repeats one component, not a sequence; publish the sequence first")
    if asks and pattern.startswith("(", at) and (word := _CALL.search(before)) is not None:
        known = "avg, sum, min, max, count, canonical and similar"
        problem = f"`{word[1]}()` is no function of patterns, only {known}"
        return Problem(word.start(), problem)
    if asks and pattern.startswith(".", at) and (word := _CALL.search(before)) is not None:
        spaced = word[1].replace("-", " - ", 1)
        if "-" in word[1]:
            problem = f"`{word[1]}` is one name: a subtraction wants white space, `{spaced}`"
            return Problem(word.start(1), problem)
    if (operator := _OPERATOR.match(pattern, at)) is not None:
        return Problem(at, f"found `{operator[0]}`; {OF_EVENTS}")
    if (sign := _SIGN.match(pattern, at)) is not None and (asks or sign[0] in _IN_STRUCTURES):
        advice = "write `ANY(A, B)`" if sign[0] == "|" and not asks else _SIGNS[sign[0].lower()]
        return Problem(at, f"found `{sign[0]}`; {advice}")
    # What would be an option is read as the unit of a window.
    option = _OPTION.match(pattern, at) or _UNIT.search(before)
    if option is not None and (
        option.start() == at or _NUMBER_BEFORE.search(pattern, 0, option.start())
    ):
        order = ", ".join(_OPTIONS)
        problem = f"`{option[0]}` is not allowed here; a pattern's parts come in the order {order}"
        return Problem(option.start(), problem)
    return None
