"""The calls of one engine: one at a time, each whole or not at all, and what they find handed over.

A call that changes the engine is a transaction: at its end the state file has what it changed, and
only then is what it found handed over, outside the lock.  Whatever breaks a change off halfway
closes the engine, since what is in memory is then neither as it was before nor as it should be: the
state file is as it was before the call, and an engine in memory has to be made again.

With a group commit, transactions are written some at a time, and what they found is handed over
when they are, in their order.
"""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from xscl.durable.group_commit import GroupCommit
from xscl.durable.points import at, look
from xscl.engine.handovers import PATIENCE, HandOvers
from xscl.errors import DocumentError, QueryStopped, StateError, XSCLError
from xscl.evaluation.deliveries import Delivery
from xscl.garbage import paused
from xscl.matches.published import Streams
from xscl.memory.relations import shortage
from xscl.queries.callbacks import call_back, check_callback
from xscl.queries.subscription import Subscription

if TYPE_CHECKING:
    from xscl.documents.arrivals import Arrivals
    from xscl.durable.changes import Undelivered
    from xscl.durable.keeper import Keeper
    from xscl.evaluation.evaluation import Evaluation

    Envelope = Mapping[str, object]

__all__ = ["Change", "Outgoing", "Transactions"]

log = logging.getLogger("xscl")

T = TypeVar("T")

_MANY = 100
"""Envelopes of a batch that is worth a word to the collector of cycles."""

_AS_IT_IS = contextlib.nullcontext()


class Outgoing(NamedTuple):
    """What is reported when a transaction is written: documents that were skipped, queries that
    were stopped, matches, and the matches of earlier runs that callbacks may not have got
    (`again`).

    `numbers` are those that matches have in the state file.  Callbacks get the matches of
    publishing, not those of counting.
    """

    skips: Sequence[DocumentError] = ()
    stops: Sequence[QueryStopped] = ()
    deliveries: Sequence[Delivery] = ()
    numbers: Sequence[int] = ()
    again: Sequence[tuple[Subscription, Undelivered]] = ()
    to_callbacks: bool = True


@dataclass(slots=True)
class Change:
    """A change of the engine; `begun`, it has come so far that it must come to its end.
    `outgoing` is reported at the end."""

    begun: bool = False
    outgoing: Outgoing = field(default_factory=Outgoing)


class _Asking(contextlib.AbstractContextManager[None]):
    """Around a call, of which there may be one for each document: a lock, and a check once it is
    there."""

    __slots__ = ("_check", "_lock")

    def __init__(self, lock: threading.RLock, check: Callable[[], None]) -> None:
        self._lock = lock
        self._check = check

    def __enter__(self) -> None:
        self._lock.acquire()
        try:
            self._check()
        except BaseException:
            self._lock.release()
            raise

    def __exit__(self, *_: object) -> None:
        self._lock.release()


