"""Writes the terms of a query as XSCL, with few more parentheses than needed.

Where the language lets the same be written in several ways (`->x` and `AS x`, upper and lower
case, white space and comments, a group where there is one anyway), dice decide; they are seeded,
so that a query has one text.  On request they put parameters in place of constants.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from random import Random

from tests.oracle.terms import (
    Block,
    Branch,
    Call,
    Compared,
    Condition,
    Constant,
    Constructor,
    Filter,
    Insert,
    Item,
    Join,
    JoinedBy,
    Logical,
    Negation,
    Number,
    Operation,
    Path,
    Predicate,
    Query,
    Side,
    Source,
    Step,
    Text,
    VariablePath,
)

__all__ = ["xscl_file", "xscl_text", "xscl_with_parameters"]

_BINDS = {"or": 1, "and": 2, "=": 3, "!=": 3, "<": 4, "<=": 4, ">": 4, ">=": 4}
_BINDS |= {"+": 5, "-": 5, "*": 6, "div": 6, "mod": 6}
_UNARY = 7


def xscl_file(queries: Mapping[str, Query], namespaces: Mapping[str, str]) -> str:
    """A query file: the declarations, then each query under its name."""
    named = [f"-- name: {name}\n{xscl_text(query)}" for name, query in queries.items()]
    return ";\n".join(_declarations(namespaces) + named)


def _declarations(namespaces: Mapping[str, str]) -> list[str]:
    return [f'DECLARE NAMESPACE {prefix} = "{uri}"' for prefix, uri in namespaces.items()]


def xscl_text(query: Query) -> str:
    """One query."""
    return _Writer(Random(query.style)).query(query)


def xscl_with_parameters(
    query: Query, namespaces: Mapping[str, str]
) -> tuple[str, dict[str, str | int | float]]:
    """One query after the declarations, with parameters in place of about half of its constants,
    and their values."""
    writer = _Writer(Random(query.style), parametrized=True)
    return ";\n".join([*_declarations(namespaces), writer.query(query)]), writer.values


class _Writer:
    def __init__(self, dice: Random, *, parametrized: bool = False) -> None:
        self._dice = dice
        self._gaps: tuple[str, ...] = ("", "", "", " ", "\n  ", "(: a (: b :) :)")
        self._parametrized = parametrized
        self.values: dict[str, str | int | float] = {}

    # What may be written in several ways.

    def _keyword(self, word: str) -> str:
        return self._dice.choice([word, word, word.lower(), word.title()])

    def _gap(self) -> str:
        return self._dice.choice(self._gaps)

    def _name(self, variable: str) -> str:
        return self._dice.choice(["", "", "$"]) + variable

    def _constant(self, constant: Constant) -> str:
        if isinstance(constant, Number):
            return self._parameter(_value(constant.written)) or constant.written
        return self._parameter(constant.value) or self._string(constant.value)

    def _parameter(self, value: str | int | float) -> str:
        """A parameter in place of a value, or nothing; separate from a parenthesis before it, with
        which it would open a comment."""
        if not self._parametrized or self._dice.random() < 0.5:
            return ""
        name = f"p{len(self.values)}"
        self.values[name] = value
        return f" :{name}"

    def _string(self, value: str) -> str:
        quote = self._dice.choice("'\"")
        return quote + value.replace(quote, quote * 2) + quote

    # Queries.

    def query(self, query: Query, *, nested: bool = False) -> str:
        gaps = self._gaps
        if isinstance(query.select, (Constructor, dict)):
            self._gaps = gaps[:-1]  # in a constructor, a comment is text
        needed = nested and query.publish is None and query.select == ""
        head = self._select("*" if needed else query.select)
        self._gaps = gaps
        if head:
            head = f"{self._keyword('SELECT')} {head} {self._keyword('FROM')} "
        published = "" if query.publish is None else f" {self._keyword('PUBLISH')} {query.publish}"
        return head + self._source(query.source) + published

    def _source(self, source: Source) -> str:
        if isinstance(source, Block):
            written = self._block(source)
        else:
            right = self._source(source.right)
            right = f"({right})" if isinstance(source.right, Join) else right
            written = f"{self._source(source.left)} {self._operator(source.operator)} {right}"
        return f"({self._gap()}{written})" if self._dice.random() < 0.03 else written

    def _operator(self, operator: JoinedBy) -> str:
        parts = [] if operator.predicate is None else [self._predicate(operator.predicate)]
        parts += [] if operator.written is None else [self._window(operator.written)]
        inside = f"{self._gap()},{self._gap()}".join(parts or ["INF"])
        return f"{self._keyword(operator.kind)} {{{self._gap()}{inside}}}{self._gap()}"

    def _window(self, written: str) -> str:
        number = re.match("[0-9.]+", written)
        parameter = "" if number is None else self._parameter(_value(number[0]))
        if number is None or not parameter:
            return written
        return f"{parameter} {written[number.end() :].strip()}"

    def _block(self, block: Block) -> str:
        if isinstance(block.stream, str):
            return block.stream + self._steps(block.path)
        # Without a path, only its SELECT or PUBLISH distinguishes a sub-query from a group.
        inner = self.query(block.stream, nested=not block.path)
        return f"({self._gap()}{inner}{self._gap()}){self._steps(block.path)}"

    # Paths and filters.

    def _steps(self, path: Path) -> str:
        return "".join(step.axis + self._step(step) for step in path)

    def _step(self, step: Step) -> str:
        binding = ""
        if step.variable is not None:
            sign = self._dice.choice(["->", "->", " -> ", f" {self._keyword('AS')} "])
            binding = sign + self._name(step.variable)
        filters = "".join(map(self._filter, step.filters))
        return step.test + binding + filters

    def _filter(self, filter: Filter) -> str:
        alone = len(filter.parts) == 1
        parts = (
            self._relative(part.path)
            if isinstance(part, Branch)
            else self._condition(part, 0 if alone else _BINDS["and"])
            for part in filter.parts
        )
        return f"[{self._gap()}{' and '.join(parts)}{self._gap()}]"

    def _relative(self, path: Path) -> str:
        first, *others = path
        head = self._step(first)
        if first.test != ".":
            if first.axis == "//":
                head = ".//" + head
            elif first.test.startswith(("'", '"')):
                head = "./" + head  # a quoted name alone would be a string
            else:
                head = self._dice.choice(["", "./"]) + head
        return head + self._steps(tuple(others))

    def _condition(self, condition: Condition, around: int) -> str:
        match condition:
            case tuple():
                return self._relative(condition)
            case Text() | Number():
                return self._constant(condition)
            case Call(name, arguments):
                return f"{name}({', '.join(self._condition(part, 0) for part in arguments)})"
            case Negation(operand):
                # Separate from the next sign, as two make a comment.
                written, binds = f"- {self._condition(operand, _UNARY)}", _UNARY
            case Operation(sign, left, right):
                binds = _BINDS[sign]
                first = self._condition(left, binds)
                second = self._condition(right, binds + 1)
                written = f"{first} {sign} {second}"
        return f"({written})" if binds < around else written

    # Predicates.

    def _predicate(self, predicate: Predicate) -> str:
        if isinstance(predicate, Compared):
            sides = self._side(predicate.left), self._side(predicate.right)
            return f"{sides[0]} {predicate.sign} {sides[1]}"
        return f" {self._keyword(predicate.sign)} ".join(
            f"({self._predicate(part)})"
            if predicate.sign == "AND" and isinstance(part, Logical) and part.sign == "OR"
            else self._predicate(part)
            for part in predicate.parts
        )

    def _side(self, side: Side) -> str:
        value = side.value
        written = self._constant(value) if isinstance(value, Constant) else self._path(value)
        for function in side.functions:
            written = f"{function}({self._gap()}{written})"
        return written

    def _path(self, path: VariablePath) -> str:
        return self._name(path.variable) + self._steps(path.path)

    # SELECT.

    def _select(self, select: object) -> str:
        match select:
            case str():
                return select
            case Constructor():
                return self._element(select)
            case dict():
                return self._json(select)
            case tuple():
                return ", ".join(map(self._item, select))
        raise TypeError(select)

    def _item(self, item: Item) -> str:
        written = self._path(item.path)
        return written if item.alias is None else f"{written} {self._keyword('AS')} {item.alias}"

    def _insert(self, insert: Insert) -> str:
        path = self._path(insert.path)
        return f"{{string({path})}}" if insert.string else f"{{{path}}}"

    def _element(self, constructor: Constructor) -> str:
        declared = "".join(
            f' {"xmlns" + (prefix and ":" + prefix)}="{uri}"'
            for prefix, uri in constructor.namespaces
        )
        attributes = ""
        for name, parts in constructor.attributes:
            value = "".join(p if isinstance(p, str) else self._insert(p) for p in parts)
            attributes += f' {name}="{value}"'
        content = "".join(
            part
            if isinstance(part, str)
            else self._insert(part)
            if isinstance(part, Insert)
            else self._element(part)
            for part in constructor.content
        )
        return f"<{constructor.name}{declared}{attributes}>{content}</{constructor.name}>"

    def _json(self, value: object) -> str:
        match value:
            case VariablePath():
                return self._path(value)
            case dict():
                members = (f"{json.dumps(k)}: {self._json(v)}" for k, v in value.items())
                return f"{{{', '.join(members)}}}"
            case list():
                return f"[{', '.join(map(self._json, value))}]"
            case bool() | None:
                return json.dumps(value)
            case str() | int() | float():
                return self._parameter(value) or json.dumps(value)
        raise TypeError(value)


def _value(number: str) -> int | float:
    """A number as a parameter's value."""
    return int(number) if number.isdecimal() else float(number)
