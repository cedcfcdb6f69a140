"""Random queries over random documents: the same matches and results as XQuery, by SaxonC.

Some examples are given with parameters in place of constants.  The ids of published documents,
which XQuery does not know, are compared as `*`.

`make fuzz` draws more of them.
"""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from typing import Any

from hypothesis import HealthCheck, Phase, event, given, note, reject
from hypothesis import strategies as st

import xscl
from tests.drawn import drawn
from tests.oracle.as_xscl import xscl_file, xscl_with_parameters
from tests.oracle.canonical import anonymous, differences
from tests.oracle.drawn_documents import NAMESPACES, documents
from tests.oracle.drawn_queries import query_sets
from tests.oracle.saxon import matches_by_xquery
from tests.oracle.stages import ExcessiveResults
from tests.oracle.terms import Document, Query, blocks_of
from tests.xscl.engine.three_ways import in_three_ways
from tests.xscl.engine.ways import USUAL, WAYS, Way

Envelope = dict[str, object]


@dataclass(frozen=True)
class Example:
    """Queries and documents; these may be split into batches, and the queries may have
    parameters.  The engine goes one of its ways."""

    queries: list[Query]
    documents: list[Document]
    split: int | None
    parameters: bool
    way: Way


@st.composite
def examples(draw: st.DrawFn) -> Example:
    kinds = draw(st.sampled_from(["xml", "xml", "xml", "mixed", "json"]))
    drawn = draw(query_sets(kinds))
    split = draw(st.none() | st.integers(0, 100))
    parameters = draw(st.integers(0, 4)) == 0
    way = draw(st.just(USUAL) | st.sampled_from(WAYS))
    return Example(drawn, draw(documents(kinds)), split, parameters, way)


def shuffled_batches(events: list[Envelope], seed: int) -> list[list[Envelope]]:
    """In another order, split anywhere."""
    dice = random.Random(seed)
    left, batches = dice.sample(events, len(events)), []
    while left:
        size = dice.randint(1, len(left))
        batches.append(left[:size])
        left = left[size:]
    return batches


def subscribe(engine: xscl.Engine, queries: dict[str, Query], *, parameters: bool) -> None:
    if not parameters:
        engine.load(xscl_file(queries, NAMESPACES))
        return
    for name, query in queries.items():
        text, values = xscl_with_parameters(query, NAMESPACES)
        note(f"{name}: {text}\n{values}")
        engine.subscribe(text, name=name, params=values)


def reported(queries: dict[str, Query], expected: list[dict[str, Any]]) -> None:
    """Counts what kinds of queries were drawn, and how many of them have matches."""
    matched = {match["query"] for match in expected}
    event("an example with matches" if matched else "an example without")
    published = {query.publish for query in queries.values()}
    for name, query in queries.items():
        blocks = blocks_of(query.source)
        kind = f"{len(blocks)} blocks"
        if any(not isinstance(block.stream, str) for block in blocks):
            kind = "a sub-query"
        elif any(block.stream in published for block in blocks):
            kind = "a published stream"
        event(f"{kind}: {'matches' if name in matched else 'none'}")
        event(f"SELECT {type(query.select).__name__}" if query.select else "no SELECT")


def compare(example: Example) -> None:
    queries = {f"q{number}": query for number, query in enumerate(example.queries, start=1)}
    try:
        expected = matches_by_xquery(queries, NAMESPACES, example.documents)
    except ExcessiveResults:
        reject()
    events = [document.envelope() for document in example.documents]
    text = xscl_file(queries, NAMESPACES)
    case = {"case": "fuzz", "queries": text, "events": events, "expected": expected}
    note(f"{text}\nAs a golden case:\n{json.dumps(case, ensure_ascii=False)}")
    batches = [events] if example.split is None else shuffled_batches(events, example.split)
    with example.way.taken() as options:

        def engine() -> xscl.Engine:
            made = xscl.Engine(**options)
            subscribe(made, queries, parameters=example.parameters)
            return made

        found = [match.to_dict() for match in in_three_ways(engine, batches)]
    reported(queries, expected)
    ids = {document.id for document in example.documents}
    difference = differences(expected, anonymous(found, ids))
    assert not difference, difference


limits = drawn(
    45,
    phases=set(Phase) - {Phase.explain},
    suppress_health_check=list(HealthCheck),
)


@limits
@given(examples())
def test_queries_match_as_their_xquery_does(example: Example) -> None:
    compare(example)