class Transactions:
    """What one engine does, a call at a time.

    `release` gives back what the engine has open.  `keeper` keeps the state file, None without.
    """

    def __init__(
        self,
        on_skip: Callable[[DocumentError], object] | None,
        on_stop: Callable[[QueryStopped], object] | None,
        release: Callable[[], None],
    ) -> None:
        check_callback("on_skip", on_skip)
        check_callback("on_stop", on_stop)
        look()
        self.keeper: Keeper | None = None
        self.streams = Streams()
        self._on_skip = on_skip or (lambda error: log.warning("skipped: %s", error))
        self._on_stop = on_stop or (lambda error: log.error("%s", error))
        self._release = release
        self._lock = threading.RLock()
        self._asking = _Asking(self._lock, self._check_open)
        self._depth = 0
        self._postponed: list[Outgoing] = []
        self._written = HandOvers(self._hand_over, self.streams.waiting)
        self._group: GroupCommit | None = None
        self._closed: str | None = None

    def group(self, every: float) -> None:
        """Lets documents wait for so many seconds until the state file has them."""
        self._group = GroupCommit(every, self._write_late)

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

    def is_open(self) -> bool:
        """Whether somebody may read what is published now to streams: they are read, or it is
        handed over only later."""
        return self._depth > 1 or self._group is not None or self.streams.are_open

    def asking(self) -> contextlib.AbstractContextManager[None]:
        """Around every call: nobody else is in the engine.  Raises StateError if it is closed."""
        return self._asking

    @contextlib.contextmanager
    def changing(self) -> Iterator[Change]:
        """Around all that changes the engine: at its end the state file has it, and what is
        `outgoing` is reported."""
        with self.whole() as change:
            with self._lock:
                self._check_open()
                self._depth += 1
                try:
                    yield change
                    self._commit()
                    change.begun = True
                except BaseException as error:
                    if self._breaks(error):
                        self._break_off(error)
                    raise
                finally:
                    self._depth -= 1
            self.report(change.outgoing)

    @contextlib.contextmanager
    def whole(self) -> Iterator[Change]:
        """Around what must not be left halfway once it has `begun`, with all that is reported of
        it: if anything breaks it off after that, the engine is closed."""
        change = Change()
        try:
            yield change
        except BaseException as error:
            if change.begun:
                self._break_off(error)
            raise

    def take_in(
        self,
        evaluation: Evaluation,
        envelopes: Sequence[Envelope],
        evaluate: Callable[[Arrivals], tuple[T, Sequence[Delivery]]],
        skips: list[DocumentError],
        stops: list[QueryStopped],
        *,
        raising: bool,
        to_callbacks: bool = True,
    ) -> T:
        """Takes in a batch: reads it, and evaluates it when it is read whole.  Reports what it
        causes, with what it has added to the `skips` and `stops`; returns what was found.  What
        breaks off the reading has published nothing, what breaks off anything after it closes the
        engine."""
        begun = False
        try:
            with paused() if len(envelopes) >= _MANY else _AS_IT_IS:
                with self._lock:
                    self._depth += 1
                    try:
                        if self._closed is not None:
                            raise StateError(self._closed)
                        begun = True
                        evaluation.follow_queries()
                        begun = False
                        batch = evaluation.read(envelopes, raising=raising)
                        begun = True
                        found, deliveries = evaluate(batch)
                        at("evaluated")
                        if self.keeper is None and not (deliveries or skips or stops):
                            # As for most documents: nobody waits for anything.
                            return found
                        outgoing = Outgoing([*skips], stops, deliveries, to_callbacks=to_callbacks)
                        skips.clear()
                        if self.keeper is not None or self._depth > 1:
                            outgoing = self.keep(outgoing)
                            self._commit()
                    except BaseException as error:
                        short = shortage(error)
                        if begun:
                            self._break_off(short or error)
                        if short is not None:
                            raise short from error
                        raise
                    finally:
                        self._depth -= 1
                self.report(outgoing)
        except BaseException as error:
            if begun:
                self._break_off(error)
            raise
        return found

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """Makes one transaction of several calls; an exception in it closes an engine that has a
        state file, for the file is then behind it."""
        with self.whole() as change:
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
                        change.begun = bool(self._postponed) or self._written.pending
                        if not self._depth and self._group is None:
                            postponed, self._postponed = self._postponed, []
            finally:
                for outgoing in postponed:
                    self._hand_over(outgoing)
                self._hand_over_written(PATIENCE)
                change.begun = False

    def keep(self, outgoing: Outgoing) -> Outgoing:
        """What is to be reported at the end of this call; until a callback has returned, the state
        file has the match that it waits for.  Within a `transaction`, matches wait for its end, and
        in a group commit for that."""
        keeper = self.keeper
        if keeper is not None and outgoing.to_callbacks:
            from xscl.durable.outbox import keep_for_callbacks

            outgoing = outgoing._replace(numbers=keep_for_callbacks(keeper, outgoing.deliveries))
        if self._depth == 1 and self._group is None:
            return outgoing
        self._postponed.append(outgoing._replace(skips=(), stops=()))
        return Outgoing(outgoing.skips, outgoing.stops)

    def report(self, outgoing: Outgoing) -> None:
        """Reports what was skipped and stopped, and hands matches over to streams and callbacks."""
        for error in outgoing.skips:
            _report("on_skip", self._on_skip, error)
        self._hand_over(outgoing)
        for stop in outgoing.stops:
            _report("on_stop", self._on_stop, stop)
        self._hand_over_written(PATIENCE)

    def commit(self, patience: float | None = None) -> None:
        """Writes what waits for a group commit, and hands over what waits for that, or waits, with
        `patience`, until another thread has; within a `transaction`, and when the engine is closed,
        it does nothing."""
        with self.whole() as change:
            with self._lock:
                if self.keeper is None or self._depth or self._closed is not None:
                    return
                change.begun = True
                self._write(self.keeper)
            self._hand_over_written(patience)

    def close(self) -> None:
        """Closes the engine when the state file is complete, but for which callbacks have
        returned, and all that is in it is handed over; twice does no harm."""
        while not self._closed_whole():
            self.commit()

    def _closed_whole(self) -> bool:
        """Closes the engine, unless something has to be handed over before."""
        with self._lock:
            if self._closed is not None:
                return True
            # Asked under the lock: what another call adds meanwhile is seen, too.
            left = self._group is not None and (self._written.pending or self._postponed)
            if left and not self._depth:
                return False
            at("before close")
            try:
                if self.keeper is not None:
                    self._write(self.keeper)
                    self.keeper.file.tidy()
            finally:
                self._end("the engine is closed; make a new one")
            return True

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

    def _hand_over_written(self, patience: float | None) -> None:
        """Hands over what a group commit has written."""
        if self._group is None:
            return
        with self._lock:
            if self._depth:
                # Within a transaction: a callback may wait for the lock that this thread has.
                return
        self._written.hand_over(patience)

    def _check_open(self) -> None:
        if self._closed is not None:
            raise StateError(self._closed)

    def _commit(self) -> None:
        if self._depth != 1 or (keeper := self.keeper) is None:
            return
        group = self._group
        # What a callback missed in an earlier run waits no longer.
        urgent = keeper.urgent or any(one.again for one in self._postponed)
        if group is None or urgent or not group.may_wait(keeper.documents):
            self._write(keeper)

    def _write(self, keeper: Keeper) -> None:
        keeper.commit()
        if self._group is not None:
            self._group.written()
            postponed, self._postponed = self._postponed, []
            if postponed:
                self._written.put(postponed)

    def _write_late(self) -> None:
        """Writes what has waited for long enough, on a thread that nobody waits for."""
        try:
            with self._lock:
                group = self._group
                due = group is not None and self._closed is None and group.is_due()
            if due:
                self.commit(patience=0)
            else:
                # Another call may have written, and have handed nothing over.
                with self.whole() as change:
                    change.begun = True
                    self._hand_over_written(patience=0)
        except BaseException:
            # It has closed the engine, which says so to the next call.
            log.exception("the state cannot be written")

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
            if self._group is not None:
                self._group.stop()
                self._postponed.clear()
            try:
                if self.keeper is not None:
                    self.keeper.file.close()
            finally:
                self._release()
                self.streams.close()


def _report(name: str, callback: Callable[[T], object], error: T) -> None:
    try:
        call_back(callback, error)
    except Exception:
        # A user's code may raise anything; all else is unaffected.
        log.exception("%s raised on: %s", name, error)
