"""`xscl run`: queries over documents that are there, or come on standard input.

A batch is read, evaluated and written; with `--state`, all that is one transaction, so that the run
goes on where it was, whatever has ended it.
"""

from __future__ import annotations

import contextlib
import itertools
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from xscl.cli.ends import check_ends
from xscl.cli.exits import STANDARD_OUTPUT, ended_by_signals
from xscl.cli.log import LOG_FORMAT, QUIET, VERBOSE
from xscl.cli.options import (
    COMMIT_EVERY,
    DEAD_LETTERS,
    DRY_RUN,
    LINKS,
    MAX_DOCUMENT,
    MEMORY,
    PARAMS,
    QUERIES,
    STATE,
    STREAM,
    Duration,
)
from xscl.cli.output import TEXT, fate_of, form_of, is_written_anew, line_writer
from xscl.cli.queries import check_stream, published, read_texts
from xscl.cli.report import Report, report_of
from xscl.cli.resume import check_dry_run, open_engine, take_queries, tell_plan
from xscl.cli.sources import (
    Reading,
    check_given,
    fields_of,
    read_sources,
    reads_standard_input,
    source_options,
)
from xscl.counts import counted
from xscl.documents.batches import in_batches
from xscl.durable.positions import Mark, Positions
from xscl.files.named import named
from xscl.files.whole import in_place, written_whole
from xscl.garbage import collect_rarely, leave_imported
from xscl.sinks.registry import FEED_FORMS, LINE_FORMS, title_of
from xscl.sources.envelopes import as_they_come
from xscl.times import to_seconds

if TYPE_CHECKING:
    from xscl.engine import Engine
    from xscl.feeds import Rules
    from xscl.matches.match import Match

__all__ = ["run"]

Envelopes = list[dict[str, object]]
Entry = tuple[dict[str, object], Mark]


@click.command()
@QUERIES
@source_options
@click.option(
    "--batch",
    type=click.IntRange(1),
    default=5000,
    show_default=True,
    help="Documents that are evaluated together.",
)
@click.option(
    "--lateness",
    type=Duration(),
    default="INF",
    show_default="INF; with --state, as in its last run",
    help="How late a document may arrive and still be joined.",
)
@PARAMS
@LINKS
@MAX_DOCUMENT
@MEMORY
@DEAD_LETTERS
@click.option(
    "--format",
    "form",
    type=click.Choice([TEXT, *LINE_FORMS, "counts", *FEED_FORMS]),
    help="Sentences, JSON Lines, the number of matches of each query, or a feed "
    "(docs/feeds-out.md).  [default: text on a terminal, else jsonl]",
)
@STREAM
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False),
    help="The file of the matches, written anew; a state that has written it adds to it.  "
    "[default: standard output]",
)
@STATE
@COMMIT_EVERY
@DRY_RUN
@click.option("--strict", is_flag=True, help="Exit with code 3 if a document was skipped.")
@VERBOSE
@QUIET
@LOG_FORMAT
def run(
    queries: Sequence[str],
    batch: int,
    lateness: int | None,
    params: Sequence[tuple[str, str]],
    links: Rules,
    max_document: int,
    memory: int | None,
    dead_letters: str | None,
    form: str | None,
    stream: str | None,
    output: str | None,
    state: str | None,
    commit_every: float,
    dry_run: bool,
    strict: bool,
    **given: Sequence[Any],
) -> int:
    """Runs queries over documents, and writes their matches."""
    check_given(given)
    check_ends()
    form = form_of(form, output)
    if form == "counts" and stream is not None:
        raise click.UsageError("--stream is for matches; --format counts has none")
    check_dry_run(state, dry_run=dry_run)
    if form in FEED_FORMS and state is not None and output is None:
        raise click.UsageError(f"--format {form} with --state is kept in a file: give -o")
    with contextlib.ExitStack() as stack:
        report = stack.enter_context(report_of(output, dead_letters))
        stopped = stack.enter_context(ended_by_signals([]))
        texts = read_texts(queries, params)
        late = _lateness(lateness, state)
        engine = open_engine(
            state,
            late,
            report.skip,
            dry_run=dry_run,
            memory=memory,
            commit_every=commit_every,
            on_stop=report.stopped,
        )
        stack.enter_context(engine)
        if dry_run:
            return tell_plan(engine, texts, click.echo)
        leave_imported()
        bad, _ = take_queries(engine, texts, report.note)
        if not engine.subscriptions:
            return 2
        check_stream(engine, stream)
        collect_rarely(again=False)
        report.begin(engine)
        keeper = engine.keeper
        positions = None if keeper is None else Positions(keeper, report.say)
        how = Reading(report.skip, max_document, links, fields_of(given))
        entries = itertools.chain.from_iterable(read_sources(given, how, positions))
        if reads_standard_input(given):
            batches = as_they_come(entries, batch, stopped.is_set)
        else:
            batches = in_batches(entries, batch)

        def dropped() -> bool:
            # Standard input has no other end for many, and cannot be read again.
            return stopped.is_set() and keeper is None and not reads_standard_input(given)

        waits = any(one.waits for one in engine.subscriptions)
        batches = _until(batches, stopped.is_set, waits=waits)
        going = _Run(engine, report, positions, batches, stream, dropped)
        title = title_of(queries)
        anew = output is not None and is_written_anew(output, form, keeper)
        with named(output or STANDARD_OUTPUT):
            if form == "counts":
                going.count(output, batch)
            elif form not in FEED_FORMS:
                going.write(form, output)
            elif keeper is None:
                going.write_feed(form, output, title)
            else:
                going.keep_feed(form, str(output), title)
            sys.stdout.flush()
        if keeper is None and not stopped.is_set():
            report.hint(engine, stream)
        skipped = report.close(engine, table=form == TEXT)
        if output is not None and not in_place(output):
            report.note(fate_of(output, dropped=dropped() and anew, anew=anew))
    skips = 3 if strict and skipped else int(report.fruitless or report.lost > 0)
    return 130 if stopped.is_set() else 2 if bad else skips


