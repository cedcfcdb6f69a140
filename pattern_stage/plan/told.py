"""What has been told and may come again: it is told once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from heapq import heappop, heappush

from pattern_stage.plan.channels import Channel
from pattern_stage.plan.memberships import Membership, joined
from pattern_stage.plan.outputs import Output, Root, distinct

__all__ = ["Told"]


class _ByEnd:
    """Outputs by their end, the earliest first to go: by root and event the members."""

    def __init__(self) -> None:
        self._by: dict[int, dict[tuple[Root, object], Membership]] = {}
        self._ends: list[int] = []

    def __bool__(self) -> bool:
        return bool(self._by)

    def drop(self, watermark: int) -> None:
        """Forgets all that ended before a time."""
        while self._ends and self._ends[0] < watermark:
            del self._by[heappop(self._ends)]

    def forget(self, gone: Mapping[Root, Set[int]]) -> None:
        """Forgets members whose numbers others may get."""
        for there in self._by.values():
            for key, members in [*there.items()]:
                less = gone.get(key[0])
                if less is not None:
                    there[key] = tuple([one for one in members if one not in less])

    def copy(self) -> _ByEnd:
        """Another that has the same."""
        other = _ByEnd()
        other._by = {end: {**there} for end, there in self._by.items()}
        other._ends = [*self._ends]
        return other

    def new(self, outputs: Iterable[Output]) -> list[Output]:
        """Those that are not there, which they are now."""
        new = list[Output]()
        for root, event, members in outputs:
            there = self._by.get(event[1])
            if there is None:
                there = self._by[event[1]] = {}
                heappush(self._ends, event[1])
            key = root, root.key(event)
            known = there.get(key)
            if known is None:
                there[key] = members
                new.append((root, event, members))
            elif left := tuple({*members} - {*known}):
                there[key] = joined(known, members)
                new.append((root, event, left))
        return new


class Told:
    """What ends at or after the watermark: what monotone queries have computed, and what was told
    before its time."""

    def __init__(self) -> None:
        self._computed, self._early = _ByEnd(), _ByEnd()
        self.flushed: list[Output] = []
        """What was told before its time, and nobody had to look for yet."""

        self._gone: dict[Root, set[int]] = {}

    def remove(self, root: Root, member: int) -> None:
        """A member without queries: its number may be that of others soon."""
        if self._computed or self._early or self.flushed:
            self._gone.setdefault(root, set()).add(member)

    def unknown(self, root: Root, channel: Channel) -> Iterable[Output]:
        """The outputs of a monotone query: documents, and what it has not computed before."""
        self._forget()
        if root.is_document:
            yield from distinct(root, Channel([one for one in channel if one[0][2] is not None]))
            channel = Channel([one for one in channel if one[0][2] is None])
        yield from self._computed.new(distinct(root, channel))

    def not_early(self, told: list[Output], *, told_now: bool = True) -> list[Output]:
        """What was not told before its time; it is told now, unless somebody only counts it."""
        self._forget()
        if told and self.flushed:
            self._early.new(self.flushed)
            self.flushed = []
        if not self._early:
            return told
        return (self._early if told_now else self._early.copy()).new(told)

    def _forget(self) -> None:
        if not self._gone:
            return
        self._early.new(self.flushed)
        self.flushed = []
        for one in (self._computed, self._early):
            one.forget(self._gone)
        self._gone = {}

    def drop(self, watermark: int) -> None:
        """Forgets what ended before the watermark."""
        self._computed.drop(watermark)
        self._early.drop(watermark)
        if self.flushed:
            self.flushed = [one for one in self.flushed if one[1][1] >= watermark]
