"""Matches in the order in which they were found, numbered and encoded once: what readers of events
read from.

A reader keeps a place, the number of the last match that it has; nothing is queued for it.  The
newest matches are in memory, within bounds of number and bytes.  What a reader asks for and is gone
is counted, so that it can be said.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

from xscl.matches.match import Match, json_line

__all__ = ["Entry", "Journal", "Page", "Place"]


class Entry(NamedTuple):
    """A match: its number, id and query, and its line of JSON, which ends in a line feed."""

    number: int
    match: str
    query: str
    line: bytes


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a journal, after the match of a number; `life` tells journals apart, for one that
    was only in memory begins anew with each process."""

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
    """Some entries after a place, the place after them, and how many before them are gone."""

    entries: Sequence[Entry]
    after: int
    lost: int


class Journal:
    """The journal of an engine, for `keep` matches; `memory` bounds the bytes of those in memory.

    `note` and `show` are called by the engine's thread, all else by any.
    """

    def __init__(self, keep: int, memory: int) -> None:
        self.life = secrets.token_hex(4)
        self.newest = 0
        self._keep = keep
        self._memory = memory
        self._entries: dict[int, Entry] = {}
        self._oldest = 1
        self._bytes = 0
        self._next = 1
        self._listeners: list[Callable[[], object]] = []

    def listen(self, listener: Callable[[], object]) -> None:
        """From now on `listener` is called when there are new matches, by the engine's thread."""
        self._listeners.append(listener)

    def note(self, matches: Iterable[Match]) -> list[Entry]:
        """Numbers and encodes matches; readers see them once they are shown."""
        entries = [
            Entry(number, match.id, match.query, json_line(match))
            for number, match in enumerate(matches, self._next)
        ]
        self._next += len(entries)
        return entries

    def show(self, entries: Sequence[Entry]) -> None:
        """Lets readers see what was noted."""
        if not entries:
            return
        for entry in entries:
            self._entries[entry.number] = entry
            self._bytes += len(entry.line)
        self.newest = entries[-1].number
        while len(self._entries) > self._keep or self._bytes > self._memory:
            gone = self._entries.pop(self._oldest)
            self._bytes -= len(gone.line)
            self._oldest += 1
        for listener in self._listeners:
            listener()

    def number_of(self, place: Place) -> int:
        """The number of a place in this journal; 0, the beginning, for a place in another one."""
        return place.number if place.life == self.life and place.number <= self.newest else 0

    def after(self, number: int, queries: frozenset[str], most: int) -> Page:
        """At most so many matches after a number; of some queries, or without any of all."""
        newest, oldest = self.newest, self._oldest
        lost = max(0, min(oldest - 1, newest) - number)
        found = list(islice(self._between(max(number + 1, oldest), newest, queries), most))
        return Page(found, found[-1].number if len(found) == most else newest, lost)

    def find(self, match: str) -> Entry | None:
        """The newest entry of a match; None if it is held no more."""
        for number in range(self.newest, self._oldest - 1, -1):
            entry = self._entries.get(number)
            if entry is not None and entry.match == match:
                return entry
        return None

    def _between(self, first: int, last: int, queries: frozenset[str]) -> Iterator[Entry]:
        for number in range(first, last + 1):
            # The engine's thread may let go of it meanwhile.
            entry = self._entries.get(number)
            if entry is not None and (not queries or entry.query in queries):
                yield entry
