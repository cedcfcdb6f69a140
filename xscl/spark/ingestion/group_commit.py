"""Bodies reach the disk in groups, and before what is known of their feeds.

That order is what makes a crash harmless: between the two it costs a second fetch of the same
bodies; the other way round, a server would answer 304 from then on for a body that nobody has.
"""

from __future__ import annotations

from xscl.polling.relations import Changes
from xscl.polling.state import FeedState
from xscl.polling.store import Store
from xscl.spark.ingestion.bodies import Body
from xscl.spark.ingestion.spool import Spool

__all__ = ["GroupCommit"]

_MOST_BYTES = 8 << 20
_MOST_BODIES = 500
_LONGEST = 0.5
"""So many bytes or bodies, or so many seconds since the first, make a group."""

_SAVE_EVERY = 5.0
"""Seconds between two writings to the store, which cost what opening it costs."""


class GroupCommit:
    """What has been gathered and is not on the disk yet.  Times are seconds."""

    def __init__(self, spool: Spool, store: Store, now: float) -> None:
        self._spool = spool
        self._store = store
        self._bodies: list[Body] = []
        self._bytes = 0
        self._since = now
        self._states: dict[str, FeedState] = {}
        self._saved = now

    @property
    def pending(self) -> bool:
        """Whether there are bodies that are not in the spool yet."""
        return bool(self._bodies)

    def add(self, body: Body | None, state: FeedState, now: float) -> None:
        """What is known of a feed from now on, and the body that it came with, if any."""
        self._states[state.address] = state
        if body is not None:
            if not self._bodies:
                self._since = now
            self._bodies.append(body)
            self._bytes += len(body.body or b"")

    def settle(self, now: float, *, idle: bool) -> bool:
        """Writes what is due, and all bodies if nothing more is coming just now (`idle`); whether
        the spool has grown."""
        full = self._bytes >= _MOST_BYTES or len(self._bodies) >= _MOST_BODIES
        grows = self.pending and (idle or full or now >= self._since + _LONGEST)
        if self._states and now >= self._saved + _SAVE_EVERY:
            grows = self.pending
            self.save(now)
        elif grows:
            self._write()
        return grows

    def save(self, now: float) -> None:
        """Writes all there is."""
        self._write()
        if self._states:
            self._store.save(Changes(feeds=self._states))
            self._states = {}
        self._saved = now

    def _write(self) -> None:
        self._spool.append(self._bodies)
        self._bodies, self._bytes = [], 0
