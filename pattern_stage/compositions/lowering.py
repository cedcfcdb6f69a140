"""From plans of compositions to nodes of the algebra (docs/semantics.md#composites).

A chain is a tree of Sequences in the plan's order.  Off the left spine a node has the φ of its
steps alone; θ is a selection above the lowest node of the left spine that covers its step, and an
exception above the lowest that covers its operands.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any, Literal, NamedTuple

from xscl.pattern_stage.algebra import numbered
from xscl.pattern_stage.algebra.nodes import (
    Except,
    Node,
    Once,
    Repeat,
    Select,
    Sequence,
    Union,
    Variable,
)
from xscl.pattern_stage.algebra.nodes.sequence import LEFT, RIGHT
from xscl.pattern_stage.compositions.plan import (
    Bracket,
    Chain,
    Conjunct,
    Either,
    Event,
    Many,
    Plan,
    plans,
    variables,
)
from xscl.pattern_stage.values.terms import (
    Age,
    Column,
    Comparison,
    Constant,
    ForAll,
    Predicate,
    Range,
    Spread,
    Truth,
    rebuilt,
)

__all__ = ["Lowered", "lowered", "reach_of"]


class Lowered(NamedTuple):
    """The root of a plan, whose variables are numbered in the order of their events; its constants;
    the longest duration of a composite in microseconds, None where it has no end; and the plan's
    variables by these numbers."""

    root: Node
    constants: tuple[Any, ...]
    reach: int | None
    variables: tuple[str, ...]


def lowered(plan: Plan, constants: Iterable[Any]) -> Lowered:
    """The nodes of a plan whose conjuncts have these constants."""
    own = tuple(constants)
    places = tuple(sorted({place for _, _, place in _timed(plan)}))
    low = _of_lengths(plan, len(own), tuple([(at, own[at]) for at in places]))
    return low._replace(constants=own + low.constants)


@lru_cache(maxsize=10_000)
def _of_lengths(plan: Plan, count: int, lengths: tuple[tuple[int, int], ...]) -> Lowered:
    """The nodes of a plan of so many constants, of which these, by place, are durations; its
    constants are those beyond.  Queries that differ in the others have one."""
    constants: list[Any] = [None] * count
    for place, length in lengths:
        constants[place] = length
    one = _Lowering(constants)
    root, names = numbered(one.plan(plan, None))
    return Lowered(root, tuple(constants[count:]), reach_of(plan, constants), names)


def _timed(plan: Plan) -> Iterator[tuple[str, str, int]]:
    """The durations in a plan: two variables, and the place of the constant."""
    for one in plans(plan):
        match one:
            case Many(_, phi, theta):
                yield from _durations((*phi, *theta))
            case Chain(_, steps):
                for step in steps:
                    yield from _durations((*step.phi, *step.theta))


# How long a composite may last.


def reach_of(plan: Plan, constants: Iterable[Any]) -> int | None:
    """The longest duration of a composite that a match has, by `OCCURS WITHIN`."""
    values = [*constants]
    match plan:
        case Event():
            return None
        case Either(operands):
            some = [reach_of(one, values) for one in operands]
            return None if None in some else max(one or 0 for one in some)
        case Many():
            return _iteration_reach(plan, values)
        case Chain(operands):
            return _chain_reaches(plan, values)[len(operands) - 1]


def _iteration_reach(plan: Many, constants: list[Any]) -> int | None:
    """By a duration from the first event of each composite to the last one's end."""
    some = [
        length
        for one, other, length in _lengths((*plan.phi, *plan.theta), constants)
        if {one, other} >= {_first(plan.operand), _last(plan.operand)}
    ]
    return min(some, default=None)


