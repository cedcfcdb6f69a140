"""`xscl watch`: standing queries over feeds that are polled.

A watch publishes again, in silence, the documents of earlier runs: their matches were reported
when they were found.  After that each match is reported as it is found, and only then are its
documents remembered as seen; so none is lost to a crash, and one may be reported twice, with the
same id.  With `--state` the engine is as it was, and a poll is one transaction: its documents, the
states of its feeds and the matches that wait to be handed over.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypeVar

import click
from rich.console import Console

from xscl.cli.ends import check_ends, default_store
from xscl.cli.exits import ended_by_signals
from xscl.cli.feeds.feed_report import FeedReport
from xscl.cli.feeds.polling import LEAST_WAIT, Polling, Unkept
from xscl.cli.log import LOG_FORMAT, QUIET, VERBOSE, Level
from xscl.cli.options import (
    OUTPUT,
    SOURCE,
    TO_FILE,
    Consistency,
    DeadLetters,
    DryRun,
    Queries,
    Revisable,
    Stream,
    by_default,
    flag,
    group,
    option,
    takes,
    wrong_usage,
)
from xscl.cli.output import TEXT, fate_of, form_of, line_writer
from xscl.cli.queries import check_stream, of_stream, published, read_texts
from xscl.cli.report import Report
from xscl.cli.resume import check_dry_run, open_engine, show_plan, take_queries
from xscl.cli.settings.given import CONFIG, Configured
from xscl.counts import counted
from xscl.durable.changes import Undelivered
from xscl.durable.outbox import Outbox
from xscl.durable.polled import PolledFeeds
from xscl.engine import Engine
from xscl.errors import XSCLError
from xscl.garbage import collect_rarely, leave_imported
from xscl.matches.match import Match
from xscl.matches.unwritten import Report as Unwritten
from xscl.polling.clock import SystemClock
from xscl.polling.poller import history
from xscl.polling.relations import Envelope
from xscl.polling.state import FeedState
from xscl.polling.store import Store
from xscl.polling.watched_feeds import watched_feeds
from xscl.sinks.deliveries import Delivery
from xscl.sinks.registry import DELIVERIES, FEED_FORMS, LINE_FORMS, Means, title_of
from xscl.times import earlier, span
from xscl.web.proxies import ProxySettings

__all__ = ["watch"]

Write = Callable[[Sequence[Match]], object]
Command = TypeVar("Command", bound=Callable[..., object])


def _delivery_options(command: Command) -> Command:
    """Gives a command an option for each kind of delivery."""
    for each in reversed(DELIVERIES):
        for name, help in reversed(list(each.options.items())):
            command = click.option(f"--{name}", metavar="FILE", help=help)(command)
        option = click.option(f"--{each.name}", each.name, metavar=each.metavar, help=each.help)
        command = option(command)
    return command


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(Polling):
    """The options of `xscl watch`."""

    queries: Queries
    sources: Annotated[
        Sequence[tuple[str, str]],
        option(
            "The http(s) address of a feed, or an OPML file of addresses.",
            "--feed",
            multiple=True,
            required=True,
            type=SOURCE,
        ),
    ]
    once: Annotated[
        bool,
        flag("Fetch each feed that is due, then end: for cron."),
    ]
    store: Annotated[
        str | None,
        option(
            "The file of what polling remembers.  "
            "[default: QUERIES.feeds.duckdb next to the first query file; of -q, none]",
            "--feeds-db",
            metavar="FILE",
        ),
    ]
    dead_letters: DeadLetters
    taking: Annotated[Mapping[str, str | None], group(_delivery_options)]
    form: Annotated[
        str | None,
        option(
            "Sentences, JSON Lines, or a feed that is kept in the file of -o "
            "(docs/feeds-out.md).  [default: text on a terminal, else jsonl]",
            "--format",
            type=click.Choice([TEXT, *LINE_FORMS, *FEED_FORMS]),
        ),
    ]
    stream: Stream
    revisable: Revisable
    consistency: Consistency
    dry_run: DryRun
    output: Annotated[
        str | None,
        option(
            "The file that matches are added to; - is standard output.  "
            "[default: -; with --exec or --webhook none]",
            *OUTPUT,
            **TO_FILE,
        ),
    ]

    def check(self) -> None:
        """Raises UsageError for options that exclude or need each other."""
        if self.state is not None and self.store is not None:
            raise click.UsageError(
                "--state keeps what polling remembers, too: leave out --feeds-db"
            )
        check_dry_run(self.state, dry_run=self.dry_run)
        for name in ("retain", "retain_most"):
            if self.state is None and not by_default(name):
                flag = f"--{name.replace('_', '-')}"
                raise click.UsageError(f"{flag} is for queries that a later run adds: give --state")


@click.command(cls=Configured)
@takes(Options)
@VERBOSE
@QUIET
@LOG_FORMAT
@CONFIG
def watch(options: Options) -> int:
    """Polls feeds, and runs queries over their new items, until it is stopped or --once is done."""
    options.check()
    form = form_of(options.form, options.output)
    check_ends()
    with contextlib.ExitStack() as stack:
        report = stack.enter_context(
            Report(Console(stderr=True), alone=True, dead_letters=options.dead_letters)
        )
        texts = read_texts(options.queries, options.params)
        engine = open_engine(
            options.state,
            options.engine_lateness,
            report.skip,
            dry_run=options.dry_run,
            memory=options.memory,
            on_stop=report.stopped,
            revisable=options.revisable or None,
            consistency=options.consistency,
        )
        stack.enter_context(engine)
        if options.dry_run:
            return show_plan(engine, texts, click.echo, looking_back=True)
        leave_imported()
        if options.state is not None:
            options.retain_recent(engine, options.sources)
        # What new queries find in what is retained is written with them, or neither is.
        starting = stack.enter_context(contextlib.ExitStack())
        starting.enter_context(engine.transaction())
        bad, found = take_queries(engine, texts, report.note, looking_back=True)
        if not engine.subscriptions:
            return 2
        check_stream(engine, options.stream)
        late = options.late
        if by_default("lateness"):
            late = engine.follow_windows(wait=LEAST_WAIT)
        collect_rarely(again=False)
        watching = _Watch(options, form, engine, report, late, stack)
        watching.start(of_stream(found, options.stream), starting)
        stopped = stack.enter_context(ended_by_signals(watching.ends))
        watching.run()
        code = watching.close()
    if stopped.is_set():
        return (not options.once and code) or stopped.code(service=not options.once)
    return 2 if bad else code


class _Watch:
    """Polls on their way through an engine: their matches are written and handed over."""

    def __init__(
        self,
        options: Options,
        form: str,
        engine: Engine,
        report: Report,
        late: float | None,
        stack: contextlib.ExitStack,
    ) -> None:
        self._options, self._engine, self._report = options, engine, report
        self._form, self._late, self._stack = form, late, stack
        self._pending = engine.waits
        self._was_there = options.output is not None and os.path.exists(options.output)
        with wrong_usage():
            self._proxies = ProxySettings.of_environment()
            self._polled = watched_feeds(
                options.sources, lambda problem: report.say(f"skipped: {problem}")
            )
            takers = _takers(options.taking, options.agent, self._proxies)
            self._write = _writing(
                options, form, engine, stack, report.unwritten, silent=bool(takers)
            )
            path = None if options.state is not None else options.store
            if path is None and options.state is None:
                path = default_store(options.queries)
            self._path = None if path is None else Path(path)
        if not self._polled:
            raise click.UsageError("no feed to poll: --feed names none")
        self._outbox = stack.enter_context(
            Outbox(engine.keeper, takers, report.say, options.dead_letters, report.unwritten)
        )
        self._undelivered: list[Undelivered] = []

    @property
    def ends(self) -> list[Callable[[], None]]:
        """What an interrupt ends in order."""
        return [self._poller.stop, self._outbox.hurry]

    def start(self, found: list[Match], starting: contextlib.ExitStack) -> None:
        """Reports what new queries have found, then publishes the documents of earlier runs."""
        engine, report, keeper = self._engine, self._report, self._engine.keeper
        if found:
            self._undelivered = self._reported(found)
        starting.close()
        remembering: PolledFeeds | Store | Unkept
        if self._path is not None:
            remembering = self._stack.enter_context(Store(self._path))
        elif keeper is not None:
            remembering = PolledFeeds(keeper, engine.transaction)
        else:
            remembering = Unkept()
            report.note(
                "queries that are in no file: what is polled is remembered until the end only; "
                "--feeds-db FILE keeps it for the next run"
            )
        engine.count(history(remembering, self._polled), batch=5000, flush=False)
        report.begin(engine)
        report.unfed(engine, {stream for stream, _ in self._options.sources})
        self._feeds = feeds = FeedReport(report.say)

        def answered(state: FeedState) -> None:
            feeds.answered(state)
            report.found(0)

        polled, once = self._polled, self._options.once
        self._poller = poller = self._options.poller(
            polled,
            remembering,
            engine,
            feeds,
            self._proxies,
            answered,
            once=once,
            revisable=self._options.revisable,
            on_dates=report.dates,
        )
        fetched = [one.last_fetch for one in poller.states.values() if one.last_fetch is not None]
        if self._pending and self._late is not None and fetched and keeper is None:
            # What had not happened by then was reported, too.
            engine.advance(earlier(max(fetched), self._late))
        report.how_far = lambda: feeds.status(len(polled), poller.next_fetch, report.matches)
        report.found(0)
        feeds.begin(poller.not_due)

    def run(self) -> None:
        """Evaluates one poll after another, each in a transaction."""
        report = self._report
        self._outbox.hand_over_again()
        self._outbox.hand_over(self._undelivered)
        for envelopes in self._poller.polls(empty=self._pending):
            with self._engine.transaction():
                matches = self._evaluate(envelopes)
                undelivered = self._reported(matches)
            self._outbox.hand_over(undelivered)
            report.found(len(matches))
            if envelopes or matches:
                gone = sum("retract" in one for one in envelopes)
                withdrawn = f", {gone:,} withdrawn" if gone else ""
                new = counted(len(envelopes) - gone, "new item")
                report.detail(f"poll: {new}{withdrawn}, {counted(len(matches), 'match')}")

    def _evaluate(self, envelopes: Sequence[Envelope]) -> list[Match]:
        engine, late, stream = self._engine, self._late, self._options.stream
        self._poller.pass_over(self._feeds.late(envelopes, engine.watermark, late))
        matches = published(engine, self._report.watch(engine, envelopes), stream)
        if self._pending and late is not None:
            # Afterwards, so that the older items of a new feed are not late.
            matches += of_stream(engine.advance(earlier(SystemClock().now(), late)), stream)
        if engine.keeper is not None:
            self._poller.save()
        return matches

    def _reported(self, matches: list[Match]) -> list[Undelivered]:
        """Writes matches; what is still to be handed over."""
        self._report.tally(matches)
        with self._report.aside():
            self._write(matches)
        return self._outbox.keep(matches)

    def close(self) -> int:
        """Prints the summary; the exit code."""
        report, output = self._report, self._options.output
        undelivered = self._outbox.close()
        # What was handed over is noted: looking ahead closes the engine of a state file.
        self._engine.commit()
        report.close(self._engine, table=self._form == TEXT, waits=True)
        if self._pending:
            kept = self._path is not None or self._engine.keeper is not None
            left = _left(self._engine, self._options.stream, self._late, kept=kept)
            if left is not None:
                report.note(left)
        if output is not None:
            report.note(fate_of(output, dropped=False, replaced=False, was_there=self._was_there))
        unread = all(one.error for one in self._poller.states.values())
        if unread:
            report.say("no feed could be read", Level.ERROR)
        return 4 if undelivered else int(unread or report.failed)


class _Undone(Exception):
    """Takes a transaction back."""


def _left(engine: Engine, stream: str | None, late: float | None, *, kept: bool) -> str | None:
    """What a run leaves to the next one, which has the same documents: found as at the end of
    the input, and taken back; a state file then closes its engine."""
    number = 0
    with contextlib.suppress(_Undone), engine.transaction():
        found = engine.count([])
        of_stream = (one for one in engine.subscriptions if stream in (None, one.wiring.stream))
        number = sum(found[one.name] for one in of_stream)
        raise _Undone
    if not number:
        return None
    waits = f"{counted(number, 'match')} {'waits' if number == 1 else 'wait'} for items that come"
    if late is None:
        return f"{waits} late, which --lateness INF allows for good"
    allowed = span(round(late * 1_000_000))
    by = "a later run" if kept else "with --feeds-db, a later run"
    return f"{waits} up to {allowed} late (--lateness): {by} reports what becomes of them"


def _takers(
    taking: Mapping[str, str | None], agent: bytes, proxies: ProxySettings
) -> dict[str, Delivery]:
    """What matches are handed to, in addition to what is written, by the names of their options."""
    takers = {}
    for each in DELIVERIES:
        files = {name: taking[name.replace("-", "_")] for name in each.options}
        if (value := taking[each.name]) is not None:
            takers[each.name] = each.make(value, Means(agent, proxies, files))
        elif given := [name for name, path in files.items() if path is not None]:
            raise XSCLError(f"--{given[0]} is for --{each.name}, which is not given")
    return takers


def _writing(
    options: Options,
    form: str,
    engine: Engine,
    stack: contextlib.ExitStack,
    unwritten: Unwritten,
    *,
    silent: bool,
) -> Write:
    """How matches are written: added to a file, else to standard output, unless something else
    takes them (`silent`)."""
    output = options.output
    if form in FEED_FORMS:
        if output is None:
            raise XSCLError(f"--format {form} needs a file to keep the feed in: give -o")
        title = title_of(options.queries)
        _, update = FEED_FORMS[form]
        return lambda matches: matches and update(matches, output, title=title)
    if silent and by_default("output"):
        return lambda matches: None
    return line_writer(engine, stack, form, output, dropped=None, report=unwritten)
