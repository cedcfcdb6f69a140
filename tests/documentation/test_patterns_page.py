"""The page about patterns, docs/patterns.md: its examples are run, and use all words and
signs of patterns."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from lark.grammar import Rule

from tests.documentation.examples import Example, blocks, examples, run, run_session
from tests.documentation.tracing import traced
from xscl.language import parse
from xscl.language.grammar import Grammar, grammar
from xscl.pattern_stage.switches import COMPOSITION_SWITCHES, EVENT_SWITCHES, SWITCHES

FILE = Path(__file__).parents[2] / "docs" / "patterns.md"
PAGE = FILE.read_text(encoding="utf-8")
BLOCKS = [block for block in blocks(PAGE) if block.kind]
EXAMPLES = examples(BLOCKS)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: f"line {example.line}")
def test_example(example: Example) -> None:
    run(example)


def test_the_python_session() -> None:
    run_session(PAGE, BLOCKS, str(FILE))


@pytest.mark.parametrize("which", ["patterns", "events", "eql"])
def test_the_examples_use_all_words_and_signs(which: Grammar) -> None:
    made = grammar(which)
    used: set[str] = set()

    def note(rule: Rule, _: list[Any]) -> None:
        used.update(symbol.name for symbol in rule.expansion)

    with traced(which, note):
        for example in EXAMPLES:
            if not example.error:
                parse(example.queries)
    # The words and signs of paths are those of docs/language.md.
    known = {one.name for one in made.terminals} - {
        one.name for one in grammar("grammar").terminals
    }
    assert sorted(known - used) == []


def test_the_techniques_are_those_that_can_be_switched_off() -> None:
    section = PAGE.partition("## Techniques")[2].partition("\n## ")[0]
    techniques, others = section.split("Event queries are", 1)
    rules, compositions = others.split("Compositions (", 1)
    assert named(techniques) == SWITCHES
    assert named(rules) == EVENT_SWITCHES
    assert named(compositions) == COMPOSITION_SWITCHES


def named(section: str) -> set[str]:
    """The names in the first columns of a section's tables."""
    cells = re.findall(r"^\| (`.*?`) \|", section, re.MULTILINE)
    return {name for cell in cells for name in re.findall("`(.*?)`", cell)}
