"""PUBLISH and sub-queries: results as documents of streams that other queries read."""

from __future__ import annotations

import pytest

import xscl

PAIRS = (
    "-- name: pairs\n"
    'SELECT <pair k="{x}">{x}{y}</pair> FROM a//k->x FOLLOWED BY {x = y} b//k->y PUBLISH pairs;\n'
)


def publish(engine: xscl.Engine, *documents: tuple[str, float]) -> list[xscl.Match]:
    envelopes = [
        {"stream": xml[1], "id": f"{xml[1]}{number}", "timestamp": time, "xml": xml}
        for number, (xml, time) in enumerate(documents)
    ]
    return engine.publish_many(envelopes)


def test_a_result_is_read_within_the_call_that_caused_it() -> None:
    with xscl.Engine() as engine:
        engine.load(PAIRS + "-- name: keys\npairs//@k->k")
        assert publish(engine, ("<a><k>1</k></a>", 1)) == []
        pairs, keys = publish(engine, ("<b><k>1</k></b>", 2))
    assert (pairs.query, pairs.stream) == ("pairs", "pairs")
    assert (keys.query, keys.stream, keys.streams) == ("keys", None, ("pairs",))
    assert keys.documents == (pairs.id,)
    assert keys.time == pairs.time == 2.0
    assert keys.result == "<k>1</k>"


def test_streams_upon_streams() -> None:
    text = (
        PAIRS
        + "-- name: more\nSELECT <more>{p}</more> FROM pairs/pair->p JOIN {p/@k = z} c//k->z "
        + "PUBLISH more;\n-- name: most\nmore//pair->m JOIN {m/@k = u} a//k->u"
    )
    with xscl.Engine() as engine:
        engine.load(text)
        found = publish(engine, *((f"<{n}><k>1</k></{n}>", t) for t, n in enumerate("cab")))
    assert [match.query for match in found] == ["pairs", "more", "most"]
    assert found[2].result == ('<result><pair k="1"><k>1</k><k>1</k></pair><k>1</k></result>')


def test_a_published_document_joins_one_that_came_before() -> None:
    with xscl.Engine() as engine:
        engine.load(PAIRS + "-- name: late\npairs/pair->p FOLLOWED BY {p/@k = z, 5} c//k->z")
        publish(engine, ("<a><k>1</k></a>", 1), ("<c><k>1</k></c>", 6))
        found = publish(engine, ("<b><k>1</k></b>", 3))
        assert [match.query for match in found] == ["pairs", "late"]


def test_several_queries_publish_to_one_stream() -> None:
    with xscl.Engine() as engine:
        engine.load(
            "-- name: one\nSELECT <n>1</n> FROM a PUBLISH news;\n"
            "-- name: two\nSELECT <n>2</n> FROM a PUBLISH news;\n"
            "-- name: reader\nnews//n->n"
        )
        found = publish(engine, ("<a/>", 1))
        assert sorted(match.result for match in found if match.query == "reader") == [
            "<n>1</n>",
            "<n>2</n>",
        ]


def test_json_is_published_as_json() -> None:
    with xscl.Engine() as engine:
        engine.load(
            '-- name: news\nSELECT {"title": t, "n": 7} FROM a//k->t PUBLISH news;\n'
            "-- name: reader\nSELECT title AS t FROM news/json/title->title"
        )
        _, reader = publish(engine, ("<a><k>1</k></a>", 1))
        assert reader.result == {"t": "1"}


def test_counts_reach_through_published_streams() -> None:
    with xscl.Engine() as engine:
        engine.load(PAIRS + "-- name: keys\npairs//@k->k")
        envelopes = [
            {"stream": n, "timestamp": t, "xml": "<x><k>1</k></x>"}
            for t, n in [(1, "a"), (2, "b"), (3, "b")]
        ]
        assert engine.count(envelopes) == {"pairs": 2, "keys": 2}


@pytest.mark.parametrize(
    ("text", "way"),
    [
        ("S//a PUBLISH S", "S → S (by query `q1`)"),
        ("A//a PUBLISH B; B//a PUBLISH A", "A → B (by query `q1`) → A (by query `q2`)"),
        (
            "S//a->x JOIN {x = y} C//a->y PUBLISH A; A//a PUBLISH B; B//a PUBLISH C",
            "C → A (by query `q1`) → B (by query `q2`) → C (by query `q3`)",
        ),
        ("(S//a PUBLISH T)//a PUBLISH S", "S → S (by query `q1`)"),
        ("(S//a PUBLISH S)//a", "S → S (by query `q1`)"),
    ],
)
def test_a_cycle_is_refused(text: str, way: str) -> None:
    with xscl.Engine() as engine:
        good, (error,) = engine.load_good(text)
        assert way in error.problem
        assert error.column == text.rindex("PUBLISH ") + 9
        assert error.query not in {subscription.name for subscription in good}
        # What was refused has changed nothing.
        assert engine.publish("Q", "<a/>") == []


def test_a_cancelled_query_closes_no_cycle() -> None:
    with xscl.Engine() as engine:
        first = engine.subscribe("A//a PUBLISH B")
        with pytest.raises(xscl.QueryError):
            engine.subscribe("B//a PUBLISH A")
        first.cancel()
        engine.subscribe("B//a PUBLISH A")


def test_a_result_that_is_no_document_is_reported() -> None:
    skipped: list[xscl.DocumentError] = []
    deep = "<a>" * 250 + "</a>" * 250
    with xscl.Engine(on_skip=skipped.append) as engine:
        nested = "<n>" * 10 + "{x}" + "</n>" * 10
        engine.load(
            f"-- name: deep\nSELECT {nested} FROM S/a->x PUBLISH deep;\n-- name: reader\ndeep"
        )
        (match,) = engine.publish("S", deep, id="d")
        assert match.query == "deep"
        assert engine.skipped.malformed == 1
    (error,) = skipped
    assert error.stream == "deep"
    assert error.document == match.id
    assert "deeper than 256" in str(error)


