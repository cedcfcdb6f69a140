"""The pages about events in order, docs/patterns.md and those that it leads to: their examples are
run, and use all words and signs of patterns, event queries and EQL."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from lark.grammar import Rule

from tests.documentation.examples import Block, Example, blocks, examples, run, run_session
from tests.documentation.tracing import traced
from xscl import Arc, Automaton
from xscl.language import parse
from xscl.language.grammar import Grammar, grammar
from xscl.pattern_stage.switches import COMPOSITION_SWITCHES, EVENT_SWITCHES, SWITCHES

DOCS = Path(__file__).parents[2] / "docs"
NAMES = ("patterns", "patterns-reference", "event-queries", "eql", "automata", "how-it-runs")
PAGES = {name: (DOCS / f"{name}.md").read_text(encoding="utf-8") for name in NAMES}
BLOCKS: dict[str, list[Block]] = {
    name: [block for block in blocks(page) if block.kind not in ("", "ebnf")]
    for name, page in PAGES.items()
}
EXAMPLES = [
    (f"{name}, line {example.line}", example)
    for name, found in BLOCKS.items()
    for example in examples(found)
]


@pytest.mark.parametrize("example", [pytest.param(one, id=name) for name, one in EXAMPLES])
def test_example(example: Example) -> None:
    run(example)


@pytest.mark.parametrize("name", [name for name in NAMES if name != "eql"])
def test_the_python_session(name: str) -> None:
    run_session(PAGES[name], BLOCKS[name], str(DOCS / f"{name}.md"))


@pytest.mark.parametrize("which", ["patterns", "events", "eql"])
def test_the_examples_use_all_words_and_signs(which: Grammar) -> None:
    made = grammar(which)
    used: set[str] = set()

    def note(rule: Rule, _: list[Any]) -> None:
        used.update(symbol.name for symbol in rule.expansion)

    with traced(which, note):
        for _, example in EXAMPLES:
            if not example.error:
                parse(example.queries)
    # The words and signs of paths are those of docs/language-reference.md.
    known = {one.name for one in made.terminals} - {
        one.name for one in grammar("grammar").terminals
    }
    assert sorted(known - used) == []


@pytest.mark.parametrize("described", [Automaton, Arc])
def test_the_members_of_automata_are_in_a_table(described: type[Automaton | Arc]) -> None:
    cells = re.findall(r"^\| (`.*?`) \|", PAGES["automata"], re.MULTILINE)
    listed = {name for cell in cells for name in re.findall("`(.*?)`", cell)}
    members = {one.name for one in fields(described)} - {"source", "target"}
    assert {"from", "to", *members} <= listed


def test_the_techniques_are_those_that_can_be_switched_off() -> None:
    section = PAGES["how-it-runs"].partition("## Techniques")[2].partition("\n## ")[0]
    techniques, others = section.split("Event queries are", 1)
    rules, compositions = others.split("Compositions (", 1)
    assert named(techniques) == SWITCHES
    assert named(rules) == EVENT_SWITCHES
    assert named(compositions) == COMPOSITION_SWITCHES


def named(section: str) -> set[str]:
    """The names in the first columns of a section's tables."""
    cells = re.findall(r"^\| (`.*?`) \|", section, re.MULTILINE)
    return {name for cell in cells for name in re.findall("`(.*?)`", cell)}
