"""Random queries over random documents: the same matches and results as XQuery, by SaxonC.

`make fuzz SECONDS=600` draws for as long as asked, each round from a fresh seed.
"""

from __future__ import annotations

import os
import time

from hypothesis import HealthCheck, event, given, note, seed, settings
from hypothesis import strategies as st

import xscl
from tests.oracle.as_xscl import xscl_file
from tests.oracle.canonical import differences
from tests.oracle.drawn_documents import NAMESPACES, documents, shuffled_batches
from tests.oracle.drawn_queries import queries
from tests.oracle.saxon import matches_by_xquery
from tests.oracle.terms import Document, Query

SECONDS = float(os.environ.get("XSCL_FUZZ_SECONDS", "0"))
EXAMPLES = 500


@st.composite
def examples(draw: st.DrawFn) -> tuple[list[Query], list[Document], int | None]:
    """Queries, documents, and how to split these into batches: None for one batch."""
    kinds = draw(st.sampled_from(["xml", "xml", "xml", "mixed", "json"]))
    drawn = draw(st.lists(queries(kinds), min_size=2, max_size=4))
    return drawn, draw(documents(kinds)), draw(st.none() | st.integers(0, 100))


def compare(drawn: list[Query], published: list[Document], split: int | None) -> None:
    named = {f"q{number}": query for number, query in enumerate(drawn, start=1)}
    text = xscl_file(named, NAMESPACES)
    note(text)
    expected = matches_by_xquery(named, NAMESPACES, published)
    batches = [published] if split is None else shuffled_batches(published, split)
    got = []
    with xscl.Engine() as engine:
        engine.load(text)
        for batch in batches:
            matches = engine.publish_many(document.envelope() for document in batch)
            got += [match.to_dict() for match in matches]
    event("matches" if expected else "no matches")
    difference = differences(expected, got)
    assert not difference, difference


def check(examples_drawn: int, seeded: int | None = None) -> None:
    @settings(
        max_examples=examples_drawn,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(examples())
    def run(example: tuple[list[Query], list[Document], int | None]) -> None:
        compare(*example)

    (run if seeded is None else seed(seeded)(run))()


def test_queries_match_as_their_xquery_does() -> None:
    end = time.monotonic() + SECONDS
    check(EXAMPLES)
    while time.monotonic() < end:
        check(EXAMPLES, time.monotonic_ns())
