"""How `run` and `watch` go on from a state file: the engine, the plan for a changed query file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from xscl.cli.queries import QueryText, subscribe
from xscl.errors import DocumentError, QueryStopped
from xscl.times import to_seconds

if TYPE_CHECKING:
    from xscl.engine import Engine
    from xscl.matches.match import Match

__all__ = ["check_dry_run", "open_engine", "retain_recent", "take_queries", "tell_plan"]

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
    commit_every: float = 0.0,
    on_stop: Callable[[QueryStopped], object] | None = None,
    most_matches: int | None = None,
) -> Engine:
    """The engine of a state file, or one in memory; a dry run makes no file."""
    from pattern_stage.bounds import MOST
    from xscl.engine import Engine

    if commit_every and state is None:
        raise click.UsageError("--commit-every is for the file of a state: give --state")
    if dry_run and state is not None and not Path(state).exists():
        state, commit_every = None, 0.0
    return Engine(
        state,
        lateness=lateness,
        on_skip=on_skip,
        memory=memory,
        commit_every=commit_every,
        on_stop=on_stop,
        most_matches=MOST if most_matches is None else most_matches,
    )


def tell_plan(
    engine: Engine, texts: Sequence[QueryText], say: Say, *, looking_back: bool = False
) -> int:
    """Tells which queries would go on, start and stop; returns 2 if some text is wrong."""
    from xscl.engine import Engine

    plan = engine.plan((one.text, one.tables) for one in texts)
    for line in plan.lines(looking_back=looking_back):
        say(line)
    # What is wrong is told as by a run, but nothing is subscribed.
    with Engine() as looking:
        return 2 if subscribe(looking, texts)[0] else 0


def take_queries(
    engine: Engine, texts: Sequence[QueryText], say: Say, *, looking_back: bool = False
) -> tuple[int, list[Match]]:
    """Makes the queries of an engine those of some texts, all at once; tells what becomes of those
    that it had, prints and counts the errors.  If `looking_back`, those that are new see what the
    state retains, and what they found is returned, too."""
    if engine.keeper is None:
        return subscribe(engine, texts)
    plan = engine.plan((one.text, one.tables) for one in texts)
    if engine.subscriptions:
        for line in plan.lines(looking_back=looking_back):
            say(line)
    # Nothing is retained at first, and queries that do not look back share more.
    back = plan.starting if looking_back and len(engine.held()) else ()
    with engine.transaction():
        for name in (*plan.changed, *plan.stopping):
            engine.cancel(name)
        return subscribe(engine, texts, frozenset(back))


def retain_recent(
    engine: Engine, sources: Iterable[tuple[str, str]], length: int | None, most: int
) -> None:
    """Retains recent items of polled feeds, by stream and source, for queries that come later: to
    be said before any comes, as a state's documents go where nothing retains them."""
    span = "INF" if length is None else to_seconds(length)
    for stream in dict.fromkeys(stream for stream, _ in sources):
        engine.retain(stream, span, most=most)
