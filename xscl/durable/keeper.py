"""An engine's side of its state file: what of it has changed since the last transaction.

The documents of a batch are those with numbers from the last one on that are retained at its end;
what was evicted the intake notes.  Queries are noted as they come and go.
"""

from __future__ import annotations

import json
import os
import re
import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict

from xscl.consistency import STRONG
from xscl.documents.document import Document
from xscl.documents.intake import Intake
from xscl.documents.retention import Floor
from xscl.durable.changes import (
    CALLBACK,
    CLOSED,
    Changes,
    Counters,
    Found,
    Kept,
    Tallied,
    Undelivered,
)
from xscl.durable.points import at
from xscl.durable.state_file import StateFile
from xscl.files.ends import key_of
from xscl.polling.relations import Changes as FeedChanges
from xscl.queries.catalogue import Catalogue
from xscl.queries.levels.pattern_levels import Saved
from xscl.queries.registration import Text
from xscl.queries.schemas import closed_to
from xscl.queries.subscription import Subscription

__all__ = ["Going", "Keeper", "recalled"]

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
"""What no file in UTF-8 can hold: of a text, it is in comments and in refused queries alone."""

_SAVED = "\n"
"""What is no name of a query begins with it."""

_ARCS = "\n\narcs "
"""Before the name of an automaton whose arcs have changed."""

_GOING = "\n\nconsistency"


class Going(Struct):
    """How an engine goes about consistency: the level of queries that ask for none, the streams
    that are revisable, the clocks of streams, the promises of punctuations by block, and the
    documents whose ids are free while they are retained; `before` the lateness, the level and the
    streams of its last step, where it has been given others since; and the queries that are
    `Levels.waiting`, by name."""

    level: str = str(STRONG)
    revisable: str | None = None
    clocks: dict[str, int] = {}
    promises: dict[str, int] = {}
    freed: list[int] = []
    before: Sequence[Any] | None = None
    waiting: list[str] = []

    @property
    def written(self) -> str:
        """As it is kept; earlier versions do not know the last ones."""
        members = asdict(self)
        for name in ("freed", "before", "waiting"):
            if not members[name]:
                del members[name]
        return json.dumps(members)

    @classmethod
    def read(cls, kept: Mapping[str, str]) -> Going:
        """As it was kept."""
        text = kept.get(_GOING)
        return cls() if text is None else cls(**json.loads(text))


def _values(
    parameters: Mapping[str, object] | None, closed: Mapping[str, tuple[str, ...]]
) -> str | None:
    """The values of a query's parameters, and what was known of the streams that it reads."""
    if parameters is None and not closed:
        return None
    known = {CLOSED: closed} if closed else {}
    return json.dumps({**(parameters or {}), **known})


def recalled(kept: Mapping[str, str]) -> tuple[dict[str, str], Saved, dict[str, str]]:
    """What patterns remember, by name, what event queries have saved, and the arcs of automata, by
    name."""
    of_patterns: dict[str, str] = {}
    saved: Saved = {}
    arcs: dict[str, str] = {}
    for name, snapshot in kept.items():
        if name == _GOING:
            continue
        if name.startswith(_ARCS):
            arcs[name.removeprefix(_ARCS)] = snapshot
        elif name.startswith(_SAVED):
            saved[name.removeprefix(_SAVED)] = snapshot
        else:
            of_patterns[name] = snapshot
    return of_patterns, saved, arcs


