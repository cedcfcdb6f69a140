"""What polling remembers, in a state file: written with the documents that it is about.

The documents themselves are kept by the engine, as far as a query can reach them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace

from xscl.durable.keeper import Keeper
from xscl.polling.news import SeenItem
from xscl.polling.relations import (
    Changes,
    Envelope,
    Key,
    read_feeds,
    read_late,
    read_seen,
    read_shown,
)
from xscl.polling.state import FeedState
from xscl.polling.withdrawals import Shown

__all__ = ["PolledFeeds"]


class PolledFeeds:
    """The feeds of a state file; `transaction` opens one, or joins the one that is open."""

    def __init__(
        self, keeper: Keeper, transaction: Callable[[], AbstractContextManager[object]]
    ) -> None:
        self._keeper = keeper
        self._transaction = transaction

    def feeds(self) -> dict[str, FeedState]:
        """What is known of each feed, by address."""
        return read_feeds(self._keeper.file.connection)

    def seen(self) -> dict[tuple[str, str], list[SeenItem]]:
        """The items seen, by address and stream, in the order of seeing."""
        return read_seen(self._keeper.file.connection)

    def shown(self) -> dict[tuple[str, str], list[Shown]]:
        """The items of the last answers that items are withdrawn from, by address and stream."""
        return read_shown(self._keeper.file.connection)

    def late(self) -> dict[Key, float]:
        """The items seen that came too late to be published, and their times."""
        return read_late(self._keeper.file.connection)

    def documents(self, keys: Sequence[tuple[str, str]]) -> Iterator[Envelope]:
        """None: the engine has them."""
        return iter(())

    def save(self, changes: Changes) -> None:
        """Adds changes to the transaction that is open, or makes one of them."""
        with self._transaction():
            seen = {
                key: one if one.envelope is None else replace(one, envelope={})
                for key, one in changes.seen.items()
            }
            self._keeper.polled(Changes(changes.feeds, seen, changes.forgotten, changes.shown))
