"""From lark's tree to the nodes of `syntax.py`: paths, filters and what SELECT names.

Strings are unquoted and prefixes replaced by their namespaces.  A problem on the way (an
unknown prefix) is noted and the tree finished, so that all errors of a query are reported together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isinf
from typing import Literal as OneOf

from lark import Token, Tree

from xscl.language.checks.names import unquoted
from xscl.language.problems import Problem, Unreadable
from xscl.language.syntax import (
    Binary,
    Condition,
    Function,
    Insert,
    Item,
    Literal,
    Name,
    Negative,
    Parameter,
    Path,
    Step,
    VariablePath,
)

__all__ = ["DEEPEST", "Branch", "Builder", "Node", "as_branch", "as_token", "unknown_prefix"]

DEEPEST = 100
"""Conditions in conditions: what reads a tree may recurse that deep and more."""

Branch = Tree[Token]
Node = Branch | Token

_TESTS = {"*", ".", "text()"}


class Builder:
    """Builds the nodes of what was read from offset `origin` on.

    Problems are added to `problems`.
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
        """Where a node's first token stands (the parenthesis of a condition is not kept)."""
        while not isinstance(node, Token):
            node = node.children[0]
        return self.at(node)

    def bounded(self, node: Node, depth: int) -> int:
        """As `first`, of a condition that is not nested too deeply."""
        at = self.first(node)
        if depth > DEEPEST:
            raise Unreadable(at, f"conditions are nested more than {DEEPEST} deep")
        return at

    def name(self, token: Token) -> Name:
        return Name(str(token), self.at(token))

    def parameter(self, token: Token) -> Parameter:
        return Parameter(token[1:], self.at(token))

    def variable(self, token: Token) -> Name:
        return Name(token.removeprefix("$"), self.at(token))

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
        at = self.bounded(node, depth)
        children = node.children
        match node.data:
            case "path":
                return Path(self.steps(children, depth), at)
            case "string":
                return Literal(unquoted(as_token(children[0])), at)
            case "number":
                return Literal(self.number(as_token(children[0])), at)
            case "parameter":
                return self.parameter(as_token(children[0]))
            case "negative":
                return Negative(self.condition(as_branch(children[1]), depth + 1), at)
            case "function":
                arguments: list[Condition] = []
                for child in children[1:]:
                    arguments.append(self.condition(as_branch(child), depth + 1))
                return Function(str(children[0]), tuple(arguments), at)
            case "condition":
                return self.chain("or", children, depth)
            case "conjunction":
                return self.chain("and", children, depth)
        return self.operation(children, depth)

    def number(self, token: Token) -> float:
        """The value of a number: a double, as everywhere in XPath 1.0."""
        value = float(token)
        if isinf(value):
            self.note(self.at(token), "found a number beyond 1.8e308, the greatest double")
        return value

    def chain(self, operator: str, nodes: Sequence[Node], depth: int) -> Condition:
        for written in map(as_token, nodes[1::2]):
            if written != operator:
                problem = f"found `{written}`; in a filter it is written `{operator}`"
                self.note(self.at(written), problem)
        return self.balanced(operator, nodes[::2], depth)

    def balanced(self, operator: str, nodes: Sequence[Node], depth: int) -> Condition:
        """`a or b or c or d` as `(a or b) or (c or d)`: the same, and never deep."""
        if len(nodes) == 1:
            return self.condition(as_branch(nodes[0]), depth)
        half = (len(nodes) + 1) // 2
        left = self.balanced(operator, nodes[:half], depth + 1)
        return Binary(operator, left, self.balanced(operator, nodes[half:], depth + 1), left.at)

    def operation(self, nodes: Sequence[Node], depth: int) -> Condition:
        """`a - b - c` as `(a - b) - c`."""
        depth += len(nodes) // 2
        built = self.condition(as_branch(nodes[0]), depth)
        for operator, right in zip(nodes[1::2], nodes[2::2], strict=True):
            built = Binary(str(operator), built, self.condition(as_branch(right), depth), built.at)
        return built

    # SELECT.

    def items(self, node: Branch) -> tuple[Item, ...]:
        built: list[Item] = []
        for item in map(as_branch, node.children):
            path = self.variable_path(as_branch(item.children[0]))
            if len(item.children) == 2:
                token = as_token(item.children[1])
                alias = Name(self.test(token), self.at(token))
                built.append(Item(path, alias, str(token)))
            else:
                built.append(Item(path, None))
        return tuple(built)

    def variable_path(self, node: Branch, depth: int = 0) -> VariablePath:
        variable = self.variable(as_token(node.children[0]))
        return VariablePath(variable, self.steps(node.children[1:], depth), variable.at)

    def insert(self, node: Branch) -> Insert:
        first = node.children[0]
        if isinstance(first, Token) and first != "string":
            self.note(self.at(first), f"`{first}()` is not allowed here; only `string()` can")
        path = self.variable_path(as_branch(node.children[-1]))
        return Insert(path, string=isinstance(first, Token))


def unknown_prefix(prefix: str) -> str:
    return f'the prefix `{prefix}` is unknown; write DECLARE NAMESPACE {prefix} = "…"; before'


def quoted_name(name: str) -> str:
    """The node test of a quoted name; `{}` tells `'*'` and kin from what they would mean.

    >>> quoted_name("dc creator"), quoted_name("@type"), quoted_name("*"), quoted_name("/{id}")
    ('dc creator', '{}@type', '{}*', '{}/{id}')
    """
    marked = name.startswith("@") or "}" in name or name in _TESTS
    return "{}" + name if marked else name


def as_branch(node: Node) -> Branch:
    assert isinstance(node, Tree)
    return node


def as_token(node: Node) -> Token:
    assert isinstance(node, Token)
    return node