class Keeper:
    """Keeps the state file of an engine: notes what it is to have next, and writes that at the end
    of each transaction.

    `undelivered` are the matches of earlier runs that wait for callbacks, by query.
    """

    def __init__(self, file: StateFile, intake: Intake, queries: Catalogue) -> None:
        self.file = file
        self.changes = Changes()
        self._intake = intake
        self._queries = queries
        self._patterns = file.patterns()
        self._first = 0
        self._opened: Sequence[Any] | None = None
        self._counters = file.counters()
        self._next_subscription = self._counters.next_subscription
        self._next_text = self._counters.next_text
        self._next_undelivered = self._counters.next_undelivered
        self._texts: dict[Text, int] = {}
        self._delivered: list[int] = []
        self._lock = threading.Lock()
        self._syncs: list[Callable[[], None]] = []
        self._outputs: dict[str, str] = {}
        self.undelivered: dict[str, list[Undelivered]] = {}
        for waiting in file.undelivered(CALLBACK):
            self.undelivered.setdefault(waiting.query, []).append(waiting)

    def begin(self, texts: Mapping[int, Text], before: Sequence[Any]) -> None:
        """From now on, what comes and goes is noted: the engine is as its file says, by the
        lateness, the level and the revisable streams of before."""
        if self._intake.next_number:
            self._opened, self._intake.unstepped = before, True
        self._texts = {text: number for number, text in texts.items()}
        self._first = self._intake.next_number
        self._intake.dropped = []

    def _before(self) -> Sequence[Any] | None:
        """What the last step went by, None where it is as now."""
        levels, intake = self._queries.levels, self._intake
        if not intake.unstepped:
            return None
        level, revisable = str(levels.default), intake.revisable.written
        before = None if intake.steps else self._opened
        before = before or (intake.lateness_before, level, revisable)
        return None if [*before] == [intake.lateness, level, revisable] else before

    # Queries.

    def subscribed(
        self,
        subscription: Subscription,
        text: Text,
        written: str,
        parameters: Mapping[str, object] | None,
        *,
        position: int,
        history: bool,
    ) -> None:
        """A query was subscribed: the one `written` in a text under that name."""
        number = self._texts.get(text)
        if number is None:
            number = self._texts[text] = self._next_text
            self._next_text += 1
            self.changes.texts[number] = _LONE_SURROGATE.sub("\ufffd", text[0]), text[1]
        self.changes.subscribed[subscription.name] = Kept(
            self._next_subscription,
            subscription.name,
            number,
            written,
            _values(parameters, closed_to(subscription)),
            subscription.since,
            position,
            history,
        )
        self._next_subscription += 1

    def reviewed(self, streams: Iterable[str]) -> None:
        """Documents are read again for the query that comes next."""
        position = self._intake.next_number
        self.changes.reviews.append((self._next_subscription, position, sorted(streams)))

    def cancelled(self, subscription: Subscription) -> None:
        """A query is no more."""
        if self.changes.subscribed.pop(subscription.name, None) is None:
            self.changes.cancelled.add(subscription.name)
        self.changes.tallies.pop(subscription.name, None)
        self.undelivered.pop(subscription.name, None)

    def retained(self, stream: str, floor: Floor | None) -> None:
        """A stream has a floor from now on, or none."""
        self.changes.floors[stream] = floor

    # Matches that are to be handed over.

    def queue(
        self, sink: str, query: str, match: str, body: str, markup: str | None = None
    ) -> Undelivered:
        """Keeps a match for a sink that takes it later."""
        waiting = Undelivered(self._next_undelivered, sink, query, match, body, markup)
        self.changes.undelivered.append(waiting)
        self._next_undelivered += 1
        return waiting

    def delivered(self, numbers: Iterable[int]) -> None:
        """Matches were handed over, as the next transaction will say; from any thread."""
        with self._lock:
            self._delivered += numbers

    def take_undelivered(self, query: str) -> list[Undelivered]:
        """The matches that an earlier run may not have handed over to a query's callback."""
        return self.undelivered.pop(query, [])

    def found(self, some: Iterable[Found]) -> None:
        """Matches were found that belong into the journal of a server."""
        self.changes.found += some

    def tallied(self, one: Tallied) -> None:
        """A query of a server has found so many matches."""
        self.changes.tallies[one.query] = one

    def found_no_more(self, before: int) -> None:
        """The journal needs no matches before a number."""
        self.changes.oldest_found = before

    # What a run reads and writes.

    def positions(self) -> dict[str, str]:
        """How far each source was read."""
        return self.file.inputs()

    def read_to(self, source: str, position: str) -> None:
        """A source was read up to a position."""
        self.changes.inputs[source] = position

    def known(self, source: str, ids: Collection[str]) -> set[str]:
        """The documents that earlier runs have read from a source, of some that this one reads."""
        return self.file.documents_read(source, ids)

    def read(self, source: str, id: str) -> None:
        """A document was read from a source that has no positions."""
        self.changes.documents_read.append((source, id))

    def read_whole(self, source: str) -> None:
        """A source was read to its end: documents that it no longer has are forgotten."""
        with self._lock:
            self.changes.sources_read.add(source)

    def written(self, path: str) -> int | None:
        """How many bytes of a file earlier runs have written, by whatever path of it."""
        return self.file.outputs().get(self._kept_as(path))

    def wrote(self, path: str, length: int) -> None:
        """So many bytes of a file are written."""
        self.changes.outputs[self._kept_as(path)] = length

    def _kept_as(self, path: str) -> str:
        """The path under which the state file has a file, or is to have it."""
        if (known := self._outputs.get(path)) is not None:
            return known
        key, size = key_of(path), os.path.getsize(path) if os.path.exists(path) else 0
        # Earlier versions kept paths as they were given, and perhaps several of one file: then the
        # length that was noted last is the greatest which the file has.
        same = {
            kept: (length <= size, length)
            for kept, length in self.file.outputs().items()
            if key_of(kept) == key
        }
        kept = max(same, key=same.__getitem__) if same else os.path.realpath(path)
        self._outputs[path] = kept
        return kept

    def sync_before(self, sync: Callable[[], None]) -> None:
        """Before a transaction is written, `sync` is called: it forces to the disk what the
        transaction says of another file."""
        self._syncs.append(sync)

    def counts(self) -> dict[str, int]:
        """The matches of each query, of runs that counted."""
        return self.file.counts()

    def counted(self, counts: Mapping[str, int]) -> None:
        """Matches of queries were counted."""
        self.changes.counts.update(counts)

    def polled(self, feeds: FeedChanges) -> None:
        """Feeds were polled."""
        self.changes.feeds = feeds

    # Transactions.

    @property
    def documents(self) -> int:
        """How many documents were ingested since the last transaction."""
        return self._intake.next_number - self._first

    @property
    def urgent(self) -> bool:
        """Whether more than documents, and what was found in them, waits to be written."""
        changes = self.changes
        queries = changes.subscribed or changes.cancelled or changes.reviews or changes.floors
        return bool(queries) or changes.feeds is not None

    def commit(self) -> None:
        """Writes what has changed; raises StateError if it cannot be written."""
        with self._lock:
            changes, self.changes = self.changes, Changes()
            changes.delivered, self._delivered = self._delivered, []
        intake = self._intake
        changes.documents = self._came()
        changes.patterns = self._remembered()
        assert intake.dropped is not None
        changes.gone = [number for number in intake.dropped if number < self._first]
        counters = self._count()
        if changes == Changes() and counters == self._counters:
            return
        for sync in self._syncs:
            sync()
        at("before commit")
        self.file.commit(changes, None if counters == self._counters else counters)
        at("after commit")
        self._counters = counters
        self._first = intake.next_number
        intake.dropped.clear()

    def _came(self) -> list[Document]:
        held = self._intake.retained
        numbers = range(self._first, self._intake.next_number)
        return [document for number in numbers if (document := held.get(number)) is not None]

    def _remembered(self) -> dict[str, str | None]:
        """What patterns and event queries must remember, as far as it has changed."""
        now = self._queries.remembered()
        saved = self._queries.patterns.saved()
        now |= {f"{_SAVED}{key}": one for key, one in saved.items()}
        now |= {f"{_ARCS}{name}": one for name, one in self._queries.changed_arcs().items()}
        levels, intake = self._queries.levels, self._intake
        going = Going(
            str(levels.default),
            intake.revisable.written,
            levels.clocked,
            intake.promises,
            sorted(intake.freed),
            self._before(),
            self._queries.waiting(),
        )
        if going != Going():
            now[_GOING] = going.written
        before, self._patterns = self._patterns, now
        if now == before:
            return {}
        gone = dict.fromkeys(before.keys() - now.keys())
        return {**gone, **dict(now.items() - before.items())}

    def _count(self) -> Counters:
        intake = self._intake
        return Counters(
            next_number=intake.next_number,
            latest=intake.latest,
            last_arrival=intake.last_arrival,
            documents=intake.documents,
            malformed=intake.skipped.malformed,
            duplicate=intake.skipped.duplicate,
            late=intake.skipped.late,
            lateness=intake.lateness,
            next_subscription=self._next_subscription,
            next_text=self._next_text,
            next_undelivered=self._next_undelivered,
            advanced=intake.advanced,
            flushed=intake.flushed,
            unknown=intake.skipped.unknown,
        )
