"""How many events come through each operator of an event query: of each block, each FILTER, and of
NEXT and FOLD the pairs, by order and by condition, equalities first; then what they make.

What an operator makes is what its part of the plan makes of the events; the pairs are counted here:
by times and equal values without enumerating them, the other conditions for so many at most.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from xscl.dissection.parts import Dissection
from xscl.documents.columns import attributes_of, values_in
from xscl.documents.document import Document
from xscl.errors import XSCLError
from xscl.event_queries.compile import CompiledEvents, Step
from xscl.language.syntax import Block, EventCondition, Filtered, Fold, Next, Query
from xscl.language.unparse import Wording
from xscl.pattern_stage.algebra import published
from xscl.pattern_stage.algebra.functions import as_number, as_text, entry
from xscl.pattern_stage.algebra.nodes import Aggregate, Iterate, Select
from xscl.pattern_stage.algebra.nodes import Sequence as Following
from xscl.pattern_stage.layouts import TypedEvent
from xscl.pattern_stage.plan.kinds.conditions import joins
from xscl.pattern_stage.plan.stage import EventStage
from xscl.pattern_stage.values.terms import EVERYTHING, NULL, Form, Slot, Term
from xscl.stream_names import is_internal
from xscl.times import to_seconds
from xscl.why.blocks import JudgedBlock
from xscl.why.events.conditions import texts_of
from xscl.why.events.makes import Made, Running, sight_of, sight_of_two
from xscl.why.events.values import Sight
from xscl.why.findings import Kind, Tally
from xscl.why.funnel import block_tallies
from xscl.why.patterns import pattern_of
from xscl.why.report import Funnel

__all__ = ["funnel_of_events"]

_MOST = 100_000
"""So many pairs are looked at."""


def funnel_of_events(dissection: Dissection, documents: Iterable[Document]) -> Funnel:
    """Counts what comes through each operator of an event query.  Raises XSCLError where it reads
    the results of a sub-query in another language."""
    counting = _Counting(dissection, sorted(documents, key=lambda document: document.time))
    tallies = (*counting.tallies(counting.compiled.step),)
    made = counting.made(counting.compiled.step)
    return Funnel(dissection.query.name, len(counting.documents), tallies, len(made))


class _Counting:
    """A query, the documents in order of time, and the events of its blocks."""

    def __init__(self, dissection: Dissection, documents: Sequence[Document]) -> None:
        compiled = dissection.compiled
        assert isinstance(compiled, CompiledEvents)
        self.compiled, self.documents = compiled, documents
        self.wording = Wording(dissection.query.text)
        self.blocks = 0
        self.of_block: dict[int, list[Made]] = {}
        """By the place of a source."""
        self.known: dict[int, list[Made]] = {}

    def tallies(self, step: Step) -> Iterator[Tally]:
        """The tallies of an operator, after those of its inputs."""
        if isinstance(step.part, Block):
            yield from self.typed(step, step.part)
            return
        if not step.inputs:
            raise XSCLError(
                "a sub-query in another language is not counted here: give it a name and a stream "
                "of its own, and ask for it"
            )
        for one in step.inputs:
            yield from self.tallies(one)
        match step.part:
            case Filtered(condition) if isinstance(step.node, Select):
                yield from self.filtered(step, condition)
            case Next(condition=condition):
                yield from self.paired(step, condition, "NEXT")
            case Fold(condition=condition):
                yield from self.paired(step, condition, "FOLD")
            case Query() if isinstance(step.node, Aggregate):
                yield Tally("documents", None, "aggregates of groups", len(self.made(step)))

    def typed(self, step: Step, block: Block) -> Iterator[Tally]:
        """The tallies of a block, and its events."""
        if is_internal(block.stream.text):
            return
        self.blocks += 1
        pattern = pattern_of(self.blocks, block, self.wording)
        names = None if step.schema.open else step.schema.listed
        found = list[Made]()

        def came(document: Document, judged: JudgedBlock) -> None:
            assert judged.tree is not None
            elements = {one: number for number, one in enumerate(judged.tree.elements)}
            value_of = values_in(document, elements)
            start = document.time if document.start is None else document.start
            for node, bound in judged.events():
                values = attributes_of(node, bound, value_of)
                values |= {"document()": document.id, "timestamp()": to_seconds(document.time)}
                if names is not None:
                    values = {name: values[name] for name in names if name in values}
                found.append(Made(start, document.time, values, document.id))

        read = [one for one in self.documents if one.stream == block.stream.text]
        yield from block_tallies(pattern, read, self.wording, came)
        self.of_block[step.node.type] = found  # type: ignore[attr-defined]

    def filtered(self, step: Step, condition: EventCondition | None) -> Iterator[Tally]:
        """The tallies of FILTER."""
        assert isinstance(step.node, Select)
        made = self.made(step.inputs[0])
        sights = [sight_of(one, self.compiled.constants) for one in made]
        holds = [[sight.holds(one) for one in step.node.condition] for sight in sights]
        block = self.blocks if isinstance(step.inputs[0].part, Block) else None
        kind: Kind = "comparison" if block is None else "filter"
        for place, text in enumerate(texts_of(condition)):
            passed = sum(all(one[: place + 1]) for one in holds)
            alone = sum(not one[place] and one.count(False) == 1 for one in holds)
            yield Tally(kind, block, text, passed, alone=alone)

    # Two inputs.

    def paired(self, step: Step, condition: EventCondition | None, word: str) -> Iterator[Tally]:
        """The tallies of the pairs of NEXT, or of the first events that FOLD takes."""
        node, (left, right) = step.node, map(self.made, step.inputs)
        assert isinstance(node, Following | Iterate)
        texts = dict(zip(node.condition, texts_of(condition), strict=True))
        equal, rest = joins(node.condition)
        of_equal = [one for one in node.condition if one not in rest]
        text = f"{word}: left before right"
        pairs = _Pairs(left, right, [], self.sight(node))
        yield Tally("time", None, text, len(pairs), pairs=True)
        for number, one in enumerate(of_equal, 1):
            sides = [(same.one, same.other, same.number) for same in equal[:number]]
            pairs = _Pairs(left, right, sides, self.sight(node))
            yield Tally("comparison", None, texts[one], len(pairs), pairs=True)
        some = [*islice(pairs, _MOST)]
        capped = len(pairs) > _MOST
        for conjunct in rest:
            some = [pair for pair in some if pairs.sight(*pair).holds(conjunct)]
            yield Tally("comparison", None, texts[conjunct], len(some), capped, pairs=True)
        yield Tally("documents", None, f"what {word} makes", len(self.made(step)))

    def sight(self, node: Following | Iterate) -> Any:
        """What a condition sees of a left event and a right one."""

        def of(left: Made, right: Made) -> Sight:
            if isinstance(node, Iterate):
                return Running.of(node, left).sight(right, self.compiled.constants)
            return sight_of_two(left, right, self.compiled.constants)

        return of

    # What there is.

    def made(self, step: Step) -> list[Made]:
        """The events that an operator makes of those of the blocks."""
        if isinstance(step.part, Block) and not is_internal(step.part.stream.text):
            return self.of_block[step.node.type]  # type: ignore[attr-defined]
        if id(step) not in self.known:
            stage = EventStage()
            constants: Any = self.compiled.constants
            stage.add(1, step.node, range(len(self.compiled.blocks)), constants)
            coming = list[TypedEvent]()
            for kind, events in self.of_block.items():
                slots = stage.slots(kind)
                for event in events:
                    values = [_value(event, slot) for slot in slots]
                    coming.append((kind, (event.start, event.end, len(coming), *values)))
            stage.take(coming)
            stage.flush()
            self.known[id(step)] = [
                Made(one.start, one.time, one.attributes, "") for one in stage.found()
            ]
        return self.known[id(step)]


class _Pairs:
    """The pairs of left and right events that are in order, and equal on some sides; `len` does not
    enumerate them."""

    def __init__(
        self,
        left: Sequence[Made],
        right: Sequence[Made],
        equal: Sequence[tuple[Term, Term, bool]],
        sight: Any,
    ) -> None:
        self.sight = sight
        by: defaultdict[Hashable, list[Made]] = defaultdict(list)
        some = sorted(right, key=_start)
        for one in some:
            key = self._key(equal, left[0] if left else one, one, 1)
            if key is not None:
                by[key].append(one)
        self._groups = [
            (one, by.get(key, []))
            if (key := self._key(equal, one, one, 0)) is not None
            else (one, [])
            for one in left
        ]

    def _key(
        self, equal: Sequence[tuple[Term, Term, bool]], left: Made, right: Made, side: int
    ) -> Hashable:
        sight, found = self.sight(left, right), list[object]()
        for sides in equal:
            value = sight.number(sides[side]) if sides[2] else sight.text(sides[side])
            if value is None or value != value:
                return None
            found.append(value)
        return tuple(found)

    def __len__(self) -> int:
        return sum(
            len(some) - bisect_right(some, one.end, key=_start) for one, some in self._groups
        )

    def __iter__(self) -> Iterator[tuple[Made, Made]]:
        for one, some in self._groups:
            for other in some[bisect_right(some, one.end, key=_start) :]:
                yield one, other


def _value(event: Made, slot: Slot | None) -> object:
    """The value of a slot, as it is read of a document."""
    if slot is None:
        return None
    if slot == EVERYTHING:
        return published(event.attributes)
    attribute = slot.attribute
    name = attribute.steps[0] if attribute.own is None else f"{attribute.own}()"
    value = event.attributes.get(name)
    if value is None and name not in event.attributes:
        return None
    value = NULL if value is None else entry(value)
    if slot.form is Form.VALUE:
        return value
    return as_number(value) if slot.form is Form.NUMBER else as_text(value)


def _start(event: Made) -> int:
    return event.start
