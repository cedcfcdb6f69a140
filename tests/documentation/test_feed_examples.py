"""The examples of README and of all pages that are about feeds: their items have what items of
feeds have, and their queries find something, over the documents of the page, else over the sample
feeds."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from lxml import etree

import xscl
from tests.documentation.examples import Envelope, blocks, examples
from xscl import samples
from xscl.feeds.items import Enclosure, Feed, Item
from xscl.sources.feed_files import read_feeds

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
_ITEM = re.compile(r"<item>.*?</item>(?!</)")
_READS_ITEMS = re.compile(r"\bS//?item\b")

FULL = Item(
    Feed("feed", "site", "source", ("folder",)),
    *("id", "link", ("rawlink",), "title", ("author",), ("category",), 1e9, 1e9),
    *("summary", "content", ("linked",), (Enclosure("enclosure"),)),
)
ELEMENTS = {str(one.tag) for one in etree.fromstring(FULL.document())}


def items(page: str) -> Iterator[str]:
    """The documents of a page that are items."""
    for block in blocks(page):
        if block.kind in ("documents", "python"):
            yield from _ITEM.findall(block.text)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_items_have_what_items_of_feeds_have(page: Path) -> None:
    for item in items(page.read_text("utf-8")):
        names = {str(one.tag) for one in etree.fromstring(item)}
        assert names <= ELEMENTS, item


def examples_of_items() -> Iterator[tuple[str, str, list[Envelope]]]:
    """The queries of blocks that read items, and the documents that they are about."""
    sample = list(read_feeds(samples.FEEDS, "S"))
    for page in PAGES:
        text = page.read_text("utf-8")
        # Those of the cookbook have feeds of their own, and a test of their own.
        if page.stem == "cookbook":
            continue
        for example in examples([replace(one, kind=one.kind or "xscl") for one in blocks(text)]):
            if _READS_ITEMS.search(example.queries) and not example.error:
                name = f"{page.name}, line {example.line}"
                yield name, example.queries, example.documents or sample


EXAMPLES = list(examples_of_items())


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example[0])
def test_queries_of_items_find_something(example: tuple[str, str, list[Envelope]]) -> None:
    _, queries, documents = example
    with xscl.Engine() as engine:
        subscribed = engine.load(queries)
        found = engine.count(documents)
    silent = [one.name for one in subscribed if not found[one.name]]
    assert silent == []


def test_there_are_examples_of_items_on_the_first_page_and_elsewhere() -> None:
    assert {"README.md", "patterns.md", "language.md"} <= {
        name.partition(",")[0] for name, _, _ in EXAMPLES
    }
    assert sum(len([*items(page.read_text("utf-8"))]) for page in PAGES) > 10
