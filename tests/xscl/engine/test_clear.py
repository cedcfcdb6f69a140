"""An engine that is cleared is as one that has just been made, with the same queries; and to look
at a document leaves nothing behind."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import xscl
from tests.drawn import times

QUERIES = """
-- name: pairs
S//a->x FOLLOWED BY {x = y, 5 s} S//b->y;
-- name: order
S//a->x FOLLOWED BY {x < y} S//b->y;
-- name: chain
S//a->x JOIN {x = y} S//b->y FOLLOWED BY {y = z, 6 s} S//c->z;
-- name: published
SELECT <p><a>{string(x)}</a></p> FROM S//b->x JOIN {x = y, 3 s} S//c->y PUBLISH P;
-- name: next
P//a->x JOIN {x = y, 8 s} S//a->y[. != 'w'];
"""

bodies = st.builds("<{0}>{1}</{0}>".format, st.sampled_from("abc"), st.sampled_from("uvw"))
events = st.lists(
    st.builds(
        lambda id, timestamp, xml: {"id": f"d{id}", "timestamp": timestamp, "xml": xml},
        st.integers(0, 12),
        st.integers(0, 20),
        bodies,
    ),
    max_size=12,
)


def matches_of(engine: xscl.Engine, some: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [match.to_dict() for match in engine.publish_many(some)]


def stored(engine: xscl.Engine) -> Mapping[str, object]:
    stats = engine.stats(exact=True)
    return {name: stats[name] for name in ("documents", "composites", "witnesses", "strings")}


@settings(max_examples=times(30))
@given(events, events, st.sampled_from([None, 0, 4]))
def test_a_cleared_engine_is_as_a_new_one(
    before: list[dict[str, Any]], after: list[dict[str, Any]], lateness: int | None
) -> None:
    with xscl.Engine(lateness=lateness) as engine, xscl.Engine(lateness=lateness) as new:
        engine.load(QUERIES)
        new.load(QUERIES)
        empty = stored(engine)
        engine.publish_many(before)
        engine.clear()
        assert engine.watermark is None
        assert stored(engine) == empty
        assert matches_of(engine, after) == matches_of(new, after)


@settings(max_examples=times(30))
@given(events, events)
def test_a_document_that_is_looked_at_is_not_ingested(
    some: list[dict[str, Any]], looked_at: list[dict[str, Any]]
) -> None:
    with xscl.Engine() as engine, xscl.Engine() as other:
        engine.load(QUERIES)
        other.load(QUERIES)
        half = len(some) // 2
        assert matches_of(engine, some[:half]) == matches_of(other, some[:half])
        for one in looked_at:
            assert engine.preview(one) == (one["timestamp"] * 1_000_000, True)
        assert stored(engine) == stored(other)
        assert matches_of(engine, some[half:]) == matches_of(other, some[half:])


def test_what_is_of_no_use_and_what_cannot_be_read() -> None:
    with xscl.Engine() as engine:
        engine.load("S//a->x[@k];")
        assert engine.preview({"xml": "<a k='1'/>"}).of_use
        assert not engine.preview({"xml": "<a/>"}).of_use
        assert not engine.preview({"stream": "R", "xml": "<a k='1'/>"}).of_use
        with pytest.raises(xscl.DocumentError):
            engine.preview({"xml": "<a k='1'>"})
        assert engine.skipped.total == 0


def test_a_state_file_is_not_cleared(tmp_path: Path) -> None:
    refused = pytest.raises(xscl.StateError, match="cannot clear")
    with xscl.Engine(tmp_path / "state.duckdb") as engine, refused:
        engine.clear()
