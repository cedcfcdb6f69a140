"""The grammars of the pages are those of the code, and each name in them has a production or a row
in the table of docs/language-reference.md."""

from __future__ import annotations

import re

import pytest

from tests.documentation.grammar_page import DOCS, renewed

PAGES = {page.stem: page.read_text("utf-8") for page in DOCS.glob("*.md")}
WITH_GRAMMAR = sorted(name for name, page in PAGES.items() if "<!-- grammar: " in page)
SHARED = "language-reference"


def grammar(page: str) -> str:
    return "\n".join(re.findall(r"^```ebnf\n(.*?)^```$", page, re.MULTILINE | re.DOTALL))


def defined(page: str) -> set[str]:
    return set(re.findall(r"^(\w+) = ", grammar(page), re.MULTILINE))


def test_each_language_has_a_grammar() -> None:
    assert WITH_GRAMMAR == [
        "automata",
        "eql",
        "event-queries",
        "language-reference",
        "patterns-reference",
    ]


@pytest.mark.parametrize("name", WITH_GRAMMAR)
def test_a_grammar_is_of_today(name: str) -> None:
    """Where it is not, `python -m tests.documentation.grammar_page` makes it again."""
    assert renewed(PAGES[name]) == PAGES[name]


@pytest.mark.parametrize("name", WITH_GRAMMAR)
def test_each_name_is_explained(name: str) -> None:
    table = PAGES[SHARED].partition("\n## Grammar\n")[2].partition("```ebnf")[0]
    texts = set(re.findall(r"`(\w+)`", "".join(re.findall(r"^\| (`.*?) \|", table, re.MULTILINE))))
    assert {"name", "string", "unit"} <= texts
    used = set(re.findall(r"\b[a-z_]+\b", re.sub(r'"[^"]*"', "", grammar(PAGES[name]))))
    assert len(used) > 10
    assert used - defined(PAGES[name]) - defined(PAGES[SHARED]) - texts == set()
