"""How many matches each query has found, and how fast they come; with a state file over restarts,
too."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from xscl.durable.changes import Tallied
from xscl.durable.tally_file import TallyFile

__all__ = ["Tallies", "Tally"]

_MEAN = 60.0
"""Seconds over which the rate of a query is a mean."""


@dataclass(slots=True)
class Tally:
    """The matches of a query since a time; their rate is a mean in which the latest count most."""

    since: float
    matches: int = 0
    _rate: float = 0.0
    _at: float = field(default_factory=time.time)

    def add(self, matches: int) -> None:
        """Counts matches; fewer, where some were taken back."""
        self._rate = self.rate + max(matches, 0) / _MEAN
        self._at = time.time()
        self.matches += matches

    @property
    def rate(self) -> float:
        """Matches in a second."""
        # A clock may be set back.
        return self._rate * math.exp(min(self._at - time.time(), 0.0) / _MEAN)

    def of(self, query: str) -> Tallied:
        """It as the tally of a query that is written."""
        return Tallied(query, self.matches, self.since, self._rate, self._at)


class Tallies:
    """The tallies of queries, from a `file` on where there is one.

    All but `items` and `of` is called by the engine's thread.
    """

    def __init__(self, file: TallyFile | None = None) -> None:
        self._file = file
        known = () if file is None else file.known
        self._tallies = {
            query: Tally(since, matches, rate, at) for query, matches, since, rate, at in known
        }

    def of(self, query: str) -> Tally:
        """The tally of a query, from now on if it has none."""
        if (tally := self._tallies.get(query)) is None:
            tally = self._tallies.setdefault(query, Tally(time.time()))
        return tally

    def begin(self, query: str) -> None:
        """A query comes: whatever another of its name has found, it has found nothing."""
        tally = self._tallies[query] = Tally(time.time())
        self._put(query, tally)

    def begin_missing(self, queries: Iterable[str]) -> None:
        """Queries are there, some of which have no tally yet."""
        for query in queries:
            if query not in self._tallies:
                self.begin(query)

    def count(self, matches: Mapping[str, int]) -> None:
        """Counts matches by the names of their queries, less those that were taken back, in the
        transaction that is open."""
        for query, number in matches.items():
            tally = self.of(query)
            tally.add(number)
            self._put(query, tally)

    def drop(self, query: str) -> None:
        """Drops the tally of a query that is no more; the file does so where it is cancelled."""
        self._tallies.pop(query, None)

    def items(self) -> list[tuple[str, Tally]]:
        """The tallies by query."""
        return list(self._tallies.items())

    def _put(self, query: str, tally: Tally) -> None:
        if self._file is not None:
            self._file.put(tally.of(query))
