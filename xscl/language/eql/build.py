"""From lark's tree to the nodes of EQL: patterns, qualifications, values
(docs/semantics.md#reading-eql)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from lark import Token

from xscl.language.build import DEEPEST, Branch, Builder, Node, as_branch, as_token
from xscl.language.checks.names import unquoted
from xscl.language.patterns.build import build_block
from xscl.language.problems import Unreadable
from xscl.language.sources import build_window
from xscl.language.syntax import (
    Alternatives,
    Attribute,
    Block,
    Composition,
    Consistency,
    Contained,
    EventOf,
    Excepted,
    Item,
    Name,
    Not,
    Occurring,
    Qualification,
    Qualified,
    Quantified,
    Query,
    Read,
    Repeated,
    Select,
    Selected,
    Sequenced,
    Structure,
    SubQuery,
)
from xscl.language.values.build import (
    build_cell_of,
    build_condition,
    build_consistency,
    build_items,
    build_value,
    compared,
)

__all__ = ["ReadEQL", "build_eql_cell"]


class ReadEQL:
    """Reads an EQL query.

    `construct` reads the constructor at a token; `read_other` reads the sub-query at a place, in so
    many parentheses; `finished` makes a query of its parts.
    """

    def __init__(
        self,
        builder: Builder,
        construct: Callable[[Token], Select],
        read_other: Callable[[int, int], Query],
        finished: Callable[[Select, Composition, int, Name | None], Query],
    ) -> None:
        self.builder = builder
        self.construct = construct
        self.read_other = read_other
        self.finished = finished

    def query(self, node: Branch, depth: int) -> Query:
        """The query that is in `depth` parentheses."""
        select: Select = None
        pattern: Structure | None = None
        qualifications: tuple[Qualification, ...] = ()
        consistency: Consistency | None = None
        publish: Name | None = None
        for part in map(as_branch, node.children):
            match part.data:
                case "selecting":
                    select = self.select(part.children[1])
                case "exception" | "sequence":
                    pattern = self.sequence(part, depth)
                case "qualifications":
                    qualifications = tuple(map(self.qualification, map(as_branch, part.children)))
                case "consistency":
                    consistency = build_consistency(self.builder, part)
                case "publishing":
                    publish = self.builder.name(as_token(part.children[0]))
        assert pattern is not None
        source = Composition(pattern, qualifications, consistency, pattern.at)
        return self.finished(select, source, self.builder.first(node), publish)

    def select(self, selection: Node) -> Select:
        """What a SELECT names."""
        if isinstance(selection, Token):
            return self.construct(selection)
        return build_items(self.item, selection)

    def item(self, node: Branch) -> Item:
        """An item of a list."""
        value, *alias = node.children
        selected = build_eql_cell(self.builder, as_branch(value))
        if not alias:
            return Item(selected, None)
        token = as_token(alias[0])
        named = Name(self.builder.test(token), self.builder.at(token))
        return Item(selected, named, str(token))

    # Patterns.

    def sequence(self, node: Branch, depth: int) -> Structure:
        """What is between `;`."""
        if node.data == "exception":
            return self.exception(node, depth)
        parts = [self.exception(as_branch(one), depth) for one in node.children]
        return parts[0] if len(parts) == 1 else Sequenced(tuple(parts), parts[0].at)

    def exception(self, node: Branch, depth: int) -> Structure:
        r"""What is between `\\`, from left to right."""
        built, *others = [self.alternatives(as_branch(one), depth) for one in node.children]
        for right in others:
            built = Excepted(built, right, built.at)
        return built

    def alternatives(self, node: Branch, depth: int) -> Structure:
        """What is between `|`."""
        parts = [self.repeat(as_branch(one), depth) for one in node.children]
        return parts[0] if len(parts) == 1 else Alternatives(tuple(parts), parts[0].at)

    def repeat(self, node: Branch, depth: int) -> Structure:
        """An event or a group, with `+` or without."""
        inner, *plus = node.children
        branch = as_branch(inner)
        built = self.event(branch, depth) if branch.data == "event" else self.group(branch, depth)
        return Repeated(built, built.at) if plus else built

    def group(self, node: Branch, depth: int) -> Structure:
        """What is in a parenthesis."""
        opening, inner, _ = node.children
        self.deep(as_token(opening), depth)
        return self.sequence(as_branch(inner), depth + 1)

    def deep(self, opening: Token, depth: int) -> None:
        """Refuses a parenthesis in too many others."""
        if depth == DEEPEST:
            at = self.builder.at(opening)
            raise Unreadable(at, f"parentheses are nested more than {DEEPEST} deep")

    def event(self, node: Branch, depth: int) -> EventOf:
        """A block or a sub-query with its variable."""
        inner, *named = node.children
        branch = as_branch(inner)
        block: Block | SubQuery
        if branch.data in ("block", "stream"):
            block = build_block(self.builder, branch)
        else:
            opening, mark, _, *path = branch.children
            self.deep(as_token(opening), depth)
            query = self.read_other(self.builder.at(as_token(mark)), depth + 1)
            steps = self.builder.steps(path, 0)
            block = SubQuery(query, steps, self.builder.at(as_token(opening)))
        variable: Name | None = None
        if named:
            variable = self.builder.variable(as_token(as_branch(named[0]).children[-1]))
        return EventOf(block, variable, block.at)

    # Qualifications.

    def qualification(self, node: Branch) -> Qualification:
        """One of WHERE."""
        *filters, condition = node.children
        at = self.builder.at(as_token(filters[0])) if filters else self.builder.first(condition)
        return Qualification(_condition(self.builder, as_branch(condition), 1), bool(filters), at)


def build_eql_cell(builder: Builder, node: Branch) -> Selected:
    """A value in a list or a constructor."""
    return build_cell_of(_value, builder, node)


def _condition(builder: Builder, node: Branch, depth: int) -> Qualified:
    return cast(Qualified, build_condition(builder, node, depth, _atom))


def _atom(builder: Builder, node: Branch, depth: int) -> Qualified:
    at, children = builder.first(node), node.children
    match node.data:
        case "not":
            return Not(_condition(builder, as_branch(children[1]), depth + 1), at)
        case "contained":
            left, _, right = children
            first = _value(builder, as_branch(left), depth)
            return Contained(first, _value(builder, as_branch(right), depth), at)
        case "occurring":
            one, other, window = children
            first_name, second = (builder.variable(as_token(name)) for name in (one, other))
            length = build_window(builder, as_branch(window))
            return Occurring(first_name, second, length, at)
    left, sign, right = children
    first = _value(builder, as_branch(left), depth)
    return compared(sign, first, _value(builder, as_branch(right), depth), at)


def _value(builder: Builder, node: Branch, depth: int) -> Any:
    return build_value(builder, node, depth, _leaf)


def _leaf(builder: Builder, node: Branch, depth: int) -> Read | Quantified:
    if node.data == "quantified":
        token, inner = node.children
        quantifier: Any = as_token(token).upper()
        return Quantified(quantifier, _read(builder, as_branch(inner)), builder.first(node))
    return _read(builder, node)


def _read(builder: Builder, node: Branch) -> Read:
    variable, *attribute = node.children
    token = as_token(variable)
    of = _attribute(builder, as_branch(attribute[0])) if attribute else None
    return Read(builder.variable(token), None, of, builder.at(token))


def _attribute(builder: Builder, node: Branch) -> Attribute:
    tokens = [as_token(one) for one in node.children]
    at, quoted = builder.at(tokens[0]), tokens[0].type == "STRING"
    steps: list[str] = []
    while tokens and tokens[0].type not in ("AT", "AT_STEP"):
        token = tokens.pop(0)
        steps.append(unquoted(token) if token.type == "STRING" else str(token))
    return Attribute(tuple(steps), str(tokens[1]) if tokens else None, quoted, at)
