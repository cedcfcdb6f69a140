"""The outcomes of groups -> what a stage reports: nothing again that `flush` has reported before
its time, and nothing of a query that has more matches in a step than it may."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from xscl.pattern_stage.bounds import MOST
from xscl.pattern_stage.found import Found, FoundGroup, Outcome, found_in, grouped

__all__ = ["Key", "Outcomes"]

Key = tuple[Any, ...]
"""What tells a match apart from all others; it begins with the query's number."""


class Outcomes:
    """The matches of one stage that it has not reported yet, and those reported before their time.

    `present` returns whether a query is there.
    """

    def __init__(self, present: Callable[[int], bool], most: int = MOST) -> None:
        self._present, self._most = present, most
        self.stopped: dict[int, str] = {}
        """Queries that have exceeded a bound, and why; they are to be removed."""
        self._done: list[Outcome] = []
        self._early: list[Outcome] = []
        """The matches that were reported before their time."""
        self._known: dict[Key, int] = {}
        """The same from before the state was rebuilt, by key, with their times."""

    def add(self, outcomes: list[Outcome], *, monotone: bool) -> None:
        """What a group has found; one that is monotone reports nothing before its time."""
        self._done += outcomes if monotone else self.unreported(outcomes)

    def add_early(self, early: list[Outcome]) -> None:
        """Matches are reported before their time."""
        self._done += early
        self.know_early(early)

    def know_early(self, early: list[Outcome]) -> None:
        """Matches were reported before their time."""
        self._early += early

    def adopt(self, other: Outcomes) -> None:
        """What another stage has reported before its time and which queries it has stopped."""
        self.stopped.update(other.stopped)
        self._early += other._early

    def advance(self, watermark: int) -> None:
        """What was reported early and is before the watermark is not found again."""
        if self._early:
            self._early = [outcome for outcome in self._early if outcome.time >= watermark]
        if self._known:
            self._known = {key: time for key, time in self._known.items() if time >= watermark}

    def found(self) -> list[Found]:
        """The matches since the last call, in order of time; none for queries that have more than
        they may."""
        return found_in(self.within_bounds(self.new()))

    def groups(self) -> list[FoundGroup]:
        """In place of `found`: the matches by query, last event and time, in order of time."""
        return grouped(self.new())

    def counts(self) -> dict[int, int]:
        """In place of `found`: how many matches of each query there are since the last call."""
        counts: dict[int, int] = {}
        for outcome in self.new():
            count = outcome.size
            for number in outcome.numbers:
                counts[number] = counts.get(number, 0) + count
        return counts

    def new(self) -> list[Outcome]:
        """The outcomes since the last call."""
        done, self._done = self._done, []
        return done

    def within_bounds(self, outcomes: list[Outcome]) -> list[Outcome]:
        """Outcomes to be enumerated, without those of stopped queries."""
        most = self._most
        if sum([one.size * len(one.numbers) for one in outcomes]) > most:
            counts = Counter[int]()
            for one in outcomes:
                size = one.size
                for number in one.numbers:
                    counts[number] += size
            why = f"more than {most:,} matches in one step"
            self.stopped |= {number: why for number, many in counts.items() if many > most}
        if not self.stopped:
            return outcomes
        return [
            one._replace(
                numbers=tuple([number for number in one.numbers if number not in self.stopped])
            )
            for one in outcomes
        ]

    def unreported(self, outcomes: list[Outcome]) -> list[Outcome]:
        """The matches that were not reported before their time."""
        if not outcomes or not (self._early or self._known):
            return outcomes
        known = self.early()
        return [
            Outcome((match.number,), [match.events], None, match.time)
            for match in found_in(self.within_bounds(outcomes))
            if match.key not in known
        ]

    def early(self) -> dict[Key, int]:
        """The keys of matches that were reported before their time, with their times."""
        early: dict[Key, int] = {match.key: match.time for match in found_in(self._early)}
        early |= self._known
        return {key: time for key, time in early.items() if self._present(key[0])}

    def restore(self, known: Mapping[Key, int]) -> None:
        """These were reported before their time, and nothing else."""
        self._early, self._known = [], dict(known)
