"""What users of the engine see: queries come and go, documents are ingested, skipped, evicted."""

from __future__ import annotations

import json
import logging
import random
import threading
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

import xscl
from datasets.feed_stream import feed_stream, random_queries
from tests.oracle.feed_counts import count_matches, read_queries

PAIR = "S/a[k->x] FOLLOWED BY {x = y} S/b[k->y]"


@pytest.fixture
def engine() -> Iterator[xscl.Engine]:
    with xscl.Engine() as opened:
        yield opened


def leaf(name: str, key: object) -> str:
    return f"<{name}><k>{key}</k></{name}>"


def envelope(id: str, time: float, xml: str, stream: str = "S") -> dict[str, Any]:
    return {"stream": stream, "id": id, "timestamp": time, "xml": xml}


def documents(matches: list[xscl.Match]) -> list[tuple[str, ...]]:
    return [match.documents for match in matches]


# Matches.


def test_two_variables_of_one_definition_bind_two_nodes(engine: xscl.Engine) -> None:
    engine.subscribe(
        "SELECT x, y FROM S/book[author->x][author->y] "
        "FOLLOWED BY {x = p AND y = q} S/blog[first->p][second->q]"
    )
    engine.publish("S", "<book><author>A</author><author>B</author></book>", id="book", timestamp=1)
    (match,) = engine.publish(
        "S", "<blog><first>B</first><second>A</second></blog>", id="blog", timestamp=2
    )
    assert match.bindings == {"x": 2, "y": 1}


def test_an_edge_of_the_minor_is_more_than_its_end_paths(engine: xscl.Engine) -> None:
    """Law 1."""
    engine.subscribe(
        "S//a->x1[.//c->x2[.//d->x3]][./e->x4] FOLLOWED BY {x3 = y3 AND x4 = y4} S/b[d->y3][e->y4]"
    )
    crossed = "<a><c><a><d>1</d><e>2</e></a></c></a>"
    straight = "<a><c><a><d>1</d></a></c><e>2</e></a>"
    assert engine.publish("S", crossed, id="crossed", timestamp=1) == []
    assert engine.publish("S", straight, id="straight", timestamp=2) == []
    found = engine.publish("S", "<b><d>1</d><e>2</e></b>", id="b", timestamp=3)
    assert documents(found) == [("straight", "b")]


def test_the_members_of_a_match(engine: xscl.Engine) -> None:
    engine.subscribe(
        "-- name: pair\nSELECT x AS k FROM S/a[k->x] JOIN {x = y, 1 h} R/b/k->y", name=None
    )
    engine.publish("S", leaf("a", 7), id="d1", timestamp="1970-01-01T00:00:02Z")
    (match,) = engine.publish("R", leaf("b", 7), id="d2", timestamp=1.5)
    assert match.to_dict() == {
        "id": match.id,
        "query": "pair",
        "stream": None,
        "time": 2.0,
        "documents": ["d1", "d2"],
        "streams": ["S", "R"],
        "nodes": [0, 1],
        "bindings": {"x": 1},
        "values": {"x": "7"},
        "result": "<result><k>7</k></result>",
    }
    assert json.loads(json.dumps(match.to_dict())) == match.to_dict()


def test_a_matchs_id_is_the_same_in_every_engine() -> None:
    def ids(query: str, *order: int) -> set[str]:
        envelopes = [envelope("d1", 1, leaf("a", 1)), envelope("d2", 2, leaf("b", 1))]
        with xscl.Engine() as engine:
            engine.subscribe(query, name="pair")
            return {m.id for n in order for m in engine.publish_many([envelopes[n]])}

    assert ids(PAIR, 0, 1) == ids(PAIR, 1, 0)
    both = "SELECT z FROM S/a->z[k->x] FOLLOWED BY {x = y} S/b[k->y]"
    assert ids(PAIR, 0, 1).isdisjoint(ids(both, 0, 1))


