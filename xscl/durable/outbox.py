"""Matches on their way to commands and webhooks; with a state file, those that wait are in it.

What is handed over is told by the transaction after that: a match may be handed over twice, with
the same id, and is never lost.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from xscl.durable.changes import Undelivered
from xscl.durable.points import at
from xscl.engine import Engine
from xscl.matches.json_lines import json_form
from xscl.matches.match import Match
from xscl.sinks.deliveries import Deliveries

__all__ = ["Handing"]


class Handing:
    """The deliveries of an engine's matches, by what they are kept for."""

    def __init__(self, engine: Engine, deliveries: Mapping[str, Deliveries]) -> None:
        self._keeper = engine.keeper
        self._deliveries = deliveries

    def again(self) -> None:
        """Hands over what earlier runs may not have."""
        if self._keeper is not None:
            for sink in self._deliveries:
                self.over(self._keeper.take_undelivered(sink))

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

    def over(self, waiting: Sequence[Undelivered]) -> None:
        """Hands matches over, each when it is its turn; waits while too many do."""
        at("before delivery")
        for one in waiting:
            done = partial(self._done, one.number)
            self._deliveries[one.sink].put(one.match, one.body, done)

    def _done(self, number: int) -> None:
        at("after delivery")
        if self._keeper is not None:
            self._keeper.delivered([number])
