"""The view cache: for a string, its places in the retained documents (section 6.5, Algorithm 5).

A *slice* is the part of R_L with one string: its leaves, by position, in order of time, so that a
window is two binary searches.  A new string has an empty slice; a string whose slice was evicted,
or that came by a batch, gets its slice from DuckDB when it is next needed.  In addition to the
slices, the cache has the leaves of each document that was joined in process or has leaves in a
slice.  Slices and documents have half of the memory each: the least recently used slices are
evicted first, and the oldest documents, with their slices.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import repeat

from xscl.join_stage.batch import Layout, strings_of_rows
from xscl.join_stage.in_process.signatures import LeafPosition
from xscl.join_stage.in_process.slices import ENTRY, POSTING, Posting, Slice, size_of
from xscl.join_stage.relational.state import JoinState

__all__ = ["DocumentLeaves", "LayoutPositions", "ViewCache"]

_LONE = 100
_DOCUMENT = 350
_LEAF = 24
"""Estimated bytes."""


_NOWHERE = -1
"""Instead of a document: no document has the string any more."""

_Leaves = tuple[int, int, tuple[int | None, ...]]
"""A document's time, the number of the tuple of its positions, and their strings: only numbers,
which Python's collector of cycles need not visit, since there are millions."""

_UNKNOWN = -1
"""Instead of the number, where only strings are known: those of the slices that the document is in,
and some whose slice was evicted."""

_SHAPES = 200_000
"""The maximal number of numbered tuples of positions."""


@dataclass(slots=True)
class DocumentLeaves:
    """The leaves of a document: their positions, and in the same order their strings."""

    positions: tuple[LeafPosition, ...]
    strings: tuple[int | None, ...]


@dataclass(frozen=True, slots=True)
class LayoutPositions:
    """The positions of a layout's rows and the number of their tuple; of the leaves that may join,
    the positions and the indices of their strings in the document; whether each row has a string,
    so that these are `in_order` of the rows."""

    layout: Layout
    positions: tuple[LeafPosition, ...]
    shape: int
    joining: tuple[LeafPosition, ...]
    places: tuple[int, ...]
    in_order: bool

    def joining_strings(self, strings: tuple[int | None, ...]) -> Sequence[int]:
        """The strings of a document that may join."""
        if len(self.places) == len(strings):
            # As most do; equal length and ascending order imply that they are all.
            return strings  # type: ignore[return-value]
        return [strings[place] for place in self.places]  # type: ignore[misc]


