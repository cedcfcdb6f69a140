"""The cases of consistency, step by step: what is reported and taken back at each level."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.runner import Case, read_cases
from tests.shared import SHARED, needs
from xscl import Engine, Match, Retraction

CASES = SHARED / "conformance" / "pattern-consistency.jsonl"
MEMBERS = ("query", "start", "time", "result", "documents", "variables", "nodes")


def runs() -> list[Any]:
    some = read_cases(CASES) if CASES.exists() else []
    return [
        pytest.param(case, level, id=f"{case['case']}-{level}")
        for case in some
        for level in case["expected"]
    ]


def said(match: Match, expected: dict[str, Any] | None) -> str:
    shown = match.match.to_dict() if isinstance(match, Retraction) else match.to_dict()
    members = MEMBERS if expected is None else expected
    named = {name: shown[name] for name in members if shown.get(name) not in (None, [])}
    return json.dumps(named, sort_keys=True).replace(".0", "")


@needs("conformance", "pattern-consistency.jsonl")
@pytest.mark.parametrize(("case", "level"), runs())
def test_consistency(case: Case, level: str, tmp_path: Path) -> None:
    automata = [f"AUTOMATON {json.dumps(one)}" for one in case.get("automata", ())]
    queries = ";\n".join([*filter(str.strip, case["queries"].split(";\n")), *automata])
    expected = {
        step["step"]: (asked(step["tell"]), asked(step["retract"]))
        for step in case["expected"][level]
    }
    members = {one["query"]: one for step in case["expected"][level] for one in step["tell"]}
    lateness = case.get("lateness")
    with Engine(
        lateness=lateness, revisable=case.get("revisable") or False, consistency=level
    ) as engine:
        engine.load(queries)
        found = {}
        for number in range(len(case["events"]) + 1):
            last = number == len(case["events"])
            some = engine.flush() if last else engine.publish_many([case["events"][number]])
            of = [(one.retracts, said(one, members.get(one.query))) for one in some]
            if of:
                told = sorted(text for back, text in of if not back)
                found[number] = told, sorted(text for back, text in of if back)
                assert [back for back, _ in of] == sorted([b for b, _ in of], reverse=True)
        assert found == expected
        skipped = engine.skipped
        assert skipped.total - skipped.malformed == case.get("dropped", 0)


def asked(some: list[dict[str, Any]]) -> list[str]:
    return sorted(
        json.dumps(
            {k: v for k, v in one.items() if v is not None and v != []}, sort_keys=True
        ).replace(".0", "")
        for one in some
    )
