"""Each rule of the optimiser by a golden pair: rules/RULE.xscl are queries to which it does
something, rules/RULE.txt is their plan before and after it.

With XSCL_GOLDEN=1 in the environment the expectations are written again.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.xscl.explain.test_golden import dissected, expect
from xscl import Engine
from xscl.explain.shared import rule_lines, shared_members, shared_plan
from xscl.pattern_stage.plan.explained import NORMAL_FORM
from xscl.pattern_stage.plan.rules import JOIN_RULES, RULES

NAMES = [NORMAL_FORM, *(rule.name for rule in RULES), *sorted(JOIN_RULES)]
FILES = sorted((Path(__file__).parent / "rules").glob("*.xscl"))

WITHOUT = {"s_default": frozenset({"c_∪"})}
"""What another rule does is left to it where that is switched off."""


def test_each_rule_has_a_pair() -> None:
    assert sorted(file.stem for file in FILES) == sorted(NAMES)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_the_plan_before_and_after(file: Path) -> None:
    steps = shared_plan(dissected(file), WITHOUT.get(file.stem, ()))
    (step,) = (step for step in steps if step.rule == file.stem)
    expect(file.with_suffix(".txt"), "\n".join(rule_lines(step)) + "\n")


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_boxes_read_earlier_ones_and_answer_all_queries(file: Path) -> None:
    steps = shared_members(dissected(file))
    assert file.stem in {step["rule"] for step in steps} or file.stem in WITHOUT
    for step in steps:
        for boxes in (step["before"], step["after"]):
            assert isinstance(boxes, list)
            for box in boxes:
                assert all(one < box["m_op"] for one in box["reads"])
            assert {"one"} <= {name for box in boxes for name in box["queries"]}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_an_engine_runs_the_m_ops_that_are_shown(file: Path) -> None:
    with Engine() as engine:
        queries = engine.load(file.read_text(encoding="utf-8"))
        found = shared_plan([one.dissection for one in queries])
        runs = engine.stats()["event_queries"]
    shown = [step.after for step in found if step.rule not in JOIN_RULES]
    # Aggregates that read one buffer are shown as one.
    buffers = file.stem == "s_α"
    assert isinstance(runs, dict)
    assert runs["m-ops"] == (len(shown[-1]) + buffers if shown else 0)
