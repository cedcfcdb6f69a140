"""`xscl watch`: standing queries over feeds that are polled.

A watch publishes again, in silence, the documents of earlier runs: their matches were reported
when they were found.  After that each match is reported as it is found, and only then are its
documents remembered as seen; so none is lost to a crash, and one may be reported twice, with the
same id.  With `--state` the engine is as it was, and a poll is one transaction: its documents, the
states of its feeds and the matches that wait to be handed over.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click
from click.core import ParameterSource
from rich.console import Console

from xscl.cli.ends import check_ends, default_store
from xscl.cli.exits import ended_by_signals
from xscl.cli.feeds.feed_report import FeedReport
from xscl.cli.feeds.polling import LEAST_WAIT, HowToPoll
from xscl.cli.log import LOG_FORMAT, QUIET, VERBOSE, Level
from xscl.cli.options import (
    ALLOW_PRIVATE,
    CONTACT,
    DEAD_LETTERS,
    DRY_RUN,
    EVERY,
    LINKS,
    MAX_DOCUMENT,
    MEMORY,
    PARAMS,
    QUERIES,
    RETAIN,
    RETAIN_MOST,
    SOURCE,
    STATE,
    STREAM,
    UPDATES,
    Duration,
)
from xscl.cli.output import TEXT, fate_of, form_of, line_writer
from xscl.cli.queries import check_stream, of_stream, published, read_texts
from xscl.cli.report import Report
from xscl.cli.resume import check_dry_run, open_engine, retain_recent, take_queries, tell_plan
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
from xscl.polling.state import FeedState
from xscl.polling.store import Store
from xscl.polling.watched_feeds import watched_feeds
from xscl.sinks.deliveries import Delivery
from xscl.sinks.registry import DELIVERIES, FEED_FORMS, LINE_FORMS, Means, title_of
from xscl.times import span, to_seconds
from xscl.web.proxies import ProxySettings

if TYPE_CHECKING:
    from xscl.feeds import Rules

__all__ = ["watch"]

Tell = Callable[[Sequence[Match]], object]
Command = TypeVar("Command", bound=Callable[..., object])


def _delivery_options(command: Command) -> Command:
    """Gives a command an option for each kind of delivery."""
    for each in reversed(DELIVERIES):
        for name, help in reversed(list(each.options.items())):
            command = click.option(f"--{name}", metavar="FILE", help=help)(command)
        option = click.option(f"--{each.name}", each.name, metavar=each.metavar, help=each.help)
        command = option(command)
    return command


@click.command()
@QUERIES
@click.option(
    "--feed",
    "sources",
    multiple=True,
    required=True,
    type=SOURCE,
    help="The http(s) address of a feed, or an OPML file of addresses.",
)
@EVERY
@click.option("--once", is_flag=True, help="Fetch each feed that is due, then end.")
@click.option(
    "--feeds-db",
    "store",
    metavar="FILE",
    help="The file of what polling remembers.  "
    "[default: QUERIES.feeds.duckdb beside the first query file]",
)
@CONTACT
@ALLOW_PRIVATE
@UPDATES
@click.option(
    "--lateness",
    type=Duration(),
    show_default="the widest window of the queries that ends, a day at least",
    help="How late a document may arrive and still be joined.",
)
@PARAMS
@LINKS
@MAX_DOCUMENT
@MEMORY
@DEAD_LETTERS
@_delivery_options
@click.option(
    "--format",
    "form",
    type=click.Choice([TEXT, *LINE_FORMS, *FEED_FORMS]),
    help="Sentences, JSON Lines, or a feed that is kept in the file of -o (docs/feeds-out.md).  "
    "[default: text on a terminal, else jsonl]",
)
@STREAM
@STATE
@RETAIN
@RETAIN_MOST
@DRY_RUN
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False),
    help="The file that matches are added to.  [default: standard output]",
)
@VERBOSE
@QUIET
@LOG_FORMAT
def watch(
    queries: Sequence[str],
    sources: Sequence[tuple[str, str]],
    every: float,
    once: bool,
    store: str | None,
    contact: str | None,
    allow_private: bool,
    updates: bool,
    lateness: int | None,
    params: Sequence[tuple[str, str]],
    links: Rules,
    max_document: int,
    memory: int | None,
    dead_letters: str | None,
    form: str | None,
    stream: str | None,
    state: str | None,
    retain: int | None,
    retain_most: int,
    dry_run: bool,
    output: str | None,
    **taking: str | None,
) -> int:
    """Polls feeds, and runs queries over their new items."""
    if state is not None and store is not None:
        raise click.UsageError("--state keeps what polling remembers, too: leave out --feeds-db")
    check_dry_run(state, dry_run=dry_run)
    context = click.get_current_context()
    for name in ("retain", "retain_most"):
        if state is None and context.get_parameter_source(name) is not ParameterSource.DEFAULT:
            option = f"--{name.replace('_', '-')}"
            raise click.UsageError(f"{option} is for queries that a later run adds: give --state")
    form = form_of(form, output)
    check_ends()
    with contextlib.ExitStack() as stack:
        report = stack.enter_context(
            Report(Console(stderr=True), alone=True, dead_letters=dead_letters)
        )
        texts = read_texts(queries, params)
        given = context.get_parameter_source("lateness")
        follows = given is ParameterSource.DEFAULT
        late = None if lateness is None else to_seconds(lateness)
        bound = None if follows else "INF" if late is None else late
        engine = stack.enter_context(
            open_engine(
                state,
                bound,
                report.skip,
                dry_run=dry_run,
                memory=memory,
                on_stop=report.stopped,
            )
        )
        if dry_run:
            return tell_plan(engine, texts, click.echo, looking_back=True)
        leave_imported()
        if state is not None:
            retain_recent(engine, sources, retain, retain_most)
        # What new queries find in what is retained is written with them, or neither is.
        starting = stack.enter_context(contextlib.ExitStack())
        starting.enter_context(engine.transaction())
        bad, found = take_queries(engine, texts, report.note, looking_back=True)
        if not engine.subscriptions:
            return 2
        check_stream(engine, stream)
        if follows:
            late = engine.follow_windows(wait=LEAST_WAIT)
        collect_rarely(again=False)
        with _usage():
            how = HowToPoll(every, once, contact, allow_private, updates, links, max_document)
            proxies = ProxySettings.of_environment()
            polled = watched_feeds(sources, lambda problem: report.say(f"skipped: {problem}"))
            takers = _takers(taking, how.agent, proxies)
            tell = _telling(
                engine, stack, form, output, queries, report.unwritten, silent=bool(takers)
            )
            path = None if state is not None else _store_of(store, queries)
        if not polled:
            raise click.UsageError("no feed to poll: --feed names none")
        keeper = engine.keeper
        outbox = stack.enter_context(Outbox(keeper, takers, report.say, dead_letters))

        def reported(matches: list[Match]) -> list[Undelivered]:
            """What waits for others to take it, once matches are written."""
            report.tally(matches)
            with report.aside():
                tell(matches)
            return outbox.keep(matches)

        found = of_stream(found, stream)
        waiting = reported(found) if found else []
        starting.close()
        remembering: PolledFeeds | Store
        if path is not None:
            remembering = stack.enter_context(Store(path))
        else:
            assert keeper is not None
            remembering = PolledFeeds(keeper, engine.transaction)
        engine.count(history(remembering, polled), batch=5000, flush=False)
        report.begin(engine)
        feeds = FeedReport(report.say, report.note, report.detail)

        def answered(state: FeedState) -> None:
            feeds.answered(state)
            report.found(0)

        clock, waits = SystemClock(), any(one.waits for one in engine.subscriptions)
        poller = how.poller(polled, remembering, engine, feeds, proxies, answered)
        fetched = [one.last_fetch for one in poller.states.values() if one.last_fetch is not None]
        if waits and late is not None and fetched and keeper is None:
            # What had not happened by then was reported, too.
            engine.advance(max(fetched) - late)
        report.how_far = lambda: feeds.status(len(polled), poller.next_fetch, report.matches)
        report.found(0)
        feeds.begin(poller.not_due)
        stopped = stack.enter_context(ended_by_signals([poller.stop, outbox.hurry]))
        outbox.hand_over_again()
        outbox.hand_over(waiting)
        for envelopes in poller.polls(empty=waits):
            with engine.transaction():
                poller.pass_over(feeds.late(envelopes, engine.watermark, late))
                matches = published(engine, report.watch(engine, envelopes), stream)
                if waits and late is not None:
                    # Afterwards, so that the older items of a new feed are not late.
                    matches += of_stream(engine.advance(clock.now() - late), stream)
                if keeper is not None:
                    poller.save()
                waiting = reported(matches)
            outbox.hand_over(waiting)
            report.found(len(matches))
            if envelopes or matches:
                report.detail(
                    f"poll: {counted(len(envelopes), 'new item')}, {counted(len(matches), 'match')}"
                )
        undelivered = outbox.close()
        report.close(engine, table=form == TEXT)
        if waits and (left := _left(engine, stream, late)) is not None:
            report.note(left)
        if output is not None:
            report.note(fate_of(output, dropped=False, anew=False))
        unread = all(one.error for one in poller.states.values())
        if unread:
            report.say("no feed could be read", Level.ERROR)
    failed = 4 if undelivered else int(unread or report.fruitless or report.lost > 0)
    return 130 if stopped.is_set() else 2 if bad else failed


class _Undone(Exception):
    """Takes a transaction back."""


def _left(engine: Engine, stream: str | None, late: float | None) -> str | None:
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
    return f"{waits} up to {allowed} late (--lateness): a later run tells what becomes of them"


def _takers(
    taking: Mapping[str, str | None], agent: bytes, proxies: ProxySettings
) -> dict[str, Delivery]:
    """What matches are handed to, beside what is written, by the names of their options."""
    takers = {}
    for option in DELIVERIES:
        files = {name: taking[name.replace("-", "_")] for name in option.options}
        if (value := taking[option.name]) is not None:
            takers[option.name] = option.make(value, Means(agent, proxies, files))
        elif given := [name for name, path in files.items() if path is not None]:
            raise XSCLError(f"--{given[0]} is for --{option.name}, which is not given")
    return takers


def _telling(
    engine: Engine,
    stack: contextlib.ExitStack,
    form: str,
    output: str | None,
    queries: Sequence[str],
    unwritten: Unwritten,
    *,
    silent: bool,
) -> Tell:
    """How matches are written: added to a file, else to standard output, unless something else
    takes them (`silent`)."""
    if form in FEED_FORMS:
        if output is None:
            raise XSCLError(f"--format {form} needs a file to keep the feed in: give -o")
        title = title_of(queries)
        _, update = FEED_FORMS[form]
        return lambda matches: matches and update(matches, output, title=title)
    if silent and output is None:
        return lambda matches: None
    return line_writer(engine, stack, form, output, dropped=None, report=unwritten)


def _store_of(store: str | None, queries: Sequence[str]) -> Path:
    path = store or default_store(queries)
    if path is None:
        raise XSCLError("queries that are in no file have none beside them: give --feeds-db")
    return Path(path)


@contextlib.contextmanager
def _usage() -> Iterator[None]:
    """What options say wrongly is wrong usage."""
    try:
        yield
    except (XSCLError, FileNotFoundError, ValueError) as error:
        raise click.UsageError(str(error)) from error
