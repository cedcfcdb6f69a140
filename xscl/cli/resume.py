"""What `run` and `watch` have in common where they go on from a state file: the engine, the plan
for a changed query file, the file of matches."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TextIO

import click

from xscl.cli.sources import QueryText, subscribe
from xscl.durable.output_file import OutputFile
from xscl.engine import Engine
from xscl.errors import DocumentError
from xscl.matches.match import Match
from xscl.sinks.registry import LINE_FORMS

__all__ = ["check_dry_run", "line_writer", "open_engine", "take_queries", "tell_plan"]

Say = Callable[[str], object]


def check_dry_run(state: str | None, *, dry_run: bool) -> None:
    """Raises UsageError for a dry run without a state, which there is nothing to tell of."""
    if dry_run and state is None:
        raise click.UsageError("--dry-run tells of the queries of a state: give --state")


def open_engine(
    state: str | None,
    lateness: float | str | None,
    on_skip: Callable[[DocumentError], object],
    *,
    dry_run: bool,
    memory: int | None,
) -> Engine:
    """The engine of a state file, or one in memory; a dry run makes no file."""
    if dry_run and state is not None and not Path(state).exists():
        state = None
    return Engine(state, lateness=lateness, on_skip=on_skip, memory=memory)


def tell_plan(engine: Engine, texts: Sequence[QueryText], say: Say) -> int:
    """Tells which queries would go on, start and stop; returns 2 if some text is wrong."""
    for line in engine.plan((one.text, one.tables) for one in texts).lines():
        say(line)
    # What is wrong is told as by a run, but nothing is subscribed.
    with Engine() as looking:
        return 2 if subscribe(looking, texts) else 0


def take_queries(engine: Engine, texts: Sequence[QueryText], say: Say) -> int:
    """Makes the queries of an engine those of some texts, all at once; tells what becomes of those
    that it had, prints and counts the errors."""
    if engine.keeper is None:
        return subscribe(engine, texts)
    plan = engine.plan((one.text, one.tables) for one in texts)
    if engine.subscriptions:
        for line in plan.lines():
            say(line)
    with engine.transaction():
        for name in (*plan.changed, *plan.stopping):
            engine.cancel(name)
        return subscribe(engine, texts)


def line_writer(
    engine: Engine, stack: contextlib.ExitStack, form: str, output: str | None, *, add: bool
) -> Callable[[Sequence[Match]], None]:
    """What writes a batch of matches as lines of a form: to standard output, to a file, or, with
    a state, to a file whose length the state knows, each match once.  With `add` the lines that
    are there stay."""
    lines, keeper = LINE_FORMS[form], engine.keeper
    if output is not None and keeper is not None:
        file = OutputFile(output, keeper.file.outputs().get(str(Path(output).absolute())), add=add)
        stack.callback(file.close)
        with engine.transaction():
            keeper.changes.outputs[file.path] = file.length

        def write_once(matches: Sequence[Match]) -> None:
            file.write(lines(matches))
            keeper.changes.outputs[file.path] = file.length

        return write_once
    if output is None:
        to: TextIO = sys.stdout
    elif add:
        return lambda matches: _add(output, lines(matches))
    else:
        to = stack.enter_context(open(output, "w", encoding="utf-8"))

    def write(matches: Sequence[Match]) -> None:
        to.writelines(lines(matches))
        to.flush()

    return write


def _add(path: str, lines: Iterable[str]) -> None:
    """Adds lines to a file, which may have been moved away since the last ones."""
    with open(path, "a", encoding="utf-8") as file:
        file.writelines(lines)
