"""Feeds, wherever they are, become bodies in the spool: addresses are polled by the core that
`xscl watch` polls with, files are looked at again and read when they have changed.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from types import TracebackType

from xscl.errors import XSCLError
from xscl.polling.clock import Clock, SystemClock
from xscl.polling.core import is_busy
from xscl.polling.fetching import Fetched
from xscl.polling.named_feeds import NamedFeeds, feeds_of
from xscl.polling.state import FeedState, Policy
from xscl.polling.store import Store
from xscl.spark.ingestion.bodies import Body
from xscl.spark.ingestion.file_looks import look, trouble
from xscl.spark.ingestion.group_commit import GroupCommit
from xscl.spark.ingestion.spool import Spool
from xscl.spark.ingestion.web_feeds import Web, body_of

__all__ = ["Gathering"]

_PAUSE = 0.05
"""If no answer comes for so many seconds, those that came are not kept waiting for it."""

_NOTICE = 0.25
"""In seconds, how long a stop, or room in the spool, may go unnoticed."""

_PATIENCE = 30.0
"""For how many seconds the end of another gathering in the same place is waited for."""


class Gathering:
    """From sources (feed files, folders, OPML files, http(s) addresses) to a spool of bodies.

    `store` is the file of what is known of each feed; `web` how addresses are fetched from, and
    how large a body may be; `policy` how eagerly: its `every` is how often files are looked at,
    too, and `once_every` takes its place where it gathers once.  With more than `most_backlog`
    bytes in the spool, gathering pauses.

    Making one has no effect, and it may be pickled until it is opened; a context manager for the
    one process that gathers.  Files that a folder or an OPML file gains are noticed, addresses at
    the next opening.
    """

    def __init__(
        self,
        sources: Iterable[str],
        spool: str | Path,
        store: str | Path,
        *,
        web: Web,
        policy: Policy,
        once_every: float = 0.0,
        most_backlog: int = 1 << 30,
        clock: Clock | None = None,
    ) -> None:
        self.spool = Spool(spool)
        self._sources = tuple(sources)
        self._store_path = Path(store)
        self._web = web
        self._policy, self._once_every = policy, once_every
        self._most_backlog = most_backlog
        self._clock = clock or SystemClock()
        self._feeds = NamedFeeds()
        self._known: dict[str, FeedState] = {}
        self._store = Store(store, patience=_PATIENCE)
        self._opened = ExitStack()

    def __enter__(self) -> Gathering:
        self.open()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def open(self) -> None:
        """Makes the spool and the store if need be, and keeps other processes out.

        Raises XSCLError for a source that cannot be read, StateError if another process gathers
        here and does not end soon.
        """
        feeds = NamedFeeds()
        for source in self._sources:
            feeds.add(feeds_of(source))
        self._feeds = feeds
        self._store_path.parent.mkdir(parents=True, exist_ok=True)
        with ExitStack() as opened:
            opened.enter_context(self._store)
            self.spool.recover()
            self._opened = opened.pop_all()

    def close(self) -> None:
        """Lets other processes gather here."""
        self._opened.close()

    def once(self) -> None:
        """Fetches each feed that is due, once, and reads each file that is new or has changed;
        returns when all of it is in the spool, whatever room it takes."""
        self._gather(threading.Event(), replace(self._policy, every=self._once_every, once=True))

    def run(self, stop: threading.Event) -> None:
        """Gathers until `stop` is set; for a thread of its own."""
        self._gather(stop, self._policy)

    def _gather(self, stop: threading.Event, policy: Policy) -> None:
        clock = self._clock
        # Not what an earlier gathering knew: that may have failed before it was on the disk.
        self._known = self._store.feeds()
        fetching = self._web.fetching(self._feeds, self._known, policy, clock)
        due = set(fetching.due(clock.now()))
        commit = GroupCommit(self.spool, self._store, clock.now())
        looks, next_look = self._looks(), clock.now() + policy.every
        try:
            while not stop.is_set():
                now = clock.now()
                if looked := next(looks, None):
                    self._take(commit, *looked, now)
                elif policy.once and not due:
                    break
                elif not policy.once and now >= next_look:
                    looks, next_look = self._looks(), now + policy.every
                wait = 0.0 if looked else _PAUSE if commit.pending else _NOTICE
                if fetched := fetching.next(now + wait):
                    due.discard(fetched.state.address)
                    if is_busy(fetched.response):
                        # Its host's other feeds wait, too.
                        for address in due.difference(fetching.due(fetched.at)):
                            due.discard(address)
                            self._take(commit, None, fetching.states[address], fetched.at)
                    self._take(commit, self._body(fetched), fetched.state, fetched.at)
                idle = not (looked or fetched)
                if commit.settle(clock.now(), idle=idle) and not policy.once:
                    self._await_room(commit, stop)
                if idle and fetching.over:
                    stop.wait(_NOTICE)
            commit.save(clock.now())
        finally:
            fetching.stop()

    def _take(self, commit: GroupCommit, body: Body | None, state: FeedState, now: float) -> None:
        self._known[state.address] = state
        commit.add(body, state, now)

    def _await_room(self, commit: GroupCommit, stop: threading.Event) -> None:
        """Waits while the spool is full; what is landed is forgotten by another thread."""
        if self.spool.backlog > self._most_backlog:
            commit.save(self._clock.now())
            while self.spool.backlog > self._most_backlog and not stop.wait(_NOTICE):
                pass

    def _looks(self) -> Iterator[tuple[Body | None, FeedState]]:
        """What is new of the files, and of what is wrong with the sources or right again."""
        now = self._clock.now()
        named = NamedFeeds()
        for source in self._sources:
            try:
                named.add(feeds_of(source))
            except XSCLError as error:
                named.problems[source] = str(error)
        for path, folders in named.files.items():
            new = look(path, folders, self._known, now=now, most_bytes=self._web.max_document)
            if new is not None:
                yield new
        for name, problem in named.problems.items():
            if (found := trouble(name, (), problem, self._known, now=now)) is not None:
                yield found
        for source in self._sources:
            known = self._known.get(source)
            named_as = (named.files, named.addresses, named.problems)
            if known is not None and known.error and not any(source in names for names in named_as):
                yield None, replace(known, error=None, failures=0, last_success=now)

    def _body(self, fetched: Fetched) -> Body | None:
        state, before = fetched.state, self._known.get(fetched.state.address)
        # What is forbidden is tried at each start, and reported once.
        if before is not None and state.next_fetch is None and before.error == state.error:
            return None
        return body_of(fetched, self._feeds.addresses[fetched.state.address])
