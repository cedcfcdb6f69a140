"""When which feed may be fetched: the earliest that is due, of a host that may be asked.

Each host has a queue of its feeds by due time, one fetch under way at most, and a time before
which it is left alone; a heap over the hosts holds when each may next be asked.  Starting a fetch
and taking an answer cost the logarithm of the number of feeds and hosts.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush

__all__ = ["Schedule"]


@dataclass(slots=True)
class _Host:
    ready: float = float("-inf")
    busy: bool = False
    queue: list[tuple[float, int, str]] = field(default_factory=list)
    """(due, order of entry, feed): feeds due immediately come in the order they were given."""

    @property
    def next(self) -> float:
        return max(self.queue[0][0], self.ready) if self.queue else float("inf")


class Schedule:
    """Feeds by due time, in the bounds of `spacing` (seconds between two starts at one host), one
    fetch at a time for a host and `concurrency` in all."""

    def __init__(self, spacing: float, concurrency: int) -> None:
        self._spacing = spacing
        self._concurrency = concurrency
        self._hosts: dict[str, _Host] = {}
        self._heap: list[tuple[float, int, str]] = []
        self._entries = 0
        self.under_way = 0

    def add(self, feed: str, host: str, due: float) -> None:
        """Enters a feed, to be fetched from a host at or after a time."""
        self._entries += 1
        entry = self._hosts.setdefault(host, _Host())
        heappush(entry.queue, (due, self._entries, feed))
        self._offer(host, entry)

    def hasten(self, feed: str, host: str, due: float) -> None:
        """Enters a feed again, in place of its entry where it has one."""
        if (entry := self._hosts.get(host)) is not None:
            entry.queue = [one for one in entry.queue if one[2] != feed]
            heapify(entry.queue)
        self.add(feed, host, due)

    def start(self, now: float) -> list[str]:
        """The feeds whose fetch is to start now; each host is taken to be busy with its one until
        `finish`."""
        started = []
        while self.under_way < self._concurrency and (next := self.next_start()) is not None:
            if next > now:
                break
            _, _, name = heappop(self._heap)
            host = self._hosts[name]
            started.append(heappop(host.queue)[2])
            host.busy = True
            host.ready = now + self._spacing
            self.under_way += 1
        return started

    def finish(self, host: str, wait_until: float = float("-inf")) -> None:
        """Frees a host, which is not to be asked again before `wait_until`."""
        entry = self._hosts[host]
        entry.busy = False
        entry.ready = max(entry.ready, wait_until)
        self.under_way -= 1
        self._offer(host, entry)

    def next_start(self) -> float | None:
        """When the next fetch may start; None while none waits for anything but an answer."""
        if self.under_way >= self._concurrency:
            return None
        while self._heap:
            when, _, name = self._heap[0]
            host = self._hosts[name]
            if not host.busy and host.next == when:
                return when
            heappop(self._heap)  # It was offered before something came between.
        return None

    def _offer(self, name: str, host: _Host) -> None:
        if host.queue and not host.busy:
            self._entries += 1
            heappush(self._heap, (host.next, self._entries, name))