def test_two_attributes_of_one_element_are_two_matches(engine: xscl.Engine) -> None:
    engine.subscribe("SELECT x FROM S//@*->x")
    found = engine.publish("S", '<a k="1" m="2"/>')
    assert [match.bindings for match in found] == [{"x": 0}, {"x": 0}]
    assert len({match.id for match in found}) == 2
    assert {match.result for match in found} == {
        "<result><k>1</k></result>",
        "<result><m>2</m></result>",
    }


def test_a_result_can_be_read_after_the_engine_is_closed() -> None:
    with xscl.Engine(lateness=0) as engine:
        engine.subscribe("S/a[k->x] FOLLOWED BY {x = y, 1 s} S/b[k->y]")
        engine.publish("S", leaf("a", 1), timestamp=1)
        (match,) = engine.publish("S", leaf("b", 1), timestamp=2)
        engine.publish("S", leaf("a", 1), timestamp=100)
    assert match.result == "<result><a><k>1</k></a><b><k>1</k></b></result>"


def test_matches_come_in_order_of_their_last_documents_then_of_the_queries(
    engine: xscl.Engine,
) -> None:
    engine.load("S/a; S/*; S/b")
    found = engine.publish_many([envelope("1", 5, "<b/>"), envelope("2", 4, "<a/>")])
    assert [(match.documents, match.query) for match in found] == [
        (("1",), "q2"),
        (("1",), "q3"),
        (("2",), "q1"),
        (("2",), "q2"),
    ]


@pytest.mark.parametrize(
    "body",
    [
        {"xml": "<a>"},
        {"xml": b"\xff"},
        {"json": b"{"},
        {"json": {1}},
        {"json": b"[" * 300 + b"]" * 300},
    ],
)
def test_what_is_refused_is_not_parsed(body: dict[str, object]) -> None:
    """A late document or a duplicate is not parsed: what cannot be read does not show."""
    first: dict[str, object] = {"id": "held", "timestamp": 100, "xml": "<a/>"}
    refused: list[dict[str, object]] = [
        body | {"id": "held", "timestamp": 100},
        body | {"id": "late", "timestamp": 80},
    ]
    for batches in ([[first, *refused]], [[first], *([one] for one in refused)]):
        with xscl.Engine(lateness=10, on_skip=print) as engine:
            engine.subscribe("S/a->x JOIN {x = y, 5 s} S/a->y")
            for some in batches:
                engine.publish_many(some)
            skipped = engine.skipped
            assert (skipped.malformed, skipped.duplicate, skipped.late) == (0, 1, 1)
            engine.publish_many([body | {"id": "new", "timestamp": 100}])
            assert engine.skipped.malformed == 1


# Queries come and go.


def test_a_query_sees_the_documents_published_after_it(engine: xscl.Engine) -> None:
    engine.subscribe(PAIR, name="early")
    engine.publish("S", leaf("a", 1), id="a1", timestamp=1)
    engine.subscribe(PAIR, name="late")
    engine.publish("S", leaf("a", 1), id="a2", timestamp=2)
    found = engine.publish("S", leaf("b", 1), id="b", timestamp=3)
    assert {(match.query, match.documents) for match in found} == {
        ("early", ("a1", "b")),
        ("early", ("a2", "b")),
        ("late", ("a2", "b")),
    }


def test_a_query_of_a_new_shape_does_not_see_documents_from_before_it(engine: xscl.Engine) -> None:
    engine.subscribe("S//c")
    engine.publish("S", leaf("a", 1), timestamp=1)
    engine.subscribe(PAIR)
    assert engine.publish("S", leaf("b", 1), timestamp=2) == []


def test_a_cancelled_query_has_no_more_matches(engine: xscl.Engine) -> None:
    first = engine.subscribe(PAIR, name="first")
    engine.subscribe(PAIR, name="second")
    engine.publish("S", leaf("a", 1), timestamp=1)
    first.cancel()
    first.cancel()
    found = engine.publish("S", leaf("b", 1), timestamp=2)
    assert [match.query for match in found] == ["second"]
    engine.cancel("second")
    assert engine.publish("S", leaf("b", 1), timestamp=3) == []
    assert engine.subscriptions == []
    with pytest.raises(xscl.StateError, match="no query is named 'second'"):
        engine.cancel("second")