def _chain_reaches(plan: Chain, constants: list[Any]) -> list[int | None]:
    """For each operand the longest time from the start of a composite to the operand's end."""
    operands = plan.operands
    of = {one: place for place, operand in enumerate(operands) for one in variables(operand)}
    reaches = list[int | None]([reach_of(operands[0], constants)])
    if isinstance(operands[0], Event):
        reaches = [None]
    for place, step in enumerate(plan.steps, 1):
        some = list[int]()
        for one, other, length in _lengths((*step.phi, *step.theta), constants):
            first, last = sorted((one, other), key=lambda name: of[name])
            if of[first] == of[last] or last != _last(operands[place]):
                continue
            if first == _first(operands[0]):
                some.append(length)
            elif (before := reaches[of[first]]) is not None:
                some.append(before + length)
        reaches.append(min(some, default=None))
    for place in reversed(range(len(reaches) - 1)):
        both = [one for one in reaches[place : place + 2] if one is not None]
        reaches[place] = min(both, default=None)
    return reaches


def _lengths(conjuncts: Iterable[Conjunct], constants: list[Any]) -> Iterator[tuple[str, str, int]]:
    for one, other, place in _durations(conjuncts):
        yield one, other, constants[place]


def _durations(conjuncts: Iterable[Conjunct]) -> Iterator[tuple[str, str, int]]:
    for conjunct in conjuncts:
        match conjunct.predicate:
            case Comparison("<=", Spread(one, other), Constant(place)):
                yield one, other, place


def _first(plan: Plan) -> str | None:
    """The variable of the first event of each composite."""
    match plan:
        case Event(variable):
            return variable
        case Either(operands):
            some = {_first(one) for one in operands}
            return some.pop() if len(some) == 1 else None
        case Many(operand):
            return _first(operand)
        case Chain(operands):
            return _first(operands[0])


def _last(plan: Plan) -> str | None:
    """The variable of the last event of each composite."""
    match plan:
        case Event(variable):
            return variable
        case Either(operands):
            some = {_last(one) for one in operands}
            return some.pop() if len(some) == 1 else None
        case Many(operand):
            return _last(operand)
        case Chain(operands):
            return _last(operands[-1])


# Nodes.


class _Lowering:
    def __init__(self, constants: list[Any]) -> None:
        self.constants = constants
        self._durations: dict[int, int] = {}

    def plan(self, plan: Plan, reach: int | None) -> Node:
        """The node of a plan, whose composites last no longer than `reach` where they can be of
        use."""
        match plan:
            case Event(variable, source, _, conditions):
                return _selected(conditions, frozenset([variable]), Variable(variable, source))
            case Either(operands, order, conditions):
                nodes = [self.plan(one, reach) for one in operands]
                return _selected(conditions, variables(plan), _united(order, nodes))
            case Many(operand, phi, theta):
                own = _least(reach, reach_of(plan, self.constants))
                one = self.plan(operand, own)
                both = tuple(_first_of(each) for each in (*phi, *theta))
                once = Once(_select(both, one))
                return Repeat(
                    (*(_of_iteration(each) for each in phi), *self.within(own)),
                    tuple(_of_iteration(each) for each in theta),
                    once,
                    one,
                )
            case Chain():
                return self.chain(plan, reach)

    def chain(self, plan: Chain, reach: int | None) -> Node:
        """The node of a chain."""
        reaches = [_least(reach, one) for one in _chain_reaches(plan, self.constants)]
        operands = [
            self.plan(one, longest) for one, longest in zip(plan.operands, reaches, strict=True)
        ]
        node, _, _ = self.part(plan, plan.order, operands, reaches, spine=True)
        return node

    def part(
        self, plan: Chain, order: Bracket, operands: list[Node], reaches: Any, *, spine: bool
    ) -> tuple[Node, int, int]:
        """The node of a part, and its first and last operand."""
        if isinstance(order, int):
            node, first, last, before = operands[order], order, order, order
        else:
            left, first, before = self.part(plan, order[0], operands, reaches, spine=spine)
            right, after, last = self.part(plan, order[1], operands, reaches, spine=False)
            mine = frozenset().union(*(variables(one) for one in plan.operands[after : last + 1]))
            phi = tuple(_between(one, mine) for one in plan.steps[after - 1].phi)
            condition = (*phi, *self.within(reaches[last]))
            node = Sequence(condition, False, left, right, True)
        if not spine:
            return node, first, last
        theta = tuple(
            _alone(one, variables(plan.operands[place]))
            for place in range(before + 1, last + 1)
            for one in plan.steps[place - 1].theta
        )
        node = _select(theta, node)
        for one in plan.exceptions:
            if (before + 1 < one.high or before == last) and one.high <= last + 1:
                forbidden = self.plan(one.forbidden, reaches[one.high - 1])
                own = variables(one.forbidden)
                condition = tuple(_between(each, own) for each in one.conditions)
                low = () if one.low == 0 else _path(order, one.low - 1)
                high = () if one.high == last + 1 else _path(order, one.high - 1)
                window = self.duration(reaches[last])
                node = Except(condition, low, high, window, node, forbidden)
        return node, first, last

    def within(self, reach: int | None) -> tuple[Predicate, ...]:
        """The condition by which an instance is dropped."""
        place = self.duration(reach)
        return (
            () if place is None else (Comparison("<=", Age(None), Constant(place, True), "number"),)
        )

    def duration(self, reach: int | None) -> int | None:
        """The place of a duration."""
        if reach is None:
            return None
        if reach not in self._durations:
            self._durations[reach] = len(self.constants)
            self.constants.append(reach)
        return self._durations[reach]


