"""The calls of one engine: one at a time, each whole or not at all, and what they find handed over.

A call that changes the engine is a transaction: at its end the state file has what it changed, and
only then is what it found handed over, outside the lock.  Whatever breaks a change off halfway
closes the engine, since what is in memory is then neither as it was before nor as it should be: the
state file is as it was before the call, and an engine in memory has to be made anew.
"""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from xscl.durable.points import at, look
from xscl.errors import DocumentError, StateError, XSCLError
from xscl.evaluation.waves import Delivery
from xscl.matches.published import Streams
from xscl.memory.relations import Shortage
from xscl.queries.callbacks import call_back, check_callback
from xscl.queries.subscription import Subscription

if TYPE_CHECKING:
    from xscl.durable.changes import Undelivered
    from xscl.durable.keeper import Keeper

__all__ = ["Outgoing", "Transactions"]

log = logging.getLogger("xscl")

T = TypeVar("T")


class Outgoing(NamedTuple):
    """What is reported when a transaction is written: documents that were skipped, matches, and
    the matches of earlier runs that callbacks may not have got (`again`).

    `numbers` are those that matches have in the state file.  Callbacks get the matches of
    publishing, not those of counting.
    """

    skips: Sequence[DocumentError] = ()
    deliveries: Sequence[Delivery] = ()
    numbers: Sequence[int] = ()
    again: Sequence[tuple[Subscription, Undelivered]] = ()
    to_callbacks: bool = True


@dataclass(slots=True)
class _Change:
    """A change of the engine; `begun`, it has come so far that it must come to its end."""

    begun: bool = False


