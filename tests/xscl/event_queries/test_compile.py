"""Texts of event queries become plans whose schemas are those of the brute force, which reads and
resolves them by itself."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conformance.runner import Case, read_cases
from tests.oracle.event_algebra.drawn_queries import texts, variants
from tests.oracle.event_algebra.expressions import Scope, meaning
from tests.oracle.event_algebra.model import Model
from tests.oracle.event_algebra.reading import read
from tests.oracle.event_algebra.schemas import Refused
from tests.oracle.event_algebra.syntax import Block, Constructor, Declared
from tests.oracle.event_algebra.writing import written
from tests.shared import SHARED, needs
from tests.xscl.event_queries.reading import compiled
from xscl.consistency import Level
from xscl.event_queries.compile import Open, compile_events
from xscl.language import parse
from xscl.language.alike import AlikeStatements, Instance
from xscl.language.parameters import Prepared
from xscl.language.read import read_from
from xscl.language.same_query import bare
from xscl.language.syntax import Events
from xscl.pattern_stage.algebra.nodes import Select
from xscl.pattern_stage.values.terms import Comparison

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


@given(st.data())
def test_queries_that_are_the_same_up_to_constants_have_one_plan(data: st.DataObject) -> None:
    text = data.draw(texts(most=1))
    similar = data.draw(variants(text.queries[0]))
    good, errors = compiled(written(Declared(text.streams, similar)))
    assert not errors
    found = [one.events for one in good if one.events is not None]
    assert len({one.root for one in found}) <= 1
    assert len({bare(one.blocks) for one in found}) <= 1
    for one in found:
        differing = [a != b for a, b in zip(one.constants, found[0].constants, strict=True)]
        assert sum(differing) <= 1


@pytest.mark.parametrize(
    ("text", "monotone", "document", "weak"),
    [
        ("FILTER{P > 1}(S) CONSISTENCY weak", True, True, True),
        ("SELECT * FROM FILTER{P > 1}(S UNION (SELECT *, 1 AS c FROM T))", True, True, False),
        ("SELECT P FROM FILTER{P > 1}(S)", True, False, False),
        ("SELECT * FROM S NEXT T CONSISTENCY strong", False, False, False),
        ("SELECT P FROM S UNION (S FOLD{$2.P > $.P} T)", False, False, False),
        ("SELECT COUNT(*) AS n FROM S", False, False, False),
        ("SELECT <a>{P}</a> FROM FILTER{P > 1}(S)", True, False, False),
    ],
)
def test_what_results_depend_on(text: str, monotone: bool, document: bool, weak: bool) -> None:
    (one,), errors = compiled(text)
    assert not errors
    assert one.events is not None
    found = one.events.monotone, one.events.document, one.events.level == Level("weak")
    assert found == (monotone, document, weak)


def test_parameters_are_constants_that_are_made_of_their_values() -> None:
    text = "SELECT P, :share AS s FROM S NEXT{$2.P > :least AND DUR <= :age h AND $2.N = :name} S"
    (query,), _ = parse(text)
    prepared = Prepared(query)
    row: dict[str, object] = {"share": 0.5, "least": 3, "age": 1.5, "name": "x"}
    bound, _ = prepared.bind(row)
    opened = compile_events(prepared.opened(row, prepared.parameters), lambda stream: None)
    closed = compile_events(bound, lambda stream: None)
    assert opened.root == closed.root
    made = [one.make(row[one.name]) if isinstance(one, Open) else one for one in opened.constants]
    assert made == [*closed.constants] == [3.0, 5_400_000_000, "x", 0.5]


@given(st.data())
def test_a_query_whose_literals_are_left_open_has_the_same_plan(data: st.DataObject) -> None:
    text = data.draw(texts(most=1))
    # The second of two that are the same up to literals has parameters for them.
    query = text.queries[-1]
    both = (query, replace(query, name="other"))
    queries, errors, _ = read_from(written(Declared(text.streams, both)), 1, AlikeStatements())
    assert not errors
    other = queries[-1]
    if isinstance(other, Instance) and isinstance(other.query.source, Events):
        values = other.values
        left_open = compile_events(other.prepared.opened(values, values), lambda stream: None)
        closed = compile_events(other.query, lambda stream: None)
        assert left_open.root == closed.root
        made = [
            one.make(values[one.name]) if isinstance(one, Open) else one
            for one in left_open.constants
        ]
        assert made == [*closed.constants]


@pytest.mark.parametrize(
    ("condition", "mode"),
    [
        ("a = b", "text"),
        ("a != 'x'", "text"),
        ("a < b", "either"),
        ("a >= 'x'", "either"),
        ("lower-case(a) = b", "text"),
        ("string(a) < b", "either"),
        ("a = 7", "number"),
        ("80% > a", "number"),
        ("a <> -7", "number"),
        ("a + 0 = b", "number"),
        ("a < b / 2", "number"),
        ("-a = b", "number"),
        ("number(a) = b", "number"),
        ("string-length(a) <= b", "number"),
        ("abs(a) != b", "number"),
        ("min(a, b) = c", "number"),
        ("a >= max(b, c)", "number"),
        ("DUR <= 3", "number"),
    ],
)
def test_how_a_comparison_compares_is_decided_by_its_form(condition: str, mode: str) -> None:
    (one,), errors = compiled(f"FILTER{{{condition}}}(S)")
    assert not errors
    assert one.events is not None
    root = one.events.root
    assert isinstance(root, Select)
    (compare,) = root.condition
    assert isinstance(compare, Comparison)
    assert compare.mode == mode
