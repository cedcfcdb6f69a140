"""From lark's tree to the nodes of `syntax.py`.

Strings are unquoted, prefixes replaced by their namespaces, durations turned into
microseconds.  What is found wrong on the way (an unknown prefix, a unit that is none) is
noted and the tree finished, so that all of a query's errors can be told at once.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Literal as OneOf

from lark import Token, Tree

from xscl.language.names import unquoted
from xscl.language.problems import Problem, Unreadable
from xscl.language.syntax import (
    Binary,
    Block,
    Comparison,
    Condition,
    Function,
    Insert,
    Item,
    Join,
    Literal,
    Name,
    Negative,
    Path,
    Source,
    Step,
    VariablePath,
    Window,
)

__all__ = ["DEEPEST", "Builder", "unknown_prefix"]

DEEPEST = 100
"""Conditions in conditions: what reads a tree may recurse that deep and more."""

Branch = Tree[Token]
Node = Branch | Token

_MICROSECONDS = {
    unit: length
    for units, length in (
        ("ms", 1_000),
        ("s sec secs second seconds", 1_000_000),
        ("min mins minute minutes", 60_000_000),
        ("h hour hours", 3_600_000_000),
        ("d day days", 86_400_000_000),
        ("week weeks", 604_800_000_000),
    )
    for unit in units.split()
}
_TESTS = {"*", ".", "text()"}
_LONGEST = 2**63 - 1
_UNITS = "ms, s, min, h, days and weeks"
_NO_LENGTH = re.compile(r"(?:month|mon|year|yr|y)s?", re.IGNORECASE)


class Builder:
    """Builds the nodes of what was read from offset `origin` on.

    What is wrong is added to `problems`.
    """

    def __init__(self, namespaces: Mapping[str, str], problems: list[Problem], origin: int) -> None:
        self.namespaces = namespaces
        self.problems = problems
        self.origin = origin

    def note(self, at: int, text: str) -> None:
        self.problems.append(Problem(at, text))

    # Places and names.

    def at(self, token: Token) -> int:
        return self.origin + (token.start_pos or 0)

    def first(self, node: Node) -> int:
        """Where a condition's first token stands (a parenthesis before it is not kept)."""
        while not isinstance(node, Token):
            node = node.children[0]
        return self.at(node)

    def name(self, token: Token) -> Name:
        return Name(str(token), self.at(token))

    def variable(self, token: Token) -> Name:
        return Name(token.removeprefix("$"), self.at(token))

    # Sources.

    def source(self, node: Branch) -> Source:
        if node.data == "block":
            stream = _token(node.children[0])
            return Block(self.name(stream), self.steps(node.children[1:], 0), self.at(stream))
        left, operator, brace, *constraint, right = node.children
        predicate: tuple[Comparison, ...] = ()
        window = Window(None, self.at(_token(brace)))
        for part in map(_branch, constraint):
            if part.data == "predicate":
                predicate = tuple(self.comparison(_branch(c)) for c in part.children)
            else:
                window = self.window(part)
        built = self.source(_branch(left))
        return Join(
            "JOIN" if _token(operator).type == "JOIN" else "FOLLOWED BY",
            built,
            self.source(_branch(right)),
            predicate,
            window,
            built.at,
        )

    def comparison(self, node: Branch) -> Comparison:
        left, operator, right = node.children
        first = self.side(_branch(left))
        return Comparison(str(operator), first, self.side(_branch(right)), first.at)

    def side(self, node: Branch) -> VariablePath:
        variable = self.variable(_token(node.children[0]))
        return VariablePath(variable, (), variable.at)

    def window(self, node: Branch) -> Window:
        """Microseconds, rounded down: times are whole ones, so nothing else is meant."""
        number, *units = map(_token, node.children)
        at = self.at(number)
        if number.type == "INF":
            return Window(None, at)
        unit = units[0].lower() if units else "s"
        if unit not in _MICROSECONDS:
            why = " (it has no fixed length)" if _NO_LENGTH.fullmatch(unit) else ""
            self.note(
                self.at(units[0]),
                f"`{units[0]}` is no unit of a window{why}; the units are {_UNITS}",
            )
            return Window(None, at)
        whole, _, decimals = number.partition(".")
        whole = whole.lstrip("0")
        # Digits after the twentieth are far below a microsecond, whatever the unit.
        exact = Fraction(f"0{whole[:20]}.{decimals[:20]}0") * _MICROSECONDS[unit]
        if len(whole) > 20 or exact > _LONGEST:
            self.note(at, "a window of more than 292,000 years; write `INF` for one without end")
            return Window(None, at)
        return Window(int(exact), at)

    # Paths.

    def steps(self, nodes: Sequence[Node], depth: int) -> tuple[Step, ...]:
        built: list[Step] = []
        axis: OneOf["/", "//"] = "/"
        for node in nodes:
            if isinstance(node, Token):
                axis = "//" if node.type == "DSLASH" else "/"
            else:
                built.append(self.step(axis, node.children, depth))
        return tuple(built)

    def step(self, axis: OneOf["/", "//"], parts: Sequence[Node], depth: int) -> Step:
        tokens = [part for part in parts if isinstance(part, Token)]
        at = self.at(tokens[0])
        variable = self.variable(tokens.pop()) if tokens[-1].type == "VARIABLE" else None
        test = self.test(tokens[-1])
        if tokens[0].type == "AT":
            test = "@" + test
        filters: list[Condition] = []
        for part in parts:
            if not isinstance(part, Token):
                filters.append(self.condition(part, depth + 1))
        return Step(axis, test, variable, tuple(filters), at)

    def test(self, token: Token) -> str:
        match token.type:
            case "QNAME":
                return self.qualified(token)
            case "ANY_NAMESPACE":
                return "{*}" + token[2:]
            case "TEXT":
                return "text()"
            case "STRING":
                return quoted_name(unquoted(token))
            case _:
                return str(token)

    def qualified(self, token: Token) -> str:
        """The Clark name of `prefix:name`."""
        prefix, _, name = token.partition(":")
        if prefix not in self.namespaces:
            self.note(self.at(token), unknown_prefix(prefix))
            return name
        return f"{{{self.namespaces[prefix]}}}{name}"

    # Filters.

    def condition(self, node: Branch, depth: int) -> Condition:
        if depth > DEEPEST:
            raise Unreadable(self.first(node), f"conditions are nested more than {DEEPEST} deep")
        children = node.children
        match node.data:
            case "path":
                return Path(self.steps(children, depth), self.first(node))
            case "string":
                return Literal(unquoted(_token(children[0])), self.first(node))
            case "number":
                return Literal(float(_token(children[0])), self.first(node))
            case "negative":
                return Negative(self.condition(_branch(children[1]), depth + 1), self.first(node))
            case "function":
                arguments: list[Condition] = []
                for child in children[1:]:
                    arguments.append(self.condition(_branch(child), depth + 1))
                return Function(str(children[0]), tuple(arguments), self.first(node))
            case "condition":
                return self.balanced("or", children, depth)
            case "conjunction":
                return self.balanced("and", children, depth)
        return self.operation(children, depth)

    def balanced(self, operator: str, nodes: Sequence[Node], depth: int) -> Condition:
        """`a or b or c or d` as `(a or b) or (c or d)`: the same, and never deep."""
        if len(nodes) == 1:
            return self.condition(_branch(nodes[0]), depth)
        half = (len(nodes) + 1) // 2
        left = self.balanced(operator, nodes[:half], depth + 1)
        return Binary(operator, left, self.balanced(operator, nodes[half:], depth + 1), left.at)

    def operation(self, nodes: Sequence[Node], depth: int) -> Condition:
        """`a - b - c` as `(a - b) - c`."""
        depth += len(nodes) // 2
        built = self.condition(_branch(nodes[0]), depth)
        for operator, right in zip(nodes[1::2], nodes[2::2], strict=True):
            built = Binary(str(operator), built, self.condition(_branch(right), depth), built.at)
        return built

    # SELECT.

    def items(self, node: Branch) -> tuple[Item, ...]:
        built: list[Item] = []
        for item in map(_branch, node.children):
            alias = None
            if len(item.children) == 2:
                token = _token(item.children[1])
                alias = Name(self.test(token), self.at(token))
            built.append(Item(self.variable_path(_branch(item.children[0])), alias))
        return tuple(built)

    def variable_path(self, node: Branch) -> VariablePath:
        variable = self.variable(_token(node.children[0]))
        return VariablePath(variable, self.steps(node.children[1:], 0), variable.at)

    def insert(self, node: Branch) -> Insert:
        first = node.children[0]
        if isinstance(first, Token) and first != "string":
            self.note(self.at(first), f"`{first}()` cannot stand here; only `string()` can")
        path = self.variable_path(_branch(node.children[-1]))
        return Insert(path, string=isinstance(first, Token))


def unknown_prefix(prefix: str) -> str:
    return f'the prefix `{prefix}` is unknown; write DECLARE NAMESPACE {prefix} = "…"; before'


def quoted_name(name: str) -> str:
    """The node test of a quoted name; `{}` tells `'*'` and kin from what they would mean.

    >>> quoted_name("dc creator"), quoted_name("@type"), quoted_name("*")
    ('dc creator', '{}@type', '{}*')
    """
    return "{}" + name if name.startswith(("@", "{")) or name in _TESTS else name


def _branch(node: Node) -> Branch:
    assert isinstance(node, Tree)
    return node


def _token(node: Node) -> Token:
    assert isinstance(node, Token)
    return node
