"""The report of a run on standard error: progress, skipped documents with the reason, a summary."""

from __future__ import annotations

import contextlib
import os
import random
import sys
import time
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from xscl.cli.log import Level, log_of_command
from xscl.cli.sources import unfed
from xscl.counts import counted
from xscl.documents.intake import Skipped
from xscl.errors import DocumentError, MatchError, QueryStopped, XSCLError
from xscl.files.named import named
from xscl.printable import printable
from xscl.sinks.dead_letters import write_dead_letter

if TYPE_CHECKING:
    # Imported by the commands that have one: those that have none start sooner.
    from rich.console import Console
    from rich.progress import Progress

    from xscl.engine import Engine
    from xscl.matches.match import Match

__all__ = ["Report", "Terminal", "report_of"]

_SHOWN = 20
_CONTROL = frozenset(["advance", "retract", "automaton"])
"""Members of lines that are no documents."""

_SAMPLE, _SMALL = 100, 50_000
"""The documents of all streams that are read, and the characters of each, that are kept to be
looked at in the end, drawn by stream; of other streams, as many at most, it is one of each."""

_HINTS, _FEW = 3, 20
"""The hints that are given at most; of queries that find nothing where many others do, none is."""


_FORCED = frozenset({"FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"})
"""Variables of the environment by which what is no terminal is taken for one."""


class Terminal:
    """A console with a line of progress, shown where it is a terminal and `alone`: nothing else
    is written there meanwhile; with None, lines on a standard error that is no terminal.  A context
    manager, for as long as the progress shows."""

    def __init__(self, console: Console | None, *, alone: bool, beginning: str) -> None:
        self._console = console
        self._log = log_of_command()
        self._progress: Progress | None = None
        if console is None:
            return
        from rich.progress import Progress, TextColumn, TimeElapsedColumn

        self._progress = Progress(
            TextColumn("{task.description}"),
            TimeElapsedColumn(),
            console=console,
            transient=True,
            refresh_per_second=2,
            # What a file or a pipe is to have must not come to the terminal in its place.
            redirect_stdout=False,
            disable=not (console.is_terminal and alone and self._log.for_people),
        )
        self._task = self._progress.add_task(beginning, total=None)

    def show(self, text: str) -> None:
        """Shows how far it is."""
        if self._progress is not None:
            self._progress.update(self._task, description=text)

    def say(self, text: str, level: Level = Level.WARNING) -> None:
        """Prints a line that stays."""
        line = self._log.line(printable(text), level)
        if line is None:
            return
        if self._console is None:
            print(line.expandtabs(), file=sys.stderr)
        else:
            self._console.print(line, markup=False, highlight=False, emoji=False, soft_wrap=True)

    def note(self, text: str) -> None:
        """Prints a line that says nothing is wrong."""
        self.say(text, Level.INFO)

    def detail(self, text: str) -> None:
        """Prints a line for those who want to know all of it."""
        self.say(text, Level.DEBUG)

    def stop(self) -> None:
        """Ends the progress: what is printed from now on stays."""
        # Stopped twice, it would wipe what has been said in between.
        if self._progress is not None and self._progress.live.is_started:
            self._progress.stop()

    @contextlib.contextmanager
    def aside(self) -> Iterator[None]:
        """Takes the progress off while standard output may be written to the same terminal."""
        progress = self._progress
        if progress is None or not (progress.live.is_started and sys.stdout.isatty()):
            yield
            return
        progress.stop()
        yield
        progress.start()

    def __enter__(self) -> Self:
        if self._progress is not None:
            self._progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()


