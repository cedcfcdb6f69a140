"""Plans, constants and events drawn from a seed."""

from __future__ import annotations

from random import Random
from typing import Any

from xscl.pattern_stage.algebra.nodes import Iterate, Map, Node, Select, Sequence, Source, Union
from xscl.pattern_stage.values.terms import (
    Age,
    Arithmetic,
    Column,
    Comparison,
    Constant,
    Or,
    Predicate,
    Term,
)

__all__ = ["NAMES", "drawn_constants", "drawn_events", "drawn_plan", "tupled"]

NAMES = ("a", "b", "c")
TYPES = 3
_TURNED: dict[str, Any] = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


class _Drawn:
    def __init__(self, random: Random) -> None:
        self.random = random
        self.kinds: list[str] = []

    def constant(self, kind: str) -> Constant:
        self.kinds.append(kind)
        return Constant(len(self.kinds) - 1, True)

    def column(self, side: Any, node: Node) -> Column:
        return Column(side, self.random.choice(node.names))

    def atom(self, sides: dict[Any, Node], ages: list[int | None]) -> Predicate:
        one = self.comparison(sides, ages)
        if self.random.random() < 0.25:
            return Comparison(
                _TURNED.get(one.operator, one.operator), one.right, one.left, one.mode
            )
        return one

    def comparison(self, sides: dict[Any, Node], ages: list[int | None]) -> Comparison:
        choice = self.random.random()
        if ages and choice < 0.35:
            operator = self.random.choice(["<=", "<=", "<", ">="])
            return Comparison(operator, Age(ages[-1]), self.constant("age"), "number")  # type: ignore[arg-type]
        side = self.random.choice([*sides])
        left: Term = self.column(side, sides[side])
        if len(sides) > 1 and choice < 0.8:
            other = self.random.choice([one for one in sides if one != side])
            right: Term = self.column(other, sides[other])
            if self.random.random() < 0.2:
                right = Arithmetic("+", right, self.constant("value"))
        else:
            right = self.constant("value")
        operator = self.random.choice(["=", "=", "<", ">=", "!="])
        text = operator in ("=", "!=") and isinstance(right, Column) and choice < 0.6
        return Comparison(operator, left, right, "text" if text else "number")  # type: ignore[arg-type]

    def condition(self, sides: dict[Any, Node], ages: list[int | None]) -> tuple[Predicate, ...]:
        atoms = [self.atom(sides, ages) for _ in range(self.random.choice([0, 1, 1, 2]))]
        if len(atoms) == 2 and self.random.random() < 0.2:
            return (Or(tuple(atoms)),)
        return tuple(atoms)

    def node(self, depth: int) -> Node:
        kind = self.random.choice(["select", "map", "union", "next", "next", "fold", "fold"])
        if depth <= 0:
            source: Node = Source(self.random.randrange(2), NAMES)
            if self.random.random() < 0.5:
                source = Select(
                    (Comparison("=", Column(0, "a"), self.constant("value"), "number"),), source
                )
            return source
        if kind == "select":
            inner = self.node(depth - 1)
            return Select(self.condition({0: inner}, [0]), inner)
        if kind == "map":
            inner = self.node(depth - 1)
            names = [name for name in inner.names if name in NAMES] or [*inner.names]
            items: list[tuple[str, Term]] = [(name, Column(0, name)) for name in names]
            if self.random.random() < 0.5:
                items[-1] = names[-1], Arithmetic("+", Column(0, names[0]), self.constant("value"))
            return Map(False, tuple(items), inner)
        left, right = self.node(depth - 1), self.node(self.random.choice([0, 0, depth - 1]))
        if kind == "union":
            return Union(_only(left), _only(right))
        if kind == "next":
            left, right = _only(left), _only(right)
            condition = self.condition({0: left, 1: right}, [None])
            return Sequence(condition, True, left, right)
        left, right = _only(left), _only(right)
        sides: dict[Any, Node] = {0: left, 1: right, 2: left}
        theta = self.condition(sides, [None])
        rho = self.condition(sides, [None]) if self.random.random() < 0.6 else ()
        return Iterate(theta, rho, (), NAMES, (), NAMES, left, right)


def _only(node: Node) -> Node:
    """A node that lists NAMES alone."""
    if node.names == NAMES:
        return node
    known = [*node.names]
    return Map(
        False, tuple((name, Column(0, name if name in known else known[0])) for name in NAMES), node
    )


def drawn_plan(random: Random) -> tuple[Node, list[str]]:
    """A plan, and of which kind its constants are."""
    drawn = _Drawn(random)
    node = drawn.node(random.choice([1, 2, 2, 3]))
    return node, drawn.kinds


def drawn_constants(
    random: Random, kinds: list[str], like: tuple[Any, ...] | None = None
) -> tuple[Any, ...]:
    """Constants of a query; `like` those of another but for ages."""
    values = like or tuple(float(random.randrange(3)) for _ in kinds)
    ages = random.choice([5, 30])
    return tuple(
        random.randrange(1, ages) if kind == "age" else value
        for kind, value in zip(kinds, values, strict=True)
    )


def drawn_events(
    random: Random, count: int, *, twins: bool
) -> list[tuple[int, int, int, int, dict[str, float]]]:
    """(type, start, end, number, attributes), in the order in which they come; with `twins` some
    of type 0 come as type 1, too."""
    found: list[Any] = []
    # Few end together, or many.
    ends = random.choice([2 * count, count // 2 + 1])
    for _ in range(count):
        end = random.randrange(ends)
        start = max(0, end - random.choice([0, 0, 0, 0, 1, 3]))
        values = {name: float(random.randrange(3)) for name in NAMES if random.random() < 0.95}
        type_ = random.choice([0, 0, 1, 1, 2])
        found.append((type_, start, end, len(found), values))
        if twins and not type_ and random.random() < 0.8:
            found.append((1, start, end, len(found), values))
    return found


def tupled(
    drawn: tuple[int, int, int, int, dict[str, float]], slots: Any
) -> tuple[int, tuple[Any, ...]]:
    """An event as the stage takes it."""
    type_, start, end, number, values = drawn
    row: list[Any] = [start, end, number]
    for slot in slots:
        value: Any = values.get(slot.attribute.steps[0])
        if value is not None and slot.form.name == "TEXT":
            # Equal numbers are not always equal texts.
            value = f"{value:.{end % 2}f}"
        row.append(value)
    return type_, tuple(row)
