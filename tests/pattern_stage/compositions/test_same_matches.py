"""Plans that the rules make have the matches of the plan as it was, whatever the rates; and where
law N refuses brackets, these can differ."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.drawn import drawn
from tests.pattern_stage.compositions.plans import (
    above,
    chain,
    conjunct,
    either,
    event,
    field,
    same,
)
from xscl.pattern_stage.compositions.canonical import canonical
from xscl.pattern_stage.compositions.cost import Rates
from xscl.pattern_stage.compositions.plan import (
    Bracket,
    Chain,
    Conjunct,
    Exception_,
    Many,
    Plan,
    events,
    plans,
    variables,
)
from xscl.pattern_stage.compositions.planned import Composition
from xscl.pattern_stage.compositions.rules import RULES, SWITCHES, rewritten
from xscl.pattern_stage.compositions.tree import tree
from xscl.pattern_stage.plan.composites import CompositeStage
from xscl.pattern_stage.plan.stage import EventStage
from xscl.pattern_stage.values.terms import (
    STEP,
    Comparison,
    Constant,
    ForAll,
    Or,
    Range,
    Spread,
)
from xscl.pattern_stage.values.terms import Column as Read

Stream = list[tuple[int, int, int, dict[str, float]]]
"""Type, start, end and values."""


def found(plan: Plan, constants: tuple[Any, ...], stream: Stream) -> set[Any]:
    """The matches of a plan, each as its variables and the numbers of their events."""
    stage = CompositeStage(lambda layout: EventStage(layout=layout), without=SWITCHES)
    types = range(1 + max(one.type for one in events(plan)))
    stage.add_plan(0, Composition(plan, constants), types)
    several = list[Any]()
    for number, (type_, start, end, values) in enumerate(stream):
        row: list[Any] = [start, end, number]
        for slot in stage.slots(type_):
            assert slot is not None
            value = values.get(slot.attribute.steps[0])
            row.append(str(value) if slot.form.name == "TEXT" and value is not None else value)
        stage.take([(type_, tuple(row))])
        stage.advance(end)
        several += stage.found()
    stage.flush()
    several += stage.found()
    return {tuple((place, one[2]) for place, one in each.events) for each in several}


class Draw:
    """Draws a chain of events of types 0, 1, 2, whose variables are numbered in order."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.names = 0
        self.constants: list[Any] = []

    def event(self) -> Plan:
        self.names += 1
        return replace(event(self.random.randrange(3)), variable=str(self.names - 1))

    def operand(self) -> Plan:
        way = self.random.random()
        if way < 0.7:
            return self.event()
        if way < 0.8:
            one = self.random.choice([chain(self.event(), self.event()), self.event()])
            return either(one, self.event(), conditions=self.filters(one))
        if way < 0.9:
            some = either(self.event(), self.event(), self.event())
            return replace(some, conditions=self.filters(some))
        return Many(self.event(), theta=self.filters())

    def filters(self, plan: Plan | None = None) -> tuple[Conjunct, ...]:
        """Sometimes one of either of two variables."""
        if plan is None or self.random.random() < 0.5:
            return ()
        names = sorted(variables(plan)) * 2
        parts = tuple(above(f"{name}.x", self.constant(1.0)).predicate for name in names[:2])
        return (conjunct(Or(parts)),)

    def constant(self, value: Any) -> int:
        self.constants.append(value)
        return len(self.constants) - 1

    def conjuncts(self, before: list[str], own: list[str], many: int) -> tuple[Conjunct, ...]:
        some = list[Conjunct]()
        for _ in range(self.random.choice([0, 0, 1, many])):
            one, other = self.random.choice(before), self.random.choice(own)
            way = self.random.random()
            if way < 0.6:
                some.append(same(f"{one}.k", f"{other}.k"))
            elif way < 0.7:
                some.append(above(f"{other}.x", self.constant(self.random.choice([1.0, 2.0]))))
            elif way < 0.8:
                order = Comparison.of("<=", field(f"{one}.x"), field(f"{other}.x"))
                some.append(conjunct(order))
            elif way < 0.9:
                within = Comparison(
                    "<=", Spread(one, other), Constant(self.constant(6), True), "number"
                )
                both = frozenset((one, other))
                some.append(Conjunct(within, both, both, filters=True))
            else:
                name = f"{one}{STEP}x"
                range_ = Range(0, name, self.random.choice(["all", "last"]))
                of_all = ForAll((range_,), Comparison.of("<=", Read(4, name), field(f"{other}.x")))
                both = frozenset((one, other))
                some.append(Conjunct(of_all, both, frozenset([one]), filters=True))
        return tuple(some)

    def chain(self) -> Plan:
        operands = [self.operand() for _ in range(self.random.randint(2, 5))]
        names = [sorted(variables(one)) for one in operands]
        phi, theta = dict[int, Any](), dict[int, Any]()
        for place in range(1, len(operands)):
            before = [one for some in names[:place] for one in some]
            near = names[place - 1] if self.random.random() < 0.6 else before
            phi[place + 1] = self.conjuncts(near, names[place], 2)
            theta[place + 1] = self.conjuncts(before, names[place], self.random.randrange(2))
        exceptions = list[Exception_]()
        while self.random.random() < 0.35:
            high = self.random.randint(1, len(operands))
            low = self.random.randrange(high)
            forbidden = self.event()
            read = [one for some in names[:high] for one in some]
            conditions = self.conjuncts(read, sorted(variables(forbidden)), 1)
            some = tuple(one for one in conditions if not one.quantified)
            exceptions.append(Exception_(forbidden, low, high, some))
        return chain(*operands, phi=phi, theta=theta, exceptions=exceptions)


