"""The engine: the one object that users hold, with all packages behind it.

Queries go in by `subscribe`, `subscribe_many` and `load`; documents by `publish`, `publish_many`,
`run` and `count`.  What an engine knows of itself is in `explain`, `why` and `stats`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from types import TracebackType
from typing import TYPE_CHECKING

from xscl.engine.answers import Answers
from xscl.engine.publishing import Publishing
from xscl.engine.subscribing import Subscribing

if TYPE_CHECKING:
    from xscl.durable.keeper import Keeper

__all__ = ["Engine"]


class Engine(Subscribing, Publishing, Answers):
    """Standing queries over streams of documents, in memory or, with the name of a `state` file,
    durable: whatever ends the process, the same name opens the engine as it was after the last
    call that returned.

    `lateness` bounds how late a document may come (seconds, or text such as `1 day`; the
    default, None, is without bound): with it, and windows that end, the state forgets.
    `on_skip` is called with each document that cannot be read; by default it is logged.  With
    `query_sharing`, queries alike but for constants are evaluated as one.  An engine
    may be used from several threads: one at a time is in it, and callbacks run on the thread that
    published, outside the lock.  `strategies` say how it goes about its work, never what it finds.
    `memory` bounds what it holds in process (bytes, or text such as `64MB`; the default, None,
    bounds only what is kept at hand for joins): what is beyond lies in temporary files.
    `without` names techniques of patterns and event queries that are switched off, and `sharable`
    sets of streams whose equal documents, published in one batch at one time, event queries read
    as one: both change how fast matches are found, never which.
    `commit_every` (seconds, or text such as `200 ms`) writes documents to the state file together:
    one may wait for so long after `publish` has returned, and callbacks wait with it.

    >>> engine = Engine()
    >>> promo = engine.subscribe("S//book->b[./title->t] FOLLOWED BY {t = u} S//blog[./title->u]")
    >>> engine.publish("S", "<book><title>XSCL</title></book>", id="d1", timestamp=0)
    []
    >>> (match,) = engine.publish("S", "<blog><title>XSCL</title></blog>", id="d2", timestamp=1)
    >>> match.documents, match.nodes
    (('d1', 'd2'), (0, 0))
    """

    def close(self) -> None:
        """Closes the engine; what is asked of it afterwards raises StateError.

        A state file is complete already, but for which callbacks have returned, and for what
        `commit_every` lets wait: that is written and handed over before.
        """
        self._transactions.close()

    def __enter__(self) -> Engine:
        with self._transactions.asking():
            return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """Makes one transaction of all that is done in it: a state file has the whole or nothing,
        and callbacks are called when it has.

        An exception in it closes an engine that has a state file, for the file is then behind it:
        open it again.
        """
        with self._transactions.transaction():
            yield

    def commit(self) -> None:
        """Writes now what `commit_every` lets wait, and hands over what waits with it: when it
        returns, the state file has all that was published.  Within a `transaction`, which is
        written at its end, it does nothing, nor does it without a state file."""
        self._transactions.commit()

    @property
    def keeper(self) -> Keeper | None:
        """The keeper of the state file, for what is to be in the same transactions; None without
        a state file."""
        with self._transactions.asking():
            return self._transactions.keeper
