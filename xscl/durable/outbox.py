"""Matches that wait to be handed over: to callbacks, commands and webhooks.

With a state file, those that wait are in it, in the transaction that has their documents.  That
a match was handed over is in the transaction after it: it may be handed over twice, with the same
id, and is never lost.
"""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from types import TracebackType
from typing import Self

from xscl.counts import counted
from xscl.durable.changes import CALLBACK, Undelivered
from xscl.durable.keeper import Keeper
from xscl.durable.points import at
from xscl.errors import StateError
from xscl.matches.match import Match, ReportedMatch, Retraction, json_form
from xscl.matches.unwritten import Report, log_unwritten, made_of
from xscl.queries.callbacks import callback_for
from xscl.queries.subscription import Subscription
from xscl.sinks.dead_letters import write_undelivered
from xscl.sinks.deliveries import Deliveries, Delivery, NotDelivered, Parcel

__all__ = ["Outbox", "again_for", "keep_for_callbacks", "match_of"]


class Outbox:
    """The matches for some sinks (commands, webhooks), by the name that the state file has of each.

    Without a keeper they wait in memory alone, and those that are not taken become dead letters.
    A context manager, which ends what is under way.
    """

    def __init__(
        self,
        keeper: Keeper | None,
        takers: Mapping[str, Delivery],
        say: Callable[[str], object],
        dead_letters: str | None = None,
        unwritten: Report = log_unwritten,
    ) -> None:
        self._keeper = keeper
        self._say, self._unwritten = say, unwritten
        self._dead_letters = dead_letters
        self._lock = threading.Lock()
        self._left: Counter[str] = Counter()
        self._lost = False
        self._deliveries = {
            sink: Deliveries(
                taker,
                partial(self._failed, sink),
                kept=partial(self._kept, sink) if keeper else None,
            )
            for sink, taker in takers.items()
        }

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        # A second interrupt is immediate.
        if isinstance(error, Exception):
            self.hurry()
            self.close()

    def hand_over_again(self) -> None:
        """Hands over the matches of earlier runs that these may not have handed over."""
        if self._keeper is None:
            return
        for deliveries in self._deliveries.values():
            at("before delivery")
            deliveries.put_kept()
        for sink, number in self._keeper.file.waiting().items():
            if sink != CALLBACK and sink not in self._deliveries:
                waits = f"{counted(number, 'match')} of earlier runs in the state"
                self._say(f"waiting for --{sink}, which is not given: {waits}")

    def keep(self, matches: Sequence[Match]) -> list[Undelivered]:
        """Keeps matches in the transaction that is open, to be handed over after it."""
        keeper = self._keeper
        waiting = []
        for match, body in made_of(matches if self._deliveries else (), json_form, self._unwritten):
            for sink in self._deliveries:
                if keeper is None:
                    waiting.append(Undelivered(0, sink, match.query, match.id, body))
                else:
                    waiting.append(keeper.queue(sink, match.query, match.id, body))
        return waiting

    def hand_over(self, waiting: Sequence[Undelivered]) -> None:
        """Hands matches over, each when it is its turn; waits while too many do."""
        at("before delivery")
        for one in waiting:
            self._deliveries[one.sink].put(self._parcel(one))

    def hurry(self) -> None:
        """Lets no match be tried more than once from now on; a signal handler may call it."""
        for deliveries in self._deliveries.values():
            deliveries.hurry()

    def close(self) -> int:
        """Waits until all matches are handed over or given up; says what has become of those, and
        returns how many they are."""
        for sink, deliveries in self._deliveries.items():
            deliveries.close()
            if self._keeper is not None:
                # Of a file that cannot be read any more, another error reports that.
                with suppress(StateError):
                    self._left[sink] += self._keeper.file.waiting(deliveries.last).get(sink, 0)
        for sink, left in (+self._left).items():
            self._say(f"not delivered by --{sink}: {counted(left, 'match')}, {self._fate}")
        return self._left.total()

    @property
    def _fate(self) -> str:
        if self._keeper is not None:
            return "kept in the state; the next run tries again"
        if self._dead_letters is None or self._lost:
            return "lost; --state keeps them for the next run, --dead-letters writes them to a file"
        return f"written to {self._dead_letters}"

    def _parcel(self, one: Undelivered) -> Parcel:
        done, given_up = partial(self._done, one.number), partial(self._given_up, one)
        return Parcel(one.match, one.body, done, given_up, one.number)

    def _kept(self, sink: str, after: int, most: int) -> Sequence[Parcel]:
        """Matches that the state file has after a number, so many at most."""
        assert self._keeper is not None
        try:
            return [self._parcel(one) for one in self._keeper.file.undelivered(sink, after, most)]
        except StateError as error:
            raise NotDelivered(str(error)) from error

    def _failed(self, sink: str, match: str, problem: str) -> None:
        self._tell(f"match {match} is not delivered by --{sink} yet: {problem}")

    def _done(self, number: int) -> None:
        at("after delivery")
        if self._keeper is not None:
            self._keeper.delivered([number])

    def _given_up(self, one: Undelivered, problem: str) -> None:
        with self._lock:
            self._left[one.sink] += 1
            if self._keeper is None and self._dead_letters is not None:
                try:
                    with open(self._dead_letters, "a", encoding="utf-8") as file:
                        write_undelivered(one.sink, one.body, problem, file)
                except OSError as error:
                    self._lost = True
                    self._tell(f"{self._dead_letters} cannot be written: {error.strerror}")

    def _tell(self, text: str) -> None:
        # From a thread of a delivery, which continues where nobody listens any more.
        with suppress(OSError, ValueError):
            self._say(text)


def keep_for_callbacks(
    keeper: Keeper, found: Iterable[tuple[Subscription, Match]]
) -> Sequence[int]:
    """Keeps the matches that callbacks wait for, in the transaction that is open; returns the
    numbers that the state file has them under."""
    awaited = (
        match
        for subscription, match in found
        if subscription.active and callback_for(subscription.on_match, match) is not None
    )
    # One that cannot be written is handed over all the same, though not again after a crash.
    return [keeper.queue(*kept).number for _, kept in made_of(awaited, _kept)]


def again_for(keeper: Keeper, subscription: Subscription) -> list[Undelivered]:
    """The matches of earlier runs that a subscription's callback may not have got."""
    return keeper.take_undelivered(subscription.name)


def match_of(kept: Undelivered) -> Match:
    """The match that was kept for a callback: equal to it, with the same result."""
    read = json.loads(kept.body)
    result, as_json = read["result"], read["json"]
    markup = kept.markup if as_json else result
    told = ReportedMatch(
        id=kept.match,
        stream=read["stream"],
        time=read["time"],
        documents=tuple(read["documents"]),
        streams=tuple(read["streams"]),
        nodes=tuple(read["nodes"]),
        bindings=read["bindings"],
        result=result,
        json=as_json,
        markup=markup,
        values=read.get("values", {}),
        variables=tuple(read.get("variables", ())),
        start=read.get("start"),
    )
    match = Match(kept.query, told)
    return Retraction.of(match) if read.get("retracts") else match


def _kept(match: Match) -> tuple[str, str, str, str, str | None]:
    body = {**match.to_dict(), "json": match.json}
    if isinstance(match, Retraction):
        body = {**match.match.to_dict(), "json": match.json, "retracts": True}
    markup = None
    if match.json:
        # A JSON constructor has no other form; of other results `Match.xml` is one.
        with suppress(TypeError, ValueError):
            markup = match.markup
    return CALLBACK, match.query, match.id, json.dumps(body), markup
