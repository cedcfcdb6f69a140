"""Matches as a table."""

from __future__ import annotations

import json
from unittest import mock

import pytest

from xscl import Engine
from xscl.durable.changes import Undelivered
from xscl.durable.outbox import match_of
from xscl.matches.arrow import to_arrow
from xscl.matches.nodes import BoundNode

QUERIES = """
-- name: copy
S//book->b[./author->a];
-- name: picked
SELECT a, b/title AS t FROM S//book->b[./author->a];
-- name: joined
S//book[./author->a] FOLLOWED BY {a = c} S//book[./author->c];
"""

DOCUMENTS = [
    {"id": "d1", "timestamp": 1, "xml": "<book><author>Ä&lt;</author><title>t</title></book>"},
    {"id": "d2", "timestamp": 2.5, "json": {"book": {"author": "Ä<", "title": ["t", "\u20ac"]}}},
    {"id": "d3", "timestamp": 3, "json": {"book": "<no>"}},
    {"id": "d4", "timestamp": 4, "json": {"book": [{"author": ["Ä<", "x"]}, None]}},
]


def test_a_table_of_matches_has_the_members_of_their_json_form() -> None:
    with Engine() as engine:
        engine.load(QUERIES + "S//book")
        engine.subscribe("PATTERN SEQ(S a, S+ b[]) WHERE skip_till_next_match { }", name="pattern")
        matches = engine.publish_many(DOCUMENTS) + engine.flush()
    assert len({match.query for match in matches}) == 5
    table = to_arrow(iter(matches))
    assert {field.name: str(field.type) for field in table.schema} == {
        "id": "string",
        "query": "string",
        "stream": "string",
        "time": "double",
        "documents": "list<item: string>",
        "streams": "list<item: string>",
        "nodes": "list<item: int64>",
        "variables": "list<item: string>",
        "start": "double",
        "bindings": "map<string, int64>",
        "values": "map<string, string>",
        "result": "string",
        "retracts": "bool",
    }
    found = table.to_pylist(maps_as_pydicts="strict")
    for row in found:
        assert row.pop("retracts") is False
        # An XML result is its text; that of a JSON one is its JSON.
        if not row["result"].startswith("<"):
            row["result"] = json.loads(row["result"])
        if row["query"] != "pattern":
            # A line has them only of patterns.
            assert (row.pop("variables"), row.pop("start")) == (None, None)
    assert found == [match.to_dict() for match in matches]
    assert "<no>" in [row["result"] for row in found]
    assert "<book><author>Ä&lt;</author><title>t</title></book>" in [row["result"] for row in found]


def test_a_table_of_no_matches() -> None:
    table = to_arrow([])
    assert (table.num_rows, table.schema) == (0, to_arrow(iter(())).schema)
    assert table.schema.names[-2:] == ["result", "retracts"]


def test_a_table_of_many_matches() -> None:
    with Engine() as engine:
        engine.subscribe("S")
        documents = [{"id": f"d{number}", "xml": "<a/>"} for number in range(2_500)]
        table = to_arrow(engine.run(documents, batch=400))
    assert table["documents"].to_pylist() == [[f"d{number}"] for number in range(2_500)]


def test_half_of_a_surrogate_pair_is_escaped() -> None:
    with Engine() as engine:
        engine.subscribe("S")
        (fine,) = engine.publish("S", {"a": "ä"})
    # A state file may have one that was found before such keys were refused.
    body = json.dumps({**fine.to_dict(), "json": True, "result": {"\ud800": "ä"}})
    match = match_of(Undelivered(1, "callback", fine.query, fine.id, body))
    assert to_arrow([match])["result"].to_pylist() == ['{"\\ud800": "\\u00e4"}']


def test_a_result_that_cannot_be_built_does_not_cost_the_others(
    caplog: pytest.LogCaptureFixture,
) -> None:
    documents = [{"id": "bad", "json": {"b": 1}}, {"id": "good", "json": {"a": 1}}]
    markup = BoundNode.markup

    def planted(node: BoundNode, *, in_default: bool = False) -> str:
        # No such match is known: one is planted.
        if node.document.id == "bad":
            raise ValueError("planted")
        return markup(node, in_default=in_default)

    with Engine() as engine, mock.patch.object(BoundNode, "markup", planted):
        engine.subscribe("SELECT <r>{x}</r> FROM S/json->x")
        table = to_arrow(engine.publish_many(documents))
    assert table["documents"].to_pylist() == [["bad"], ["good"]]
    assert table["result"].to_pylist() == [None, "<r><json><a>1</a></json></r>"]
    (record,) = caplog.records
    assert "cannot be built" in record.getMessage()


def test_a_match_of_one_block_has_no_variables() -> None:
    """Of a document with an interval, too, which has a start."""
    with Engine() as engine:
        engine.subscribe("S//a")
        found = engine.publish_many([{"id": "d", "start": 1, "timestamp": 2, "xml": "<a/>"}])
    assert to_arrow(found)["variables"].to_pylist() == [None]
    assert to_arrow(found)["start"].to_pylist() == [1]
