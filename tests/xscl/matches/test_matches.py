"""The matches of a step as a table: in notebooks, of Arrow and of pandas; and tables in."""

from __future__ import annotations

from datetime import UTC, datetime

import pyarrow as pa
import pytest

import xscl
from xscl.matches.matches import Matches

ROWS = [
    {"k": "x", "v": 1, "at": datetime(2026, 6, 1, tzinfo=UTC)},
    {"k": "y", "v": 2.5, "at": datetime(2026, 6, 2, tzinfo=UTC)},
    {"k": "x", "v": None, "at": datetime(2026, 6, 3, tzinfo=UTC)},
]
PAIRS = "SELECT a.k AS id, a.v AS v, b.k AS other FROM EVENT SEQ(V a, V b) WITHIN 30 h"


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


def test_names_of_the_package_are_the_public_ones() -> None:
    assert [name for name in dir(xscl) if not name.startswith("__")] == sorted(xscl.__all__)
