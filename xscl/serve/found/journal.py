"""Matches in the order in which they were found, numbered and encoded once: what readers of events
read from.  That a match is taken back is an entry, too, with the id of the match and a number of
its own; lists have neither of the two.

A reader keeps a place, the number of the last match that it has; nothing is queued for it.  The
newest matches are in memory, within bounds of number and bytes, and where there is a state file all
that are kept are in that.  What a reader asks for and is gone is counted, so that it can be said.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

from xscl.durable.changes import Found
from xscl.durable.journal_file import JournalFile
from xscl.matches.match import Match, json_line
from xscl.matches.unwritten import Report, log_unwritten, made_of
from xscl.serve.found.by_query import ByQuery

__all__ = ["Entry", "Journal", "Page", "Place"]


_CHUNK = 256 * 1024
"""Bytes of matches that are read at a time."""

_FROM_FILE = 200
"""Matches that are read from the file at a time."""


_GONE = 1_000
"""After so many that are taken back, and twice those retained, those that are gone are dropped."""

_LOOKED_AT = 1_000
"""Matches that are looked at together for those that suit."""


class Entry(NamedTuple):
    """A match: its number, id and query, and its line of JSON, which ends in a line feed."""

    number: int
    match: str
    query: str
    line: bytes

    @property
    def retracts(self) -> bool:
        """Whether it takes the match of its id back."""
        return self.line.startswith(_RETRACTION)


_RETRACTION = b'{"retract": '


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a journal, after the match of a number; `life` distinguishes journals, for one
    that was only in memory begins again with each process."""

    life: str
    number: int

    def __str__(self) -> str:
        return f"{self.life}-{self.number}"

    @classmethod
    def of(cls, text: str) -> Place:
        """The place of an event's id; raises ValueError for what is none."""
        life, _, number = text.partition("-")
        if not (life and number.isascii() and number.isdigit() and len(number) < 19):
            raise ValueError(f"{text!r} is no id of an event, such as `{secrets.token_hex(4)}-17`")
        return cls(life, int(number))


class Page(NamedTuple):
    """Some entries after a place, the number of the place after them, and how many matches before
    them are gone."""

    entries: Sequence[Entry]
    after: int
    lost: int


