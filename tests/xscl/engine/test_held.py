"""The documents that an engine holds, as envelopes: published again they are the same."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

import xscl
from tests.drawn import drawn
from tests.xscl.explain.drawing import documents

Body = dict[str, object]

QUERIES = (
    "-- name: q\nS//*->x JOIN {x = y} T//*->y;\n-- name: r\nS//a JOIN {INF} S//b;\n-- name: s\nS"
)
BODIES = st.one_of(
    documents.map(lambda xml: {"xml": xml}),
    documents.map(lambda xml: {"xml": xml.encode()}),
    st.fixed_dictionaries({"a": st.sampled_from(["1", 2, None]), "b": st.lists(st.just("1"))}).map(
        lambda value: {"json": value}
    ),
)
LENGTHS = st.sampled_from([2, 0])
ENVELOPES = st.lists(
    st.tuples(st.sampled_from(["S", "T"]), st.integers(0, 3), LENGTHS, BODIES),
    min_size=1,
    max_size=6,
)


@drawn(6)
@given(ENVELOPES)
def test_published_again_they_match_the_same(
    some: list[tuple[str, int, int, Body]],
) -> None:
    published = [
        {"stream": stream, "id": f"d{n}", "timestamp": time, "start": time - length, **body}
        for n, (stream, time, length, body) in enumerate(some)
    ]
    with xscl.Engine() as engine, xscl.Engine() as again:
        engine.load(QUERIES)
        again.load(QUERIES)
        matches = engine.publish_many(published)
        retained = [*engine.held()][::-1]
        assert [one["id"] for one in retained] == [one["id"] for one in published]
        found = again.publish_many(retained)
        assert set(found) == set(matches)
        assert {(one.id, one.start) for one in found} == {(one.id, one.start) for one in matches}
        for one in retained:
            assert list(engine.held(str(one["id"]))) == [one]
            assert engine.holds(str(one["id"]))
        of_t = [one for one in retained[::-1] if one["stream"] == "T"]
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


def test_results_of_sub_queries_and_what_is_dropped() -> None:
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


LIVES = st.lists(
    st.one_of(
        st.tuples(st.just("publish"), st.sampled_from("STU"), st.integers(0, 12)),
        st.tuples(st.just("cancel"), st.sampled_from("jpec"), st.just(0)),
        st.tuples(st.just("advance"), st.just(""), st.integers(0, 12)),
    ),
    max_size=12,
)
OTHERS = {
    "j": "S/json->x JOIN {x/k = y/k, 2 s} T/json->y",
    "p": "EVENT SEQ(S a, !T b, S c) WHERE [k] WITHIN 3 s",
    "e": "DECLARE STREAM U(k); SELECT k FROM U NEXT{$1.k = $2.k} U",
    "c": "(S/json->x FOLLOWED BY {x/k = y/k, 2 s} T/json->y) FOLLOWED BY {INF} S/json->z",
}


@drawn(10)
@given(LIVES, st.sampled_from([0.0, 2.0]))
def test_what_is_retained_is_what_history_sees(
    life: list[tuple[str, str, int]], lateness: float
) -> None:
    with xscl.Engine(lateness=lateness) as engine:
        for name, text in OTHERS.items():
            engine.subscribe(text, name)
        # Of many, what is out of reach is looked for only now and then.
        published = 60
        engine.publish_many(
            {"stream": "STU"[n % 3], "id": f"d{n}", "timestamp": n / 20, "json": {"k": n % 2}}
            for n in range(1, published + 1)
        )
        for what, where, time in life:
            if what == "publish":
                published += 1
                body = {"k": published % 2}
                one = {"stream": where, "id": f"d{published}", "timestamp": time, "json": body}
                engine.publish_many([one])
            elif what == "advance":
                engine.advance(time)
            elif any(one.name == where for one in engine.subscriptions):
                engine.cancel(where)
        ids = [f"d{number}" for number in range(1, published + 1)]
        retained = {id for id in ids if engine.holds(id)}
        assert {one["id"] for one in engine.held()} == retained
        for stream in "STU":
            engine.subscribe(f"{stream}/json", f"all {stream}", history=True)
        seen = {one.documents[0] for s in engine.subscriptions[-3:] for one in s.found}
        assert seen == retained
