"""What an engine must report and skip while queries and documents come and go.

The rules are those of docs/semantics.md#documents-in-reach, taken literally: each query keeps all
documents that it ever saw, and a call reports the matches with a document that is new in it;
evicted documents cannot matter to these.  They matter to `history` and to duplicates, which see the
retained documents: those that a query can still reach from the watermark.  For some documents this
is unknown from the outside, as an engine need not notice immediately that a pattern has a witness
and no match: these the model does not decide.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from tests.oracle.nested_loops import Evaluation, Row
from tests.oracle.patterns import Document, Query, Source, joins_of
from tests.oracle.standing import Standing, in_order, unnested

__all__ = ["LiveModel", "Undecided"]

DAY = 86400.0
FOREVER = float("inf")


class Undecided(Exception):
    """Only the inside of an engine would show it."""


@dataclass(eq=False)
class Reader:
    """A subscribed query without sub-queries, and all documents that it has seen."""

    standing: Standing
    seen: list[Document] = field(default_factory=list)
    _reached_at: tuple[int, float] | None = None
    _reached: set[int] = field(default_factory=set)

    @property
    def evaluation(self) -> Evaluation:
        return self.standing.evaluation

    def longest(self) -> float:
        """No document older than this, before the watermark, can be part of a match."""
        joins = joins_of(self.evaluation.query.source)
        return sum((_window(join.window) for join in joins), 0.0)

    def surely_reaches(self, document: Document, watermark: float) -> bool:
        """Whether a document that it saw, or a composite with it, can match later ones."""
        if self._reached_at != (now := (len(self.seen), watermark)):
            self._reached_at, self._reached = now, set(map(id, self._waiting(watermark)))
        return id(document) in self._reached

    def _waiting(self, watermark: float) -> Iterator[Document]:
        for source, window in _waiting(self.evaluation.query.source) if self._plain() else ():
            if not self.evaluation.undecided(source):
                for partial in self.evaluation.partials(source, self.seen):
                    if watermark - partial.latest <= window:
                        yield from (self.seen[place] for place in partial.places)

    def _plain(self) -> bool:
        """Whether all comparisons are of variables of different blocks, so that whatever has a
        binding may still match."""
        block_of = {
            variable.name: number
            for number, block in enumerate(self.evaluation.blocks)
            for variable in block.variables
        }
        return all(
            isinstance(left, str) and isinstance(right, str) and block_of[left] != block_of[right]
            for join in joins_of(self.evaluation.query.source)
            for joins in (join.joins, *join.alternatives)
            for left, _, right in joins
        )


@dataclass(eq=False)
class Retained:
    """A retained document; where it is not `sure`, maybe."""

    document: Document
    sure: bool = True


class LiveModel:
    """The engine's outside; `lateness` is in seconds."""

    def __init__(self, lateness: float | None) -> None:
        self.late = 0
        self.duplicates = 0
        self._lateness = lateness
        self._latest: float | None = None
        self._readers: dict[str, list[Reader]] = {}
        self._retained: list[Retained] = []

    @property
    def watermark(self) -> float | None:
        """The time before which documents are late."""
        if self._lateness is None or self._latest is None:
            return None
        return self._latest - self._lateness

    @property
    def names(self) -> list[str]:
        """The subscribed queries."""
        return list(self._readers)

    def subscribe(
        self, query: Query, *, history: bool, holds: Callable[[object], bool] | None = None
    ) -> list[Row]:
        """The matches among the retained documents, including those of other queries that read
        their results.  Where it matters whether one is retained, `holds` is called with its id;
        without it, that raises Undecided, and nothing has changed."""
        readers = [Reader(standing) for standing in unnested(query)]
        known: dict[Reader, list[Document]] = {}
        if history:
            known = {reader: list(self._history(reader, holds)) for reader in readers}
        self._readers[query.name] = readers
        rows = self._flow([], known)
        self._drop()
        return rows

    def cancel(self, name: str) -> None:
        """The query is gone, and what only it could reach."""
        del self._readers[name]
        self._drop()

    def publish(self, documents: Sequence[Document]) -> list[Row]:
        """The matches that a batch completes.  After Undecided, the model is of no more use."""
        new: list[Document] = []
        for document in map(replace, documents):
            watermark = self.watermark
            if watermark is not None and document.timestamp < watermark:
                self.late += 1
            elif not self._known(document):
                if document.timestamp <= time.time() + DAY:
                    seen = (self._latest, document.timestamp)
                    self._latest = max(each for each in seen if each is not None)
                self._hold(document)
                new.append(document)
        rows = self._flow(new, {})
        self._drop()
        return rows

    @property
    def retained(self) -> tuple[int, int]:
        """The number of retained documents, results included: minimum and maximum."""
        return sum(one.sure for one in self._retained), len(self._retained)

    def holds(self, stream: str, name: object) -> bool | None:
        """Whether a document of this id is retained; None where that is undecided."""
        for one in self._retained:
            if (one.document.stream, one.document.id) == (stream, name):
                reached = self._reached(one.document)
                if reached is not False:
                    return True if reached and one.sure else None
        return False

    def _known(self, document: Document) -> bool:
        """Whether a document is a duplicate; these are counted."""
        known = self.holds(document.stream, document.id)
        if known is None:
            raise Undecided
        self.duplicates += known
        return known

    def _all(self) -> list[Reader]:
        return [reader for readers in self._readers.values() for reader in readers]

    def _read(self, stream: str) -> list[Reader]:
        return [reader for reader in self._all() if stream in reader.standing.reads]

    def _hold(self, document: Document) -> None:
        if self._read(document.stream):
            self._retained.append(Retained(document))

    def _history(
        self, reader: Reader, holds: Callable[[object], bool] | None
    ) -> Iterator[Document]:
        for one in self._retained:
            document = one.document
            if document.stream in reader.standing.reads and any(
                block.stream == document.stream and reader.evaluation.bindings(block, document)
                for block in reader.evaluation.blocks
            ):
                if not one.sure and holds is None:
                    raise Undecided
                if one.sure or (holds is not None and holds(document.id)):
                    yield document

    def _flow(self, new: list[Document], known: dict[Reader, list[Document]]) -> list[Row]:
        """Queries see new documents, and these their results; `known` are retained documents, which
        are new to one query only."""
        rows: list[Row] = []
        for reader in self._in_order():
            fresh = [d for d in new if d.stream in reader.standing.reads]
            before = len(reader.seen)
            reader.seen += known.get(reader, []) + fresh
            if len(reader.seen) == before:
                continue
            for match in reader.evaluation.matches(reader.seen, range(before, len(reader.seen))):
                if reader.standing.reported:
                    rows.append(match.row)
                for result in reader.standing.published(match):
                    if self._read(result.stream) and not self._known(result):
                        self._hold(result)
                        new.append(result)
        return rows

    def _in_order(self) -> list[Reader]:
        readers = {reader.standing: reader for reader in self._all()}
        return [readers[standing] for standing in in_order(list(readers))]

    def _drop(self) -> None:
        """What cannot be reached any more is gone for good, whatever queries may come."""
        left = []
        for one in self._retained:
            reached = self._reached(one.document)
            if reached is not False:
                left.append(Retained(one.document, one.sure and reached is True))
        self._retained = left

    def _reached(self, document: Document) -> bool | None:
        """Whether a query can reach a document from the watermark; None where that is undecided."""
        readers, watermark = self._read(document.stream), self.watermark
        if not readers:
            return False
        if watermark is None or document.timestamp >= watermark:
            return True
        if any(reader.surely_reaches(document, watermark) for reader in readers):
            return True
        age = watermark - document.timestamp
        return None if any(age <= reader.longest() for reader in readers) else False


def _waiting(source: Source) -> Iterator[tuple[Source, float]]:
    """The operands whose matches are pending for those of the other, and for how long."""
    for join in joins_of(source):
        yield join.left, _window(join.window)
        if join.kind == "JOIN":
            yield join.right, _window(join.window)


def _window(window: float | None) -> float:
    return FOREVER if window is None else window
