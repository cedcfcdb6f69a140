"""The places of a query's parameters: what goes there for a value, which values cannot, and the
program that makes a query again from its values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields
from decimal import Decimal
from enum import Enum, auto
from functools import lru_cache
from operator import attrgetter
from typing import Any

from xscl.language import syntax
from xscl.language.checks.check import LATE_POSITION
from xscl.language.checks.functions import NO_MEASURE, NO_PATTERN, bad_pattern
from xscl.language.checks.likeness import NO_LEAST, millionths
from xscl.language.conditions import binds
from xscl.language.syntax import (
    Block,
    Call,
    Comparison,
    Contained,
    EventPattern,
    Function,
    JSONArray,
    JSONConstant,
    JSONObject,
    Literal,
    Name,
    Parameter,
    Query,
    Star,
    Step,
    Window,
)
from xscl.times import NEGATIVE, NO_LENGTH, TOO_LONG, microseconds
from xscl.xpath_stage.texts.likeness import MEASURES

__all__ = ["Blank", "Remade", "Use", "Value", "places_in_blocks", "program_of", "unsigned"]

Value = str | int | float


def unsigned(value: Any) -> Any:
    """A value as a constant, in which 0 has no sign, as it has none as a text."""
    return value or (value if isinstance(value, str) else abs(value))


class Use(Enum):
    """The use of a parameter."""

    CONSTANT = auto()
    JSON = auto()
    MEASURE = auto()
    PATTERN = auto()
    STRING = auto()
    LIKENESS = auto()
    LATE_FILTER = auto()
    WINDOW = auto()
    WITHIN = auto()


@dataclass(frozen=True, slots=True)
class Blank:
    """The place of a constant; `unit` is that of a window."""

    name: str
    at: int
    use: Use
    unit: str

    def make(self, values: Mapping[str, Any], nodes: list[Any]) -> object:
        """The node that is here with some values."""
        value = unsigned(values[self.name])
        match self.use:
            case Use.WINDOW | Use.WITHIN:
                return Window(_length(value, self.unit), self.at, None, self.unit)
            case Use.JSON:
                return JSONConstant(value, self.at)
            case _:
                return Literal(value if isinstance(value, str) else float(value), self.at)

    def refusal(self, value: object) -> str | None:
        """The problem of a value in this place."""
        match self.use, value:
            case Use.JSON, _:
                return None
            case _, int() if value != float(value):
                return (
                    f"the parameter `:{self.name}` is compared as a double, which has not all "
                    f"digits of {value}; give it as a string"
                )
            case Use.PATTERN, str():
                return bad_pattern(value)
            case Use.PATTERN, _:
                return NO_PATTERN
            case Use.MEASURE, _:
                return None if value in MEASURES else NO_MEASURE
            case Use.LIKENESS, _:
                if millionths(value) is None:
                    return f"the parameter `:{self.name}`: {NO_LEAST}, found {value!r}"
                return None
            case Use.STRING, int() | float():
                return f"the parameter `:{self.name}` takes a string behind CONTAINS, found {value}"
            case Use.LATE_FILTER, int() | float():
                return LATE_POSITION
            case ((Use.WINDOW | Use.WITHIN), str()):
                return f"the parameter `:{self.name}` takes the number of a window, found a string"
            case ((Use.WINDOW | Use.WITHIN), int() | float()):
                if value < 0:
                    return NEGATIVE
                length = _length(value, self.unit)
                if length == 0 and self.use is Use.WITHIN:
                    return NO_LENGTH
                return TOO_LONG if length is None else None
            case _:
                return None


@lru_cache(maxsize=1024)
def _length(value: Any, unit: str) -> int | None:
    # All its digits, without an exponent.
    return microseconds(f"{abs(Decimal(str(value))):f}", unit)


@dataclass(frozen=True, slots=True)
class Remade:
    """A node with constants somewhere in it: `holes` says which of its parts are made by what
    place of the program."""

    kind: Callable[..., object]
    parts: list[object]
    holes: list[tuple[int, int]]

    def make(self, values: Mapping[str, Any], nodes: list[Any]) -> object:
        """It with its parts of what the program has made."""
        parts = self.parts.copy()
        for index, made in self.holes:
            parts[index] = nodes[made]
        return self.kind(*parts)


def _tuple(*parts: object) -> tuple[object, ...]:
    return parts


def _ways(query: Query, literals: Mapping[int, str]) -> set[int]:
    """The parameters of a query and all nodes above them, by their identity."""
    ways = set[int]()
    # Each node with the place of the one that it is a part of.
    nodes: list[tuple[Any, int]] = [(query, -1)]
    for place, (node, _) in enumerate(nodes):
        parts = _parts(node)
        if parts is not None:
            nodes += [(part, place) for part in parts]
        if isinstance(node, Parameter) or _is_constant(query, node, literals):
            above = place
            while above >= 0 and id(nodes[above][0]) not in ways:
                ways.add(id(nodes[above][0]))
                above = nodes[above][1]
    return ways


def _is_constant(query: Query, node: object, literals: Mapping[int, str]) -> bool:
    """Whether a node is one of the literals that are parameters: a window is in an event query,
    whose plan has one for all of its lengths."""
    if isinstance(node, Window):
        return query.language.schemas and node.length is not None and node.at in literals
    return isinstance(node, Literal) and node.at in literals


def program_of(query: Query, literals: Mapping[int, str]) -> list[Blank | Remade]:
    """The program that makes the constants and the nodes above them, each after its parts; the
    last is the query.  (A loop: a tree may be deeper than Python's stack.)"""
    program: list[Blank | Remade] = []
    ways = _ways(query, literals)
    uses: dict[int, Use] = {}
    root = Remade(_tuple, [], [])
    # A node, the one that it is a part of, and whether its own parts are done.
    stack: list[tuple[Any, Remade, Remade | None]] = [(query, root, None)]
    while stack:
        node, above, done = stack.pop()
        if done is not None:
            if done.holes:
                above.holes.append((len(above.parts), len(program)))
                program.append(done)
            above.parts.append(node)
        elif isinstance(node, Window) and (
            node.parameter is not None or _is_constant(query, node, literals)
        ):
            above.holes.append((len(above.parts), len(program)))
            use = Use.WITHIN if above.kind is EventPattern else Use.WINDOW
            name = literals[node.at] if node.parameter is None else node.parameter.name
            program.append(Blank(name, node.at, use, node.unit))
            above.parts.append(node)
        elif isinstance(node, Parameter) or _is_constant(query, node, literals):
            name = node.name if isinstance(node, Parameter) else literals[node.at]
            above.holes.append((len(above.parts), len(program)))
            program.append(Blank(name, node.at, uses.get(node.at, Use.CONSTANT), ""))
            above.parts.append(node)
        elif id(node) in ways and (parts := _parts(node)) is not None:
            uses.update(_uses(node))
            own = Remade(_tuple if parts is node else type(node), [], [])
            stack.append((node, above, own))
            stack += [(part, own, None) for part in reversed(parts)]
        else:
            above.parts.append(node)
    return program


def places_in_blocks(query: Query) -> set[int]:
    """The places of literals and parameters that are in blocks."""
    places = set[int]()
    stack: list[tuple[Any, bool]] = [(query, False)]
    while stack:
        node, within = stack.pop()
        if isinstance(node, Literal | Parameter):
            if within:
                places.add(node.at)
        elif (parts := _parts(node)) is not None:
            within = within or isinstance(node, Block)
            stack += [(part, within) for part in parts]
    return places


def _fields(kind: type) -> Callable[[Any], tuple[object, ...]]:
    names = [member.name for member in fields(kind)]
    if len(names) > 1:
        return attrgetter(*names)
    return lambda node: tuple([getattr(node, name) for name in names])


_FIELDS = {
    kind: _fields(kind)
    for kind in map(vars(syntax).get, syntax.__all__)
    if isinstance(kind, type) and kind not in (Name, Literal, JSONConstant, Star)
}


def _parts(node: Any) -> tuple[object, ...] | None:
    """The parts of a node, or None if no parameter can be in it."""
    if isinstance(node, tuple):
        return node
    of = _FIELDS.get(type(node))
    return None if of is None else of(node)


def _uses(node: object) -> Iterator[tuple[int, Use]]:
    """The places of the parameters right in a node that are more than constants there."""
    match node:
        case Function("matches", (_, Parameter(_, at) | Literal(_, at))):
            yield at, Use.PATTERN
        case Call("matches", (_, Parameter(_, at) | Literal(_, at))):
            yield at, Use.PATTERN
        case Comparison(least=Parameter(_, at) | Literal(_, at)):
            yield at, Use.LIKENESS
        case Contained(_, Parameter(_, at)):
            yield at, Use.STRING
        case Function("similar", (_, _, Literal(_, at))) | Call("similar", (_, _, Literal(_, at))):
            yield at, Use.MEASURE
        case JSONObject(members):
            yield from ((one.at, Use.JSON) for _, one in members if isinstance(one, Parameter))
        case JSONArray(items):
            yield from ((one.at, Use.JSON) for one in items if isinstance(one, Parameter))
        case Step():
            binding = False
            for condition in node.filters:
                if binding and isinstance(condition, Parameter):
                    yield condition.at, Use.LATE_FILTER
                binding = binding or binds(condition)
