"""Random queries over random documents: the same matches and results as XQuery, by SaxonC.

`make fuzz SECONDS=600` draws for as long as asked, each round from a fresh seed.
"""

from __future__ import annotations

import json
import os
import random
import time

import pytest
from hypothesis import HealthCheck, Phase, event, given, note, seed, settings
from hypothesis import strategies as st

import xscl
from tests.oracle.as_xscl import xscl_file
from tests.oracle.canonical import differences
from tests.oracle.drawn_documents import NAMESPACES, documents
from tests.oracle.drawn_queries import queries
from tests.oracle.saxon import matches_by_xquery
from tests.oracle.terms import Document, Query

Envelope = dict[str, object]
SECONDS = float(os.environ.get("XSCL_FUZZ_SECONDS", "0"))
EXAMPLES = 500


@st.composite
def examples(draw: st.DrawFn) -> tuple[list[Query], list[Document], int | None]:
    """Queries, documents, and how to split these into batches: None for one batch."""
    kinds = draw(st.sampled_from(["xml", "xml", "xml", "mixed", "json"]))
    drawn = draw(st.lists(queries(kinds), min_size=2, max_size=4))
    return drawn, draw(documents(kinds)), draw(st.none() | st.integers(0, 100))


def shuffled_batches(events: list[Envelope], seed: int) -> list[list[Envelope]]:
    """In another order, split anywhere."""
    dice = random.Random(seed)
    left, batches = dice.sample(events, len(events)), []
    while left:
        size = dice.randint(1, len(left))
        batches.append(left[:size])
        left = left[size:]
    return batches


def compare(drawn: list[Query], published: list[Document], split: int | None) -> None:
    named = {f"q{number}": query for number, query in enumerate(drawn, start=1)}
    text = xscl_file(named, NAMESPACES)
    expected = matches_by_xquery(named, NAMESPACES, published)
    events = [document.envelope() for document in published]
    case = {"case": "fuzz", "queries": text, "events": events, "expected": expected}
    note(f"{text}\nAs a golden case:\n{json.dumps(case, ensure_ascii=False)}")
    batches = [events] if split is None else shuffled_batches(events, split)
    got = []
    with xscl.Engine() as engine:
        engine.load(text)
        for batch in batches:
            got += [match.to_dict() for match in engine.publish_many(batch)]
    event("matches" if expected else "no matches")
    for query in drawn:
        event("one block" if query.operator is None else query.operator.kind)
        event(f"SELECT {type(query.select).__name__}" if query.select else "no SELECT")
    difference = differences(expected, got)
    assert not difference, difference


limits = settings(
    max_examples=EXAMPLES,
    deadline=None,
    phases=set(Phase) - {Phase.explain},
    suppress_health_check=list(HealthCheck),
)


@limits
@given(examples())
def test_queries_match_as_their_xquery_does(
    example: tuple[list[Query], list[Document], int | None],
) -> None:
    compare(*example)


@pytest.mark.skipif(not SECONDS, reason="only for as long as `make fuzz` asks")
def test_more_queries_match_as_their_xquery_does() -> None:
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        drawn = settings(limits, max_examples=100)(
            given(examples())(lambda example: compare(*example))
        )
        seed(time.monotonic_ns())(drawn)()
