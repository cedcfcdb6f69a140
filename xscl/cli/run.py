"""`xscl run`: queries over documents that are there, or come on standard input.

A batch is read, evaluated and written; with `--state`, all that is one transaction, so that the run
continues where it was, whatever has ended it.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import click

from xscl.cli.ends import check_ends
from xscl.cli.exits import STANDARD_OUTPUT, Stopped, ended_by_signals
from xscl.cli.log import LOG_FORMAT, QUIET, VERBOSE
from xscl.cli.options import (
    DURATION,
    OUTPUT,
    TO_FILE,
    Consistency,
    DeadLetters,
    DryRun,
    Kind,
    Links,
    MaxDocument,
    Memory,
    Params,
    Queries,
    Rates,
    Revisable,
    State,
    Stream,
    by_default,
    flag,
    option,
    takes,
)
from xscl.cli.output import TEXT, fate_of, form_of, is_replaced, line_writer
from xscl.cli.queries import check_stream, published, read_texts
from xscl.cli.report import Report, report_of
from xscl.cli.resume import check_dry_run, open_engine, show_plan, take_queries
from xscl.cli.settings.given import CONFIG, Configured
from xscl.cli.sources import (
    Reading,
    Sources,
    check_given,
    fields_of,
    named_streams,
    read_sources,
    reads_standard_input,
)
from xscl.counts import counted
from xscl.documents.batches import in_batches
from xscl.durable.group_commit import seconds_of
from xscl.durable.positions import Mark, Positions
from xscl.files.named import named
from xscl.files.whole import in_place, written_whole
from xscl.garbage import collect_rarely, leave_imported, leaving
from xscl.sinks.registry import FEED_FORMS, LINE_FORMS, title_of
from xscl.sources.envelopes import as_they_come
from xscl.times import to_seconds

if TYPE_CHECKING:
    from xscl.engine import Engine
    from xscl.errors import DocumentError
    from xscl.matches.match import Match

__all__ = ["run"]

Envelopes = list[dict[str, object]]
Entry = tuple[dict[str, object], Mark]


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The options of `xscl run`."""

    queries: Queries
    given: Sources
    batch: Annotated[
        int, option("Documents that are evaluated together.", type=click.IntRange(1), default=5000)
    ]
    lateness: Annotated[
        int | None,
        option(
            "How late a document may arrive and still be joined.",
            type=DURATION,
            default="INF",
            show_default="INF; with --state, as in its last run",
        ),
    ]
    revisable: Revisable
    consistency: Consistency
    rates: Rates
    params: Params
    links: Links
    max_document: MaxDocument
    memory: Memory
    dead_letters: DeadLetters
    form: Annotated[
        str | None,
        option(
            "Sentences, JSON Lines, the number of matches of each query, or a feed "
            "(docs/feeds-out.md).  [default: text on a terminal, else jsonl]",
            "--format",
            type=click.Choice([TEXT, *LINE_FORMS, "counts", *FEED_FORMS]),
        ),
    ]
    stream: Stream
    output: Annotated[
        str | None,
        option(
            "The file of the matches, replaced; with the --state that has written it, added to; - "
            "is standard output.  [default: -]",
            *OUTPUT,
            **TO_FILE,
        ),
    ]
    state: State
    commit_every: Annotated[
        float,
        option(
            "How long batches may wait until --state is written, then with all that wait.",
            type=Kind("DURATION", seconds_of),
            default="0 s",
            show_default="after each batch",
        ),
    ]
    dry_run: DryRun
    strict: Annotated[bool, flag("Exit with code 3 if a document was skipped.")]

    @property
    def engine_lateness(self) -> float | str | None:
        """The lateness as an engine takes it: of a state, unless given, that of its last run."""
        if self.state is not None and by_default("lateness"):
            return None
        return "INF" if self.lateness is None else to_seconds(self.lateness)


