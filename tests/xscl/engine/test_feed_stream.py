"""The workload of section 6.6.3, fifteen thousand items of it: counts equal to the oracle's."""

from __future__ import annotations

import xscl
from tests.oracle.feed_counts import count_matches, read_queries
from xscl.samples import feed_stream, random_queries


def test_counts_of_many_items() -> None:
    documents = list(feed_stream(6_000))
    text = random_queries(1_000, window="7 days")
    with xscl.Engine() as engine:
        engine.load(text)
        counts = engine.count(documents, batch=600)
    expected = count_matches(read_queries(text), documents)
    assert {name: n for name, n in counts.items() if n} == {k: n for k, n in expected.items() if n}
    assert counts.total() > 10_000