def test_a_query_may_come_again_under_its_name(engine: xscl.Engine) -> None:
    """It is a new query: it does not see what the old one saw."""
    engine.subscribe(PAIR, name="pair").cancel()
    engine.publish("S", leaf("a", 1), id="a1", timestamp=1)
    again = engine.subscribe(PAIR, name="pair")
    engine.publish("S", leaf("a", 1), id="a2", timestamp=2)
    found = engine.publish("S", leaf("b", 1), id="b", timestamp=3)
    assert documents(found) == [("a2", "b")]
    assert engine.subscriptions == [again]


def test_queries_come_and_go_while_documents_flow() -> None:
    """At random; each query's matches are those of the documents of its time."""
    dice = random.Random(5)
    with xscl.Engine() as engine:
        alive: dict[str, tuple[Any, int]] = {}
        seen: list[tuple[str, str]] = []
        for number in range(150):
            if dice.random() < 0.3:
                sub = engine.subscribe(PAIR if dice.random() < 0.7 else "S/b[k->y]")
                alive[sub.name] = (sub, number)
            if alive and dice.random() < 0.25:
                alive.pop(dice.choice(sorted(alive)))[0].cancel()
            name, key = dice.choice("ab"), str(dice.randrange(3))
            found = engine.publish("S", leaf(name, key), id=f"d{number}", timestamp=number)
            expected = []
            for query, (sub, since) in alive.items():
                if name == "b" and len(sub.dissection.streams) == 1:
                    expected.append((query, (f"d{number}",)))
                elif name == "b":
                    expected += [
                        (query, (f"d{n}", f"d{number}"))
                        for n in range(since, number)
                        if seen[n] == ("a", key)
                    ]
            seen.append((name, key))
            assert Counter((m.query, m.documents) for m in found) == Counter(expected)


def test_unnamed_queries_are_numbered_by_subscription(engine: xscl.Engine) -> None:
    first = engine.load("S//a; -- name: own\nS//b; S//c")
    then = engine.subscribe("S//d")
    engine.subscribe("S//e", name="given")
    last = engine.load("S//f")
    assert [sub.name for sub in [*first, then, *last]] == ["q1", "own", "q3", "q4", "q6"]


def test_a_name_that_is_taken_is_refused_with_both_places(engine: xscl.Engine) -> None:
    engine.load("S//a;\n\n-- name: promo\nS//b")
    with pytest.raises(xscl.QueryError) as raised:
        engine.subscribe("\n-- name: promo\nS//c")
    assert (raised.value.query, raised.value.line) == ("promo", 2)
    assert "line 3" in raised.value.problem
    with pytest.raises(ExceptionGroup) as group:
        engine.load("-- name: x\nS//a; S//b;\n-- name: x\nS//c")
    (error,) = group.value.exceptions
    assert isinstance(error, xscl.QueryError)
    assert (error.query, error.line) == ("x", 3)
    assert "line 1" in str(error)
    engine.cancel("promo")
    assert engine.subscribe("-- name: promo\nS//c").name == "promo"


def test_a_bad_query_changes_nothing_and_the_good_ones_are_subscribed(engine: xscl.Engine) -> None:
    with pytest.raises(ExceptionGroup) as group:
        engine.load("S//a; S//b[; -- name: bad\nS//c JOIN {x = y} S//d; S//e")
    assert {error.query for error in group.value.exceptions} == {"q2", "bad"}  # type: ignore[union-attr]
    assert [sub.name for sub in engine.subscriptions] == ["q1", "q4"]
    assert [match.query for match in engine.publish("S", "<e/>")] == ["q4"]


@pytest.mark.parametrize("text", ["", "S//a; S//b", "DECLARE NAMESPACE p = 'u'"])
def test_subscribe_takes_one_query(engine: xscl.Engine, text: str) -> None:
    with pytest.raises(xscl.QueryError, match="expected one query"):
        engine.subscribe(text)
    assert engine.subscriptions == []


# Documents are ingested.


