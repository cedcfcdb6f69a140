"""The view cache: for a string, where it stands in the documents held (section 6.5, Algorithm 5).

A *slice* is what R_L has for one string: the leaves with it, by place, in order of time, so that
a window is two binary searches.  A string that is new has an empty slice; one that was let go, or
came by a batch, is filled again from DuckDB when it is next asked for.  Beside the slices stand
the leaves of each document that was joined in process or has leaves in a slice.  Slices and
documents have half of the memory each: the slices that were not used for longest go first, and
the oldest documents, with their slices.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

import duckdb

from join_stage.signatures import Place
from join_stage.state import JoinState

__all__ = ["DocumentLeaves", "Posting", "Slice", "ViewCache"]

_SLICE = 250
_POSTING = 350
_ENTRY = 32
_LONE = 220
_DOCUMENT = 350
_LEAF = 24
"""Bytes, about."""


class Posting:
    """The documents with a string at one place, in order of time."""

    __slots__ = ("documents", "times")

    def __init__(self) -> None:
        self.times: list[int] = []
        self.documents: list[int] = []

    def add(self, document: int, time: int) -> None:
        """Adds a document, mostly at the end."""
        if not self.times or self.times[-1] <= time:
            self.times.append(time)
            self.documents.append(document)
            return
        index = bisect_right(self.times, time)
        self.times.insert(index, time)
        self.documents.insert(index, document)

    def remove(self, document: int, time: int) -> None:
        """Removes a document, mostly from the beginning."""
        index = bisect_left(self.times, time)
        while index < len(self.times) and self.times[index] == time:
            if self.documents[index] == document:
                del self.times[index], self.documents[index]
                return
            index += 1

    def has(self, document: int, time: int, where: slice) -> bool:
        """Whether a document of a time stands in a part of it."""
        index = bisect_left(self.times, time, where.start, where.stop)
        while index < where.stop and self.times[index] == time:
            if self.documents[index] == document:
                return True
            index += 1
        return False

    def between(self, after: int, until: int) -> slice:
        """Where the documents stand whose time is `after` < time <= `until`."""
        return slice(bisect_right(self.times, after), bisect_right(self.times, until))


Slice = dict[Place, Posting]

_Lone = tuple[Place, int, int]
"""A string that stands once: its place, document and time."""


@dataclass(slots=True)
class DocumentLeaves:
    """The leaves of a document: their places, in the same order their strings.  Of one that came
    by a batch it may be known only which slices it is in: `places` is None, and there may be
    strings of which the slice was let go."""

    time: int
    places: tuple[Place, ...] | None
    strings: Sequence[int | None]


class ViewCache:
    """Slices by string and leaves by document, within some bytes.

    `place` gives the place of a leaf path and nodes.  `hits` and `misses` count the slices asked
    for, `evicted` those that went for want of memory.
    """

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        state: JoinState,
        place: Callable[[int, tuple[int, ...]], Place],
        memory: int,
    ) -> None:
        self._connection = connection
        self._state = state
        self._place = place
        self._memory = memory
        self.hits = 0
        self.misses = 0
        self.evicted = 0
        self._slices: OrderedDict[int, Slice | _Lone] = OrderedDict()
        self._documents: dict[int, DocumentLeaves] = {}
        self._slice_bytes = 0
        self._document_bytes = 0
        self._highest = 0
        # Whether something went that the relations may not have yet.
        self._unwritten = False

    def __len__(self) -> int:
        return len(self._slices)

    @property
    def bytes(self) -> int:
        """What slices and documents have of the memory, about."""
        return self._slice_bytes + self._document_bytes

    # Slices.

    def slices(self, strings: Collection[int]) -> dict[int, Slice]:
        """The slices of some strings; a string that stands nowhere has none."""
        found: dict[int, Slice] = {}
        missing: list[int] = []
        slices = self._slices
        for string in strings:
            entry = slices.get(string)
            if entry is not None:
                found[string] = self._spread(string, entry)
            elif string <= self._highest:
                missing.append(string)
        self.hits += len(found)
        if missing:
            self.misses += len(missing)
            found.update(self._fill(missing))
        return found

    def _spread(self, string: int, entry: Slice | _Lone) -> Slice:
        self._slices.move_to_end(string)
        if isinstance(entry, dict):
            return entry
        place, document, time = entry
        posting = Posting()
        posting.add(document, time)
        spread = self._slices[string] = {place: posting}
        self._slice_bytes += _SLICE + _POSTING + _ENTRY - _LONE
        return spread

    def _fill(self, strings: Sequence[int]) -> dict[int, Slice]:
        self._write()
        filled: dict[int, Slice] = {string: {} for string in strings}
        rows = self._connection.execute(
            "SELECT s, doc, ts, path, chain FROM node WHERE s IN (SELECT unnest(?::BIGINT[]))",
            [list(strings)],
        ).fetchall()
        for string, document, time, path, chain in rows:
            of_string = filled[string]
            place = self._place(path, tuple(chain))
            posting = of_string.get(place)
            if posting is None:
                posting = of_string[place] = Posting()
            posting.add(document, time)
            leaves = self._documents.get(document)
            if leaves is None:
                self._documents[document] = DocumentLeaves(time, None, [string])
                self._document_bytes += _DOCUMENT
            elif leaves.places is None and string not in leaves.strings:
                assert isinstance(leaves.strings, list)
                leaves.strings.append(string)
                self._document_bytes += _LEAF
        for string, of_string in filled.items():
            self._slices[string] = of_string
            self._slice_bytes += _size(of_string)
        return filled

    # Documents.

    def add(self, document: int, time: int, leaves: Sequence[tuple[Place, int | None]]) -> None:
        """Adds a document; the slices of its strings that stand somewhere must have been asked
        for."""
        slices = self._slices
        for place, string in leaves:
            if string is None:
                continue
            entry = slices.get(string)
            if entry is None:
                slices[string] = (place, document, time)
                self._slice_bytes += _LONE
                continue
            of_string = self._spread(string, entry)
            posting = of_string.get(place)
            if posting is None:
                posting = of_string[place] = Posting()
                self._slice_bytes += _POSTING
            posting.add(document, time)
            self._slice_bytes += _ENTRY

    def hold(self, document: int, time: int, leaves: Sequence[tuple[Place, int | None]]) -> None:
        """Holds the leaves of a document that is joined in process."""
        places, strings = zip(*leaves, strict=True)
        self._documents[document] = DocumentLeaves(time, places, strings)
        self._document_bytes += _DOCUMENT + _LEAF * len(places)
        for string in strings:
            if string is not None and string > self._highest:
                self._highest = string

    def leaves(self, documents: Iterable[int]) -> dict[int, DocumentLeaves]:
        """The leaves of some documents."""
        found: dict[int, DocumentLeaves] = {}
        missing: list[int] = []
        for document in documents:
            leaves = self._documents.get(document)
            if leaves is None or leaves.places is None:
                missing.append(document)
            else:
                found[document] = leaves
        if missing:
            found.update(self._fetch(missing))
        return found

    def _fetch(self, documents: Sequence[int]) -> dict[int, DocumentLeaves]:
        self._write()
        rows: dict[int, tuple[int, list[Place], list[int | None]]] = {}
        for document, time, path, chain, string in self._connection.execute(
            "SELECT doc, ts, path, chain, s FROM node WHERE doc IN (SELECT unnest(?::INTEGER[]))",
            [list(documents)],
        ).fetchall():
            _, places, strings = rows.setdefault(document, (time, [], []))
            places.append(self._place(path, tuple(chain)))
            strings.append(string)
        found = {}
        for document, (time, places, strings) in rows.items():
            if document in self._documents:
                self._forget(document)
            found[document] = DocumentLeaves(time, tuple(places), strings)
            self._documents[document] = found[document]
            self._document_bytes += _DOCUMENT + _LEAF * len(places)
        return found

    # Letting go.

    def came(self, strings: Iterable[int | None]) -> None:
        """Strings came that were not joined in process: their slices are to be filled anew."""
        for string in strings:
            if string is not None:
                self._let_go(string)
                if string > self._highest:
                    self._highest = string

    def drop(self, documents: Iterable[int]) -> None:
        """Documents are no more."""
        for document in documents:
            leaves = self._documents.get(document)
            if leaves is None:
                continue
            self._forget(document)
            for string in leaves.strings:
                if string is not None:
                    self._withdraw(document, leaves.time, string)

    def clear(self) -> None:
        """Lets go of all; it is filled again as it is asked for."""
        self._slices.clear()
        self._documents.clear()
        self._slice_bytes = self._document_bytes = 0

    def shrink(self) -> None:
        """Lets go of what is beyond the memory."""
        half = self._memory // 2
        before = self.evicted
        while self._document_bytes > half and self._documents:
            document = next(iter(self._documents))
            strings = self._documents[document].strings
            self._forget(document)
            self._unwritten = True
            for string in strings:
                if string is not None:
                    self.evicted += self._let_go(string)
        while self._slice_bytes > half and self._slices:
            self.evicted += self._let_go(next(iter(self._slices)))
        self._unwritten |= self.evicted > before

    def _write(self) -> None:
        """What comes in process is in the slices from the beginning: before it is looked for in
        the relations it is written there only if something has gone since."""
        if self._unwritten:
            self._state.write()
            self._unwritten = False

    def _forget(self, document: int) -> None:
        leaves = self._documents.pop(document)
        known = leaves.strings if leaves.places is not None else leaves.strings[1:]
        self._document_bytes -= _DOCUMENT + _LEAF * len(known)

    def _let_go(self, string: int) -> bool:
        entry = self._slices.pop(string, None)
        if entry is None:
            return False
        self._slice_bytes -= _size(entry) if isinstance(entry, dict) else _LONE
        return True

    def _withdraw(self, document: int, time: int, string: int) -> None:
        entry = self._slices.get(string)
        if entry is None:
            return
        if not isinstance(entry, dict):
            if entry[1] == document:
                self._let_go(string)
            return
        for place, posting in list(entry.items()):
            before = len(posting.times)
            posting.remove(document, time)
            self._slice_bytes -= _ENTRY * (before - len(posting.times))
            if not posting.times:
                del entry[place]
                self._slice_bytes -= _POSTING
        if not entry:
            self._let_go(string)


def _size(of_string: Slice) -> int:
    postings = of_string.values()
    return _SLICE + sum(_POSTING + _ENTRY * len(posting.times) for posting in postings)