def drawn_stream(random: Random, count: int) -> Stream:
    """In order of their ends; some last, some end together."""
    made, now = Stream(), 10
    for _ in range(count):
        now += random.choice([0, 1, 1, 1, 2])
        start = now - random.choice([0, 0, 0, 1, 3])
        values = {"k": float(random.randrange(2)), "x": float(random.randrange(4))}
        if random.random() < 0.1:
            del values[random.choice("kx")]
        made.append((random.randrange(3), start, now, values))
    return made


RATES = (1.0, 2.0, 16.0, 128.0)


@drawn(400)
@given(st.integers(0, 1 << 32))
def test_rules_keep_the_matches(seed: int) -> None:
    random = Random(seed)
    draw = Draw(random)
    plan = draw.chain()
    stream = drawn_stream(random, random.choice([10, 20, 40]))
    constants = tuple(draw.constants)
    expected = found(plan, constants, stream)
    for without in ((), (random.choice(RULES).__name__,)):
        iterations = [canonical(tree(one)) for one in plans(plan) if isinstance(one, Many)]
        rates = Rates(
            {type_: random.choice(RATES) for type_ in range(3)},
            {form: random.choice(RATES) for form in iterations},
        )
        made = rewritten(plan, rates, without)
        if made.plan != plan:
            assert found(made.plan, constants, stream) == expected


def numbered(*types: int) -> list[Plan]:
    return [replace(event(type_), variable=str(place)) for place, type_ in enumerate(types)]


def matches(plan: Plan, *stream: tuple[int, int, float]) -> list[list[int]]:
    """The ends of events; `stream` has a type, a time and a key each."""
    several = found(plan, (), [(type_, at, at, {"k": key}) for type_, at, key in stream])
    return [[stream[number][1] for _, number in one] for one in several]


def test_what_law_n_refuses_would_find_others() -> None:
    inside: Bracket = (0, (1, 2))
    key = chain(*numbered(0, 1, 2), phi={3: (same("1.k", "2.k"),)})
    stream = (0, 0, 0.0), (1, 1, 1.0), (1, 2, 2.0), (2, 3, 2.0), (2, 4, 1.0)
    assert matches(key, *stream) == [[0, 1, 4]]
    assert matches(replace(key, order=inside), *stream) == [[0, 2, 3]]

    a, b, d, f, g, h = numbered(0, 1, 2, 3, 4, 5)
    lengths = chain(a, b, either(chain(d, f, g), h))
    stream = (0, 0, 0.0), (1, 2, 0.0), (2, 3, 0.0), (1, 4, 0.0), (3, 6, 0.0)
    stream = (*stream, (4, 8, 0.0), (5, 8, 0.0))
    assert matches(lengths, *stream) == [[0, 2, 3, 6, 8]]
    assert matches(replace(lengths, order=inside), *stream) == [[0, 4, 8]]
    for plan in (key, lengths):
        made = rewritten(plan, Rates({0: 128, 1: 1, 2: 128, 5: 128})).plan
        assert isinstance(made, Chain)
        assert made.order == plan.order