class Transactions:
    """What one engine does, a call at a time.

    `release` gives back what the engine has open.  `keeper` keeps the state file, None without.
    """

    def __init__(
        self, on_skip: Callable[[DocumentError], object] | None, release: Callable[[], None]
    ) -> None:
        check_callback("on_skip", on_skip)
        look()
        self.keeper: Keeper | None = None
        self.streams = Streams()
        self._on_skip = on_skip or (lambda error: log.warning("skipped: %s", error))
        self._release = release
        self._shortage = Shortage()
        self._lock = threading.RLock()
        self._depth = 0
        self._postponed: list[Outgoing] = []
        self._closed: str | None = None

    def waiting_for(
        self, attached: Iterable[Subscription]
    ) -> list[tuple[Subscription, Undelivered]]:
        """The matches of earlier runs that the callbacks of some subscriptions may not have got."""
        keeper = self.keeper
        if keeper is None:
            return []
        from xscl.durable.outbox import again_for

        return [
            (one, waiting)
            for one in attached
            if one.on_match is not None
            for waiting in again_for(keeper, one)
        ]

    @property
    def closed(self) -> bool:
        """Whether the engine is closed; asked without waiting for whoever is in it."""
        return self._closed is not None

    @contextlib.contextmanager
    def asking(self) -> Iterator[None]:
        """Around every call: nobody else is in the engine.  Raises StateError if it is closed."""
        with self._lock:
            self._check_open()
            yield

    @contextlib.contextmanager
    def changing(self) -> Iterator[None]:
        """Around all that changes the engine: at its end the state file has it."""
        with self._lock:
            self._check_open()
            self._depth += 1
            try:
                yield
                self._commit()
            except BaseException as error:
                if self._breaks(error):
                    self._break_off(error)
                raise
            finally:
                self._depth -= 1

    @contextlib.contextmanager
    def whole(self) -> Iterator[_Change]:
        """Around what must not be left halfway once it has `begun`, with all that is reported of
        it: if anything breaks it off after that, the engine is closed."""
        change = _Change()
        try:
            yield change
        except BaseException as error:
            if change.begun:
                self._break_off(error)
            raise

    def take_in(
        self, settle: Callable[[], None], read: Callable[[], T], evaluate: Callable[[T], Outgoing]
    ) -> None:
        """Takes in a batch, and reports what it causes: what breaks off the reading has published
        nothing, what breaks off anything after it closes the engine."""
        begun = False
        try:
            with self._lock, self._shortage:
                self._check_open()
                begun = True
                settle()
                begun = False
                batch = read()
                begun = True
                self._depth += 1
                try:
                    outgoing = evaluate(batch)
                    at("evaluated")
                    outgoing = self.keep(outgoing)
                    self._commit()
                except BaseException as error:
                    if self._breaks(error):
                        self._break_off(error)
                    raise
                finally:
                    self._depth -= 1
            self.report(outgoing)
        except BaseException as error:
            if begun:
                self._break_off(error)
            raise

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """Makes one transaction of several calls; an exception in it closes an engine that has a
        state file, for the file is then behind it."""
        postponed: list[Outgoing] = []
        try:
            with self._lock:
                self._check_open()
                self._depth += 1
                try:
                    yield
                    self._commit()
                except BaseException as error:
                    if self.keeper is not None:
                        self._break_off(error)
                        self._postponed.clear()
                    raise
                finally:
                    self._depth -= 1
                    if not self._depth:
                        postponed, self._postponed = self._postponed, []
        finally:
            with self.whole() as change:
                change.begun = bool(postponed)
                for outgoing in postponed:
                    self._hand_over(outgoing)

    def keep(self, outgoing: Outgoing) -> Outgoing:
        """What is to be reported at the end of this call; until a callback has returned, the state
        file has the match that it waits for.  Within a `transaction`, matches wait for its end."""
        keeper = self.keeper
        if keeper is not None and outgoing.to_callbacks:
            from xscl.durable.outbox import keep_for_callbacks

            outgoing = outgoing._replace(numbers=keep_for_callbacks(keeper, outgoing.deliveries))
        if self._depth == 1:
            return outgoing
        self._postponed.append(outgoing._replace(skips=()))
        return Outgoing(outgoing.skips)

    def report(self, outgoing: Outgoing) -> None:
        """Reports what was skipped, and hands matches over to streams and callbacks."""
        for error in outgoing.skips:
            try:
                call_back(self._on_skip, error)
            except Exception:
                # A user's code may raise anything; the other documents are unaffected.
                log.exception("on_skip raised on: %s", error)
        self._hand_over(outgoing)

    def close(self) -> None:
        """Closes the engine when the state file is complete, but for which callbacks have
        returned; twice does no harm."""
        with self._lock:
            if self._closed is not None:
                return
            at("before close")
            try:
                if self.keeper is not None:
                    self.keeper.commit()
                    self.keeper.file.tidy()
            finally:
                self._end("the engine is closed; make a new one")

    def _hand_over(self, outgoing: Outgoing) -> None:
        at("before delivery")
        for subscription, match in outgoing.deliveries:
            if match.stream is not None:
                self.streams.publish(match.stream, match)
            if outgoing.to_callbacks:
                subscription.deliver(match)
        if outgoing.again:
            from xscl.durable.outbox import match_of

            for subscription, waiting in outgoing.again:
                subscription.deliver(match_of(waiting))
        at("after delivery")
        if self.keeper is not None:
            self.keeper.delivered(outgoing.numbers)
            self.keeper.delivered(waiting.number for _, waiting in outgoing.again)

    def _check_open(self) -> None:
        if self._closed is not None:
            raise StateError(self._closed)

    def _commit(self) -> None:
        if self._depth == 1 and self.keeper is not None:
            self.keeper.commit()

    def _breaks(self, error: BaseException) -> bool:
        """Whether an error has left a change halfway, or the state file behind: not one that says
        that a query or document was refused."""
        if self.keeper is None:
            return not isinstance(error, Exception)
        if isinstance(error, StateError):
            return self._depth == 1
        return not isinstance(error, XSCLError | ExceptionGroup)

    def _break_off(self, error: BaseException) -> None:
        reason = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        advice = (
            "make a new one, subscribe and publish again"
            if self.keeper is None
            else "open its state file again, which is as it was before"
        )
        with self._lock:
            self._end(f"the engine is closed, a call was broken off ({reason}); {advice}")

    def _end(self, reason: str) -> None:
        if self._closed is None:
            self._closed = reason
            try:
                if self.keeper is not None:
                    self.keeper.file.close()
            finally:
                self._release()
                self.streams.close()
