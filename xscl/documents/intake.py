"""Incoming and outgoing documents: late ones and duplicates are refused, the others retained while
a query can reach them.

Section 4 of the language: documents may arrive out of time order; the watermark is the latest
timestamp seen minus the lateness, later documents are skipped, and a document is retained exactly
while a query can reach it from the watermark, alone or as a member of a composite.
"""

from __future__ import annotations

import weakref
from collections import ChainMap, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from operator import attrgetter
from typing import Protocol

from xscl.documents.arrivals import Arrivals, Documents, Identified
from xscl.documents.bodies import Bodies
from xscl.documents.composites import Composite, DerivedStream, OperatorRow
from xscl.documents.document import Document, document_of, from_file
from xscl.documents.retention import DocumentShape, Retention
from xscl.documents.revisable import NONE_REVISABLE, Revisable
from xscl.documents.trees import Trees
from xscl.times import NEVER, now

__all__ = ["Intake", "Skipped"]


class Reader(Protocol):
    """An object that has numbers of retained documents, or of queries, and looks them up on
    demand."""

    def keep(self, *, queries: bool) -> bool:
        """Copies the documents themselves, since some are about to be dropped, and with `queries`
        the queries; returns whether it still has numbers of queries."""


_NONE: Mapping[str, int] = {}
_NUMBER = attrgetter("number")


@dataclass(slots=True)
class Skipped:
    """How many documents were skipped, by reason."""

    malformed: int = 0
    duplicate: int = 0
    late: int = 0
    unknown: int = 0
    """Retractions of documents that are not there; a retraction that comes too late is `late`."""

    @property
    def total(self) -> int:
        """All of them."""
        return self.malformed + self.duplicate + self.late + self.unknown