@click.command(cls=Configured)
@takes(Options)
@VERBOSE
@QUIET
@LOG_FORMAT
@CONFIG
def run(options: Options) -> int:
    """Runs queries over documents, and writes their matches."""
    check_given(options.given)
    check_ends()
    form = form_of(options.form, options.output)
    if form == "counts" and options.stream is not None:
        raise click.UsageError("--stream is for matches; --format counts has none")
    check_dry_run(options.state, dry_run=options.dry_run)
    if form in FEED_FORMS and options.state is not None and options.output is None:
        raise click.UsageError(f"--format {form} with --state is kept in a file: give -o")
    with contextlib.ExitStack() as stack:
        report = stack.enter_context(report_of(options.output, options.dead_letters))
        stopped = stack.enter_context(ended_by_signals([]))
        texts = read_texts(options.queries, options.params)
        engine = open_engine(
            options.state,
            options.engine_lateness,
            report.skip,
            dry_run=options.dry_run,
            memory=options.memory,
            commit_every=options.commit_every,
            on_stop=report.stopped,
            revisable=options.revisable or None,
            consistency=options.consistency,
            rates=dict(options.rates),
        )
        stack.enter_context(engine)
        if options.dry_run:
            return show_plan(engine, texts, click.echo)
        leave_imported()
        bad, _ = take_queries(engine, texts, report.note)
        if not engine.subscriptions:
            return 2
        check_stream(engine, options.stream)
        collect_rarely(again=False)
        report.begin(engine)
        report.unfed(engine, named_streams(options.given))
        going = _Run(options, engine, report, stopped)
        going.write(form)
        if not stopped.is_set():
            report.hint(engine, options.stream)
        skipped = report.close(engine, table=form == TEXT)
        going.close()
    skips = 3 if options.strict and skipped else int(report.failed)
    return stopped.code() if stopped.is_set() else 2 if bad else skips


_MANY = 100
"""Documents of a batch after which Python's collector of cycles need not look at what stays."""