def test_what_is_left_out_of_an_envelope(engine: xscl.Engine) -> None:
    """The stream is S, the id is fresh, the time that of arrival, which always grows."""
    engine.subscribe("S/* -> x[k->p] FOLLOWED BY {p = q} S/*[k->q]")
    assert engine.publish_many([{"xml": leaf("a", 1)}]) == []
    (first,) = engine.publish_many([{"xml": leaf("a", 1)}])
    assert len(engine.publish("S", leaf("a", 1))) == 2
    assert first.streams == ("S", "S")
    assert len(set(first.documents)) == 2


def test_publish_raises_and_publish_many_continues(caplog: pytest.LogCaptureFixture) -> None:
    reported: list[xscl.DocumentError] = []
    bad: list[dict[str, Any]] = [
        envelope("bad", 1, "<a>", "R"),
        {"id": "none", "stream": "S"},
        envelope("soon", 1, "<a/>") | {"timestamp": "soon"},
    ]
    with xscl.Engine(on_skip=reported.append) as engine:
        engine.subscribe("S/a")
        with pytest.raises(
            xscl.DocumentError, match="document 'bad' of stream 'R': line 1"
        ) as raised:
            engine.publish("R", "<a>", id="bad")
        assert (raised.value.stream, raised.value.document) == ("R", "bad")
        found = engine.publish_many([envelope("1", 1, "<a/>"), *bad, envelope("2", 2, "<a/>")])
        assert documents(found) == [("1",), ("2",)]
        assert [(error.stream, error.document) for error in reported] == [
            ("R", "bad"),
            ("S", "none"),
            ("S", "soon"),
        ]
        assert (engine.skipped.malformed, engine.skipped.total, engine.documents) == (4, 4, 2)
        # What could not be read has left no id behind.
        assert documents(engine.publish_many([envelope("soon", 3, "<a/>")])) == [("soon",)]
    with xscl.Engine() as engine, caplog.at_level(logging.WARNING, logger="xscl"):
        engine.publish_many(bad[:1])
    assert "document 'bad' of stream 'R': line 1" in caplog.text


def test_duplicates_and_late_documents_are_counted_and_skipped() -> None:
    with xscl.Engine(lateness="10 s") as engine:
        engine.subscribe("S/a")
        fed = [("1", 100), ("1", 101), ("2", 90), ("3", 89), ("4", 120), ("5", 109)]
        found = engine.publish_many([envelope(id, time, "<a/>") for id, time in fed])
        assert documents(found) == [("1",), ("2",), ("4",)]
        assert engine.publish("S", "<a/>", id="6", timestamp=0) == []
        assert (engine.skipped.duplicate, engine.skipped.late) == (1, 3)
        assert engine.documents == 3


@pytest.mark.parametrize("lateness", ["soon", "7 months", -1, float("nan")])
def test_a_lateness_that_is_none_is_refused(lateness: Any) -> None:
    with pytest.raises(xscl.XSCLError, match="lateness"):
        xscl.Engine(lateness=lateness)


def state_of(engine: xscl.Engine) -> int:
    """The rows of all relations, and the retained documents."""
    engine.stats(exact=True)  # which writes all that is pending for it
    connection = engine._relations.connect()
    names = connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()
    rows = [connection.execute(f'SELECT count(*) FROM "{name}"').fetchall() for (name,) in names]
    return sum(count for ((count,),) in rows) + len(engine._intake.retained) + len(engine._strings)