class ViewCache:
    """Slices by string and leaves by document, within some bytes.

    `position` returns the position of a leaf path and nodes.  `hits` and `misses` count the slices
    that were looked up, `evicted` those that were evicted for lack of memory; with `holes` a string
    may be in some document and have no slice.  The result of `layout_positions` holds for one
    `version`.
    """

    def __init__(
        self,
        state: JoinState,
        position: Callable[[int, tuple[int, ...]], LeafPosition],
        memory: int,
    ) -> None:
        self._state = state
        self._position = position
        self._memory = memory
        self.hits = 0
        self.misses = 0
        self.evicted = 0
        self.version = 0
        # A string that is in one document has that instead of a slice. The least recently used
        # slices come first, once there are many.
        self._slices: dict[int, Slice | int] = {}
        self._documents: dict[int, _Leaves] = {}
        self._shapes: list[tuple[LeafPosition, ...]] = []
        self._shape_numbers: dict[tuple[LeafPosition, ...], int] = {}
        self._slice_bytes = 0
        self._document_bytes = 0
        self._highest = 0
        # Whether something was removed that the relations may not have yet, or may still have.
        self._unwritten = False
        self.holes = False

    def __len__(self) -> int:
        return len(self._slices)

    @property
    def bytes(self) -> int:
        """The estimated memory of slices and documents."""
        return self._slice_bytes + self._document_bytes

    @property
    def _crowded(self) -> bool:
        """Whether there are so many slices that their order of use matters."""
        return self._slice_bytes > self._memory // 4

    # Slices.

    def enter(
        self,
        document: int,
        time: int,
        positions: LayoutPositions,
        strings: tuple[int | None, ...],
    ) -> list[tuple[LeafPosition, Slice]]:
        """Adds a document; returns the slices of those of its strings that others may have, each
        with the position where it has the string, for `add`.

        Where there are holes, they must have been filled.
        """
        leaves, some = positions.joining, positions.joining_strings(strings)
        if some and min(some) < 0:
            # These equal nothing.
            both = [(leaf, one) for leaf, one in zip(leaves, some, strict=True) if one >= 0]
            leaves, some = tuple([leaf for leaf, _ in both]), [one for _, one in both]
        slices = self._slices
        before = len(slices)
        crowded = self._slice_bytes > self._memory // 4
        entries = [*map(slices.setdefault, some, repeat(document))]
        self._slice_bytes += _LONE * (len(slices) - before)
        if not positions.in_order:
            strings = strings_of_rows(positions.layout, strings)
        self._documents[document] = time, positions.shape, strings
        self._document_bytes += _DOCUMENT + _LEAF * len(strings)
        met = [
            (leaf, self._spread(string) if crowded or isinstance(entry, int) else entry)
            for leaf, string, entry in zip(leaves, some, entries, strict=True)
            if entry != document
        ]
        self.hits += len(met)
        return met

    def fill(self, strings: Iterable[int | None]) -> None:
        """Fills the missing slices of some strings, before they are needed, and all in one step: a
        batch costs one query of the relations, not one for each of its documents."""
        slices, highest = self._slices, self._highest
        missing = {
            string
            for string in strings
            if string is not None and 0 <= string <= highest and string not in slices
        }
        if missing:
            self.misses += len(missing)
            self.hits -= len(missing)
            self._fill(missing)

    def _spread(self, string: int) -> Slice:
        """The slice of a string, marked as just used."""
        entry = self._slices[string]
        if self._crowded:
            del self._slices[string]
            self._slices[string] = entry
        if isinstance(entry, dict):
            return entry
        spread: Slice = {}
        if entry != _NOWHERE:
            time, shape, strings = self._documents[entry]
            for position, one in zip(self._shapes[shape], strings, strict=True):
                if one == string:
                    posting = spread[position] = Posting()
                    posting.add(entry, time)
        self._slices[string] = spread
        self._slice_bytes += size_of(spread) - _LONE
        return spread

    def _fill(self, strings: Collection[int]) -> None:
        self._write()
        filled: dict[int, Slice] = {string: {} for string in strings}
        rows = self._state.leaves_with(strings)
        for string, document, time, path, chain in rows:
            of_string = filled[string]
            position = self._position(path, tuple(chain))
            posting = of_string.get(position)
            if posting is None:
                posting = of_string[position] = Posting()
            posting.add(document, time)
            _, shape, known = self._documents.get(document, (time, _UNKNOWN, ()))
            if shape == _UNKNOWN and string not in known:
                self._put(document, (time, _UNKNOWN, (*known, string)))
        for string, of_string in filled.items():
            self._slices[string] = of_string
            self._slice_bytes += size_of(of_string)

    # Documents.

    def layout_positions(self, layout: Layout, joins: Callable[[int], bool]) -> LayoutPositions:
        """The positions of a layout; separately, the positions of paths that join."""
        rows = zip(layout.paths, layout.chains, strict=True)
        positions = tuple([self._position(path, chain) for path, chain in rows])
        joining = [
            (position, string)
            for position, string in zip(positions, layout.strings, strict=True)
            if string is not None and joins(position.path)
        ]
        return LayoutPositions(
            layout,
            positions,
            self._shape(positions),
            tuple([position for position, _ in joining]),
            tuple([string for _, string in joining]),
            None not in layout.strings,
        )

    def add(self, document: int, time: int, met: Iterable[tuple[LeafPosition, Slice]]) -> None:
        """Adds an entered document to the slices that it has met."""
        for position, of_string in met:
            posting = of_string.get(position)
            if posting is None:
                posting = of_string[position] = Posting()
                self._slice_bytes += POSTING
            posting.add(document, time)
            self._slice_bytes += ENTRY

    def reached(self, string: int) -> None:
        """Notes that all strings up to a number have come."""
        self._highest = max(self._highest, string)

    def leaves(self, documents: Iterable[int]) -> dict[int, DocumentLeaves]:
        """The leaves of some documents."""
        found: dict[int, DocumentLeaves] = {}
        missing: list[int] = []
        for document in documents:
            _, shape, strings = self._documents.get(document, (0, _UNKNOWN, ()))
            if shape == _UNKNOWN:
                missing.append(document)
            else:
                found[document] = DocumentLeaves(self._shapes[shape], strings)
        if missing:
            found.update(self._fetch(missing))
        return found

    def _fetch(self, documents: Sequence[int]) -> dict[int, DocumentLeaves]:
        self._write()
        rows: dict[int, tuple[int, list[LeafPosition], list[int | None]]] = {}
        for document, time, path, chain, string in self._state.leaves_of(documents):
            _, positions, strings = rows.setdefault(document, (time, [], []))
            positions.append(self._position(path, tuple(chain)))
            strings.append(string)
        found = {}
        for document, (time, positions, strings) in rows.items():
            found[document] = DocumentLeaves(tuple(positions), tuple(strings))
            shape = self._shape(found[document].positions)
            # A slice may still have it by a leaf whose row is gone: that it would never lose.
            _, _, known = self._documents.get(document, (0, _UNKNOWN, ()))
            for string in {*known}.difference(strings):
                if string is not None:
                    self._withdraw(document, time, string)
            self._put(document, (time, shape, found[document].strings))
        return found

    # Eviction.

    def note_new(self, strings: Iterable[int | None]) -> None:
        """Notes strings that were not joined in process: their slices must be filled again."""
        self.holes = True
        for string in strings:
            if string is not None:
                self._let_go(string)
                if string > self._highest:
                    self._highest = string

    def drop(self, documents: Iterable[int]) -> None:
        """Removes documents."""
        self._unwritten = True
        for document in documents:
            if document not in self._documents:
                continue
            time, _, strings = self._forget(document)
            for string in strings:
                if string is not None:
                    self._withdraw(document, time, string)

    def collected(self, strings: Iterable[int]) -> None:
        """Removes strings: their numbers are not reused."""
        for string in strings:
            self._let_go(string)

    def clear(self) -> None:
        """Drops everything; it is filled again on demand."""
        for cache in (self._slices, self._documents, self._shape_numbers):
            cache.clear()
        self._shapes = []
        self._slice_bytes = self._document_bytes = 0
        self._unwritten = self.holes = True
        self.version += 1

    def shrink(self) -> None:
        """Evicts slices and documents beyond the memory."""
        if len(self._shapes) > _SHAPES:
            self.clear()
        half = self._memory // 2
        if self._document_bytes <= half and self._slice_bytes <= half:
            return
        # Some more than necessary: each search for the first ones passes those that were evicted.
        enough = half - half // 8
        before = self.evicted
        if self._document_bytes > half:
            for document in [*self._documents]:
                if self._document_bytes <= enough:
                    break
                self._unwritten = True
                for string in self._forget(document)[2]:
                    if string is not None:
                        self.evicted += self._let_go(string)
        if self._slice_bytes > half:
            for string in [*self._slices]:
                if self._slice_bytes <= enough:
                    break
                self.evicted += self._let_go(string)
        if self.evicted > before:
            self._unwritten = self.holes = True

    def _write(self) -> None:
        """Updates the relations before a query of them, if the slices have lost any entry:
        documents joined in process are in the slices from the beginning."""
        if self._unwritten:
            self._state.write()
            self._unwritten = False

    def _put(self, document: int, leaves: _Leaves) -> None:
        if document in self._documents:
            self._forget(document)
        self._documents[document] = leaves
        self._document_bytes += _DOCUMENT + _LEAF * len(leaves[2])

    def _forget(self, document: int) -> _Leaves:
        leaves = self._documents.pop(document)
        self._document_bytes -= _DOCUMENT + _LEAF * len(leaves[2])
        return leaves

    def _shape(self, positions: tuple[LeafPosition, ...]) -> int:
        number = self._shape_numbers.get(positions)
        if number is None:
            number = self._shape_numbers[positions] = len(self._shapes)
            self._shapes.append(positions)
        return number

    def _let_go(self, string: int) -> bool:
        entry = self._slices.pop(string, None)
        if entry is None:
            return False
        self._slice_bytes -= size_of(entry) if isinstance(entry, dict) else _LONE
        return True

    def _withdraw(self, document: int, time: int, string: int) -> None:
        entry = self._slices.get(string)
        if entry is None:
            return
        if not isinstance(entry, dict):
            if entry == document:
                self._slices[string] = _NOWHERE
            return
        for position, posting in list(entry.items()):
            before = len(posting.times)
            posting.remove(document, time)
            self._slice_bytes -= ENTRY * (before - len(posting.times))
            if not posting.times:
                del entry[position]
                self._slice_bytes -= POSTING
        if not entry:
            # Known to be in no document, rather than unknown.
            self._let_go(string)
            self._slices[string] = _NOWHERE
            self._slice_bytes += _LONE
