"""Each rule of the optimiser by a golden pair: rules/RULE.xscl are queries to which it does
something, rules/RULE.txt is their plan before and after it.

With XSCL_GOLDEN=1 in the environment the expectations are written anew.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from pattern_stage.plan.explained import NORMAL_FORM
from pattern_stage.plan.rules import JOIN_RULES, RULES
from tests.xscl.explain.test_golden import dissected, expect
from xscl.explain.shared import rule_lines, shared_members, shared_plan

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