class _Run:
    """Batches on their way through an engine; of the matches, those of a stream or all."""

    def __init__(self, options: Options, engine: Engine, report: Report, stopped: Stopped) -> None:
        self.options, self.engine, self.report, self._stopped = options, engine, report, stopped
        keeper, given = engine.keeper, options.given
        self.positions = None if keeper is None else Positions(keeper, report.say)
        report.refused = None if keeper is None else set()
        how = Reading(
            self._unreadable, options.max_document, options.links, fields_of(given), report.dates
        )
        entries = itertools.chain.from_iterable(read_sources(given, how, self.positions))
        if reads_standard_input(given):
            batches = as_they_come(entries, options.batch, stopped.is_set)
        else:
            batches = in_batches(entries, options.batch)
        self.batches = _until(batches, stopped.is_set, pending=engine.waits)
        self._replaced = False
        self._was_there = options.output is not None and os.path.exists(options.output)

    def _unreadable(self, error: DocumentError) -> None:
        if self.positions is not None:
            self.positions.failures += 1
        self.report.skip(error)

    def dropped(self) -> bool:
        """Whether a file that is written whole keeps what it had."""
        # Standard input has no other end for many, and cannot be read again.
        again = self.engine.keeper is None and not reads_standard_input(self.options.given)
        return self._stopped.is_set() and again

    def write(self, form: str) -> None:
        """Writes all matches in a form."""
        output, keeper = self.options.output, self.engine.keeper
        self._replaced = output is not None and is_replaced(output, form, keeper)
        title = title_of(self.options.queries)
        with named(output or STANDARD_OUTPUT):
            if form == "counts":
                self._count(output)
            elif form not in FEED_FORMS:
                self._write_lines(form, output)
            elif keeper is None:
                self._write_feed(form, output, title)
            else:
                self._keep_feed(form, str(output), title)
            sys.stdout.flush()

    def close(self) -> None:
        """Says what has become of the file of the matches."""
        output, replaced = self.options.output, self._replaced
        if output is not None and not in_place(output):
            dropped = self.dropped() and replaced
            fate = fate_of(output, dropped=dropped, replaced=replaced, was_there=self._was_there)
            self.report.note(fate)

    def _write_lines(self, form: str, output: str | None) -> None:
        """Writes matches as lines of a form, to a file or standard output."""
        with contextlib.ExitStack() as stack:
            put = line_writer(
                self.engine,
                stack,
                form,
                output,
                dropped=self.dropped,
                report=self.report.unwritten,
            )

            def write(found: Envelopes) -> int:
                matches = self._matches(found)
                put(matches)
                return len(matches)

            self._each(write)

    def _count(self, output: str | None) -> None:
        """Counts the matches of each query; those of a state's earlier runs are counted, too."""
        engine, keeper = self.engine, self.engine.keeper
        counts = Counter({subscription.name: 0 for subscription in engine.subscriptions})
        if keeper is not None:
            before = keeper.counts()
            counts.update({name: before.get(name, 0) for name in counts})

        def count(found: Envelopes) -> int:
            counted = engine.count(
                self.report.watch(engine, found), batch=self.options.batch, flush=not found
            )
            # Less than nothing is what a batch takes back.
            new = Counter({name: number for name, number in counted.items() if number})
            counts.update(new)
            self.report.by_query.update(new)
            if keeper is not None:
                keeper.counted(new)
            return new.total()

        self._each(count)
        lines = (f"{name}\t{count}\n" for name, count in counts.items())
        if output is None:
            sys.stdout.writelines(lines)
        else:
            with written_whole(output, self.dropped) as to:
                to.writelines(lines)

    def _write_feed(self, form: str, output: str | None, title: str) -> None:
        """Writes the newest matches as one feed, at the end."""
        write, update = FEED_FORMS[form]

        def found() -> Iterator[Match]:
            for some in self.batches:
                matches = self._matches([envelope for envelope, _ in some])
                self.report.found(len(matches))
                yield from matches

        if output is not None and not in_place(output):
            update(found(), output, title=title)
        else:
            with (
                contextlib.nullcontext(sys.stdout)
                if output is None
                else written_whole(output) as to
            ):
                write(found(), to, title=title)

    def _keep_feed(self, form: str, output: str, title: str) -> None:
        """Keeps the newest matches in the feed of a file, which has each once: an entry whose id
        it holds is not written again."""
        _, update = FEED_FORMS[form]

        def keep(found: Envelopes) -> int:
            matches = self._matches(found)
            update(matches, output, title=title)
            return len(matches)

        self._each(keep)

    def _each(self, deal: Callable[[Envelopes], int]) -> None:
        """Deals with one batch after another, each in a transaction: its matches are written before
        the transaction says that they were."""
        for some in self.batches:
            # What comes line by line may come for days.
            owned = leaving() if len(some) >= _MANY else contextlib.nullcontext()
            with owned, self.engine.transaction():
                matches = deal([envelope for envelope, _ in some])
                self.report.found(matches)
                if self.positions is not None:
                    assert self.report.refused is not None
                    self.positions.note((mark for _, mark in some), self.report.refused)
                    self.report.refused.clear()
            if some or matches:
                self.report.detail(
                    f"batch: {counted(len(some), 'document')}, {counted(matches, 'match')}"
                )

    def _matches(self, envelopes: Envelopes) -> list[Match]:
        found = self.report.watch(self.engine, envelopes) if envelopes else None
        matches = published(self.engine, found, self.options.stream)
        self.report.tally(matches)
        return matches


def _until(
    batches: Iterable[list[Entry]], ended: Callable[[], bool], *, pending: bool
) -> Iterator[list[Entry]]:
    """Batches, until the one after which the run is to end; where the input has come to its end,
    and matches are `pending` until then, an empty one."""
    for some in batches:
        yield some
        if ended():
            return
    if pending and not ended():
        yield []
