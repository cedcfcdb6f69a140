"""Documents on their way in and out: times read, duplicates and late ones refused, what nobody
can reach let go.

Section 4 of the language: documents may arrive out of time order; the watermark is the latest
timestamp seen minus the lateness, later documents are skipped, and a document is held exactly
while a query can reach it from the watermark, alone or as a member of a composite.
"""

from __future__ import annotations

import re
import uuid
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from xscl.documents.bodies import Bodies
from xscl.documents.composites import Composite, Derived, Found
from xscl.documents.document import Document
from xscl.documents.retention import DocumentShape, Retention
from xscl.errors import DocumentError
from xscl.stream_names import is_internal
from xscl.times import from_timestamp, now

__all__ = ["Intake", "Skipped"]

_DAY = 86_400_000_000
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


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
    bodies: Bodies = field(default_factory=Bodies)
    last_arrival: int = 0
    settled: bool = True
    """Whether nothing has come or gone since what is out of reach was let go."""
    dropped: list[int] | None = None
    """The documents let go, for one who notes that."""
    _ids: dict[tuple[str, str], int] = field(default_factory=dict)
    _derived: dict[int, Derived] = field(default_factory=dict)
    _members: Counter[int] = field(default_factory=Counter)
    _lingering: set[int] = field(default_factory=set)
    _gone: list[int] = field(default_factory=list)
    _since_forgetting: int = 0

    def read(self, envelope: Mapping[str, object]) -> Document:
        """The document of an envelope; raises DocumentError for what is none."""
        stream = envelope.get("stream", "S")
        name = envelope.get("id")
        arrival = self.last_arrival = max(now(), self.last_arrival + 1)
        if not isinstance(stream, str) or not stream or is_internal(stream):
            problem = f"`stream` is {stream!r}; expected the name of a stream"
            raise DocumentError(problem, stream=str(stream), document=str(name))
        if name is None:
            name = uuid.uuid4().hex
        if not isinstance(name, str):
            problem = "`id` must be a string"
            raise DocumentError(problem, stream=stream, document=str(name))
        for member, text in (("stream", stream), ("id", name)):
            if not text.isascii() and _LONE_SURROGATE.search(text):
                problem = f"`{member}` holds half a surrogate pair, which is no character"
                raise DocumentError(problem, stream=ascii(stream), document=ascii(name))
        body, json = envelope.get("xml"), False
        if body is None and "json" in envelope:
            body, json = envelope["json"], True
        elif isinstance(body, Path):
            try:
                body = self.bodies.copy(body)
            except OSError as error:
                problem = error.strerror or str(error)
                raise DocumentError(problem, stream=stream, document=name) from error
        elif not isinstance(body, str | bytes):
            problem = "it has neither `xml`, the text of an XML document, nor `json`, a JSON value"
            raise DocumentError(problem, stream=stream, document=name)
        time = arrival
        if (given := envelope.get("timestamp")) is not None:
            try:
                time = from_timestamp(given)
            except ValueError as error:
                raise DocumentError(str(error), stream=stream, document=name) from None
        return Document(self.next_number, stream, name, time, body, json)

    @property
    def watermark(self) -> int | None:
        """The time before which documents are late; None while nothing is ever late."""
        if self.lateness is None or self.latest is None:
            return None
        return self.latest - self.lateness

    def refuses(self, document: Document) -> bool:
        """Whether a document is late or a duplicate; these are counted."""
        watermark = self.watermark
        if watermark is not None and document.time < watermark:
            self.skipped.late += 1
            return True
        return self.knows(document)

    def knows(self, document: Document) -> bool:
        """Whether a document is a duplicate of one that is held; these are counted."""
        number = self._ids.get((document.stream, document.id))
        if number is None or not self._is_held(number):
            return False
        self.skipped.duplicate += 1
        return True

    def admit(self, document: Document, shape: DocumentShape | None) -> None:
        """Takes a published document in, whose witnesses are known; it is held if its stream is
        read (a `shape` is given)."""
        # A clock that is wrong by more than a day must not make all others late.
        if document.time <= self.last_arrival + _DAY:
            self.latest = document.time if self.latest is None else max(self.latest, document.time)
        self.documents += 1
        self.next_number += 1
        self.settled = False
        if shape is not None:
            self.hold(document, shape)

    def admit_result(self, document: Document, shape: DocumentShape) -> None:
        """Takes in the result document of a match: it is never late, and moves no time."""
        self.next_number += 1
        self.hold(document, shape)

    def hold(self, document: Document, shape: DocumentShape) -> None:
        """Holds a document; one that is held already changes its shape."""
        self._since_forgetting += 1
        self._ids[document.stream, document.id] = document.number
        self.held[document.number] = document
        self._lingering.discard(document.number)
        self.retention.hold(document.number, document.time, shape)

    def compose(self, derived: Derived, found: Found) -> Composite:
        """A new composite of a derived stream; it holds its documents."""
        documents = [self.held[number] for number in found.documents]
        composite = derived.composite(self.next_number, found, documents)
        self.next_number += 1
        self.composites[composite.number] = composite
        self._derived[composite.number] = derived
        derived.composites.add(composite.number)
        self._members.update(composite.documents)
        self.retention.hold(composite.number, composite.time, derived)
        return composite

    def queries_changed(self, moved: Iterable[tuple[int, int | None]]) -> None:
        """To be called when queries have come or gone; `moved` says which leaf paths are others
        now."""
        self.retention.queries_changed(dict(moved))
        # Whatever was due, look at all that is held.
        self._since_forgetting = len(self.held) + 1

    def forget(self, *, exact: bool = False) -> Sequence[int]:
        """Drops what no query can reach any more; returns the numbers.

        Looked for only when enough documents have come to pay for it, unless `exact`.
        """
        if exact or self._since_forgetting > len(self.held) // 16:
            self._since_forgetting = 0
            self.lapse()
        gone, self._gone = self._gone, []
        return gone

    def _is_held(self, number: int) -> bool:
        if self.retention.reaches(number, self.watermark):
            return True
        # A member of composites is held as long as one of them is.
        return self._members[number] > 0 and any(
            number in composite.documents
            and self.retention.reaches(composite.number, self.watermark)
            for composite in self.composites.values()
        )

    def lapse(self) -> None:
        """Lets go of what no query can reach any more; `forget` tells the numbers."""
        self.settled = True
        for number in self.retention.expired(self.watermark):
            composite = self.composites.pop(number, None)
            if composite is not None:
                self._dissolve(composite)
            elif self._members[number]:
                self._lingering.add(number)
            else:
                self._drop(number)

    def _dissolve(self, composite: Composite) -> None:
        self._derived.pop(composite.number).composites.discard(composite.number)
        self._gone.append(composite.number)
        for number in composite.documents:
            self._members[number] -= 1
            if not self._members[number]:
                del self._members[number]
                if number in self._lingering:
                    self._lingering.discard(number)
                    self._drop(number)

    def _drop(self, number: int) -> None:
        document = self.held.pop(number)
        self._gone.append(number)
        if self.dropped is not None:
            self.dropped.append(number)
        # A document may have come again that was out of reach but not yet forgotten.
        if self._ids.get((document.stream, document.id)) == number:
            del self._ids[document.stream, document.id]
