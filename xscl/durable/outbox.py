"""Matches that wait to be handed over: to callbacks, commands and webhooks.

With a state file, those that wait are in it, in the transaction that has their documents.  That
a match was handed over is in the transaction after it: it may be handed over twice, with the same
id, and is never lost.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial

from xscl.durable.changes import CALLBACK, Undelivered
from xscl.durable.keeper import Keeper
from xscl.durable.points import at
from xscl.matches.json_lines import json_form
from xscl.matches.match import Match, Told
from xscl.queries.subscription import Subscription
from xscl.sinks.deliveries import Deliveries

__all__ = ["Outbox", "again_for", "keep_for_callbacks", "match_of"]


class Outbox:
    """The matches for some sinks (commands, webhooks), by the name that the state file has of each;
    without a keeper they wait in memory alone."""

    def __init__(self, keeper: Keeper | None, deliveries: Mapping[str, Deliveries]) -> None:
        self._keeper = keeper
        self._deliveries = deliveries

    def hand_over_again(self) -> None:
        """Hands over the matches of earlier runs that these may not have handed over."""
        if self._keeper is not None:
            for sink in self._deliveries:
                self.hand_over(self._keeper.take_undelivered(sink))

    def keep(self, matches: Sequence[Match]) -> list[Undelivered]:
        """Keeps matches in the transaction that is open, to be handed over after it."""
        keeper = self._keeper
        waiting = []
        for match in matches if self._deliveries else ():
            body = json_form(match)
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
            done = partial(self._done, one.number)
            self._deliveries[one.sink].put(one.match, one.body, done)

    def _done(self, number: int) -> None:
        at("after delivery")
        if self._keeper is not None:
            self._keeper.delivered([number])


def keep_for_callbacks(
    keeper: Keeper, found: Iterable[tuple[Subscription, Match]]
) -> Sequence[int]:
    """Keeps the matches that callbacks wait for, in the transaction that is open; returns the
    numbers that the state file has them under."""
    return [
        _keep(keeper, match).number
        for subscription, match in found
        if subscription.on_match is not None and subscription.active
    ]


def again_for(keeper: Keeper, subscription: Subscription) -> list[Undelivered]:
    """The matches of earlier runs that a subscription's callback may not have got."""
    return keeper.take_undelivered(CALLBACK, subscription.name)


def match_of(kept: Undelivered) -> Match:
    """The match that was kept for a callback: equal to it, with the same result."""
    read = json.loads(kept.body)
    result, as_json = read["result"], read["json"]
    markup = kept.markup if as_json else result
    return Match(
        id=kept.match,
        query=kept.query,
        stream=read["stream"],
        time=read["time"],
        documents=tuple(read["documents"]),
        streams=tuple(read["streams"]),
        nodes=tuple(read["nodes"]),
        bindings=read["bindings"],
        _made_of=Told(result, as_json, markup, read.get("values", {})),
    )


def _keep(keeper: Keeper, match: Match) -> Undelivered:
    body = {**match.to_dict(), "json": match.json}
    markup = None
    if match.json:
        # A JSON constructor has no other form; of other results `Match.xml` is one.
        with suppress(TypeError, ValueError):
            markup = match.markup
    return keeper.queue(CALLBACK, match.query, match.id, json.dumps(body), markup)
