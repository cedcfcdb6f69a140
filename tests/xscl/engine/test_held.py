"""The documents that an engine holds, as envelopes: published again they are the same."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

import xscl
from tests.drawn import drawn
from tests.xscl.explain.drawing import documents

Body = dict[str, object]

QUERIES = "-- name: q\nS//*->x JOIN {x = y} T//*->y;\n-- name: r\nS//a JOIN {INF} S//b"
BODIES = st.one_of(
    documents.map(lambda xml: {"xml": xml}),
    documents.map(lambda xml: {"xml": xml.encode()}),
    st.fixed_dictionaries({"a": st.sampled_from(["1", 2, None]), "b": st.lists(st.just("1"))}).map(
        lambda value: {"json": value}
    ),
)
ENVELOPES = st.lists(
    st.tuples(st.sampled_from(["S", "T"]), st.integers(0, 3), BODIES), min_size=1, max_size=6
)


@drawn(6)
@given(ENVELOPES)
def test_published_again_they_match_the_same(
    some: list[tuple[str, int, Body]],
) -> None:
    published = [
        {"stream": stream, "id": f"d{n}", "timestamp": time, **body}
        for n, (stream, time, body) in enumerate(some)
    ]
    with xscl.Engine() as engine, xscl.Engine() as again:
        engine.load(QUERIES)
        again.load(QUERIES)
        matches = engine.publish_many(published)
        held = [*engine.held()][::-1]
        assert [one["id"] for one in held] == [one["id"] for one in published]
        assert set(again.publish_many(held)) == set(matches)
        for one in held:
            assert list(engine.held(str(one["id"]))) == [one]
            assert engine.holds(str(one["id"]))
        of_t = [one for one in held[::-1] if one["stream"] == "T"]
        assert list(engine.held(stream="T")) == of_t
        assert list(engine.held("none")) == []
        assert not engine.holds("none")


def test_of_two_streams_and_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "a.xml"
    file.write_text("<a>é</a>", encoding="utf-8")
    with xscl.Engine() as engine:
        engine.load("S//a JOIN {INF} T//a")
        for stream in ("S", "T"):
            engine.publish(stream, file, id="d", timestamp=1)
        file.unlink()
        found = list(engine.held("d"))
        assert [one["stream"] for one in found] == ["T", "S"]
        assert {one["timestamp"] for one in found} == {1.0}
        assert len({str(one["xml"]) for one in found}) == 1


def test_results_of_sub_queries_and_what_is_let_go() -> None:
    with xscl.Engine(lateness=10) as engine:
        engine.load("-- name: q\n(SELECT <r>{x}</r> FROM S//a->x)//a->z JOIN {z = w, 5} T//b->w")
        engine.publish("S", "<a>1</a>", id="s", timestamp=0)
        streams = [one["stream"] for one in engine.held()]
        assert "q(1)" in streams
        (result,) = engine.held(stream="q(1)")
        assert "1" in str(result["xml"])
        engine.publish("T", "<b>2</b>", id="t", timestamp=1000)
        engine.stats(exact=True)
        assert not engine.holds("s")
        assert [one["id"] for one in engine.held()] == ["t"]
