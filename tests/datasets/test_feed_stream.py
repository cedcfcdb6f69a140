"""The synthetic feed stream: its shape, its rates, and the random queries over it."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import pytest
from lxml import etree

from datasets import LEAVES, feed_stream, random_queries

ITEMS = 10_000
JUNE = 1149120000  # 2006-06-01T00:00:00Z


@pytest.fixture(scope="module")
def envelopes() -> list[dict[str, Any]]:
    return list(feed_stream(ITEMS))


@pytest.fixture(scope="module")
def rows(envelopes: list[dict[str, Any]]) -> list[dict[str, str]]:
    return [
        {leaf.tag: leaf.text or "" for leaf in etree.fromstring(envelope["xml"])}
        for envelope in envelopes
    ]


def test_envelopes(envelopes: list[dict[str, Any]]) -> None:
    assert len(envelopes) == ITEMS
    assert all(set(envelope) == {"stream", "id", "timestamp", "xml"} for envelope in envelopes)
    assert {envelope["stream"] for envelope in envelopes} == {"S"}
    assert len({envelope["id"] for envelope in envelopes}) == ITEMS


def test_items_have_the_five_leaves(envelopes: list[dict[str, Any]]) -> None:
    for envelope in envelopes[:100]:
        item = etree.fromstring(envelope["xml"])
        assert item.tag == "item"
        assert tuple(leaf.tag for leaf in item) == LEAVES


def test_times_rise_evenly_over_153_days(
    envelopes: list[dict[str, Any]], rows: list[dict[str, str]]
) -> None:
    times = [envelope["timestamp"] for envelope in envelopes]
    assert times == sorted(times)
    assert JUNE <= times[0] < JUNE + 86_400
    assert JUNE + 152 * 86_400 <= times[-1] < JUNE + 153 * 86_400
    assert times[ITEMS // 2] == pytest.approx(JUNE + 153 * 86_400 / 2, abs=3 * 86_400)
    assert rows[0]["timestamp"].startswith("2006-06-01T")


def test_channels(rows: list[dict[str, str]]) -> None:
    assert len({row["channel_url"] for row in rows}) == 418


def test_about_one_in_25_is_posted_again_by_its_channel(rows: list[dict[str, str]]) -> None:
    seen: dict[str, dict[str, str]] = {}
    again = []
    for row in rows:
        if row["item_url"] in seen:
            again.append((seen[row["item_url"]], row))
        seen[row["item_url"]] = row
    assert 0.03 < len(again) / ITEMS < 0.05
    assert all(old["channel_url"] == new["channel_url"] for old, new in again)
    assert sum(old["title"] == new["title"] for old, new in again) > len(again) / 2


def test_titles_recur_and_a_few_are_popular(rows: list[dict[str, str]]) -> None:
    counts = Counter(row["title"] for row in rows)
    repeated = [count for count in counts.values() if count > 1]
    assert 0.06 < sum(repeated) / ITEMS < 0.20
    assert max(repeated) > 100


def test_descriptions(rows: list[dict[str, str]]) -> None:
    lengths = [len(row["description"]) for row in rows]
    assert sum(lengths) / ITEMS == pytest.approx(280, abs=20)
    similar = sum(row["description"] == row["title"] for row in rows)
    assert 0.006 < similar / ITEMS < 0.016


def test_a_seed_gives_the_same_stream_again(envelopes: list[dict[str, Any]]) -> None:
    assert list(feed_stream(ITEMS)) == envelopes
    assert list(feed_stream(50, seed=4)) != list(feed_stream(50, seed=3))


def test_channels_and_days_can_be_chosen() -> None:
    envelopes = list(feed_stream(500, channels=2, days=1))
    assert {envelope["timestamp"] // 86_400 for envelope in envelopes} == {JUNE // 86_400}
    sites = {etree.fromstring(envelope["xml"]).findtext("channel_url") for envelope in envelopes}
    assert len(sites) == 2


LEAF = "|".join(LEAVES)
QUERY = re.compile(
    rf"-- name: q(?P<number>\d{{5}})\n"
    rf"S//item->a0(?P<left>(\[\./({LEAF})->a\d\])+)\n"
    rf"FOLLOWED BY \{{(?P<pairs>a\d=b\d( AND a\d=b\d)*), 7 days\}}\n"
    rf"S//item->b0(?P<right>(\[\./({LEAF})->b\d\])+);\n"
)


def test_queries_join_distinct_leaves_pairwise() -> None:
    queries = list(QUERY.finditer(random_queries()))
    assert [int(query["number"]) for query in queries] == list(range(1, 1001))
    assert "\n".join(query[0] for query in queries) == random_queries()
    for query in queries:
        pairs = query["pairs"].split(" AND ")
        assert pairs == [f"a{pair}=b{pair}" for pair in range(1, len(pairs) + 1)]
        for side in ("left", "right"):
            leaves = re.findall(r"\./(\w+)->", query[side])
            assert len(leaves) == len(set(leaves)) == len(pairs)


def test_the_number_of_pairs_is_zipfian() -> None:
    text = random_queries(10_000)
    sizes = Counter(query["pairs"].count("=") for query in QUERY.finditer(text))
    total = sum(size**-0.8 for size in range(1, 6))
    for size in range(1, 6):
        assert sizes[size] / 10_000 == pytest.approx(size**-0.8 / total, abs=0.02)


def test_queries_are_the_same_for_a_seed_and_take_a_window() -> None:
    assert random_queries(20) == random_queries(20)
    assert random_queries(20) != random_queries(20, seed=8)
    assert random_queries(20, window="2 h").count(", 2 h}") == 20
