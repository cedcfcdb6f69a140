"""Real items: the links across feeds that the engine finds are those of a self-join in SQL."""

from __future__ import annotations

from itertools import islice

import pytest

import xscl
from benchmarks.archives import (
    ARCHIVES,
    Envelope,
    across_feeds,
    across_feeds_in_sql,
    cookbook,
    fetched,
    replayed,
)
from tests.shared import needs

pytestmark = needs("data", "feed-archives")


@pytest.fixture(scope="module")
def items() -> list[Envelope]:
    return list(islice(replayed(ARCHIVES / "tech-digest-2026" / "items.jsonl"), 2_000))


def test_links_across_feeds_are_those_of_sql(items: list[Envelope]) -> None:
    found = across_feeds(items)
    assert found == across_feeds_in_sql(items)
    assert all(found.values())


def test_links_across_fetched_feeds_are_those_of_sql() -> None:
    refused: list[xscl.DocumentError] = []
    items = list(fetched(ARCHIVES / "blog-archives-2025-26" / "raw", refused.append))
    assert refused == []
    found = across_feeds(items)
    assert found == across_feeds_in_sql(items)
    assert all(found.values())


def test_the_cookbook_finds_the_same_links(items: list[Envelope]) -> None:
    some = items[:1_000]
    with xscl.Engine() as engine:
        engine.load(cookbook())
        counts = engine.count(some)
        assert engine.documents == len(some)
    assert counts["same-link"] == len(across_feeds_in_sql(some)["link"]) > 0
