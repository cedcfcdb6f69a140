"""Every automaton case, fed in some ways (`ways`): the matches are a set.

Where documents are retracted, arcs come and go, or a punctuation has a predicate, the order of the
events is part of the case: it is fed as it is, over a restart, too.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import xscl
from tests.conformance.runner import Case, read_cases
from tests.conformance.ways import Way, agrees, dice_of, ways
from tests.drawn import DRAW
from tests.shared import SHARED, needs

CASES = SHARED / "conformance" / "pattern-afa.jsonl"
MEMBERS = ("query", "start", "time", "result", "documents", "variables", "nodes")
MOST = 4
"""So many ways to feed a case are drawn by its name; all are by `make fuzz`."""
PLAIN = {name: way for name, way in ways(()).items() if name != "without any technique"}


def as_one_run(case: Case, folder: Path, level: str) -> Iterator[Any]:
    with opened(case, consistency=level) as engine:
        yield from engine.run(case["events"])
        counted(case, engine)


def one_by_one(case: Case, folder: Path, level: str) -> Iterator[Any]:
    with opened(case, consistency=level) as engine:
        for event in case["events"]:
            yield from engine.publish_many([event])
        yield from engine.flush()
        counted(case, engine)


def over_restarts(case: Case, folder: Path, level: str) -> Iterator[Any]:
    """Whatever has come, the state file has all of it."""
    state, dice = folder / "state.xscl", dice_of(case)
    opened(case, state=state, consistency=level).close()
    left = [*case["events"]]
    while left:
        size = dice.choice([1, 1, 3] if DRAW >= 1 else [1, 3, 9])
        with xscl.Engine(state=state) as engine:
            for event in left[:size]:
                yield from engine.publish_many([event])
        del left[:size]
    with xscl.Engine(state=state) as engine:
        yield from engine.flush()
        counted(case, engine)


def standing(way: Any, level: str) -> Way:
    """A way whose matches are those that are not taken back."""

    def standing_matches(case: Case, folder: Path) -> Iterator[Any]:
        there: dict[str, Any] = {}
        for one in way(case, folder, level):
            if one.retracts:
                assert level != "strong"
                del there[one.id]
            else:
                assert there.setdefault(one.id, one) is one
        return iter(there.values())

    return standing_matches


STEPS = {
    f"{way.__name__}, {level}": standing(way, level)
    for way in (as_one_run, one_by_one, over_restarts)
    for level in ("strong", "middle", "middle(2 s)")
}


def opened(case: Case, **options: Any) -> xscl.Engine:
    engine = xscl.Engine(revisable=case.get("revisable"), on_skip=lambda error: None, **options)
    engine.load(case["queries"])
    return engine


def counted(case: Case, engine: xscl.Engine) -> None:
    """Documents and retractions that came too late, twice or of nothing are counted."""
    skipped = engine.skipped
    assert skipped.late + skipped.duplicate + skipped.unknown == case.get("dropped", 0)


def cases() -> list[Case]:
    """The cases, their automata as queries."""
    some = read_cases(CASES) if CASES.exists() else []
    for case in some:
        case["queries"] = ";\n".join(f"AUTOMATON {json.dumps(one)}" for one in case["automata"])
    return some


@needs("conformance", "pattern-afa.jsonl")
@pytest.mark.drawn
@pytest.mark.parametrize("case", [pytest.param(case, id=case["case"]) for case in cases()])
def test_automata(case: Case, tmp_path: Path) -> None:
    plain = all("timestamp" in event for event in case["events"])
    agrees(case, tmp_path, PLAIN if plain else STEPS, said, MOST)


def said(match: dict[str, Any]) -> str:
    named = {member: match[member] for member in MEMBERS if match.get(member)}
    return json.dumps(named, sort_keys=True).replace(".0", "")