# Sub-queries.


def test_a_sub_query_is_a_stream_of_its_own() -> None:
    query = (
        "SELECT t, y FROM (SELECT <p><t>{x}</t></p> FROM a//k->x FOLLOWED BY {x = y} b//k->y)"
        "/p/t->t FOLLOWED BY {t = y} c//k->y"
    )
    with xscl.Engine() as engine:
        engine.subscribe(query, name="outer")
        found = publish(engine, *((f"<{n}><k>1</k></{n}>", t) for t, n in enumerate("abc")))
    (match,) = found
    assert match.query == "outer"
    assert match.documents[1] == "c2"
    assert match.streams == ("outer(1)", "c")
    assert match.result == "<result><t><k>1</k></t><k>1</k></result>"


def test_a_sub_query_may_publish_too() -> None:
    with xscl.Engine() as engine:
        engine.load(
            "-- name: outer\n(SELECT <p>{x}</p> FROM a//k->x PUBLISH ps)/p->p;\n"
            "-- name: reader\nps/p->p"
        )
        found = publish(engine, ("<a><k>1</k></a>", 1))
        assert sorted(match.query for match in found) == ["outer", "reader"]
        assert len({match.documents for match in found}) == 1


def test_a_sub_query_without_a_path_is_read_whole() -> None:
    with xscl.Engine() as engine:
        engine.subscribe("(SELECT <p>{x}</p> FROM a//k->x) JOIN {} b")
        (match,) = publish(engine, ("<a><k>1</k></a>", 1), ("<b/>", 2))
        assert match.result == "<result><p><k>1</k></p><b/></result>"


def test_nobody_can_publish_to_a_sub_querys_stream() -> None:
    with xscl.Engine() as engine:
        engine.subscribe("(SELECT <p>{x}</p> FROM a//k->x)/p", name="outer")
        assert engine.publish("outer(1)", "<p/>") == []
        with pytest.raises(xscl.DocumentError, match="expected the name of a stream"):
            engine.publish("\0outer(1)", "<p/>")


# Iterators.


def test_a_stream_of_matches() -> None:
    engine = xscl.Engine()
    engine.load(PAIRS)
    pairs = engine.stream("pairs")
    publish(engine, *((f"<{n}><k>1</k></{n}>", t) for t, n in enumerate("abb")))
    engine.close()
    assert [match.documents for match in pairs] == [("a0", "b1"), ("a0", "b2")]


def test_a_stream_that_nobody_publishes() -> None:
    with xscl.Engine() as engine:
        engine.load(PAIRS)
        with pytest.raises(xscl.StateError, match="published are: pairs"):
            engine.stream("pears")


def test_counting_gives_matches_to_the_readers_of_streams() -> None:
    seen: list[xscl.Match] = []
    fed = [
        {"stream": name, "id": f"{name}{n}", "timestamp": n, "xml": f"<{name}><k>1</k></{name}>"}
        for n, name in enumerate("abab")
    ]
    counts = []
    for reading in (False, True):
        with xscl.Engine() as engine:
            engine.load(PAIRS + "-- name: keys\npairs//@k->k PUBLISH keys", on_match=seen.append)
            pairs = engine.stream("pairs") if reading else None
            counts.append(engine.count(fed, batch=3))
            if pairs is not None:
                pairs.close()
                assert [match.documents for match in pairs] == [
                    ("a0", "b1"),
                    ("a0", "b3"),
                    ("a2", "b3"),
                ]
    assert counts == [{"pairs": 3, "keys": 3}] * 2
    assert seen == []


ODD = [10**30, -0.0, 1e300, True, None, "ü\U0001f600", "", [[1], "x"], {"b": {"c": [2, None]}}]

READERS = {
    "columns": "SELECT a, b FROM U",
    "all": "SELECT * FROM U NEXT{} U",
    "pattern": 'SELECT {"a": u.a, "b": u.b} FROM EVENT SEQ(U u, T t) WHERE u.n = 7 WITHIN 9',
    "join": "U//a->a",
}


@pytest.mark.parametrize("odd", ODD, ids=repr)
def test_what_a_pattern_publishes_is_read_as_its_text_is(odd: object) -> None:
    publishes = (
        'SELECT {"a": x.a, "b": [x.a, x.a], "n": y.n} FROM EVENT SEQ(S x, T y) WITHIN 2 PUBLISH U'
    )
    results = list[object]()

    def read(*, publishing: bool) -> list[object]:
        with xscl.Engine(lateness=0) as engine:
            if publishing:
                engine.subscribe(publishes, name="publishes")
            for name, text in READERS.items():
                engine.subscribe(text, name=name)
            found = list[xscl.Match]()
            for place, time in enumerate((1, 3)):
                engine.publish("S", {"a": odd}, timestamp=time)
                found += engine.publish("T", {"n": 7}, timestamp=time + 1)
                if not publishing:
                    document = {"stream": "U", "id": f"u{time}", "json": results[place]}
                    times = {"start": time, "timestamp": time + 1}
                    found += engine.publish_many([{**document, **times}])
            found += engine.publish("T", {}, timestamp=9)
            found += engine.flush()
            results.extend(one.result for one in found if one.query == "publishes")
            seen = [one for one in found if one.query in READERS]
            return sorted((one.query, one.time, repr(one.result)) for one in seen)

    published = read(publishing=True)
    assert {query for query, *_ in published} == READERS.keys()  # type: ignore[misc]
    assert read(publishing=False) == published
