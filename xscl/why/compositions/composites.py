"""The events that documents are to a composition, the composites that they make, and what
conditions see of these (docs/semantics.md#composites)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, product
from typing import Any

from xscl.dissection.parts import Dissection
from xscl.documents.document import Document
from xscl.language.eql.unparse import condition
from xscl.language.syntax import Block
from xscl.language.unparse import Wording
from xscl.pattern_stage.compositions.plan import (
    Chain,
    Conjunct,
    Either,
    Event,
    Many,
    Plan,
    events,
)
from xscl.pattern_stage.compositions.planned import Composition
from xscl.pattern_stage.compositions.rules import SWITCHES
from xscl.pattern_stage.layouts import TypedEvent
from xscl.pattern_stage.plan.composites import CompositeStage
from xscl.pattern_stage.plan.stage import EventStage
from xscl.pattern_stage.values.interpreter import Interpreter
from xscl.pattern_stage.values.terms import (
    MISSING,
    RANGES,
    STEP,
    Attribute,
    Column,
    ForAll,
    Leaf,
    Range,
    Spread,
)
from xscl.patterns.compile_composition import CompiledComposition
from xscl.why.blocks import judge_events
from xscl.why.findings import Finding
from xscl.why.sequences.funnel import value_of
from xscl.why.sequences.taken import Event as TakenEvent

__all__ = ["Composite", "Composites", "Sight", "Taken", "history"]


@dataclass(frozen=True, slots=True)
class Taken(TakenEvent):
    """An event of a composite; its component is the place of its variable."""

    start: int = 0


Composite = tuple[Taken, ...]
"""In order of time."""


def history(composite: Composite) -> tuple[float, ...]:
    """The key of the order ⊏."""
    return (*chain.from_iterable((one.time, one.start) for one in composite[::-1]), float("inf"))


class Composites:
    """A composition over some documents."""

    def __init__(self, dissection: Dissection, documents: Iterable[Document]) -> None:
        compiled = dissection.compiled
        assert isinstance(compiled, CompiledComposition)
        self.compiled = compiled
        self.wording = Wording(dissection.query.text)
        self.documents = sorted(documents, key=lambda one: one.time)
        self.blocks: list[tuple[int, Block]] = [
            (place, block) for place, blocks in enumerate(compiled.blocks) for block in blocks
        ]
        """By type, with the place of the variable."""
        self._events: dict[int, list[Taken]] = {}
        self._found: dict[Plan, list[Composite]] = {}

    def name(self, plan: Plan) -> str:
        """The normal form of a part, by its variables."""
        match plan:
            case Event(variable):
                return self.compiled.names[int(variable)]
            case Many(operand):
                return f"{self._nested(operand)}+"
            case Either(operands):
                return " | ".join(map(self._nested, operands))
            case Chain(operands):
                return "; ".join(map(self._nested, operands))

    def _nested(self, plan: Plan) -> str:
        text = self.name(plan)
        return text if isinstance(plan, Event | Many) else f"({text})"

    def text(self, conjunct: Conjunct) -> str:
        """A conjunct as it was written."""
        text = condition(self.compiled.written[conjunct.place])
        return f"FILTER({text})" if conjunct.filters else text

    def holds(
        self, conjunct: Conjunct, before: Composite, coming: Composite, *, iterates: bool = False
    ) -> bool:
        """Whether a conjunct holds of a composite and what comes after it."""
        return self.sight(before, coming, iterates=iterates).holds(conjunct.predicate)

    def sight(self, before: Composite, coming: Composite, *, iterates: bool = False) -> Sight:
        """What a conjunct sees of these."""
        return Sight(self.compiled.composition.constants, before, coming, iterates=iterates)

    def judged(
        self, type_: int, number: int, document: Document
    ) -> tuple[list[Finding], list[Taken]]:
        """The findings of the block of a type on a document, and the events that it selects."""
        place, block = self.blocks[type_]
        findings, seen = judge_events(number, block, self.wording, document)
        time = document.time
        start = time if document.start is None else document.start
        return findings, [
            Taken(place, document.id, time, *one, start) for one in (seen.events() if seen else ())
        ]

    def events(self, type_: int) -> list[Taken]:
        """The events of a type."""
        if type_ not in self._events:
            stream = self.blocks[type_][1].stream.text
            some = [one for one in self.documents if one.stream == stream]
            self._events[type_] = [each for one in some for each in self.judged(type_, 0, one)[1]]
        return self._events[type_]

    def of(self, plan: Plan) -> list[Composite]:
        """The composites of a part of the normal form, by the pattern stage, without any rule."""
        if plan not in self._found:
            stage = CompositeStage(lambda layout: EventStage(layout=layout), without=SWITCHES)
            constants = self.compiled.composition.constants
            stage.add_plan(1, Composition(plan, constants), range(len(self.blocks)))
            coming = list[TypedEvent]()
            known = list[Taken]()
            for type_ in dict.fromkeys(one.type for one in events(plan)):
                slots = stage.slots(type_)
                for event in self.events(type_):
                    values = [value_of(event, slot) for slot in slots]
                    coming.append((type_, (event.start, event.time, len(known), *values)))
                    known.append(event)
            stage.take(coming)
            stage.flush()
            self._found[plan] = [
                tuple(_as(known[each[2]], place) for place, each in one.events)
                for one in stage.found()
            ]
        return self._found[plan]


def _as(event: Taken, place: int) -> Taken:
    """An event as that of a variable."""
    if event.component == place:
        return event
    return Taken(place, event.document, event.time, event.output, event.bound, event.start)


class Sight(Interpreter):
    """What conjuncts see of a composite and what comes after it: of a variable the last event of
    what comes, else of the composite; PREV and ALL of the composite, unless only what comes has the
    variable and it does not repeat what was before."""

    def __init__(
        self,
        constants: Sequence[Any],
        before: Composite,
        coming: Composite,
        *,
        iterates: bool = False,
    ) -> None:
        self.constants, self.before, self.coming = constants, before, coming
        self.iterates = iterates
        self._bound: Mapping[int, Taken] = {}

    def leaf(self, leaf: Leaf) -> object:
        match leaf:
            case Column(side, name) if side >= RANGES:
                return _read(self._bound[side], name)
            case Column(_, name):
                some = self._of(name, self.coming) or self._of(name, self.before)
                return _read(some[-1], name) if some else MISSING
            case Spread(one, other):
                every = (*self.before, *self.coming)
                first, second = (self._of(name, every) for name in (one, other))
                if not first or not second:
                    return MISSING
                both = first + second
                return max(each.time for each in both) - min(each.start for each in both)
        raise TypeError(leaf)

    def for_all(self, one: ForAll) -> bool:
        """Whether the part holds for all events of the ranges."""
        outer = self._bound
        for some in product(*map(self._range, one.ranges)):
            self._bound = {**outer, **{RANGES + place: each for place, each in enumerate(some)}}
            if not self.holds(one.part):
                self._bound = outer
                return False
        self._bound = outer
        return True

    def _range(self, range_: Range) -> list[Taken]:
        coming = self._of(range_.name, self.coming)
        inside = bool(coming) and not self.iterates
        some = coming if inside else self._of(range_.name, self.before)
        if range_.which == "all":
            return some
        return some[-2:-1] if inside else some[-1:]

    def _of(self, name: str, events: Sequence[Taken]) -> list[Taken]:
        place = int(name.partition(STEP)[0])
        return [one for one in events if one.component == place]


def _read(event: Taken, name: str) -> object:
    value = event.read(Attribute.named(name.partition(STEP)[2]))
    return MISSING if value is None else value
