"""What event queries must remember over a restart, or where their levels are made anew, as texts of
JSON by what they are of: instances and buffers, and the events that time has not passed yet.

A level may have other queries afterwards, with other numbers: each finds what is its own.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Set

from xscl.documents.events import EventType, Waiting
from xscl.queries.event_log import logged
from xscl.queries.event_types import EventTypes
from xscl.queries.stage_holders import Plan

__all__ = ["Saved", "recall", "save", "weak"]

Saved = dict[str, str]

_WEAK = "weak "


def save(
    of: str, plan: Plan, name: Callable[[int], str | None], types: EventTypes, to: Saved
) -> None:
    """Saves a level's event queries, or one that is weak (`of` it), given the names of queries."""
    state = plan.stage.state()
    numbers = {number for some, *_ in state["operators"] for number, _ in some}
    to[f"state\n{of}"] = json.dumps([plan.mark, {one: name(one) for one in numbers}, state])
    for chunk, text in plan.log.saved(types.name, plan.stage.slots):
        to[f"events\n{of}\n{chunk}"] = text


def weak(name: str) -> str:
    """What is saved of a query of a name that waits for nothing."""
    return f"{_WEAK}{name}"


def recall(
    saved: Saved,
    plans: Iterable[tuple[str, Plan, Set[EventType]]],
    number: Callable[[str], int | None],
    types: EventTypes,
    flushed: int,
) -> None:
    """Lets event queries remember, given the stages with the types that they read, and the numbers
    of queries; the input had ended once before the document of number `flushed`."""
    states: dict[str, list[str]] = {}
    events: dict[str, list[str]] = {}
    for key, text in saved.items():
        kind, of, *_ = key.split("\n")
        to = states if kind == "state" else events
        to.setdefault(_shared(of), []).append(text)
    for name, plan, kinds in plans:
        of = _shared(name)
        mark: int | None = None
        for text in states.get(of, ()):
            its, names, state = json.loads(text)
            mark = its if mark is None else max(mark, its or mark)
            plan.stage.restore(state, lambda one, names=names: _now(names, one, number))  # type: ignore[misc]
        known = {one.number for one in kinds}
        waiting: list[Waiting] = []
        for one in logged(events.get(of, ())):
            type_ = types.named(one.type)
            # A chunk may still have some that time has passed.
            if type_ is not None and type_ in known and (mark is None or one.end >= mark):
                waiting.append((type_, one.event(plan.stage.slots(type_))))
        plan.catch_up(waiting, mark, flushed)
        # It was told before.
        plan.stage.found()


def _shared(of: str) -> str:
    """What is saved of levels is of all of them."""
    return of if of.startswith(_WEAK) else ""


def _now(
    names: Mapping[str, str | None], before: int, number: Callable[[str], int | None]
) -> int | None:
    name = names.get(str(before))
    return None if name is None else number(name)
