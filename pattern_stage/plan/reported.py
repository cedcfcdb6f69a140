"""Outputs that were reported and may occur again: each is reported once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from heapq import heappop, heappush

from xscl.pattern_stage.layouts import END, NUMBER
from xscl.pattern_stage.plan.channels import Channel
from xscl.pattern_stage.plan.memberships import Membership, joined
from xscl.pattern_stage.plan.outputs import Output, Root, distinct

__all__ = ["Reported"]


class _ByEnd:
    """Outputs by their end, the earliest first: by root and event the members."""

    def __init__(self) -> None:
        self._by: dict[int, dict[tuple[Root, object], Membership]] = {}
        self._ends: list[int] = []
        self.version = 0
        """Grows with each change."""

    def __bool__(self) -> bool:
        return bool(self._by)

    def drop(self, watermark: int) -> None:
        """Drops all that ended before a time."""
        while self._ends and self._ends[0] < watermark:
            self.version += 1
            del self._by[heappop(self._ends)]

    def drop_members(self, gone: Mapping[Root, Set[int]]) -> None:
        """Drops members whose numbers others may get."""
        self.version += 1
        for there in self._by.values():
            for key, members in [*there.items()]:
                less = gone.get(key[0])
                if less is not None:
                    there[key] = tuple([one for one in members if one not in less])

    def all(self) -> Iterator[tuple[Root, object, Membership]]:
        """All, by root and key."""
        for there in self._by.values():
            for (root, key), members in there.items():
                yield root, key, members

    def copy(self) -> _ByEnd:
        """Another that has the same."""
        other = _ByEnd()
        other._by = {end: {**there} for end, there in self._by.items()}
        other._ends = [*self._ends]
        return other

    def new(self, outputs: Iterable[Output]) -> list[Output]:
        """Those that are new; they are added."""
        new = list[Output]()
        for root, event, members in outputs:
            there = self._by.get(event[END])
            if there is None:
                there = self._by[event[END]] = {}
                heappush(self._ends, event[END])
            key = root, root.key(event)
            known = there.get(key)
            if known is None:
                there[key] = members
                new.append((root, event, members))
            elif left := tuple({*members} - {*known}):
                there[key] = joined(known, members)
                new.append((root, event, left))
        self.version += bool(new)
        return new


class Reported:
    """Outputs that end at or after the watermark: those that monotone queries have computed, and
    those reported before their time."""

    def __init__(self) -> None:
        self._computed, self._early = _ByEnd(), _ByEnd()
        self._documents = _ByEnd()
        """Of unions, those of this step."""
        self.flushed: list[Output] = []
        """Outputs reported before their time that were not looked up yet."""

        self._gone: dict[Root, set[int]] = {}

    def remove(self, root: Root, member: int) -> None:
        """Removes a member without queries: its number may soon be another's."""
        if self._computed or self._early or self._documents or self.flushed:
            self._gone.setdefault(root, set()).add(member)

    def begin(self) -> None:
        """Begins a step: its documents are in no other one."""
        if self._documents:
            self._documents = _ByEnd()

    def unknown(self, root: Root, channel: Channel) -> Iterable[Output]:
        """The new outputs of a monotone query: documents, and what it has not computed before."""
        self._drop_gone()
        if root.is_document:
            documents = distinct(
                root, Channel([one for one in channel if one[0][NUMBER] is not None])
            )
            # Events come type by type, and a node may be an event of either side.
            yield from self._documents.new(documents) if root.is_union else documents
            channel = Channel([one for one in channel if one[0][NUMBER] is None])
        yield from self._computed.new(distinct(root, channel))

    def not_early(self, outputs: list[Output], *, reported_now: bool = True) -> list[Output]:
        """The outputs that were not reported before their time; they count as reported now, unless
        they are only counted."""
        if outputs:
            self._look_up()
        if not self._early:
            return outputs
        return (self._early if reported_now else self._early.copy()).new(outputs)

    def early(self) -> tuple[int, Iterator[tuple[Root, object, Membership]]]:
        """What was reported before its time, by key, with a number that grows as that changes."""
        self._look_up()
        return self._early.version, self._early.all()

    def report_early(self, outputs: list[Output]) -> None:
        """Outputs were reported before their time."""
        self._early.new(outputs)

    def _look_up(self) -> None:
        self._drop_gone()
        if self.flushed:
            self._early.new(self.flushed)
            self.flushed = []

    def _drop_gone(self) -> None:
        if not self._gone:
            return
        self._early.new(self.flushed)
        self.flushed = []
        for one in (self._computed, self._early, self._documents):
            one.drop_members(self._gone)
        self._gone = {}

    def drop(self, watermark: int) -> None:
        """Drops what ended before the watermark."""
        self._computed.drop(watermark)
        self._early.drop(watermark)
        if self.flushed:
            self.flushed = [one for one in self.flushed if one[1][END] >= watermark]
