"""What event queries must remember over a restart, or where their levels are made again, as texts
of JSON by what they are of: a snapshot of instances and buffers, and the events that time had not
passed then or that have come since.  Snapshots of all levels are of one time.

A level may have other queries afterwards, with other numbers: each finds what is its own.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Iterable, Mapping, Set

from xscl.documents.events import EventNodes, EventType
from xscl.queries.levels.consistency import PlanController
from xscl.queries.levels.event_log import logged
from xscl.queries.levels.event_types import EventTypes

__all__ = ["Saved", "is_due", "recall", "save", "weak"]

Saved = dict[str, str]

_WEAK = "weak "


_FEW = 1_000
_LENGTH = 200
"""Characters of a snapshot that are written as fast as an event is taken, about."""


def is_due(plan: PlanController) -> bool:
    """Whether so many events have come since the last snapshot that another one pays."""
    before = plan.snapshot
    return before is None or plan.logged > max(_FEW, len(before) // _LENGTH)


def save(
    of: str,
    plan: PlanController,
    name: Callable[[int], str | None],
    types: EventTypes,
    nodes: EventNodes,
    to: Saved,
    group: Callable[[int], Hashable] | None = None,
) -> None:
    """Saves a level's event queries, or one that is weak (`of` it), as of its last snapshot, or if
    it has none as it is now, given the names of queries, and of those that are about to part (or
    None) what is theirs together."""
    snapshot = plan.snapshot
    if snapshot is None:
        state = plan.stage.state(group)
        numbers = {number for some, *_ in state["operators"] for number, _ in some}
        snapshot = json.dumps([plan.mark, {one: name(one) for one in numbers}, state])
    to[f"state\n{of}"] = snapshot
    to[f"mark\n{of}"] = json.dumps(plan.mark)
    if missed := plan.stage.missed:
        to[f"missed\n{of}"] = json.dumps(
            [[since, [*some.items()]] for since, some in missed.items()]
        )
    if not plan.weak:
        early = plan.stage.early()
        to[f"early\n{of}"] = json.dumps(
            None if early is None else {name(number): names for number, names in early.items()}
        )
    for chunk, text in plan.log.saved(types.name, plan.stage.slots, nodes):
        to[f"events\n{of}\n{chunk}"] = text


def weak(name: str) -> str:
    """What is saved of a query of a name that waits for nothing."""
    return f"{_WEAK}{name}"


def recall(
    saved: Saved,
    plans: Iterable[tuple[str, PlanController, Set[EventType]]],
    number: Callable[[str], int | None],
    types: EventTypes,
    nodes: EventNodes,
    flushed: int,
) -> None:
    """Lets event queries remember, given the stages with the types that they read, and the numbers
    of queries; the input had ended once before the document of number `flushed`."""
    kept: dict[tuple[str, str], list[str]] = {}
    for key, text in saved.items():
        kind, of, *_ = key.split("\n")
        kept.setdefault((kind, _shared(of)), []).append(text)
    for name, plan, kinds in plans:
        of = _shared(name)
        before: list[int | None] = []
        for text in kept.get(("state", of), ()):
            its, names, state = json.loads(text)
            before.append(its)
            plan.stage.restore(state, lambda one, names=names: _now(names, one, number))  # type: ignore[misc]
        for text in kept.get(("missed", of), ()):
            for since, some in json.loads(text):
                plan.stage.miss(since, dict(some))
        known = {one.number for one in kinds}
        mark = _latest(before)
        for one in logged(kept.get(("events", of), ()), nodes):
            type_ = types.named(one.type)
            # A chunk may still have some that time has passed.
            if type_ is not None and type_ in known and (mark is None or one.end >= mark):
                plan.pending.append((type_, one.event(plan.stage.slots(type_))))
        now = _latest([json.loads(text) for text in kept.get(("mark", of), ())])
        # It was reported before.
        named = [json.loads(text) for text in kept.get(("early", of), ())]
        if not plan.weak and (not named or None in named):
            # There were too many, or the file is of a version that did not write them.
            plan.catch_up(now, flushed)
            continue
        plan.resume(now)
        early: dict[int, list[str]] = {}
        for one in named:
            for query, some in one.items():
                if (here := number(query)) is not None:
                    early.setdefault(here, []).extend(some)
        plan.stage.report_early(early)


def _shared(of: str) -> str:
    """What is saved of levels is of all of them."""
    return of if of.startswith(_WEAK) else ""


def _latest(marks: Iterable[int | None]) -> int | None:
    return max((one for one in marks if one is not None), default=None)


def _now(
    names: Mapping[str, str | None], before: int, number: Callable[[str], int | None]
) -> int | None:
    name = names.get(str(before))
    return None if name is None else number(name)