def test_with_windows_that_end_the_state_stays_bounded() -> None:
    """A long stream, slightly out of order: the matches stay right, the state does not grow."""
    dice = random.Random(9)
    window, lateness, number = 20, 5, 400
    with xscl.Engine(lateness=lateness) as engine:
        engine.load(
            "S/a[k->x] FOLLOWED BY {x = y, 20 s} S/b[k->y];"
            "S/a[k->x] JOIN {x = y, 10 s} R/a[k->y]; S/b[k = '1']"
        )
        times: list[tuple[float, str, str, int]] = []
        found: Counter[tuple[str, ...]] = Counter()
        sizes = []
        for n in range(number):
            time = n + dice.random() * (lateness - 1)
            name, stream, key = dice.choice("ab"), dice.choice("SSR"), n // 8
            times.append((time, name, stream, key))
            matches = engine.publish(stream, leaf(name, key), id=f"{n}", timestamp=time)
            found.update(match.documents for match in matches if match.query != "q3")
            if n % 10 == 9:
                sizes.append(state_of(engine))
        assert engine.skipped.total == 0
    assert max(sizes[10:]) < 2 * max(sizes[:10])
    expected: Counter[tuple[str, ...]] = Counter()
    for n, (time, name, stream, key) in enumerate(times):
        for m in range(max(0, n - 40), min(number, n + 40)):
            other, other_name, other_stream, other_key = times[m]
            if m == n or key != other_key or (name, stream) != ("a", "S"):
                continue
            if (other_name, other_stream) == ("b", "S") and 0 < other - time <= window:
                expected[str(n), str(m)] += 1
            if (other_name, other_stream) == ("a", "R") and abs(other - time) <= 10:
                expected[str(n), str(m)] += 1
    assert expected.total() > 200
    assert found == expected


def test_a_dropped_documents_id_may_come_again() -> None:
    with xscl.Engine(lateness=0) as engine:
        engine.subscribe("S/a[k->x] FOLLOWED BY {x = y, 10 s} S/b[k->y]")
        engine.publish("S", leaf("a", 1), id="d", timestamp=0)
        engine.publish("S", leaf("a", 1), id="d", timestamp=10)
        assert engine.skipped.duplicate == 1
        engine.publish("S", leaf("b", 2), id="e", timestamp=11)
        engine.publish("S", leaf("a", 1), id="d", timestamp=12)
        assert engine.skipped.duplicate == 1
        found = engine.publish("S", leaf("b", 1), id="f", timestamp=13)
        assert documents(found) == [("d", "f")]


@pytest.mark.parametrize("size", [1, 2, 3])
def test_what_is_retained_does_not_depend_on_the_batches(size: int) -> None:
    """`d` is out of reach as soon as `e` has come, so that it may come again."""
    fed = [envelope(id, time, "<a/>") for id, time in [("d", 0), ("e", 100), ("d", 100)]]
    with xscl.Engine(lateness=0) as engine:
        engine.subscribe("S/a")
        found = engine.run(fed, batch=size)
        assert documents(list(found)) == [("d",), ("e",), ("d",)]


def test_what_a_cancelled_query_retained_is_dropped(engine: xscl.Engine) -> None:
    first = engine.subscribe("S/a")
    assert len(engine.publish("S", "<a/>", id="d", timestamp=1)) == 1
    first.cancel()
    engine.subscribe("S/a")
    assert len(engine.publish("S", "<a/>", id="d", timestamp=1)) == 1


def test_strings_that_left_may_come_again() -> None:
    """The same key, long after all documents that had it are gone."""
    with xscl.Engine(lateness=0) as engine:
        engine.subscribe("S/a[k->x] FOLLOWED BY {x = y AND x <= y, 1 s} S/b[k->y]")
        for start in range(0, 1000, 100):
            engine.publish("S", leaf("a", "key"), timestamp=start)
            found = engine.publish("S", leaf("b", "key"), timestamp=start + 1)
            assert len(found) == 1


# Callbacks.


def test_callbacks_get_the_matches_that_publish_returns(engine: xscl.Engine) -> None:
    reported: list[xscl.Match] = []
    engine.subscribe("S/a", on_match=reported.append)
    engine.load("S/*", on_match=reported.append)
    found = engine.publish("S", "<a/>") + engine.publish_many([{"xml": "<b/>"}])
    found += list(engine.run([{"xml": "<a/>"}]))
    assert reported == found
    assert len(found) == 5


def test_a_callback_that_raises_is_reported_and_stops_nothing(
    engine: xscl.Engine, caplog: pytest.LogCaptureFixture
) -> None:
    reported: list[xscl.Match] = []

    def fail(match: xscl.Match) -> None:
        raise RuntimeError("no, thanks")

    engine.subscribe("S/a", name="failing", on_match=fail)
    engine.subscribe("S/a", name="working", on_match=reported.append)
    with caplog.at_level(logging.ERROR, logger="xscl"):
        assert len(engine.publish("S", "<a/>")) == 2
    assert [match.query for match in reported] == ["working"]
    assert "'failing'" in caplog.text
    assert "no, thanks" in caplog.text


