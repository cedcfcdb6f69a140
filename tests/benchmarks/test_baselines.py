"""The baselines and the engine find the same, over every workload, in every way to ask them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any

import pytest
from lxml import etree

import xscl
from benchmarks.baselines.compiled_xpath import CompiledXPath
from benchmarks.baselines.dictionary_join import DictionaryJoin
from benchmarks.baselines.mmqjp import MMQJP
from benchmarks.baselines.relations import Relations
from benchmarks.baselines.row_store import row_store
from benchmarks.baselines.sequential import Sequential
from benchmarks.baselines.view_cache import ViewCache
from benchmarks.baselines.views import materialise_all
from benchmarks.stage_one import PatternSet
from datasets import (
    ITEM,
    LeafJoin,
    Schema,
    document_pairs,
    feed_stream,
    query_text,
    random_documents,
    random_joins,
    random_patterns,
    shared_values,
    three_level,
    two_level,
    vocabulary,
)
from tests.oracle.feed_counts import count_matches, read_queries

Envelopes = list[dict[str, Any]]


def by_engine(schema: Schema, joins: Sequence[LeafJoin], documents: Envelopes) -> Counter[str]:
    with xscl.Engine() as engine:
        engine.load(query_text(schema, joins))
        return +engine.count(documents)


def by_relations(
    schema: Schema, joins: Sequence[LeafJoin], batches: Iterable[Envelopes], way: str
) -> Counter[str]:
    """Each document of a batch joins the earlier ones and the others of its batch."""
    relations = Relations(schema)
    sequential = Sequential(schema, joins, deduplicated=way == "deduplicated")
    mmqjp = MMQJP(relations, joins, views=way == "views")
    counts: Counter[str] = Counter()
    for batch in batches:
        relations.load(batch)
        relations.merge()
        if way == "views":
            materialise_all(relations)
        if way in ("mmqjp", "views"):
            counts += mmqjp.evaluate()
        else:
            database = row_store(relations) if way == "sqlite" else relations.database
            counts += sequential.evaluate(database)
    return counts


def batches_of(documents: Envelopes, size: int) -> list[Envelopes]:
    return [documents[start : start + size] for start in range(0, len(documents), size)]


WAYS = ("sqlite", "sequential", "deduplicated", "mmqjp", "views")


@pytest.mark.parametrize("schema", [two_level(4), three_level()], ids=["two", "three"])
def test_pairs_of_documents(schema: Schema) -> None:
    joins = [LeafJoin("one", ((0, 0),)), *random_joins(schema, 5)]
    pairs = list(document_pairs(schema, 2))
    documents = [document for pair in pairs for document in pair]
    expected = by_engine(schema, joins, documents)
    assert expected
    for way in WAYS:
        assert by_relations(schema, joins, pairs, way) == expected


@pytest.mark.parametrize("window", [None, 9])
def test_documents_that_share_values(window: int | None) -> None:
    schema = three_level()
    joins = random_joins(schema, 7, window=window)
    documents = list(shared_values(24, values=20))
    expected = by_engine(schema, joins, documents)
    assert expected.total() > 10
    for way in ("sqlite", "mmqjp", "views"):
        assert by_relations(schema, joins, batches_of(documents, 12), way) == expected


@pytest.mark.parametrize("window", [None, 7 * 86_400])
def test_feed_items(window: int | None) -> None:
    joins = [LeafJoin("channel", ((1, 1),), window), *random_joins(ITEM, 6, window=window)]
    documents = list(feed_stream(120, channels=12, days=30))
    expected = by_engine(ITEM, joins, documents)
    assert expected.total() > 100
    for way in WAYS:
        assert by_relations(ITEM, joins, batches_of(documents, 40), way) == expected
    hand_written = DictionaryJoin(ITEM, joins)
    batches = batches_of(documents, 7)
    assert sum(map(hand_written.process, batches)) == expected.total()
    text = query_text(ITEM, joins).replace("}", ", INF}") if window is None else None
    oracle = count_matches(read_queries(text or query_text(ITEM, joins)), documents)
    assert +Counter(oracle) == expected


@pytest.mark.parametrize("capacity", [1, 10_000])
def test_the_view_cache(capacity: int) -> None:
    joins = [LeafJoin("channel", ((1, 1),)), *random_joins(ITEM, 9)]
    documents = list(feed_stream(15, channels=4, days=30))
    relations = Relations(ITEM)
    cache = ViewCache(relations, capacity)
    queries = MMQJP(relations, joins, views=True)
    counts: Counter[str] = Counter()
    for document in documents:
        relations.load([document])
        counts.update(cache.process(queries))
    assert counts == by_engine(ITEM, joins, documents)
    kept = relations.database.execute("SELECT count(DISTINCT strval) FROM slices").fetchall()
    assert kept[0][0] <= capacity


def test_documents_that_no_window_reaches_may_be_dropped() -> None:
    joins = [LeafJoin("channel", ((1, 1),), 86_400), *random_joins(ITEM, 9, window=86_400)]
    documents = list(feed_stream(100, channels=4, days=10))
    relations = Relations(ITEM)
    queries = MMQJP(relations, joins, views=False)
    counts: Counter[str] = Counter()
    for batch in batches_of(documents, 10):
        relations.drop(batch[0]["timestamp"] - 86_400)
        relations.load(batch)
        relations.merge()
        counts += queries.evaluate()
    assert counts == by_engine(ITEM, joins, documents)


def test_stage_one_and_compiled_xpath_have_the_same_witnesses() -> None:
    words = vocabulary()
    patterns = random_patterns(words, 500)
    shared, compiled = PatternSet(patterns), CompiledXPath(patterns)
    found = 0
    for text in islice(random_documents(words, 20), 20):
        root = etree.fromstring(text)
        expected = compiled.witnesses(root)
        assert sorted(shared.witnesses(text)) == sorted(expected)
        found += len(expected)
    assert found > 100
