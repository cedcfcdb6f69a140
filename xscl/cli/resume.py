"""How `run` and `watch` continue from a state file: the engine, the plan for a changed query
file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from xscl.cli.queries import QueryText, subscribe
from xscl.errors import DocumentError, QueryError, QueryStopped

if TYPE_CHECKING:
    from xscl.durable.plan import Plan
    from xscl.engine import Engine
    from xscl.matches.match import Match

__all__ = ["check_dry_run", "open_engine", "plan_of", "show_plan", "take_queries"]

Say = Callable[[str], object]
Errors = dict[str, list[QueryError]]


def check_dry_run(state: str | None, *, dry_run: bool) -> None:
    """Raises UsageError for a dry run without a state, which there is nothing to report of."""
    if dry_run and state is None:
        raise click.UsageError("--dry-run shows the queries of a state: give --state")


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
    revisable: Sequence[str] | None = None,
    consistency: str | None = None,
    rates: Mapping[str, float] | None = None,
) -> Engine:
    """The engine of a state file, or one in memory; a dry run makes no file."""
    from xscl.engine import Engine
    from xscl.pattern_stage.bounds import MOST

    if commit_every and state is None:
        raise click.UsageError("--commit-every is for the file of a state: give --state")
    if dry_run and state is not None and not Path(state).exists():
        state, commit_every = None, 0.0
    if dry_run:
        # They are for a run; the state remembers those of the last one.
        lateness = revisable = consistency = None
    return Engine(
        state,
        lateness=lateness,
        on_skip=on_skip,
        memory=memory,
        commit_every=commit_every,
        on_stop=on_stop,
        most_matches=MOST if most_matches is None else most_matches,
        revisable=revisable,
        consistency=consistency,
        rates=rates,
    )


def show_plan(
    engine: Engine, texts: Sequence[QueryText], say: Say, *, looking_back: bool = False
) -> int:
    """Reports which queries would continue, start and stop; returns 2 if some text is wrong."""
    from xscl.engine import Engine

    plan, _ = plan_of(engine, texts)
    for line in plan.lines(looking_back=looking_back):
        say(line)
    # What is wrong is reported as by a run, but nothing is subscribed.
    with Engine() as looking:
        return 2 if subscribe(looking, texts)[0] else 0


def plan_of(
    engine: Engine, texts: Sequence[QueryText], *, stops: bool = True
) -> tuple[Plan, Errors]:
    """The plan for some texts, and the errors of queries, by name, that are seen only when these
    are subscribed, as that of a missing parameter is: what such a query was continues.  `stops`:
    what is missing in the texts is to end."""
    from xscl.engine import Engine

    plan = engine.plan((one.text, one.tables) for one in texts)
    if not (plan.changed or (stops and plan.stopping)):
        return plan, {}
    errors: Errors = {}
    with Engine() as looking:
        for one in texts:
            for error in looking.load_good(one.text, tables=one.tables)[1]:
                errors.setdefault(error.query, []).append(error)
    spared = {name: errors[name] for name in plan.changed if name in errors}
    return (plan.sparing(spared) if errors else plan), spared


def take_queries(
    engine: Engine, texts: Sequence[QueryText], say: Say, *, looking_back: bool = False
) -> tuple[int, list[Match]]:
    """Makes the queries of an engine those of some texts, in one transaction; reports what becomes
    of those that it had, prints and counts the errors.  If `looking_back`, those that are new see
    what the state retains, and what they found is returned, too."""
    if engine.keeper is None:
        return subscribe(engine, texts)
    plan, errors = plan_of(engine, texts)
    if engine.subscriptions:
        for line in plan.lines(looking_back=looking_back):
            say(line)
    # Nothing is retained at first, and queries that do not look back share more.
    back = plan.starting if looking_back and len(engine.held()) else ()
    with engine.transaction():
        for name in (*plan.changed, *plan.stopping):
            engine.cancel(name)
        return subscribe(engine, texts, frozenset(back), errors)
