"""The page about likeness, docs/likeness.md: its examples are run (examples.py)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.documentation.examples import Example, blocks, examples, run
from xscl.xpath_stage import MEASURES

PAGE = (Path(__file__).parents[2] / "docs" / "likeness.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "example",
    examples([block for block in blocks(PAGE) if block.kind]),
    ids=lambda example: f"line {example.line}",
)
def test_example(example: Example) -> None:
    run(example)


def test_the_measures() -> None:
    assert tuple(re.findall(r"^\| `'(\w+)'`", PAGE, re.MULTILINE)) == MEASURES
