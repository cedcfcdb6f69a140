"""A batch of incoming documents: read, and judged one by one as if those before were in."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from operator import le
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from xscl.documents.document import Document, document_of
from xscl.documents.events import TypedEvents
from xscl.documents.retention import NO_LEAVES, DocumentShape
from xscl.documents.runs import Run
from xscl.errors import DocumentError
from xscl.times import DAY, NEVER, now, too_far
from xscl.xpath_stage import Witnesses

if TYPE_CHECKING:
    from xscl.documents.intake import Intake

__all__ = ["Arrivals", "Documents", "Identified"]

_NONE: Mapping[str, int] = {}
Columns = tuple[list[int], list[str], list[int], list[object]]
"""The numbers, ids, times and values of documents."""

_NO_COLUMNS: Columns = ([], [], [], [])
_NO_DOCUMENTS: Mapping[str, tuple[int, DocumentShape]] = {}


class Identified(Struct, frozen=True):
    """Documents of a stream that are retained for their ids only, since nothing but columns is read
    of them; whether they are still `asked` for as documents, as outputs are."""

    stream: str
    numbers: Sequence[int]
    ids: Sequence[str]
    times: Sequence[int]
    asked: bool

    def __len__(self) -> int:
        return len(self.numbers)

    def __iter__(self) -> Iterator[Document]:
        return iter(self.documents())

    def documents(self, since: float | None = None) -> list[Document]:
        """The documents, all or those from a time on."""
        columns = zip(self.numbers, self.ids, self.times, strict=True)
        stream = self.stream
        return [
            Document(number, stream, id, time, None, True)
            for number, id, time in columns
            if since is None or time >= since
        ]


Documents = Sequence[Document] | Identified


class Arrivals:
    """An incoming batch: documents with their shapes (None where no query reads their stream) and
    `witnesses`, errors and counts, judged one by one as if those before were in.

    Nothing of it counts before `Intake.admit`; until then it may be discarded.
    """

    def __init__(self, intake: Intake) -> None:
        self._intake = intake
        self.latest = intake.latest
        self.advanced = intake.advanced
        self.last_arrival = intake.last_arrival
        self._now = now()
        self.clocks: dict[str, int] = {}
        """By stream the latest time of its documents, but for those of a clock that is wrong."""
        self.parts: list[tuple[Documents, DocumentShape | None]] = []
        """In each part those of a shape, in order; one that has come in runs is a part."""
        self._of_shape: dict[DocumentShape | None, list[Document]] = {}
        self.count = 0
        self.evaluated: list[Document] = []
        """The documents of which more than events was read."""
        self.witnesses = Witnesses()
        self.events: list[TypedEvents] = []
        self.values: dict[str, list[Document]] = {}
        """By stream, JSON documents whose events are read when all are there."""
        self.errors: list[DocumentError] = []
        self.retractions: list[tuple[str, str]] = []
        """Documents that are taken back, by stream and id: there are no others in the batch."""
        self.arcs: dict[str, tuple[Any, float]] = {}
        """By name, the arcs that automata are to have, and from when on they differ."""
        self.promises: dict[str, int] = {}
        """Blocks, and the times before which no document comes in which they select something."""
        self.duplicate = self.late = 0
        self._added: defaultdict[str, dict[str, tuple[int, DocumentShape]]] = defaultdict(dict)
        self.runs: dict[str, Columns] = {}
        """By stream, the documents that came in runs."""
        self._seen: dict[str, int] = {}
        """How many documents of a stream were in `_added` then: most batches are one run."""

    def document(self, envelope: Mapping[str, object]) -> Document:
        """The document of the next envelope; raises DocumentError if it has none."""
        intake = self._intake
        # All documents of a batch are there when it is read: the clock is read once.
        following = self.last_arrival + 1
        self.last_arrival = self._now if self._now > following else following
        return document_of(envelope, self.next_number, self.last_arrival, intake.trees)

    @property
    def next_number(self) -> int:
        """The number of the next document."""
        return self._intake.next_number + self.count

    def advance(self, time: int, line: str) -> None:
        """Notes that nothing earlier will come; raises DocumentError for a time so far ahead of the
        clock that the control line must be wrong: all other documents would be late."""
        self._check_near(time, line)
        if self.advanced is None or time > self.advanced:
            self.advanced = time

    def promise(self, time: int, block: str, line: str) -> None:
        """Notes that nothing earlier will come in which a block selects something."""
        self._check_near(time, line)
        self.promises[block] = max(time, self.promises.get(block, time))

    def _check_near(self, time: int, line: str) -> None:
        if time > max(self._now, self.last_arrival) + DAY:
            raise DocumentError(f"`advance`: {too_far(time)}", stream="?", document=line)

    def retract(self, stream: str, id: str) -> None:
        """Notes that a document is taken back; raises DocumentError where none of its stream may
        be."""
        if stream not in self._intake.revisable:
            problem = "documents of this stream cannot be retracted, as it is not `revisable`"
            raise DocumentError(problem, stream=stream, document=id)
        self.retractions.append((stream, id))

    def count_if_refused(self, document: Document) -> bool:
        """Whether a document is late or a duplicate; these are counted."""
        return self._is_refused(document.stream, document.id, document.time)

    def _is_refused(self, stream: str, id: str, time: int) -> bool:
        intake = self._intake
        watermark = intake.watermark_at(self.latest, self.advanced)
        if watermark is not None and time < watermark:
            self.late += 1
            return True
        before = self._of(stream).get(id)
        if before is None:
            refused = intake.has(stream, id, watermark)
        else:
            refused = intake.retention.would_reach(*before, watermark)
        self.duplicate += refused
        return refused

    def judged(self, run: Run) -> Run:
        """The documents of a run that are neither late nor duplicates, with the times of all; the
        others are counted.  `add_run` adds the result."""
        many = len(run.ids)
        # All documents of a batch are there when it is read: the clock is read once.
        first = max(self._now, self.last_arrival + 1)
        self.last_arrival = first + many - 1
        if None in run.times:
            times = [first + at if time is None else time for at, time in enumerate(run.times)]
            run = run._replace(times=times)
        if many > 1 and self._all_new(run) and self._none_late(run.times, first + DAY):
            return run
        kept = []
        for place, (stream, id, time) in enumerate(zip(*run[:3], strict=True)):
            if not self._is_refused(stream, id, time):
                kept.append(place)
                self._follow(time, first + place + DAY)
                self._added[stream][id] = time, (stream, NO_LEAVES)
        return run if len(kept) == many else run.at(kept)

    def _all_new(self, run: Run) -> bool:
        """Whether documents certainly are no duplicates."""
        ids, streams = {*run.ids}, {*run.streams}
        if len(ids) < len(run.ids) and (
            len(streams) == 1 or len({*zip(run.streams, run.ids, strict=True)}) < len(run.ids)
        ):
            return False
        known = self._intake.ids
        # The keys of a mapping are looked up, not iterated over: they are all retained documents.
        return all(
            known.get(one, _NONE).keys().isdisjoint(ids) and self._of(one).keys().isdisjoint(ids)
            for one in streams
        )

    def _none_late(self, times: Sequence[int], farthest: int) -> bool:
        """Whether documents certainly are not late; if so, the latest time is updated by them."""
        lowest, highest = min(times), max(times)
        if highest > farthest:
            return False
        latest, at = self.latest, self._intake.watermark_at
        latest_after = highest if latest is None or highest > latest else latest
        after = at(latest_after, self.advanced)
        if after is not None and lowest < after:
            before = at(latest, self.advanced)
            if (before is not None and lowest < before) or not _ascend(times):
                return False
        self.latest = latest_after
        return True

    def _of(self, stream: str) -> Mapping[str, tuple[int, DocumentShape]]:
        """The documents of a stream that are in the batch, by id: their times and shapes."""
        if not self.runs:
            return self._added.get(stream, _NO_DOCUMENTS)
        _, ids, times, _ = self.runs.get(stream, _NO_COLUMNS)
        known = self._seen.get(stream, 0)
        if known < len(ids):
            shape = stream, NO_LEAVES
            coming = zip(ids[known:], times[known:], strict=True)
            self._added[stream].update((id, (time, shape)) for id, time in coming)
            self._seen[stream] = len(ids)
        return self._added.get(stream, _NO_DOCUMENTS)

    def add(self, document: Document, shape: DocumentShape | None) -> None:
        """Adds a document to the batch."""
        self._follow(document.time, self.last_arrival + DAY)
        self._see(document.stream, document.time)
        self.count += 1
        if shape is not None:
            added = self._added[document.stream]
            if document.id in added:
                # Of one id the last is the one that is retained.
                self._of_shape.clear()
            added[document.id] = document.time, shape
        alike = self._of_shape.get(shape)
        if alike is None:
            alike = self._of_shape[shape] = []
            self.parts.append((alike, shape))
        alike.append(document)
        if shape is not None and document.body is not None:
            self.evaluated.append(document)

    def add_run(self, run: Run) -> None:
        """Adds the `judged` documents of a run."""
        numbers = range(self.next_number, self.next_number + len(run.ids))
        self.count += len(run.ids)
        streams = {*run.streams}
        of = {one: self.runs.setdefault(one, ([], [], [], [])) for one in streams}
        if len(streams) == 1:
            ((of_numbers, of_ids, of_times, of_values),) = of.values()
            of_numbers += numbers
            of_ids += run.ids
            of_times += run.times
            of_values += run.values
            self._see(run.streams[0], max(run.times), run.times)
            return
        for stream, id, time, value, number in zip(*run, numbers, strict=True):
            of_numbers, of_ids, of_times, of_values = of[stream]
            of_numbers.append(number)
            of_ids.append(id)
            of_times.append(time)
            of_values.append(value)
            self._see(stream, time)

    def _see(self, stream: str, time: int, others: Sequence[int] = ()) -> None:
        """Lets the clock of a stream see a document, the latest of some."""
        farthest = self.last_arrival + DAY
        if time > farthest:
            time = max([one for one in others if one <= farthest], default=NEVER)
        if time > self.clocks.get(stream, NEVER):
            self.clocks[stream] = time

    def _follow(self, time: int, farthest: int) -> None:
        # A clock that is wrong by more than a day must not make all others late.
        if (self.latest is None or time > self.latest) and time <= farthest:
            self.latest = time


def _ascend(times: Sequence[int]) -> bool:
    return all(map(le, times, islice(times, 1, None)))
