"""The matches of a step as a table: in notebooks, of Arrow and of pandas; and tables in."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from xml.sax.saxutils import escape

import hypothesis.strategies as st
import pyarrow as pa
import pytest
from hypothesis import given

import xscl
from xscl.matches.matches import Matches

ROWS: list[dict[str, object]] = [
    {"k": "x", "v": 1, "at": datetime(2026, 6, 1, tzinfo=UTC)},
    {"k": "y", "v": 2.5, "at": datetime(2026, 6, 2, tzinfo=UTC)},
    {"k": "x", "v": None, "at": datetime(2026, 6, 3, tzinfo=UTC)},
]
PAIRS = "SELECT a.k AS id, a.v AS v, b.k AS other FROM EVENT SEQ(V a, V b) WITHIN 30 h"


SCALARS = st.none() | st.booleans() | st.integers(-9, 9) | st.just(1.5) | st.sampled_from("ab")
VALUES = SCALARS | st.lists(SCALARS, max_size=3) | st.just({"k": True})
TEXTS = st.sampled_from(["", "a", "b<", "7", "true"])


def found_of(table: object) -> Matches:
    with xscl.Engine() as engine:
        engine.subscribe(PAIRS, name="pairs")
        return engine.publish_many(table, stream="V", id="v", timestamp="at")


def test_rows_are_documents_of_a_stream() -> None:
    given = [row for row in ROWS if row["v"] is not None]
    for table in (given, pa.Table.from_pylist(given)):
        (match,) = found_of(table)
        assert match.documents == ("1", "2.5") or match.documents == ("1.0", "2.5")
    pandas = pytest.importorskip("pandas")
    (match,) = found_of(pandas.DataFrame(given))
    assert match.query == "pairs"


def test_a_row_that_is_no_document_is_counted() -> None:
    skipped: list[xscl.DocumentError] = []
    with xscl.Engine(on_skip=skipped.append) as engine:
        engine.subscribe("V/json[k = 'x']", name="q")
        rows = [{"k": "x"}, {"k": float("inf")}, {"k": "x"}]
        assert len(engine.publish_many(rows, stream="V")) == 2
        assert engine.skipped.malformed == 1
        assert engine.documents == 2
        assert "document 'row 1' of stream 'V': inf is no number of JSON" in str(skipped[0])
        with pytest.raises(xscl.XSCLError, match="name columns of a `stream`"):
            engine.publish_many([], id="k")
        with pytest.raises(xscl.XSCLError, match=r"table"):
            engine.publish_many(7, stream="V")


def test_members_of_results_are_columns() -> None:
    with xscl.Engine() as engine:
        engine.subscribe(PAIRS, name="pairs")
        engine.subscribe("SELECT t, u AS v FROM X/i->i[./t->t][./u->u]", name="xml")
        engine.subscribe("V/json[k = 'y']", name="plain")
        found = engine.publish_many(ROWS, stream="V", timestamp="at")
        found += engine.publish("X", "<i><t> a</t><u>7</u></i>", timestamp=9)
    table = found.to_arrow()
    assert table.num_rows == len(found) == 4
    assert table.column_names[:5] == ["id", "query", "time", "retracts", "documents"]
    rows = {row["query"]: row for row in table.to_pylist()}
    assert {one["result.id"] for one in table.to_pylist() if one["query"] == "pairs"} == {"x", "y"}
    assert (rows["xml"]["t"], rows["xml"]["v"]) == ("a", "7")
    assert rows["plain"]["k"] == "y"
    assert rows["xml"]["other"] is None
    shown = found._repr_html_()
    assert "<caption>4 matches</caption>" in shown
    assert "<td>pairs</td>" in shown
    assert "other: y" in shown
    pandas = pytest.importorskip("pandas")
    assert isinstance(found.to_pandas(), pandas.DataFrame)


def column_of(values: list[object]) -> list[object]:
    """What a column shows of the values of a member."""
    listed = any(isinstance(one, list) for one in values)
    every = [
        one if isinstance(one, list) else [] if one is None and not listed else [one]
        for one in values
    ]
    kinds = {float if type(one) is int else type(one) for some in every for one in some}
    if len(kinds - {type(None)}) > 1:
        every = [
            [one if one is None or isinstance(one, str) else json.dumps(one) for one in some]
            for some in every
        ]
    if listed:
        return [None if one is None else some for one, some in zip(values, every, strict=True)]
    return [some[0] if some else None for some in every]


@given(st.lists(VALUES, min_size=1, max_size=4))
def test_no_value_of_json_is_lost(values: list[object]) -> None:
    with xscl.Engine() as engine:
        engine.subscribe("V/json", name="plain")
        found = engine.publish_many([{"m": one, "id": 1} for one in values], stream="V")
    table = found.to_arrow()
    assert table["m"].to_pylist() == column_of(values)
    assert table["result.id"].to_pylist() == [1] * len(values)


@given(st.lists(st.lists(TEXTS, max_size=3), min_size=1, max_size=4))
def test_no_element_is_lost(values: list[list[str]]) -> None:
    markup = ["".join(f"<m>{escape(text)}</m>" for text in some) for some in values]
    with xscl.Engine() as engine:
        engine.subscribe("S//i", name="xml")
        found = engine.run({"xml": f"<i><t/>{some}</i>"} for some in markup)
        table = Matches(found).to_arrow()
    several = any(len(some) > 1 for some in values)
    shown = [(some if several else some[0]) if some else None for some in values]
    if any(values):
        assert table["m"].to_pylist() == shown
    assert table["t"].to_pylist() == [""] * len(values)


def test_names_of_members_never_meet() -> None:
    with xscl.Engine() as engine:
        engine.subscribe("V/json", name="plain")
        found = engine.publish_many([{"time": 1, "result.time": True, "m": None}], stream="V")
    (row,) = found.to_arrow().to_pylist()
    assert (row["result.time"], row["result.result.time"]) == (1, True)
    assert "time: 1; result.time: true; m: " in found._repr_html_()


def test_names_of_the_package_are_the_public_ones() -> None:
    assert [name for name in dir(xscl) if not name.startswith("__")] == sorted(xscl.__all__)


@pytest.mark.parametrize("levels", [255, 256])
def test_results_of_any_depth_are_rows(levels: int) -> None:
    with xscl.Engine() as engine:
        engine.subscribe("S/a JOIN {} T/b")
        engine.publish("S", "<a>" * levels + "</a>" * levels, timestamp=0)
        found = engine.publish("T", "<b/>", timestamp=1)
        assert found.to_arrow().num_rows == 1
        assert found._repr_html_()
