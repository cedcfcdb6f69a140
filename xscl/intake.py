"""Documents on their way in: envelopes checked, times read, duplicates and late ones refused.

Section 4 of the language: documents may arrive out of time order; the watermark is the latest
timestamp seen minus the lateness, later documents are skipped and what no query can reach from
the watermark is forgotten.
"""

from __future__ import annotations

import heapq
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field

from xscl.document import Document
from xscl.errors import DocumentError
from xscl.times import from_timestamp, now

__all__ = ["Intake", "Skipped"]

_DAY = 86_400_000_000


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

    `lateness` is in microseconds, None without bound.  `reach` says for each stream that is
    read how long before the watermark its documents can still be reached; None is forever.
    """

    lateness: int | None
    reach: dict[str, int | None] = field(default_factory=dict)
    held: dict[int, Document] = field(default_factory=dict)
    skipped: Skipped = field(default_factory=Skipped)
    next_number: int = 0
    documents: int = 0
    _ids: dict[tuple[str, str], int] = field(default_factory=dict)
    _by_time: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    _latest: int | None = None
    _last_arrival: int = 0

    def read(self, envelope: Mapping[str, object]) -> Document:
        """The document of an envelope; raises DocumentError for what is none."""
        stream = envelope.get("stream", "S")
        name = envelope.get("id")
        arrival = self._last_arrival = max(now(), self._last_arrival + 1)
        if not isinstance(stream, str) or not stream:
            problem = f"`stream` is {stream!r}; expected the name of a stream"
            raise DocumentError(problem, stream=str(stream), document=str(name))
        if name is None:
            name = uuid.uuid4().hex
        if not isinstance(name, str):
            problem = "`id` must be a string"
            raise DocumentError(problem, stream=stream, document=str(name))
        body, json = envelope.get("xml"), False
        if body is None and "json" in envelope:
            body, json = envelope["json"], True
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
        if self.lateness is None or self._latest is None:
            return None
        return self._latest - self.lateness

    def admit(self, document: Document) -> bool:
        """Takes a document in, unless it is late or a duplicate; these are counted."""
        watermark = self.watermark
        if watermark is not None and document.time < watermark:
            self.skipped.late += 1
            return False
        key = (document.stream, document.id)
        if key in self._ids and not self._unreachable(self.held[self._ids[key]]):
            self.skipped.duplicate += 1
            return False
        # A clock that is wrong by more than a day must not make all others late.
        if document.time <= self._last_arrival + _DAY:
            self._latest = (
                document.time if self._latest is None else max(self._latest, document.time)
            )
        self.next_number += 1
        self.documents += 1
        if document.stream in self.reach:
            self._ids[key] = document.number
            self.held[document.number] = document
            by_time = self._by_time.setdefault(document.stream, [])
            heapq.heappush(by_time, (document.time, document.number))
        return True

    def expel(self, document: Document) -> None:
        """Takes a document out that was let in last."""
        self.documents -= 1
        if self.held.pop(document.number, None) is not None:
            self._forget_id(document)
            self._by_time[document.stream].remove((document.time, document.number))
            heapq.heapify(self._by_time[document.stream])

    def forget(self) -> list[int]:
        """Drops the documents that no query can reach any more; returns their numbers."""
        gone = []
        for by_time in self._by_time.values():
            while by_time and self._unreachable(self.held[by_time[0][1]]):
                _, number = heapq.heappop(by_time)
                self._forget_id(self.held.pop(number))
                gone.append(number)
        return gone

    def _unreachable(self, document: Document) -> bool:
        """Whether no query can reach a document from the watermark, or none reads its stream."""
        if document.stream not in self.reach:
            return True
        reach, watermark = self.reach[document.stream], self.watermark
        return watermark is not None and reach is not None and document.time < watermark - reach

    def _forget_id(self, document: Document) -> None:
        # Within a batch, a document may come again that was out of reach but not yet forgotten.
        if self._ids.get((document.stream, document.id)) == document.number:
            del self._ids[document.stream, document.id]