def test_a_callback_may_use_the_engine(engine: xscl.Engine) -> None:
    """Publish, subscribe, cancel: all on the publishing thread."""
    found: list[tuple[str, ...]] = []

    def again(match: xscl.Match) -> None:
        found.append(match.documents)
        if match.documents == ("1",):
            engine.publish("S", "<a/>", id="2")
            engine.subscribe("S/b", on_match=again)
            sub.cancel()

    sub = engine.subscribe("S/a", on_match=again)
    engine.publish("S", "<a/>", id="1")
    engine.publish_many([{"id": "3", "xml": "<a/>"}, {"id": "4", "xml": "<b/>"}])
    assert found == [("1",), ("2",), ("4",)]


def test_a_source_that_fails_loses_no_document(engine: xscl.Engine) -> None:
    """What came before the failure can be published again, or was ingested."""

    def source() -> Iterator[dict[str, Any]]:
        yield envelope("a", 1, leaf("a", 1))
        raise OSError("the line is dead")

    engine.subscribe(PAIR)
    with pytest.raises(OSError, match="the line is dead"):
        engine.publish_many(source())
    engine.publish("S", leaf("a", 1), id="a", timestamp=1)
    found = engine.publish("S", leaf("b", 1), id="b", timestamp=2)
    assert documents(found) == [("a", "b")]


def test_an_on_skip_that_raises_loses_no_document() -> None:
    def fail(error: xscl.DocumentError) -> None:
        raise RuntimeError("enough")

    batch = [envelope("a", 1, leaf("a", 1)), envelope("bad", 1, "<a>"), envelope("c", 1, "<c/>")]
    with xscl.Engine(on_skip=fail) as engine:
        engine.subscribe(PAIR)
        try:
            engine.publish_many(batch)
        except RuntimeError:
            engine.publish("S", leaf("a", 1), id="a", timestamp=1)
        found = engine.publish("S", leaf("b", 1), id="b", timestamp=2)
        assert documents(found) == [("a", "b")]


# Runs.


def test_run_is_lazy(engine: xscl.Engine) -> None:
    taken: list[int] = []

    def source() -> Iterator[dict[str, Any]]:
        for number in range(10):
            taken.append(number)
            yield {"xml": "<a/>"}

    engine.subscribe("S/a")
    matches = engine.run(source(), batch=2)
    assert taken == []
    next(matches)
    assert taken == [0, 1]
    next(matches)
    assert taken == [0, 1]
    next(matches)
    assert taken == [0, 1, 2, 3]
    assert len(list(matches)) == 7


@pytest.mark.parametrize("batch", [0, -1])
def test_a_batch_holds_something(engine: xscl.Engine, batch: int) -> None:
    with pytest.raises(xscl.XSCLError, match="at least one document"):
        list(engine.run([{"xml": "<a/>"}], batch=batch))


def test_count_is_how_many_run_finds() -> None:
    text, envelopes = random_queries(100, window="30 days"), list(feed_stream(1500, channels=20))
    with xscl.Engine() as engine, xscl.Engine() as other:
        engine.load(text)
        other.load(text)
        counted = engine.count(envelopes, batch=300)
        ran = Counter(match.query for match in other.run(envelopes, batch=700))
    assert len(counted) == 100
    assert +counted == ran
    assert ran.total() > 1000


def test_the_counts_of_a_feed_stream() -> None:
    """5,000 items and 300 queries, in order and in none, against counting by dictionaries."""
    text, envelopes = random_queries(300), list(feed_stream(5_000, channels=120, days=30))
    expected = count_matches(read_queries(text), envelopes)
    assert sum(expected.values()) > 1000
    for shuffled in (False, True):
        if shuffled:
            random.Random(1).shuffle(envelopes)
        with xscl.Engine() as engine:
            engine.load(text)
            assert dict(engine.count(envelopes)) == expected
            assert engine.documents == 5_000


