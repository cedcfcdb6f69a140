"""The model of the living engine, on cases made by hand."""

from __future__ import annotations

from typing import Literal

import pytest

from tests.oracle.live import LiveModel, Undecided
from tests.oracle.nested_loops import Row
from tests.oracle.patterns import Block, Document, Join, Query, Source, Variable
from tests.oracle.terms import Item, VariablePath


def block(name: str, stream: str = "S") -> Block:
    """`S//a->a`"""
    return Block(stream, [Variable(name, None, f"//{name}")], name)


def joined(
    left: Source,
    kind: Literal["FOLLOWED BY", "JOIN"],
    equality: str,
    right: Source,
    window: float | None = None,
) -> Join:
    one, sign, other = equality.split()
    return Join(left, kind, right, [(one, sign, other)], window)


def pair(name: str = "q", publish: str | None = None, window: float | None = 5) -> Query:
    source = joined(block("a"), "FOLLOWED BY", "a = b", block("b"), window)
    return Query(name, source, publish=publish)


def document(name: str, root: str, time: float, stream: str = "S") -> Document:
    return Document(stream, name, time, f"<{root}>1</{root}>")


def ids(rows: list[Row]) -> list[tuple[object, ...]]:
    return [row.documents for row in rows]


def test_a_query_sees_what_comes_after_it_and_with_history_what_is_retained() -> None:
    model = LiveModel(None)
    model.subscribe(Query("all", block("a")), history=False)
    assert ids(model.publish([document("d1", "a", 1)])) == [("d1",)]
    assert model.subscribe(pair("new"), history=False) == []
    assert ids(model.subscribe(pair("old"), history=True)) == []
    assert [row.query for row in model.publish([document("d2", "b", 2)])] == ["old"]
    assert ids(model.subscribe(pair("older"), history=True)) == [("d1", "d2")]


def test_documents_that_nobody_reads_are_not_retained() -> None:
    model = LiveModel(None)
    model.publish([document("d1", "a", 1)])
    assert model.retained == (0, 0)
    model.subscribe(pair(), history=True)
    model.publish([document("d1", "a", 1), document("d1", "a", 1)])
    assert (model.duplicates, model.retained) == (1, (1, 1))
    model.cancel("q")
    assert model.retained == (0, 0)
    model.subscribe(pair(), history=True)
    assert model.publish([document("d2", "b", 2)]) == []


def test_late_documents_are_skipped_one_by_one() -> None:
    model = LiveModel(2)
    model.subscribe(Query("all", block("a")), history=False)
    rows = model.publish([document(f"d{time}", "a", time) for time in (5, 3, 2, 9, 6)])
    assert ids(rows) == [("d5",), ("d3",), ("d9",)]
    assert (model.late, model.watermark) == (2, 7)
    model.publish([document("future", "a", 4e9)])
    assert model.watermark == 7


def test_a_document_is_retained_while_it_is_pending() -> None:
    model = LiveModel(0)
    model.subscribe(pair(window=5), history=False)
    model.publish([document("a1", "a", 0), document("b1", "b", 0), document("c1", "c", 0)])
    model.publish([document("c2", "c", 5)])
    assert model.holds("S", "a1")
    assert model.holds("S", "b1") is None
    assert model.holds("S", "c2")
    model.publish([document("c3", "c", 5.5)])
    assert model.holds("S", "a1") is False
    assert model.holds("R", "c3") is False


def test_a_member_of_a_composite_is_retained_with_it() -> None:
    first = joined(block("a"), "JOIN", "a = b", block("b"), 2)
    whole = joined(first, "FOLLOWED BY", "a = c", block("c"), 9)
    model = LiveModel(0)
    model.subscribe(Query("q", whole), history=False)
    model.publish([document("a1", "a", 0), document("b1", "b", 1)])
    model.publish([document("a2", "a", 4), document("x", "x", 10)])
    assert model.holds("S", "a1")
    assert model.holds("S", "a2") is None  # for all that can be seen from outside
    assert ids(model.publish([document("c1", "c", 10)])) == [("a1", "b1", "c1")]
    model.publish([document("y", "x", 12)])
    assert model.holds("S", "a1") is False


def test_what_is_undecided_is_not_answered() -> None:
    model = LiveModel(0)
    model.subscribe(pair(window=5), history=False)
    model.publish([document("b1", "b", 0), document("x", "x", 1)])
    with pytest.raises(Undecided):
        model.subscribe(Query("new", block("b")), history=True)
    assert model.names == ["q"]
    with pytest.raises(Undecided):
        model.publish([document("b1", "b", 1)])


def test_results_are_documents() -> None:
    model = LiveModel(None)
    model.subscribe(pair(publish="P"), history=False)
    reader = Query("reader", block("a", stream="P"), (Item(VariablePath("a")),))
    model.subscribe(reader, history=False)
    rows = model.publish([document("d1", "a", 1), document("d2", "b", 2)])
    assert [row.query for row in rows] == ["q", "reader"]
    assert rows[1].documents == (rows[0],)
    assert rows[1].bindings == (("a", (1, None)),)
    assert model.retained == (3, 3)
    model.cancel("q")
    assert model.retained == (1, 1)
    # The same match again: its result is a retained document already.
    model.subscribe(pair(publish="P"), history=False)
    rows = model.publish([document("d1", "a", 1), document("d2", "b", 2)])
    assert [row.query for row in rows] == ["q"]
    assert model.duplicates == 1


def test_results_of_sub_queries_are_not_reported() -> None:
    model = LiveModel(None)
    inner = Query("inner", block("a"), publish="P")
    outer = joined(block("r", stream="S"), "JOIN", "r = a", Block(inner, block("a").variables, "a"))
    model.subscribe(Query("q", outer), history=False)
    model.subscribe(Query("reader", block("a", stream="P")), history=False)
    rows = model.publish([document("d1", "a", 1), document("d2", "r", 2)])
    assert sorted(row.query for row in rows) == ["q", "reader"]
