"""Texts of event queries become plans whose schemas are those of the brute force, which reads and
resolves them by itself."""

from __future__ import annotations

import pytest
from hypothesis import given

from tests.conformance.runner import Case, read_cases
from tests.oracle.event_algebra.drawn_queries import texts
from tests.oracle.event_algebra.expressions import Scope, meaning
from tests.oracle.event_algebra.model import Model
from tests.oracle.event_algebra.reading import read
from tests.oracle.event_algebra.schemas import Refused
from tests.oracle.event_algebra.syntax import Block, Constructor, Declared
from tests.oracle.event_algebra.writing import written
from tests.shared import SHARED, needs
from tests.xscl.event_queries.reading import compiled

CASES = SHARED / "conformance" / "pattern-cel.jsonl"


def schemas_agree(text: str, theirs: Declared) -> None:
    """Each query has the schema that the oracle finds, or both refuse it."""
    good, errors = compiled(text)
    ours = {one.query.name: one for one in good}
    model = Model()
    for query in theirs.queries:
        if isinstance(query.expression, Block) and isinstance(query.items, Constructor):
            continue  # It has no word of events.
        try:
            scope = Scope(lambda stream: model.names(stream, theirs.streams), lambda *_: None)
            expected = meaning(query, scope).schema
            model.subscribe(Declared(theirs.streams, (query,)))
        except Refused:
            expected = None
        assert (query.name in ours) == (expected is not None), [str(one) for one in errors]
        events = ours[query.name].events if expected is not None else None
        if expected is None or events is None or isinstance(query.items, Constructor):
            continue
        schema = events.step.schema
        assert (schema.listed, schema.open) == (events.root.names, events.root.open)
        assert {*schema.listed} == {*expected.listed}
        assert schema.open == expected.open
        assert {*expected.known} <= {*schema.names} or not schema.open


@needs("conformance", "pattern-cel.jsonl")
@pytest.mark.parametrize(
    "case",
    [pytest.param(case, id=case["case"]) for case in (read_cases(CASES) if CASES.exists() else ())],
)
def test_the_schemas_of_the_cases(case: Case) -> None:
    schemas_agree(case["queries"], read(case["queries"]))


@given(texts())
def test_the_schemas_of_drawn_queries(text: Declared) -> None:
    schemas_agree(written(text), text)