@dataclass(slots=True)
class Intake:
    """The documents that an engine retains, and the time that they have reached.

    `lateness` is in microseconds, None for no bound.  Documents and composites are numbered
    together, in order of arrival.
    """

    lateness: int | None
    retention: Retention
    retained: dict[int, Document] = field(default_factory=dict)
    composites: dict[int, Composite] = field(default_factory=dict)
    skipped: Skipped = field(default_factory=Skipped)
    next_number: int = 0
    documents: int = 0
    latest: int | None = None
    advanced: int | None = None
    """The time up to which a control line has promised that all is there."""
    flushed: int = 0
    """The number of the next document at the last reported end of the input."""
    bodies: Bodies = field(default_factory=Bodies)
    trees: Trees = field(default_factory=Trees)
    last_arrival: int = 0
    revisable: Revisable = NONE_REVISABLE
    withdrawn: dict[int, Document] = field(default_factory=dict)
    """Documents that are retracted, until nothing names them any more."""
    freed: set[int] = field(default_factory=set)
    """Documents that are retained, and whose ids are free all the same."""
    clocks: dict[str, int] = field(default_factory=dict)
    """The newest time of a document of each stream."""
    promises: dict[str, int] = field(default_factory=dict)
    """Blocks, and the times after the watermark before which no document comes in which they select
    something."""
    settled: bool = True
    """Whether nothing has come or gone since unreachable documents were dropped."""
    _overdue: bool = False
    lateness_before: int | None = None
    """The lateness of the last step, while there has been none with that of now (`unstepped`)."""
    unstepped: bool = False
    steps: int = 0
    """How many steps there have been."""
    dropped: list[int] | None = None
    """The dropped documents, for a reader that notes them."""
    _readers: list[weakref.ref[Reader]] = field(default_factory=list)
    ids: defaultdict[str, dict[str, int]] = field(default_factory=lambda: defaultdict(dict))
    _derived: dict[int, DerivedStream] = field(default_factory=dict)
    _composites_of: dict[int, set[int]] = field(default_factory=dict)
    _lingering: set[int] = field(default_factory=set)
    _gone: list[int] = field(default_factory=list)
    _since_evicting: int = 0

    def document(self, envelope: Mapping[str, object]) -> Document:
        """The document of an envelope that is not published; raises DocumentError."""
        document = document_of(envelope, self.next_number, _after(self.last_arrival))
        return from_file(document, self.bodies)

    def arrivals(self) -> Arrivals:
        """An incoming batch, still without documents."""
        return Arrivals(self)

    @property
    def held(self) -> Mapping[int, Document]:
        """The documents by number: those retained, and of those retracted the ones that something
        may still name."""
        return ChainMap(self.retained, self.withdrawn) if self.withdrawn else self.retained

    @property
    def changed(self) -> bool:
        """Whether something was dropped since `evict` returned numbers."""
        return bool(self._gone)

    @property
    def watermark(self) -> int | None:
        """The time before which documents are late; None while nothing is ever late."""
        return self.watermark_at(self.latest, self.advanced)

    def watermark_at(self, latest: int | None, advanced: int | None) -> int | None:
        """The watermark for this latest timestamp and this `advanced` time."""
        if self.lateness is None or latest is None:
            return advanced
        mark = latest - self.lateness
        return mark if advanced is None or mark > advanced else advanced

    def follow(self, lateness: int | None, *, falls: bool) -> None:
        """Changes the lateness.  The watermark `falls` with it only if nothing relies on the
        promised watermark; patterns do, as they have reported what was known by then."""
        promised = self.watermark
        if lateness != self.lateness and not self.unstepped:
            self.unstepped, self.lateness_before = True, self.lateness
        self.lateness = lateness
        if not falls and promised is not None and promised != self.watermark:
            self.advanced = promised
        mark = self.watermark
        if mark is not None and (promised is None or mark > promised):
            # The next step reports what was pending until here, with these documents.
            self._overdue = True

    def count_if_duplicate(self, document: Document) -> bool:
        """Whether a result is a duplicate of a retained one; these are counted."""
        if not self.has(document.stream, document.id, self.watermark):
            return False
        self.skipped.duplicate += 1
        return True

    def has(self, stream: str, id: str, watermark: int | None) -> bool:
        """Whether a document of a stream and id is retained and in reach of a watermark."""
        number = self.ids.get(stream, _NONE).get(id)
        return number is not None and self._is_reachable(number, watermark)

    def named(self, id: str) -> list[Document]:
        """The documents of an id that are `readable`, one for each stream that has any."""
        numbers = [ids[id] for ids in self.ids.values() if id in ids]
        return [*self._readable(map(self.retained.__getitem__, sorted(numbers)))]

    @property
    def readable(self) -> Iterator[Document]:
        """The documents that are retained, and not for their ids only; without those that no query
        can reach any more, even if they are dropped later."""
        return self._readable(self.retained.values())

    def _readable(self, some: Iterable[Document]) -> Iterator[Document]:
        mark = self.watermark
        return (
            one for one in some if one.body is not None and self._is_reachable(one.number, mark)
        )

    def admit(self, arrivals: Arrivals) -> None:
        """Adds a batch that was read whole: its clock, its counts, and its documents, which are
        retained where their stream is read."""
        self.latest, self.last_arrival = arrivals.latest, arrivals.last_arrival
        if arrivals.advanced != self.advanced:
            self.advanced, self.settled = arrivals.advanced, False
        if arrivals.promises:
            self._promise(arrivals.promises)
        if arrivals.errors or arrivals.duplicate or arrivals.late:
            self.skipped.malformed += len(arrivals.errors)
            self.skipped.duplicate += arrivals.duplicate
            self.skipped.late += arrivals.late
        if arrivals.count:
            self.documents += arrivals.count
            self.next_number += arrivals.count
            self.settled = False
            parts = [self._retain_part(*part) for part in arrivals.parts]
            coming = parts[0] if len(parts) == 1 else sorted(chain(*parts), key=_NUMBER)
            self.retained.update([(one.number, one) for one in coming])
            self._follow(arrivals)

    def _follow(self, arrivals: Arrivals) -> None:
        """Lets the clocks of streams see a batch."""
        clocks = self.clocks
        for stream, time in arrivals.clocks.items():
            if time > clocks.get(stream, NEVER):
                clocks[stream] = time

    def _retain_part(self, some: Documents, shape: DocumentShape | None) -> Sequence[Document]:
        """The documents of a shape to retain that were not retained before.  Of those for their ids
        only, unreachable ones are left out, unless they are needed."""
        if shape is None:
            return ()
        if isinstance(some, Identified):
            since = None if some.asked else self.retention.since(shape, self.watermark)
            some = some.documents(since)
        self._since_evicting += len(some)
        if len(some) == 1:
            (one,) = some
            self.ids[one.stream][one.id] = one.number
            self.retention.retain(one.number, one.time, shape)
        elif some:
            numbers = [one.number for one in some]
            self.ids[shape[0]].update(zip([one.id for one in some], numbers, strict=True))
            self.retention.retain_many(numbers, [one.time for one in some], shape)
        return some

    def admit_result(self, document: Document, shape: DocumentShape) -> None:
        """Adds the result document of a match: it is never late, and moves no time."""
        self.next_number += 1
        self.see(document.stream, document.time)
        self.retain(document, shape)

    def see(self, stream: str, time: int) -> None:
        """Lets the clock of a stream see the time of a result, which is published to it."""
        self.clocks[stream] = max(time, self.clocks.get(stream, NEVER))

    def retain(self, document: Document, shape: DocumentShape) -> None:
        """Retains a document; one that is retained already changes its shape."""
        self._since_evicting += 1
        if document.number not in self.freed:
            self.ids[document.stream][document.id] = document.number
        self.retained[document.number] = document
        self._lingering.discard(document.number)
        self.retention.retain(document.number, document.time, shape)

    def _promise(self, promises: Mapping[str, int]) -> None:
        """Adds promises to those that say more than the watermark."""
        for block, time in promises.items():
            self.promises[block] = max(time, self.promises.get(block, time))
        mark = self.watermark
        if mark is not None:
            self.promises = {block: time for block, time in self.promises.items() if time > mark}

    def retracted(self, stream: str, id: str) -> Document | None:
        """The document that a retraction is of; None, which is counted, where none of that id is
        there, or one that the watermark has reached."""
        number = self.ids.get(stream, _NONE).get(id)
        mark = self.watermark
        if number is None or not self._is_reachable(number, mark):
            self.skipped.unknown += 1
            return None
        document = self.retained[number]
        if mark is not None and document.time <= mark:
            self.skipped.late += 1
            return None
        return document

    def withdraw(self, document: Document) -> None:
        """Drops a document as if it had never come, with the composites that it is a member of;
        `evict` returns the numbers."""
        self.let_readers_copy(queries=False)
        for number in [*self._composites_of.get(document.number, ())]:
            self.retention.withdraw(number)
            self._dissolve(self.composites.pop(number))
        self.retention.withdraw(document.number)
        if document.number in self.retained:
            self._drop(document.number)
            self.withdrawn[document.number] = document

    def free(self, document: Document) -> None:
        """Makes the id of a document free again, which otherwise stays as it is."""
        del self.ids[document.stream][document.id]
        self.freed.add(document.number)

    def compose(self, derived: DerivedStream, found: OperatorRow) -> Composite:
        """A new composite of a derived stream; it retains its documents."""
        documents = [self.retained[number] for number in found.documents]
        composite = derived.composite(self.next_number, found, documents)
        self.next_number += 1
        self.composites[composite.number] = composite
        self._derived[composite.number] = derived
        derived.composites.add(composite.number)
        for document in composite.documents:
            self._composites_of.setdefault(document, set()).add(composite.number)
        self.retention.retain(composite.number, composite.time, derived)
        return composite

    def queries_changed(self, moved: Iterable[tuple[int, int | None]]) -> None:
        """To be called when queries have come or gone; `moved` are the changed leaf paths."""
        self.retention.queries_changed(dict(moved))
        # Whatever was due, check all retained documents.
        self._since_evicting = len(self.retained) + 1

    def evict(self, *, exact: bool = False) -> Sequence[int] | None:
        """Drops what no query can reach any more; returns the numbers, None if nothing is due.

        Searches only when enough documents have come for this to pay, unless `exact`.
        """
        if exact or self._since_evicting > len(self.retained) // 16:
            self._since_evicting = 0
            self.drop_unreachable()
        elif not self._gone:
            return None
        return self.take_gone()

    def take_gone(self) -> Sequence[int]:
        """The numbers of what was dropped since the last call, or that of `evict`."""
        gone, self._gone = self._gone, []
        return gone

    def read_by(self, readers: Iterable[Reader]) -> None:
        """Registers readers that have numbers of retained documents, each for as long as it
        exists."""
        self._readers += map(weakref.ref, readers)

    def let_readers_copy(self, *, queries: bool = True) -> None:
        """Lets all readers that have numbers of documents copy these, before any is dropped; with
        `queries`, those that have numbers of queries."""
        readers, self._readers = self._readers, []
        for reader in readers:
            if (one := reader()) is not None and one.keep(queries=queries):
                self._readers.append(reader)

    def _is_reachable(self, number: int, watermark: int | None) -> bool:
        if self.retention.reaches(number, watermark):
            return True
        # A member of composites is retained as long as one of them is.
        composites = self._composites_of.get(number, ())
        return any(self.retention.reaches(composite, watermark) for composite in composites)

    def drop_unreachable(self) -> None:
        """Drops what no query can reach any more; `evict` returns the numbers."""
        if self._overdue:
            return
        self.settled = True
        self._let_go(self.retention.expired(self.watermark))

    def stepped(self) -> None:
        """A step has reported all that the watermark lets be reported."""
        self._overdue = self.unstepped = False
        self.steps += 1

    def clear(self) -> None:
        """Drops all that is retained, and the time; `evict` returns the numbers."""
        self._overdue = False
        self._let_go(self.retention.clear())
        self.latest = self.advanced = None
        self.clocks.clear()
        self.flushed = 0
        self.promises.clear()

    def _let_go(self, expired: Sequence[int]) -> None:
        if expired:
            self.let_readers_copy(queries=False)
        self._readers = [reader for reader in self._readers if reader() is not None]
        for number in expired:
            composite = self.composites.pop(number, None)
            if composite is not None:
                self._dissolve(composite)
            elif number in self._composites_of:
                self._lingering.add(number)
            else:
                self._drop(number)

    def _dissolve(self, composite: Composite) -> None:
        self._derived.pop(composite.number).composites.discard(composite.number)
        self._gone.append(composite.number)
        for number in composite.documents:
            others = self._composites_of[number]
            others.discard(composite.number)
            if not others:
                del self._composites_of[number]
                if number in self._lingering:
                    self._lingering.discard(number)
                    self._drop(number)

    def _drop(self, number: int) -> None:
        document = self.retained.pop(number)
        self.freed.discard(number)
        self._gone.append(number)
        if self.dropped is not None:
            self.dropped.append(number)
        # A document that was unreachable but not yet dropped may have come again.
        ids = self.ids[document.stream]
        if ids.get(document.id) == number:
            del ids[document.id]
            if not ids:
                del self.ids[document.stream]


def _after(arrival: int) -> int:
    """The time of an arrival that comes after another."""
    return max(now(), arrival + 1)