@dataclass(frozen=True, slots=True)
class _Run:
    """Batches on their way through an engine; of the matches, those of a stream or all.  At the
    end, a file that is written anew may be `dropped`."""

    engine: Engine
    report: Report
    positions: Positions | None
    batches: Iterator[list[Entry]]
    stream: str | None
    dropped: Callable[[], bool]

    def write(self, form: str, output: str | None) -> None:
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

    def count(self, output: str | None, batch: int) -> None:
        """Counts the matches of each query; those of a state's earlier runs are counted, too."""
        engine, keeper = self.engine, self.engine.keeper
        counts = Counter({subscription.name: 0 for subscription in engine.subscriptions})
        if keeper is not None:
            before = keeper.counts()
            counts.update({name: before.get(name, 0) for name in counts})

        def count(found: Envelopes) -> int:
            new = +engine.count(found, batch=batch, flush=not found)
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

    def write_feed(self, form: str, output: str | None, title: str) -> None:
        """Writes the newest matches as one feed, at the end."""
        write, update = FEED_FORMS[form]
        batches = ([envelope for envelope, _ in some] for some in self.batches)
        found = (match for some in batches for match in self._matches(some))
        if output is not None and not in_place(output):
            self.report.found(update(found, output, title=title))
        else:
            with (
                contextlib.nullcontext(sys.stdout)
                if output is None
                else written_whole(output) as to
            ):
                self.report.found(write(found, to, title=title))

    def keep_feed(self, form: str, output: str, title: str) -> None:
        """Keeps the newest matches in the feed of a file, which has each once: an entry whose id
        it holds is not written again."""
        _, update = FEED_FORMS[form]
        self._each(lambda found: update(self._matches(found), output, title=title))

    def _each(self, deal: Callable[[Envelopes], int]) -> None:
        """Deals with one batch after another, each in a transaction: its matches are written before
        the transaction says that they were."""
        for some in self.batches:
            with self.engine.transaction():
                matches = deal([envelope for envelope, _ in some])
                self.report.found(matches)
                if self.positions is not None:
                    self.positions.note(mark for _, mark in some)
            if some or matches:
                self.report.detail(
                    f"batch: {counted(len(some), 'document')}, {counted(matches, 'match')}"
                )

    def _matches(self, envelopes: Envelopes) -> list[Match]:
        found = self.report.watch(self.engine, envelopes) if envelopes else None
        matches = published(self.engine, found, self.stream)
        self.report.tally(matches)
        return matches


def _until(
    batches: Iterable[list[Entry]], ended: Callable[[], bool], *, waits: bool
) -> Iterator[list[Entry]]:
    """Batches, until the one after which the run is to end; where the input has come to its end,
    and any query `waits` for that, then an empty one."""
    for some in batches:
        yield some
        if ended():
            return
    if waits:
        yield []


def _lateness(lateness: int | None, state: str | None) -> float | str | None:
    """The lateness as an engine takes it: of a state, unless given, that of its last run."""
    source = click.get_current_context().get_parameter_source("lateness")
    if state is not None and source is ParameterSource.DEFAULT:
        return None
    return "INF" if lateness is None else to_seconds(lateness)
