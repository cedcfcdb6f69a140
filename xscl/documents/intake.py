"""Documents on their way in and out: late ones and duplicates are refused, the others held while a
query can reach them.

Section 4 of the language: documents may arrive out of time order; the watermark is the latest
timestamp seen minus the lateness, later documents are skipped, and a document is held exactly
while a query can reach it from the watermark, alone or as a member of a composite.
"""

from __future__ import annotations

import weakref
from collections import defaultdict
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
from xscl.documents.trees import Trees
from xscl.times import now

__all__ = ["Intake", "Skipped"]


class Reader(Protocol):
    """Who has numbers of documents held, or of queries, and looks them up when asked for them."""

    def keep(self, *, queries: bool) -> bool:
        """Takes the documents themselves, as some are let go, and with `queries` these; whether it
        has numbers of queries yet."""


_NONE: Mapping[str, int] = {}
_NUMBER = attrgetter("number")


@dataclass(slots=True)
class Skipped:
    """How many documents were skipped, by reason."""

    malformed: int = 0
    duplicate: int = 0
    late: int = 0

    @property
    def total(self) -> int:
        """All of them."""
        return self.malformed + self.duplicate + self.late


@dataclass(slots=True)
class Intake:
    """The documents that an engine holds, and the time they have brought it to.

    `lateness` is in microseconds, None without bound.  Documents and composites are numbered
    together, in order of arrival.
    """

    lateness: int | None
    retention: Retention
    held: dict[int, Document] = field(default_factory=dict)
    composites: dict[int, Composite] = field(default_factory=dict)
    skipped: Skipped = field(default_factory=Skipped)
    next_number: int = 0
    documents: int = 0
    latest: int | None = None
    advanced: int | None = None
    """The time up to which, somebody has said, all is there."""
    flushed: int = 0
    """The number of the next document when somebody last said that the input had ended."""
    bodies: Bodies = field(default_factory=Bodies)
    trees: Trees = field(default_factory=Trees)
    last_arrival: int = 0
    settled: bool = True
    """Whether nothing has come or gone since what is out of reach was let go."""
    dropped: list[int] | None = None
    """The documents let go, for one who notes that."""
    _readers: list[weakref.ref[Reader]] = field(default_factory=list)
    ids: defaultdict[str, dict[str, int]] = field(default_factory=lambda: defaultdict(dict))
    _derived: dict[int, DerivedStream] = field(default_factory=dict)
    _composites_of: dict[int, set[int]] = field(default_factory=dict)
    _lingering: set[int] = field(default_factory=set)
    _gone: list[int] = field(default_factory=list)
    _since_forgetting: int = 0

    def document(self, envelope: Mapping[str, object]) -> Document:
        """The document of an envelope that is only looked at; raises DocumentError."""
        document = document_of(envelope, self.next_number, _after(self.last_arrival))
        return from_file(document, self.bodies)

    def arrivals(self) -> Arrivals:
        """A batch on its way in, still without documents."""
        return Arrivals(self)

    @property
    def watermark(self) -> int | None:
        """The time before which documents are late; None while nothing is ever late."""
        return self.watermark_at(self.latest, self.advanced)

    def watermark_at(self, latest: int | None, advanced: int | None) -> int | None:
        """The watermark when the latest timestamp and what was `advanced` to are these."""
        if self.lateness is None or latest is None:
            return advanced
        mark = latest - self.lateness
        return mark if advanced is None or mark > advanced else advanced

    def follow(self, lateness: int | None, *, falls: bool) -> None:
        """Makes the lateness another one; the watermark `falls` with it only where nobody waits for
        what it promises, as patterns do, which have found what was known by then."""
        promised = self.watermark
        self.lateness = lateness
        if not falls and promised is not None and promised != self.watermark:
            self.advanced = promised

    def count_if_duplicate(self, document: Document) -> bool:
        """Whether a result is a duplicate of one that is held; these are counted."""
        if not self.has(document.stream, document.id, self.watermark):
            return False
        self.skipped.duplicate += 1
        return True

    def has(self, stream: str, id: str, watermark: int | None) -> bool:
        """Whether a document of a stream and id is held and in reach of a watermark."""
        number = self.ids.get(stream, _NONE).get(id)
        return number is not None and self._is_reachable(number, watermark)

    def named(self, id: str) -> list[Document]:
        """The documents of an id that are `readable`, one for each stream that has any."""
        numbers = [ids[id] for ids in self.ids.values() if id in ids]
        return [*self._readable(map(self.held.__getitem__, sorted(numbers)))]

    @property
    def readable(self) -> Iterator[Document]:
        """The documents that are held, and not for their ids alone; what no query can reach any
        more is not, though it is let go later."""
        return self._readable(self.held.values())

    def _readable(self, some: Iterable[Document]) -> Iterator[Document]:
        mark = self.watermark
        return (
            one for one in some if one.body is not None and self._is_reachable(one.number, mark)
        )

    def admit(self, arrivals: Arrivals) -> None:
        """Takes in a batch that was read whole: its clock, its counts, and its documents, which
        are held where their stream is read."""
        self.latest, self.last_arrival = arrivals.latest, arrivals.last_arrival
        if arrivals.advanced != self.advanced:
            self.advanced, self.settled = arrivals.advanced, False
        if arrivals.errors or arrivals.duplicate or arrivals.late:
            self.skipped.malformed += len(arrivals.errors)
            self.skipped.duplicate += arrivals.duplicate
            self.skipped.late += arrivals.late
        if arrivals.count:
            self.documents += arrivals.count
            self.next_number += arrivals.count
            self.settled = False
            held = [self._hold_part(*part) for part in arrivals.parts]
            coming = held[0] if len(held) == 1 else sorted(chain(*held), key=_NUMBER)
            self.held.update([(one.number, one) for one in coming])

    def _hold_part(self, some: Documents, shape: DocumentShape | None) -> Sequence[Document]:
        """What is to be held of documents of a shape that were not held before; of those for their
        ids alone none that no query can reach any more, unless somebody asks for them."""
        if shape is None:
            return ()
        if isinstance(some, Identified):
            since = None if some.asked else self.retention.since(shape, self.watermark)
            some = some.documents(since)
        self._since_forgetting += len(some)
        if len(some) == 1:
            (one,) = some
            self.ids[one.stream][one.id] = one.number
            self.retention.hold(one.number, one.time, shape)
        elif some:
            numbers = [one.number for one in some]
            self.ids[shape[0]].update(zip([one.id for one in some], numbers, strict=True))
            self.retention.hold_many(numbers, [one.time for one in some], shape)
        return some

    def admit_result(self, document: Document, shape: DocumentShape) -> None:
        """Takes in the result document of a match: it is never late, and moves no time."""
        self.next_number += 1
        self.hold(document, shape)

    def hold(self, document: Document, shape: DocumentShape) -> None:
        """Holds a document; one that is held already changes its shape."""
        self._since_forgetting += 1
        self.ids[document.stream][document.id] = document.number
        self.held[document.number] = document
        self._lingering.discard(document.number)
        self.retention.hold(document.number, document.time, shape)

    def compose(self, derived: DerivedStream, found: OperatorRow) -> Composite:
        """A new composite of a derived stream; it holds its documents."""
        documents = [self.held[number] for number in found.documents]
        composite = derived.composite(self.next_number, found, documents)
        self.next_number += 1
        self.composites[composite.number] = composite
        self._derived[composite.number] = derived
        derived.composites.add(composite.number)
        for document in composite.documents:
            self._composites_of.setdefault(document, set()).add(composite.number)
        self.retention.hold(composite.number, composite.time, derived)
        return composite

    def queries_changed(self, moved: Iterable[tuple[int, int | None]]) -> None:
        """To be called when queries have come or gone; `moved` says which leaf paths are others
        now."""
        self.retention.queries_changed(dict(moved))
        # Whatever was due, look at all that is held.
        self._since_forgetting = len(self.held) + 1

    def forget(self, *, exact: bool = False) -> Sequence[int] | None:
        """Drops what no query can reach any more; returns the numbers, None if nothing is due.

        Looked for only when enough documents have come to pay for it, unless `exact`.
        """
        if exact or self._since_forgetting > len(self.held) // 16:
            self._since_forgetting = 0
            self.let_go_unreachable()
        elif not self._gone:
            return None
        gone, self._gone = self._gone, []
        return gone

    def read_by(self, readers: Iterable[Reader]) -> None:
        """From now on some have numbers of documents held, each for as long as it is there."""
        self._readers += map(weakref.ref, readers)

    def let_readers_keep(self, *, queries: bool = True) -> None:
        """Lets all who have numbers of documents take these, before any goes, and with `queries`
        those who have numbers of queries."""
        readers, self._readers = self._readers, []
        for reader in readers:
            if (one := reader()) is not None and one.keep(queries=queries):
                self._readers.append(reader)

    def _is_reachable(self, number: int, watermark: int | None) -> bool:
        if self.retention.reaches(number, watermark):
            return True
        # A member of composites is held as long as one of them is.
        composites = self._composites_of.get(number, ())
        return any(self.retention.reaches(composite, watermark) for composite in composites)

    def let_go_unreachable(self) -> None:
        """Lets go of what no query can reach any more; `forget` tells the numbers."""
        self.settled = True
        self._let_go(self.retention.expired(self.watermark))

    def clear(self) -> None:
        """Lets go of all that is held, and of the time; `forget` tells the numbers."""
        self._let_go(self.retention.clear())
        self.latest = self.advanced = None
        self.flushed = 0

    def _let_go(self, expired: Sequence[int]) -> None:
        if expired:
            self.let_readers_keep(queries=False)
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
        document = self.held.pop(number)
        self._gone.append(number)
        if self.dropped is not None:
            self.dropped.append(number)
        # A document may have come again that was out of reach but not yet forgotten.
        ids = self.ids[document.stream]
        if ids.get(document.id) == number:
            del ids[document.id]
            if not ids:
                del self.ids[document.stream]


def _after(arrival: int) -> int:
    """The time of an arrival that comes after another."""
    return max(now(), arrival + 1)