# Threads and the end.


def test_several_threads_find_each_match_once() -> None:
    number = 60
    with xscl.Engine() as engine:
        engine.subscribe("S/a[k->x] JOIN {x = y} S/b[k->y]")
        found: list[xscl.Match] = []
        failed: list[BaseException] = []

        def publish(name: str) -> None:
            try:
                for n in range(number):
                    found.extend(engine.publish("S", leaf(name, n), id=f"{name}{n}", timestamp=n))
            except BaseException as error:  # whatever it is, the test must report it
                failed.append(error)

        threads = [threading.Thread(target=publish, args=(name,)) for name in "ab"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failed == []
        assert sorted(documents(found)) == sorted((f"a{n}", f"b{n}") for n in range(number))


def test_equal_matches_are_one_in_a_set(engine: xscl.Engine) -> None:
    engine.load("SELECT k FROM S/a[k->k]; S/a")
    found = engine.publish("S", leaf("a", 1))
    with xscl.Engine() as other:
        other.load("SELECT k FROM S/a[k->k]; S/a")
        (again, *_) = other.publish("S", leaf("a", 1), id=found[0].documents[0], timestamp=1)
    assert {*found, *found} == {*found}
    assert len({*found}) == 2
    assert hash(again) == hash(found[0])


def test_two_engines_are_two() -> None:
    with xscl.Engine() as one, xscl.Engine() as other:
        one.subscribe("S/a")
        assert other.publish("S", "<a/>", id="d") == []
        assert len(one.publish("S", "<a/>", id="d")) == 1


def test_an_engine_without_queries_takes_documents_in(engine: xscl.Engine) -> None:
    assert engine.publish("S", "<a/>") == []
    assert (engine.documents, engine.skipped.total, engine.reads("S")) == (1, 0, False)


def test_a_stream_that_no_query_reads_matches_nothing(engine: xscl.Engine) -> None:
    engine.subscribe("S/a")
    assert engine.publish("T", "<a/>", id="d") == []
    assert engine.reads("S")
    assert not engine.reads("T")


def test_matches_of_attributes_do_not_depend_on_other_engines() -> None:
    """Which number the name of an attribute has in one is nothing to another."""
    document = '<a j="1" k="2" l="3"/>'

    def found(*before: str) -> list[tuple[str, str]]:
        for text in before:
            with xscl.Engine() as other:
                other.subscribe("S//@k PUBLISH P", name="q")
                other.publish("S", text, id="d", timestamp=0)
        with xscl.Engine() as engine:
            engine.subscribe("S//@* PUBLISH P", name="q")
            engine.subscribe("P/*", name="r")
            matches = engine.publish("S", document, id="d", timestamp=0)
            assert engine.skipped.duplicate == 0
        return [(one.query, one.id) for one in matches]

    alone = found()
    assert len(set(alone)) == 6
    assert found('<a k="1"/>') == found('<a z="1" k="1"/>', '<b l="7"/>') == alone


def test_a_query_named_as_a_sub_query_of_another_is_refused() -> None:
    """Or each would read the results of the other's."""
    queries = [("p", "((S/a)/*)/*"), ("p(1)", "(S/b)/*")]
    for (name, text), (other, other_text) in (queries, queries[::-1]):
        with xscl.Engine() as engine:
            engine.subscribe(text, name=name)
            with pytest.raises(xscl.QueryError, match="a sub-query of another query is 'p"):
                engine.subscribe(other_text, name=other)
            engine.subscribe(other_text, name="another")
            found = {one.query for one in engine.publish("S", "<b/>")}
            assert found == {"another" if name == "p" else "p(1)"}


def test_counts_are_of_queries_alone() -> None:
    """Where the results of a sub-query are taken back, too."""
    with xscl.Engine(revisable={"S"}, consistency="middle") as engine:
        engine.subscribe("(SELECT <r>{x}</r> FROM S/a->x)/r", name="q")
        document = {"id": "d", "timestamp": 1, "xml": "<a/>"}
        assert engine.count([document, {"retract": "d", "stream": "S"}]) == {"q": 0}
