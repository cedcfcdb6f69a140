"""The report of a watch on its feeds: those that fail, are not due, or came too late, a line each;
and how far polling is, as a line of progress."""

from __future__ import annotations

import math
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

from xscl.cli.log import Level
from xscl.counts import counted
from xscl.polling.relations import Envelope
from xscl.polling.state import DAY, FeedState
from xscl.times import from_timestamp, moment, span, written

__all__ = ["FeedReport"]

_SHOWN = 20


class FeedReport:
    """Reports what is wrong with each feed, what may be of interest, and the result of each fetch,
    by the level of a line; `say` prints it."""

    def __init__(self, say: Callable[[str, Level], object]) -> None:
        self._say_at = say
        self._failing: set[str] = set()

    def _say(self, text: str, level: Level = Level.WARNING) -> None:
        self._say_at(text, level)

    def begin(self, not_due: Iterable[FeedState]) -> None:
        """Says which feeds are not due at the start, and when they are."""
        states = list(not_due)
        failing = [state for state in states if state.error]
        well = [state for state in states if not state.error]
        for state in failing[:_SHOWN]:
            self._say(f"feed {state.address}: not read: {_when(state)}; {state.error}")
        if hidden := failing[_SHOWN:]:
            self._say(f"{counted(len(hidden), 'more feed')} not read for earlier failures")
        if len(well) == 1:
            self._say(f"feed {well[0].address}: not due, {_when(well[0])}", Level.INFO)
        elif well:
            first = min(well, key=lambda state: state.next_fetch or 0.0)
            self._say(f"{counted(len(well), 'feed')} not due, {_when(first)}", Level.INFO)
        self._failing = {state.address for state in failing}

    def failed(self, state: FeedState) -> None:
        """Says that a feed could not be read."""
        self._say(f"feed {state.address}: {state.error}")

    def led(self, page: str, feed: str) -> None:
        """Says that a web page has led to its feed."""
        self._say(f"feed {page}: a web page; the feed that it names is read: {feed}", Level.INFO)

    def answered(self, state: FeedState) -> None:
        """Notes whether a feed can be read."""
        (self._failing.add if state.error else self._failing.discard)(state.address)
        if not state.error:
            self._say(f"feed {state.address}: read, {_when(state)}", Level.DEBUG)

    def dated(self, items: int, undated: int) -> None:
        """Says how many of the items that a feed has brought have no date."""
        if undated:
            have, their = ("has", "its") if undated == 1 else ("have", "their")
            self._say(
                f"{undated:,} of {counted(items, 'new item')} of a feed {have} no date, or one in "
                f"the future; {their} time is that of {their} fetch",
                Level.INFO,
            )

    def late(
        self, envelopes: Sequence[Envelope], watermark: float | None, lateness: float | None
    ) -> list[Envelope]:
        """The documents of a poll that are too late; says of which feeds they are, and which
        option would take them.  They are in order of time, so none of them makes another late."""
        if watermark is None or lateness is None:
            return []
        documents = (one for one in envelopes if "retract" not in one)
        late = [one for one in documents if _time(one) < from_timestamp(watermark)]
        by_feed = defaultdict[str, list[int]](list)
        for one in late:
            by_feed[str(one["id"]).partition("#")[0]].append(_time(one))
        for address, times in by_feed.items():
            days = math.ceil((watermark + lateness - min(times) / 1e6) / DAY)
            wide = written(round(days * DAY) * 1_000_000)
            self._say(
                f"feed {address}: {counted(len(times), 'item')} too late, from "
                f"{moment(min(times))} on: more than {span(from_timestamp(lateness))} before the "
                f"latest item; start again with --lateness '{wide}' to have them"
            )
        return late

    def status(self, feeds: int, next_fetch: float | None, matches: int) -> str:
        """How far it is, on one line."""
        failing = f" ({len(self._failing):,} failing)" if self._failing else ""
        now = time.time()
        if next_fetch is None or next_fetch <= now:
            polling = "polling"
        else:
            when = moment(int(next_fetch) * 1_000_000)
            polling = f"next poll at {when if next_fetch > now + DAY else when.split()[1]}"
        return f"{counted(feeds, 'feed')}{failing}, {polling}, {counted(matches, 'match')}"


def _when(state: FeedState) -> str:
    if state.gone or state.next_fetch is None:
        return "never again"
    return f"next at {moment(int(state.next_fetch) * 1_000_000)}"


def _time(envelope: Envelope) -> int:
    return from_timestamp(envelope["timestamp"])