class Journal:
    """The journal of an engine, for `keep` matches, of which `memory` bounds the bytes of those
    in memory.  With the `file` of a state, that has all of them.

    `note` and `show` are called by the engine's thread, all else by any.
    """

    def __init__(self, keep: int, memory: int, file: JournalFile | None = None) -> None:
        self.life = secrets.token_hex(4) if file is None else file.life
        self.newest = 0 if file is None else file.newest
        self._file = file
        self._keep = keep
        self._memory = memory
        self._entries: dict[int, Entry] = {}
        self._oldest = self._next = self.newest + 1
        self._bytes = 0
        self._numbers: dict[str, int] = {}
        """Of the matches in memory that stand, by id."""
        self._gone = set[int](() if file is None else file.gone())
        """Numbers of retractions, and of the matches that they take back."""
        self._most_gone = _GONE + 2 * len(self._gone)
        self._by_query = ByQuery(() if file is None else file.by_query())
        self._listeners: list[Callable[[], object]] = []

    @property
    def oldest(self) -> int:
        """The number of the oldest match that is retained; one more than the newest if none is."""
        return self._oldest if self._file is None else self._file.oldest

    def listen(self, listener: Callable[[], object]) -> None:
        """From now on `listener` is called when there are new matches, by the engine's thread."""
        self._listeners.append(listener)

    def note(self, matches: Iterable[Match], report: Report = log_unwritten) -> list[Entry]:
        """Numbers and encodes matches in the transaction that is open; readers see them once they
        are shown.  Those that cannot be encoded are reported."""
        lines = made_of(matches, lambda match: (match.id, json_line(match)), report)
        entries = [
            Entry(number, id, match.query, line)
            for number, (match, (id, line)) in enumerate(lines, self._next)
        ]
        self._next += len(entries)
        if self._file is not None:
            self._file.add([Found(*one[:3], one.line.decode()) for one in entries])
        return entries

    def show(self, entries: Sequence[Entry]) -> None:
        """Lets readers see what was noted, when it is written."""
        if not entries:
            return
        for entry in entries:
            self._entries[entry.number] = entry
            self._bytes += len(entry.line)
            if entry.retracts:
                self._gone |= {entry.number, *self._retracted(entry)}
            else:
                self._numbers[entry.match] = entry.number
        self._by_query.add((entry.query, entry.number) for entry in entries)
        self.newest = entries[-1].number
        while len(self._entries) > self._keep or self._bytes > self._memory:
            gone = self._entries.pop(self._oldest)
            self._bytes -= len(gone.line)
            if self._numbers.get(gone.match) == gone.number:
                del self._numbers[gone.match]
            self._oldest += 1
        self._by_query.evict(self.oldest)
        if len(self._gone) > self._most_gone:
            self._gone = {one for one in self._gone if one >= self.oldest}
            self._most_gone = _GONE + 2 * len(self._gone)
        for listener in self._listeners:
            listener()

    def _retracted(self, entry: Entry) -> Iterable[int]:
        """The number of the match that an entry takes back, if it is retained."""
        number = self._numbers.pop(entry.match, None)
        if number is None and self._file is not None:
            number = self._file.before(entry.match, entry.number)
        return () if number is None else (number,)

    def stands(self, number: int) -> bool:
        """Whether an entry is a match that was not taken back."""
        return number not in self._gone

    def listed(
        self, number: int, queries: frozenset[str], most: int, *, goes_on: bool = False
    ) -> Page:
        """As `after`, for a list: of the entries after a number the matches that stand and, for one
        who `goes_on` there, the retractions of those before it."""
        newest, at, lost, size = self.newest, number, None, 0
        found, passed = list[Entry](), set[str]()
        while True:
            page = self.after(at, queries, max(most - len(found), _FROM_FILE))
            at, lost = page.after, page.lost if lost is None else lost
            for one in page.entries:
                if one.retracts:
                    listed = goes_on and one.match not in passed
                else:
                    listed = self.stands(one.number)
                    passed.add(one.match)
                if listed:
                    found.append(one)
                    size += len(one.line)
                    if len(found) == most:
                        return Page(found, one.number, lost)
            if size > _CHUNK or at >= newest:
                return Page(found, at, lost)

    def knows(self, place: Place) -> bool:
        """Whether a place is one in this journal."""
        return place.life == self.life and place.number <= self.newest

    def is_at_hand(self, number: int) -> bool:
        """Whether all that is retained after a number is in memory."""
        return self._file is None or number + 1 >= self._oldest

    def after(self, number: int, queries: frozenset[str], most: int) -> Page:
        """At most so many matches after a number, and not many more bytes than a chunk's; of some
        queries, or without any of all."""
        if not self.is_at_hand(number):
            return self._in_file(number, queries, min(most, _FROM_FILE))
        while True:
            newest, first = self.newest, max(number + 1, self._oldest)
            page = _page(self._between(first, newest, queries, most), number, first, newest, most)
            # Where the engine's thread has evicted some meanwhile, they are to be counted.
            if self._oldest <= first or not self.is_at_hand(number):
                return page

    def _in_file(self, number: int, queries: frozenset[str], most: int) -> Page:
        assert self._file is not None
        while True:
            newest, first = self.newest, max(number + 1, self._file.oldest)
            if queries:
                rows = self._file.named(self._by_query.between(first, newest, queries, most))
            else:
                rows = self._file.between(first, newest, most)
            # Where the oldest have gone meanwhile, they are to be counted.
            if self._file.oldest <= first:
                return _page(map(_entry, rows), number, first, newest, most)

    def before(self, queries: frozenset[str], most: int) -> int:
        """The number of the place before the latest matches of some queries, or without any of
        all, so many at most."""
        newest = self.newest
        if not (queries or self._gone):
            return max(self.oldest - 1, newest - most)
        latest = [*islice(self._latest(queries), most)]
        return latest[-1] - 1 if latest else newest

    def _latest(self, queries: frozenset[str]) -> Iterator[int]:
        """The numbers of the matches that stand of some queries, or without any of all, the latest
        first."""
        last = self.newest
        while numbers := self._some(queries, last):
            yield from filter(self.stands, numbers)
            last = numbers[-1] - 1

    def _some(self, queries: frozenset[str], last: int) -> Sequence[int]:
        """The numbers of some entries up to the last, the latest first; none where there are no
        more."""
        if queries:
            return self._by_query.latest(self.oldest, last, queries, _LOOKED_AT)
        return range(last, max(last - _LOOKED_AT, self.oldest - 1), -1)

    def search(
        self, queries: frozenset[str], suits: Callable[[Entry], bool], most: int
    ) -> list[Entry]:
        """The latest matches that suit, of some queries, or without any of all, in their order."""
        found: list[Entry] = []
        last = self.newest
        while len(found) < most and (numbers := self._some(queries, last)):
            found += filter(suits, self._numbered([*filter(self.stands, numbers)]))
            last = numbers[-1] - 1
        return found[:most][::-1]

    def _numbered(self, numbers: Sequence[int]) -> list[Entry]:
        """The matches of some numbers, in the order of these, which descend."""
        found = {one: entry for one in numbers if (entry := self._entries.get(one)) is not None}
        if self._file is not None and len(found) < len(numbers):
            missing = [one for one in numbers if one not in found]
            found |= {row.number: _entry(row) for row in self._file.named(missing)}
        return [found[one] for one in numbers if one in found]

    def find(self, match: str) -> Entry | None:
        """The newest entry of a match; None if it is no longer retained, or was taken back."""
        if (number := self._numbers.get(match)) is not None:
            entry = self._entries.get(number)
            if entry is not None:
                return entry
        found = None if self._file is None else self._file.find(match)
        return None if found is None or not self.stands(found.number) else _entry(found)

    def _between(
        self, first: int, last: int, queries: frozenset[str], most: int
    ) -> Iterator[Entry]:
        numbers: Iterable[int] = range(first, last + 1)
        if queries:
            numbers = self._by_query.between(first, last, queries, most)
        for number in numbers:
            entry = self._entries.get(number)
            if entry is not None:
                yield entry


def _entry(row: Found) -> Entry:
    return Entry(*row[:3], row.line.encode())


def _page(found: Iterator[Entry], after: int, first: int, newest: int, most: int) -> Page:
    """The page of entries after a number, those from the `first` on that is retained."""
    lost = first - 1 - after
    entries, size = [], 0
    for entry in found:
        entries.append(entry)
        size += len(entry.line)
        if len(entries) == most or size > _CHUNK:
            return Page(entries, entry.number, lost)
    return Page(entries, newest, lost)