class Report(Terminal):
    """Counts documents and matches; shows progress where standard error is a terminal, and
    matches do not come between.  Documents that cannot be read are added to the file
    `dead_letters`, where one is given.  Once it is closed, `fruitless` says whether there were
    documents and all of them were skipped."""

    def __init__(
        self, console: Console | None, *, alone: bool, dead_letters: str | None = None
    ) -> None:
        super().__init__(console, alone=alone, beginning="reading …")
        self._dead_letters = dead_letters
        self._started = time.perf_counter()
        self.malformed = 0
        self.lost = 0
        self.stops = 0
        self.read = 0
        self.matches = 0
        """What was reported, with what was taken back."""
        self.taken_back = 0
        self._unwritten: OSError | None = None
        self.refused: set[str] | None = None
        """The ids of documents that could not be read, where somebody asks for them."""
        self.by_query: Counter[str] = Counter()
        self.fruitless = False
        self.how_far = self._counts
        self._sample: dict[str, list[dict[str, object]]] = {}
        self._seen: Counter[str] = Counter()
        self._random = random.Random(0)
        self._unread: Counter[str] = Counter()
        self._dates = (0, 0)
        self._unfed: set[str] | None = None
        self._before = 0, Skipped()

    @property
    def failed(self) -> bool:
        """Whether a run that is closed was fruitless, lost a match or had a query stopped."""
        return self.fruitless or self.lost + self.stops > 0

    def begin(self, engine: Engine) -> None:
        """What an engine has ingested by now is no part of the run."""
        self._before = (engine.documents, replace(engine.skipped))

    def skip(self, error: DocumentError) -> None:
        """Reports a document that cannot be read; the first ones one by one."""
        self.malformed += 1
        if self.refused is not None:
            self.refused.add(error.document)
        if self._dead_letters is not None:
            # A callback of the engine's may not raise: the reader of the rest does.
            try:
                with (
                    named(self._dead_letters),
                    open(self._dead_letters, "a", encoding="utf-8") as file,
                ):
                    write_dead_letter(error, file)
            except OSError as failure:
                self._unwritten = failure
        if self.malformed <= _SHOWN:
            self.say(f"skipped: {error}")
        elif self.malformed == _SHOWN + 1:
            self.say("skipped: more documents, which are only counted")

    def dates(self, items: int, undated: int) -> None:
        """Counts items of feeds, and those that have no date."""
        self._dates = self._dates[0] + items, self._dates[1] + undated

    def unwritten(self, error: MatchError) -> None:
        """Reports a match that cannot be written; the first ones one by one."""
        self.lost += 1
        if self.lost <= _SHOWN:
            self.say(f"not written: {error}", Level.ERROR)
        elif self.lost == _SHOWN + 1:
            self.say("not written: more matches, which are only counted", Level.ERROR)

    def stopped(self, error: QueryStopped) -> None:
        """Reports a query that was stopped."""
        self.stops += 1
        self.say(str(error), Level.ERROR)

    def watch(
        self, engine: Engine, envelopes: Iterable[dict[str, object]]
    ) -> Iterator[dict[str, object]]:
        """Passes envelopes on, counting them and those whose stream no query reads."""
        enough = max(1, _SAMPLE // max(1, len(engine.streams)))
        is_read: dict[str, bool] = {}
        for envelope in envelopes:
            if not {"xml", "json"} & envelope.keys() and _CONTROL & envelope.keys():
                yield envelope
                continue
            self.read += 1
            stream = envelope.get("stream", "S")
            if isinstance(stream, str):
                if (reads := is_read.get(stream)) is None:
                    reads = is_read[stream] = engine.reads(stream)
                if not reads:
                    self._unread[stream] += 1
                self._keep(envelope, stream, enough if reads else 1)
            if self.read % 1000 == 0:
                self.found(0)
                # A query may have been stopped meanwhile.
                is_read.clear()
            yield envelope

    def _keep(self, envelope: dict[str, object], stream: str, most: int) -> None:
        """Keeps a document for the hints with the same chance as each other one of its stream, if
        it is small."""
        self._seen[stream] = seen = self._seen[stream] + 1
        kept = self._sample.get(stream)
        if kept is None:
            if len(self._sample) >= _SAMPLE:
                return
            kept = self._sample[stream] = []
        if len(kept) < most:
            if _is_small(envelope):
                kept.append(envelope)
        elif (place := int(self._random.random() * seen)) < most and _is_small(envelope):
            kept[place] = envelope

    def found(self, matches: int) -> None:
        """Adds matches, with those that are taken back, and shows how far the run is.  Raises
        OSError if a dead letter could not be written."""
        if self._unwritten is not None:
            raise self._unwritten
        self.matches += matches
        self.show(self.how_far())

    def _counts(self) -> str:
        return f"{counted(self.read, 'document')}, {counted(self.matches, 'match')}"

    def tally(self, matches: Iterable[Match]) -> None:
        """Counts matches by their queries."""
        for match in matches:
            self.by_query[match.query] += -1 if match.retracts else 1
            self.taken_back += match.retracts

    def unfed(self, engine: Engine, fed: Collection[str]) -> None:
        """Says once which streams that queries read no source feeds."""
        if self._unfed is None and fed:
            found = dict(unfed(engine, fed))
            self._unfed = {*found}
            for text in found.values():
                self.say(f"note: {text}")

    def hint(self, engine: Engine, stream: str | None = None) -> None:
        """Says of queries that have found nothing why that may be; of all, or of those that
        publish to a stream.  With a state, an earlier run may have found something."""
        self.unfed(engine, self._seen)
        queries = engine.subscriptions
        if (
            engine.keeper is not None
            or not engine.documents
            or (self.by_query and len(queries) > _FEW)
        ):
            return
        sample = [*chain.from_iterable(self._sample.values())]
        for one in queries:
            if one.name in self.by_query and one.wiring.events is not None:
                with contextlib.suppress(XSCLError):
                    if (why := engine.hint(one.name, sample, names_only=True)) is not None:
                        self.note(f"query {one.name!r}: {why}")
        silent = [
            one.name
            for one in queries
            if one.name not in self.by_query
            and stream in (None, one.wiring.stream)
            and not (self._unfed and one.streams & self._unfed)
        ]
        for name in silent[:_HINTS]:
            with contextlib.suppress(XSCLError):
                if (why := engine.hint(name, sample)) is not None:
                    self.note(f"query {name!r} found nothing: {why}")
        if len(silent) > _HINTS:
            self.note(
                f"{counted(len(silent) - _HINTS, 'more query', 'more queries')} found nothing"
            )

    def close(self, engine: Engine, *, table: bool = False, waits: bool = False) -> int:
        """Prints the closing summary, with `table` after the matches of each query; of a command
        that `waits` for its documents, without how fast they were.  Returns how many documents
        were skipped."""
        self.found(0)
        seconds = time.perf_counter() - self._started
        self.stop()
        if table and self.by_query and self._log.for_people:
            from xscl.sinks.readable import closing_table

            _console_of(self._console).print(closing_table(self.by_query))
        known = ", ".join(engine.streams) or "none"
        for stream, count in self._unread.items():
            self.say(
                f"note: no query reads stream {stream!r} ({counted(count, 'document')}); "
                f"the queries read: {known}"
            )
        items, undated = self._dates
        if undated:
            have, their = ("has", "its") if undated == 1 else ("have", "their")
            self.note(
                f"note: {undated:,} of {counted(items, 'item')} of feeds {have} no date, or one in "
                f"the future; {their} time is that of {their} file or fetch"
            )
        documents, before = self._before
        documents = engine.documents - documents
        reasons = {
            "malformed": self.malformed,
            "duplicate": engine.skipped.duplicate - before.duplicate,
            "late": engine.skipped.late - before.late,
            "unknown": engine.skipped.unknown - before.unknown,
        }
        skipped = sum(reasons.values())
        # Duplicates have been taken before.
        self.fruitless = not documents and skipped > reasons["duplicate"]
        why = ", ".join(f"{count:,} {reason}" for reason, count in reasons.items() if count)
        has_rate = documents and seconds and not waits
        rate = f", {documents / seconds:,.0f} docs/s" if has_rate else ""
        back = f", {self.taken_back:,} taken back" if self.taken_back else ""
        lost = f" ({self.lost:,} not written)" if self.lost else ""
        self.note(
            f"{counted(documents, 'document')}, {skipped:,} skipped{f' ({why})' if why else ''}, "
            f"{counted(self.matches - self.taken_back, 'match')}{back}{lost}{rate}"
        )
        return skipped


def report_of(output: str | None, dead_letters: str | None = None) -> Report:
    """A report on standard error, for a run whose matches go to a file or standard output."""
    alone = output is not None or not sys.stdout.isatty()
    plain = not sys.stderr.isatty() and _FORCED.isdisjoint(os.environ)
    console = None if plain else _console_of(None)
    return Report(console, alone=alone, dead_letters=dead_letters)


def _console_of(console: Console | None) -> Console:
    """A console, or one on standard error; a run that needs none does not import it."""
    from rich.console import Console

    return Console(stderr=True) if console is None else console


def _is_small(envelope: Mapping[str, object]) -> bool:
    """Whether a document takes little room to keep."""
    body = envelope.get("xml", envelope.get("json"))
    if isinstance(body, str | bytes):
        return len(body) < _SMALL
    return not isinstance(body, Path)
