"""From the text of a JSON constructor to a `JSONObject`.

JSON as RFC 8259 has it, but that a variable, a path from one or a parameter may stand for any value
(docs/semantics.md#result-documents), and of a pattern's match what is computed over it.  The same
reader serves twice: scan.py has it find where the constructor ends, when the prefixes that its
paths use are not known yet; parse.py has it build the tree.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from math import isinf

from xscl.language.checks.names import END_OF_WORD, NAME, PRIMED, STRING
from xscl.language.problem_words import found
from xscl.language.problems import Problem, Unreadable, place
from xscl.language.syntax import (
    JSONArray,
    JSONConstant,
    JSONObject,
    JSONValue,
    Name,
    Parameter,
    Selected,
    VariablePath,
)
from xscl.xpath_stage import NO_XML

__all__ = ["DEEPEST", "construct_json", "read_extent"]

DEEPEST = 100
"""Objects and arrays in each other."""

ReadPath = Callable[[int, int, str], VariablePath | Selected]
"""Reads the path between two offsets, given what may stand after it."""

_BLANK = re.compile(r"[ \t\r\n]*+")
_QUOTED = re.compile(r'"(?:[^"\\\n]|\\[^\n])*+(?P<end>")?')
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+')
_WORD = re.compile(rf"(true|false|null){END_OF_WORD}")
_NUMBER = re.compile(
    r"-?(?:0|[1-9][0-9]*+)(?P<fraction>\.[0-9]++)?(?P<exponent>[eE][+-]?[0-9]++)?(?![\w.])"
)
_PARAMETER = re.compile(rf":({NAME})")
_VARIABLE = re.compile(rf"\$?{PRIMED}")
_FROM = re.compile(rf"(?ai:FROM){END_OF_WORD}")
_CALL = re.compile(rf"({NAME}(?::{NAME})?)[ \t\r\n]*+\(")
_IN_PATH = re.compile(
    rf"(?P<blank>[ \t\r\n]++)|(?P<word>\$?{PRIMED}|{STRING}|\*)|(?P<joint>->|[/@:.])"
    r"|(?P<number>[0-9]++(?:\.[0-9]*+)?)|(?P<sign>-(?!-)|[+%])"
    r"|(?P<unclosed>['\"])|(?P<open>[\[(])|(?P<close>[\])])|(?P<brace>[{}])|(?P<end>;)|.",
    re.DOTALL,
)
# The beginning of a value that is computed: an operand and an operator, a sign, a function.
_COMPUTED = re.compile(
    rf"(?:{_NUMBER.pattern}|:{NAME})[ \t\r\n]*+[-+*/%]|[-+(](?![0-9.])|{NAME}[ \t\r\n]*+\("
)
_CONSTANTS = {"true": True, "false": False, "null": None}
_NUMERIC = frozenset("+-.0123456789")
_MOST_DIGITS = 1_000


def read_extent(text: str, start: int) -> tuple[int, Problem | None]:
    """Where the constructor that starts at an offset ends, and why it does not (then where
    the reading stopped)."""

    def unread(start: int, end: int, followed_by: str) -> VariablePath:
        return VariablePath(Name("", start), (), start)

    reader = _Reader(text, start, unread, computing=True)
    try:
        reader.object(1)
    except Unreadable as unreadable:
        return reader.at, unreadable.problem
    return reader.at, None


def construct_json(
    text: str, start: int, path: ReadPath, *, computing: bool = False
) -> tuple[JSONObject, list[Problem]]:
    """The object that a constructor describes, and its problems; `computing` says whether its
    values may be computed.

    Raises `Unreadable` for text that is no constructor.
    """
    reader = _Reader(text, start, path, computing)
    return reader.object(1), reader.problems


class _Reader:
    """A place in the text that moves on."""

    def __init__(self, text: str, start: int, path: ReadPath, computing: bool) -> None:
        self.text = text
        self.at = start
        self.path = path
        self.computing = computing
        self.problems: list[Problem] = []

    def note(self, at: int, text: str) -> None:
        self.problems.append(Problem(at, text))

    def blank(self) -> None:
        self.at = _BLANK.match(self.text, self.at).end()  # type: ignore[union-attr]

    def next(self) -> str:
        """The character that is here, or nothing at the text's end."""
        return self.text[self.at : self.at + 1]

    def refusal(self, expected: str) -> Unreadable:
        what = found(self.text, self.at, len(self.text))
        return Unreadable(self.at, f"found {what}, expected {expected}")

    def still_open(self, start: int, *, or_from: bool = True) -> None:
        """Refuse the object or array from `start` where its query goes on or ends."""
        if self.next() in ("", ";") or (or_from and _FROM.match(self.text, self.at)):
            kind, closing = ("object", "}") if self.text[start] == "{" else ("array", "]")
            problem = f"the {kind} that begins here is not closed: `{closing}` is missing"
            raise Unreadable(start, problem)

    # Objects and arrays.

    def object(self, depth: int) -> JSONObject:
        start = self.open(depth)
        members: list[tuple[str, JSONValue]] = []
        keys: dict[str, int] = {}
        while self.goes_on(start, "}", first=not members):
            at = self.at
            self.still_open(start)
            if self.next() != '"':
                raise self.refusal('a key in double quotes such as `"title"`')
            key = self.string()
            if keys.setdefault(key, at) != at:
                first = place(self.text, keys[key])
                written = found(self.text, at, self.at)
                self.note(at, f"the key {written} is in this object already, at {first}")
            self.blank()
            if self.next() != ":":
                self.still_open(start)
                raise self.refusal("`:`")
            self.at += 1
            members.append((key, self.value(start, depth)))
        return JSONObject(tuple(members), start)

    def array(self, depth: int) -> JSONArray:
        start = self.open(depth)
        items: list[JSONValue] = []
        while self.goes_on(start, "]", first=not items):
            items.append(self.value(start, depth))
        return JSONArray(tuple(items), start)

    def open(self, depth: int) -> int:
        if depth > DEEPEST:
            problem = f"objects and arrays are nested more than {DEEPEST} deep"
            raise Unreadable(self.at, problem)
        self.at += 1
        return self.at - 1

    def goes_on(self, start: int, closing: str, *, first: bool) -> bool:
        """Whether a member or item follows; go to it, or behind the closing bracket."""
        self.blank()
        if self.next() == closing:
            self.at += 1
            return False
        if not first:
            if self.next() != ",":
                self.still_open(start)
                raise self.refusal(f"`,` or `{closing}`")
            self.at += 1
            self.blank()
        return True

    # Values.

    def value(self, start: int, depth: int) -> JSONValue:
        """The value that is next in the object or array from `start`."""
        self.blank()
        at = self.at
        match self.next():
            case "{":
                return self.object(depth + 1)
            case "[":
                return self.array(depth + 1)
            case '"':
                return JSONConstant(self.string(), at)
        following = "`,`, `}`" if self.text[start] == "{" else "`,`, `]`"
        if self.computing and _COMPUTED.match(self.text, at) is not None:
            self.at = self.path_end()
            return self.path(at, self.at, following)
        if (word := _WORD.match(self.text, at)) is not None:
            self.at = word.end()
            return JSONConstant(_CONSTANTS[word[0]], at)
        if (number := _NUMBER.match(self.text, at)) is not None:
            self.at = number.end()
            return JSONConstant(self.number(number), at)
        if (parameter := _PARAMETER.match(self.text, at)) is not None:
            self.at = parameter.end()
            return Parameter(parameter[1], at)
        if self.next() in _NUMERIC:
            raise self.refusal("a number as JSON writes it, such as `0.5` or `-1e3`")
        if (call := _CALL.match(self.text, at)) is not None:
            problem = f"`{call[1]}()` is not allowed in a JSON constructor; a path gives its values"
            raise Unreadable(at, problem)
        if _VARIABLE.match(self.text, at) is not None:
            self.at = self.path_end()
            return self.path(at, self.at, following)
        self.still_open(start, or_from=False)
        raise self.refusal(
            "a variable, a string in double quotes, a number, `true`, `false`, `null`, "
            "a parameter, `{` or `[`"
        )

    def string(self) -> str:
        at = self.at
        quoted = _QUOTED.match(self.text, at)
        assert quoted is not None
        self.at = quoted.end()
        if quoted["end"] is None:
            # The line may hold the query's end: those after it can still be read.
            semicolon = self.text.rfind(";", at, self.at)
            self.at = semicolon if semicolon >= 0 else self.at
            problem = 'the string that begins here is not closed: " is missing on its line'
            raise Unreadable(at, problem)
        stop = _STRING.match(self.text, at).end()  # type: ignore[union-attr]
        wrong = self.text[stop]
        if wrong == "\\":
            escapes = '`\\n`, `\\"`, `\\\\` or `\\u00e9`'
            escape = self.text[stop : stop + 2]
            self.note(stop, f"found `{escape}`, expected an escape such as {escapes}")
        elif wrong != '"':
            self.note(stop, f"found U+{ord(wrong):04X} in a string, expected `\\u{ord(wrong):04x}`")
        else:
            value = json.loads(quoted[0])
            assert isinstance(value, str)
            alien = NO_XML.search(value)
            if alien is None:
                return value
            self.note(at, f"found a string with U+{ord(alien[0]):04X}, which no document can hold")
        return ""

    def number(self, written: re.Match[str]) -> int | float:
        if written["fraction"] is None and written["exponent"] is None:
            if len(written[0]) <= _MOST_DIGITS:
                return int(written[0])
            self.note(written.start(), f"found a number of more than {_MOST_DIGITS:,} digits")
        elif isinf(value := float(written[0])):
            self.note(written.start(), "found a number beyond 1.8e308, the greatest double")
        else:
            return value
        return 0

    def path_end(self) -> int:
        """Where the path that is here ends: before what can only be the constructor's, or a
        word that nothing joins to it."""
        at = end = self.at
        opened: list[str] = []
        before: str | None = None
        while (part := _IN_PATH.match(self.text, at)) is not None:
            kind, at = part.lastgroup, part.end()
            if kind == "blank":
                continue
            if kind == "unclosed":
                self.at = part.start()
                problem = f"the string that begins here is not closed: {part[0]} is missing"
                raise Unreadable(self.at, problem)
            if self.computing and not opened:
                if kind in ("number", "sign") or part[0] == "*":
                    kind = "word" if kind == "number" else "joint"
                elif before not in ("joint", None) and _FROM.match(self.text, part.start()):
                    break
                elif kind == "word" and part[0].endswith("."):
                    kind = "joint"
            if opened:
                if kind == "brace" or (kind == "close" and part[0] != opened[-1]):
                    self.at = part.start()
                    raise self.refusal(f"`{opened[-1]}`")
                if kind == "end":
                    break
            elif kind not in ("open", "joint", "word") or (kind == before == "word"):
                break
            if kind == "open":
                opened.append("]" if part[0] == "[" else ")")
            elif kind == "close":
                opened.pop()
                kind = "word"
            before, end = kind, at
        return end
