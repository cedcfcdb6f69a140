"""The workloads of the benchmarks: their shapes, their rates, and that a seed makes them again."""

from __future__ import annotations

from collections import Counter
from itertools import chain

import pytest
from lxml import etree

import xscl
from datasets import (
    FOLLOWED,
    Schema,
    document_pairs,
    linked_items,
    links_between,
    matched_subscriptions,
    query_text,
    random_documents,
    random_joins,
    random_patterns,
    shared_values,
    subscriptions,
    three_level,
    two_level,
    vocabulary,
)


def test_schemas() -> None:
    assert [path[-1] for path in two_level(3).leaves] == ["leaf1", "leaf2", "leaf3"]
    deep = three_level()
    assert len(deep.leaves) == len({path[-1] for path in deep.leaves}) == 16
    assert Counter(path[0] for path in deep.leaves) == {f"part{n}": 4 for n in range(1, 5)}
    with pytest.raises(ValueError, match="levels"):
        Schema("doc", (("a", "b", "c"),))


@pytest.mark.parametrize("schema", [two_level(), three_level()], ids=["two", "three"])
def test_random_joins(schema: Schema) -> None:
    joins = random_joins(schema, 5_000)
    most = 4 if schema == three_level() else 6
    sizes = Counter(len(join.pairs) for join in joins)
    total = sum(size**-0.8 for size in range(1, most + 1))
    for size in range(1, most + 1):
        assert sizes[size] / 5_000 == pytest.approx(size**-0.8 / total, abs=0.03)
    for join in joins:
        lefts, rights = zip(*join.pairs, strict=True)
        assert len(set(lefts)) == len(set(rights)) == len(join.pairs)
    drawn = Counter(chain.from_iterable(join.pairs for join in joins))
    assert len(drawn) == len(schema.leaves) ** 2
    assert joins == random_joins(schema, 5_000)
    assert max(len(join.pairs) for join in random_joins(schema, 500, most=2)) == 2


def test_queries_are_queries() -> None:
    for schema in (two_level(12), three_level()):
        text = query_text(schema, random_joins(schema, 30, window=60))
        with xscl.Engine() as engine:
            assert len(engine.load(text)) == 30


def test_pairs_of_documents() -> None:
    pairs = list(document_pairs(three_level(), 20))
    values = [
        [[leaf.text for leaf in etree.fromstring(d["xml"]).iter() if not len(leaf)] for d in pair]
        for pair in pairs
    ]
    assert values[0][0] == values[0][1]
    orders = set()
    for first, second in values:
        assert len(set(first)) == 16
        assert sorted(map(str, first)) == sorted(map(str, second))
        orders.add(tuple(first.index(value) for value in second))
    assert len(orders) == 20
    assert len({value for first, _ in values for value in first}) == 20 * 16
    times = [document["timestamp"] for document in chain.from_iterable(pairs)]
    assert times == sorted(set(times))


def test_shared_values() -> None:
    documents = list(shared_values(200))
    roots = [etree.fromstring(document["xml"]) for document in documents]
    leaves = [leaf.text for root in roots for leaf in root.iter() if not len(leaf)]
    assert len(leaves) == 200 * 16
    assert len(set(leaves)) == 100
    assert documents == list(shared_values(200))


def test_documents_of_a_vocabulary() -> None:
    words = vocabulary()
    texts = list(random_documents(words, 200))
    sizes, depths = [], []
    for text in texts:
        elements = list(etree.fromstring(text).iter())
        sizes.append(len(elements))
        depths.append(max(sum(1 for _ in element.iterancestors()) + 1 for element in elements))
        for element in elements:
            assert {child.tag for child in element} <= set(words.children[element.tag])
    assert sum(sizes) / 200 == pytest.approx(39, abs=2)
    assert set(depths) == {10}
    assert texts == list(random_documents(words, 200))


def test_patterns() -> None:
    patterns = random_patterns(vocabulary(), 2_000)
    assert len(set(patterns)) == 2_000
    steps = [pattern.replace("//", "/^").lstrip("/").split("/") for pattern in patterns]
    assert {len(one) for one in steps} == {6, 7, 8, 9, 10}
    inner = [step for one in steps for step in one[1:]]
    assert sum("*" in step for step in inner) / len(inner) == pytest.approx(0.2, abs=0.02)
    assert sum("^" in step for step in inner) / len(inner) == pytest.approx(0.2, abs=0.02)


def test_subscriptions_are_different_and_skewed() -> None:
    rows = subscriptions(5_000)
    assert len({(row["feed"], row["author"]) for row in rows}) == 5_000
    feeds = Counter(row["feed"] for row in rows)
    assert feeds.most_common(1)[0][1] > 20 * 5_000 / 2_000
    assert rows[:100] == subscriptions(5_000)[:100]
    with pytest.raises(ValueError, match="different pairs"):
        subscriptions(10, feeds=2, authors=2)


@pytest.mark.parametrize("matches", [20, 250])
def test_subscriptions_match_as_often_as_asked_for(matches: int) -> None:
    items = list(linked_items(1_000))
    links = links_between(items)
    rows = matched_subscriptions(100, matches, links, subscriptions(1_000))
    assert len({(row["feed"], row["author"]) for row in rows}) == 100
    with xscl.Engine() as engine:
        engine.subscribe_many(FOLLOWED, rows)
        assert engine.count(items).total() == pytest.approx(matches, rel=0.02)
