"""Texts of event queries as data, by recursive descent."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple, TypeVar

from tests.oracle.event_algebra.syntax import (
    And,
    Binding,
    Block,
    Compare,
    Condition,
    Constructor,
    Declared,
    Dur,
    Expression,
    Filter,
    Fold,
    Function,
    Item,
    Length,
    Next,
    Not,
    Number,
    Operation,
    Or,
    Query,
    Ref,
    Scalar,
    Star,
    String,
    Test,
    Truth,
    Union,
    Window,
)

__all__ = ["UNITS", "read"]

_T = TypeVar("_T")
_TOKEN = re.compile(
    r"""(?P<space>\s+|(?<!\S)--(?!\ name:)[^\n]*)
    |(?P<named>--\ name:[^\n]*)
    |(?P<string>'(?:[^']|'')*'|"(?:[^"]|"")*")
    |(?P<number>\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+)
    |(?P<deco>\$[12]?\.)
    |(?P<word>[A-Za-z_][\w]*)
    |(?P<sign><=|>=|<>|!=|==|[-=<>≠≤≥+*/%(){},;])""",
    re.VERBOSE,
)
_SIGNS = {"==": "=", "<>": "!=", "≠": "!=", "≤": "<=", "≥": ">="}
_TESTS = ("contains", "starts-with", "ends-with", "matches")
_HYPHENED = re.compile(
    r"(?i)(?:starts-with|ends-with|string-length|lower-case|upper-case|normalize-space)(?=\s*\()"
)
UNITS = {
    **dict.fromkeys(("ms", "msec"), 1_000),
    **dict.fromkeys(("s", "sec", "second", "seconds"), 1_000_000),
    **dict.fromkeys(("min", "minute", "minutes"), 60_000_000),
    **dict.fromkeys(("h", "hour", "hours"), 3_600_000_000),
    **dict.fromkeys(("d", "day", "days"), 86_400_000_000),
    **dict.fromkeys(("week", "weeks"), 7 * 86_400_000_000),
}


class _Token(NamedTuple):
    kind: str
    text: str
    end: int


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.number = 0

    # Tokens

    def peek(self) -> _Token:
        at = self.at
        while at < len(self.text):
            if found := _HYPHENED.match(self.text, at):
                return _Token("word", found.group(), found.end())
            found = _TOKEN.match(self.text, at)
            if found is None:
                raise SyntaxError(self.text[at : at + 40])
            if found.lastgroup != "space":
                return _Token(found.lastgroup or "", found.group(), found.end())
            at = found.end()
        return _Token("end", "", at)

    def next(self) -> _Token:
        token = self.peek()
        self.at = token.end
        return token

    def sees(self, *texts: str) -> bool:
        token = self.peek()
        return token.kind != "string" and token.text.lower() in [one.lower() for one in texts]

    def takes(self, *texts: str) -> bool:
        if self.sees(*texts):
            self.next()
            return True
        return False

    def wants(self, text: str) -> None:
        if not self.takes(text):
            raise SyntaxError(f"{text} is missing at {self.text[self.at : self.at + 40]!r}")

    def name(self) -> str:
        token = self.next()
        if token.kind == "string":
            return token.text[1:-1]
        if token.kind != "word":
            raise SyntaxError(f"a name is missing at {token.text!r}")
        return token.text

    # Statements

    def all(self) -> Declared:
        streams, queries = dict[str, tuple[str, ...]](), []
        while self.peek().kind != "end":
            name = None
            while self.peek().kind == "named":
                name = self.next().text[8:].strip()
            if self.takes("DECLARE"):
                self.wants("STREAM")
                stream = self.name()
                self.wants("(")
                streams[stream] = tuple(self.several(self.name))
                self.wants(")")
            elif not self.takes(";") and self.peek().kind != "end":
                self.number += 1
                queries.append(self.query(name or f"q{self.number}"))
        return Declared(streams, tuple(queries))

    def several(self, one: Callable[[], _T]) -> list[_T]:
        found = [one()]
        while self.takes(","):
            found.append(one())
        return found

    def query(self, name: str) -> Query:
        items: tuple[Item, ...] | Constructor | None = None
        if self.takes("SELECT"):
            made = self.sees("<", "{")
            items = self.constructor() if made else tuple(self.several(self.item))
            self.wants("FROM")
        expression = self.expression()
        groups: list[str] = []
        if self.takes("GROUP"):
            self.wants("BY")
            groups = self.several(self.name)
        weak = self.takes("CONSISTENCY") and self.next().text.lower() == "weak"
        publish = self.name() if self.takes("PUBLISH") else None
        return Query(name, expression, items, tuple(groups), publish, weak)

    def constructor(self) -> Constructor:
        """`{"a": x}`, or `<tag><a>{x}</a></tag>`."""
        rest = self.text[self.peek().end - 1 :]
        if rest.startswith("{"):
            inside, _, _ = rest.partition("}")
            self.at = len(self.text) - len(rest) + len(inside) + 1
            return Constructor(tuple(re.findall(r'"([^"]*)"\s*:\s*(\w+)', inside)))
        found = re.match(r"<(\w+)>((?:<(\w+)>\{\w+\}</\3>)*)</\1>", rest)
        assert found is not None, rest
        self.at = len(self.text) - len(rest) + found.end()
        return Constructor(tuple(re.findall(r"<(\w+)>\{(\w+)", found.group(2))), found.group(1))

    def item(self) -> Item:
        if self.takes("*"):
            return Item(Star())
        value = self.sum()
        return Item(value, self.name() if self.takes("AS") else None)

    # Expressions

    def expression(self) -> Expression:
        found = self.chain()
        while self.takes("UNION"):
            found = Union(found, self.chain())
        return found

    def chain(self) -> Expression:
        found = self.operand()
        while True:
            if self.takes("NEXT"):
                condition = None
                if self.takes("{"):
                    condition = self.optional("}")
                    self.wants("}")
                found = Next(condition, found, self.operand())
            elif self.takes("FOLD"):
                condition = continuing = None
                aggregates: list[tuple[Scalar, str]] = []
                if self.takes("{"):
                    condition = self.optional(",", "}")
                    if self.takes(","):
                        continuing = self.optional(",", "}")
                    if self.takes(",") and not self.sees("}"):
                        aggregates = self.several(self.computed)
                    self.wants("}")
                found = Fold(condition, continuing, tuple(aggregates), found, self.operand())
            else:
                return found

    def computed(self) -> tuple[Scalar, str]:
        value = self.sum()
        self.wants("AS")
        return value, self.name()

    def optional(self, *ends: str) -> Condition | None:
        return None if self.sees(*ends) else self.condition()

    def operand(self) -> Expression:
        word, at = self.next(), self.at
        if word.text == "(":
            found = self.inner()
            self.wants(")")
            return found
        if word.text.upper() == "FILTER" and self.takes("{"):
            condition = self.optional("}")
            self.wants("}")
            return Filter(condition, self.operand())
        if word.text.upper() == "WINDOW" and self.takes("{"):
            length = None if self.takes("INF") else self.length()
            self.wants("}")
            return Window(length, self.operand())
        self.at = at
        stream = word.text[1:-1] if word.kind == "string" else word.text
        found = re.compile(r"\s*(//?\w+)((?:\[[^]]*->\w+\])*)").match(self.text, at)
        if not found:
            return Block(stream)
        self.at = found.end()
        bindings = re.findall(r"\[\./([^]]*?)->(\w+)\]", found.group(2))
        return Block(stream, found.group(1), tuple(Binding(*one) for one in bindings))

    def inner(self) -> Expression:
        if self.sees("SELECT"):
            return self.query("")
        at = self.at
        found = self.expression()
        if self.sees("GROUP", "PUBLISH", "CONSISTENCY"):
            self.at = at
            return self.query("")
        return found

    def length(self) -> Length:
        number = float(self.next().text)
        unit = self.next().text if self.peek().kind == "word" else "s"
        return Length(round(number * UNITS[unit.lower()]), unit)

    # Conditions

    def condition(self) -> Condition:
        parts = [self.conjunction()]
        while self.takes("OR"):
            parts.append(self.conjunction())
        return Or(tuple(parts)) if len(parts) > 1 else parts[0]

    def conjunction(self) -> Condition:
        parts = [self.negation()]
        while self.takes("AND"):
            parts.append(self.negation())
        return parts[0] if len(parts) == 1 else And(tuple(parts))

    def negation(self) -> Condition:
        if self.takes("NOT"):
            return Not(self.negation())
        at = self.at
        if self.takes("("):
            try:
                inner = self.condition()
                self.wants(")")
                if not self.sees(*"=<>+-*/", "!=", "<=", ">=", "==", "<>", "≠", "≤", "≥"):
                    return inner
            except SyntaxError:
                pass
            self.at = at
        for text in ("TRUE", "FALSE"):
            if self.takes(text):
                return Truth(text == "TRUE")
        left = self.sum()
        if isinstance(left, Function) and left.name in _TESTS:
            return Test(left.name, *left.arguments)
        sign = self.next().text
        right = self.sum()
        if isinstance(left, Dur) and isinstance(right, Number):
            right = Length(round(right.value * 10**6))
        if isinstance(right, Dur) and isinstance(left, Number):
            left = Length(round(left.value * 10**6))
        return Compare(_SIGNS.get(sign, sign), left, right)  # type: ignore[arg-type]

    def sum(self) -> Scalar:
        found = self.product()
        while self.sees("+", "-"):
            found = Operation(self.next().text, found, self.product())
        return found

    def product(self) -> Scalar:
        found = self.unary()
        while self.sees("*", "/"):
            found = Operation(self.next().text, found, self.unary())
        return found

    def unary(self) -> Scalar:
        token = self.next()
        if token.text == "-":
            return Operation("-", None, self.unary())
        if token.text == "(":
            inner = self.sum()
            self.wants(")")
            return inner
        if token.kind == "number":
            if self.takes("%"):
                return Number(float(token.text) / 100, True)
            if self.peek().kind == "word" and self.peek().text.lower() in UNITS:
                unit = self.next().text
                return Length(round(float(token.text) * UNITS[unit.lower()]), unit)
            return Number(float(token.text))
        if token.kind == "string":
            quote = token.text[0]
            return String(token.text[1:-1].replace(quote * 2, quote))
        deco = token.text[:-1] if token.kind == "deco" else None
        name = token.text if deco is None else self.name()
        if deco is None and token.kind != "word":
            raise SyntaxError(f"a value is missing at {token.text!r}")
        if name == "DUR":
            return Dur(deco)  # type: ignore[arg-type]
        if deco is None and self.takes("("):
            arguments: list[Scalar] = []
            if not self.sees(")"):
                arguments = self.several(self.argument)
            self.wants(")")
            return Function(name.lower(), tuple(arguments))
        return Ref(deco, name)  # type: ignore[arg-type]

    def argument(self) -> Scalar:
        return Star() if self.takes("*") else self.sum()


def read(text: str) -> Declared:
    """The declarations and queries of a text."""
    return _Reader(text).all()