def _least(one: int | None, other: int | None) -> int | None:
    return min((each for each in (one, other) if each is not None), default=None)


def _united(order: Bracket, nodes: list[Node]) -> Node:
    if isinstance(order, int):
        return nodes[order]
    return Union(_united(order[0], nodes), _united(order[1], nodes))


def _path(order: Bracket, operand: int) -> tuple[int, ...]:
    """The places that lead to an operand in a composite."""
    path = list[int]()
    while not isinstance(order, int):
        left, right = order
        inside = operand in _operands(left)
        path.append(LEFT if inside else RIGHT)
        order = left if inside else right
    return tuple(path)


def _operands(order: Bracket) -> frozenset[int]:
    if isinstance(order, int):
        return frozenset([order])
    return _operands(order[0]) | _operands(order[1])


# Conjuncts where they stand.


def _select(condition: tuple[Predicate, ...], node: Node) -> Node:
    return Select(condition, node) if condition else node


def _selected(conjuncts: Iterable[Conjunct], own: frozenset[str], node: Node) -> Node:
    return _select(tuple(_alone(one, own) for one in conjuncts), node)


def _alone(conjunct: Conjunct, own: frozenset[str]) -> Predicate:
    """Over one composite, whose last operand has `own` variables."""

    def placed(term: object) -> object:
        if isinstance(term, Range):
            return _range(term, 0, "before" if _variable(term.name) in own else "last")
        return None

    return _predicate(conjunct, placed)


def _between(conjunct: Conjunct, own: frozenset[str]) -> Predicate:
    """Over a composite and one that follows, which has `own` variables."""

    def placed(term: object) -> object:
        match term:
            case Column(0, name):
                return Column(1 if _variable(name) in own else 0, name)
            case Range(_, name):
                if _variable(name) in own:
                    return _range(term, 1, "before")
                return _range(term, 0, "last")
        return None

    return _predicate(conjunct, placed)


def _of_iteration(conjunct: Conjunct) -> Predicate:
    """Over a chain and the event that would continue it: what is read of either is the last."""

    def placed(term: object) -> object:
        match term:
            case Column(0, name):
                return Column(3, name)
            case Range():
                return _range(term, 2, "last")
        return None

    return _predicate(conjunct, placed)


def _first_of(conjunct: Conjunct) -> Predicate:
    """Over the first event of a chain, before which there is none."""
    predicate: Predicate = rebuilt(
        conjunct.predicate, lambda term: Truth(True) if isinstance(term, ForAll) else None
    )
    return predicate


def _predicate(conjunct: Conjunct, placed: Any) -> Predicate:
    predicate: Predicate = rebuilt(conjunct.predicate, placed)
    return predicate


def _range(range_: Range, side: int, previous: Literal["last", "before"]) -> Range:
    return Range(side, range_.name, "all" if range_.which == "all" else previous)


def _variable(name: str) -> str:
    return name.partition("\x1f")[0]
