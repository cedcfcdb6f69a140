"""Event queries in an engine: what they read, publish and report, alongside joins and patterns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import xscl
from xscl.errors import QueryError

RISE = "SELECT n_1 AS a, n AS b FROM S NEXT{$2.n > $1.n} S"


def event(n: Any, at: float, stream: str = "S", **more: Any) -> dict[str, Any]:
    json = {"n": n, **more}
    return {"stream": stream, "id": f"{stream}{at}:{n}", "timestamp": at, "json": json}


def results(matches: Any) -> list[Any]:
    return [match.result for match in matches]


@pytest.fixture
def engine() -> Iterator[xscl.Engine]:
    with xscl.Engine() as one:
        yield one


def test_a_match_has_an_interval_a_result_and_no_document(engine: xscl.Engine) -> None:
    engine.subscribe(RISE, name="rise")
    (match,) = [*engine.publish_many([event(1, 1), event(2.0, 3)]), *engine.flush()]
    assert (match.start, match.time, match.result) == (1, 3, {"a": 1, "b": 2})
    assert (match.documents, match.streams, match.nodes, match.bindings) == ((), (), (), {})
    assert match.json
    assert match.markup == "<result><a>1</a><b>2</b></result>"
    assert '{"a": 1, "b": 2}' in repr(match)
    assert "documents" not in match._repr_html_()
    (again,) = xscl_matches(RISE, [event(1, 1), event(2.0, 3)])
    assert again.id == match.id


@pytest.mark.parametrize(
    "query",
    ["S NEXT S", "SELECT n, m FROM S", "SELECT *, 1 AS c FROM S", "SELECT m FROM S GROUP BY m"],
)
def test_equal_events_have_one_id_whichever_came_first(query: str) -> None:
    some = [{"n": 1, "m": {"u": 1, "v": 2}}, {"m": {"v": 2.0, "u": 1}, "n": 1.0}]
    some += [{"n": 10**16, "m": [2]}, {"m": [[2], 3], "n": 1e16}, {"n": 1e16, "m": 2.0}]
    events = [{"stream": "S", "timestamp": int(i > 0), "json": one} for i, one in enumerate(some)]
    ids = []
    for given in (events, events[::-1]):
        found = xscl_matches(query, [{**one, "id": str(i)} for i, one in enumerate(given)])
        ids.append(sorted(match.id for match in found))
    assert ids[0] == ids[1]
    assert len(ids[0]) > 1


def xscl_matches(text: str, events: list[Any]) -> list[Any]:
    with xscl.Engine() as engine:
        engine.subscribe(text, name="rise")
        return [*engine.publish_many(events), *engine.flush()]


def test_what_still_is_a_document_says_which(engine: xscl.Engine) -> None:
    engine.subscribe("FILTER{n > 1}(S) UNION T", name="q")
    engine.subscribe("SELECT n FROM S", name="computed")
    found = engine.publish_many([event(2, 1), event(0, 1, "T")])
    by_query = Counter(
        (match.query, match.documents, match.streams, match.nodes) for match in found
    )
    assert by_query == Counter(
        {
            ("q", ("S1:2",), ("S",), (0,)): 1,
            ("q", ("T1:0",), ("T",), (0,)): 1,
            ("computed", (), (), ()): 1,
        }
    )


@pytest.mark.parametrize(
    "union",
    [
        "(SELECT n, m FROM S) UNION (SELECT m, n FROM S)",
        "(SELECT n, m FROM S) UNION (SELECT m, n FROM FILTER{m = 2}(S))",
        "(SELECT *, 2 AS m FROM S) UNION (SELECT m, n FROM S)",
        "(SELECT *, m AS n, n AS m FROM T) UNION (SELECT n, m FROM S)",
    ],
)
def test_equal_events_are_one_whatever_order_their_attributes_have(
    engine: xscl.Engine, union: str
) -> None:
    engine.subscribe(f"SELECT n, m FROM ({union}) PUBLISH R", name="union")
    engine.subscribe(union, name="bare")
    engine.subscribe(f"SELECT COUNT(*) AS n FROM ({union})", name="count")
    found = engine.publish_many([event(1, 1, m=2), event(2, 1, "T", m=1)])
    found = [*found, *engine.flush()]
    reported = {(one.query, str(sorted(one.result.items()))) for one in found}
    both = "[('m', 2), ('n', 1)]"
    assert reported == {("union", both), ("bare", both), ("count", "[('n', 1)]")}
    assert len(found) == 3


@pytest.mark.parametrize(
    "document",
    [
        {"json": {"n": 7, "list": [1, 2], "none": None, "deep": {"x": "y"}, "empty": []}},
        {"json": {"n": 7, "list": 1, "none": None, "deep": {"x": "y"}}},
    ],
)
def test_attributes_are_first_children_with_their_json_values(
    engine: xscl.Engine, document: Any
) -> None:
    engine.subscribe("SELECT * FROM FILTER{n = 7}(S) UNION FILTER{n = 7}(S)")
    engine.subscribe("SELECT n, list, none, deep, empty FROM S")
    found = engine.publish_many([{"stream": "S", "id": "d", "timestamp": 0, **document}])
    assert results(found) == [{"n": 7, "list": 1, "none": None, "deep": {"x": "y"}}] * 2


def test_attributes_of_xml_are_strings_of_variables_children_and_attributes(
    engine: xscl.Engine,
) -> None:
    engine.subscribe("SELECT n, k, who FROM FILTER{n = 7}(S)", name="whole")
    engine.subscribe(
        "SELECT who, title, k FROM FILTER{who != 'bob'}(S//item[./by->who])", name="part"
    )
    xml = (
        '<s k="1"><n>7</n><n>8</n>'
        '<item k="2"><by>ann</by><title>T</title></item><item><by>bob</by></item></s>'
    )
    found = engine.publish("S", xml, id="d", timestamp=0)
    assert {match.query: match.result for match in found} == {
        "whole": {"n": "7", "k": "1"},
        "part": {"who": "ann", "title": "T", "k": "2"},
    }


def test_what_is_published_is_read_as_events_and_as_documents(engine: xscl.Engine) -> None:
    engine.load(
        f"""
        -- name: rise
        {RISE} PUBLISH R;
        -- name: event
        SELECT b FROM FILTER{{a < 2}}(R);
        -- name: document
        FILTER{{a < 2}}(R);
        -- name: join
        R/*[./b->x] JOIN {{x = y}} T/*[./n->y]
        """
    )
    found = [
        *engine.publish_many([event(1, 1), event(2, 2), event(2, 2, "T")]),
        *engine.flush(),
    ]
    by_name = {match.query: match for match in found}
    assert by_name["event"].result == {"b": 2}
    assert by_name["document"].documents == (by_name["rise"].id,)
    assert by_name["join"].documents == (by_name["rise"].id, "T2:2")
    assert (by_name["document"].start, by_name["document"].time) == (1, 2)


def test_no_document_is_made_where_event_queries_alone_read(engine: xscl.Engine) -> None:
    engine.load(f"{RISE} PUBLISH R; SELECT b FROM R NEXT R")
    engine.publish_many([event(n, n) for n in range(9)])
    found = engine.flush()
    assert len(found) == 8 + 6
    assert [*engine.held(stream="R")] == []
    assert engine.stats()["bytes"] == 0


@pytest.mark.parametrize("select", ['<hit by="{a}">{b}</hit>', '{"by": a, "b": b}'])
def test_a_constructor_makes_the_result_that_others_read(engine: xscl.Engine, select: str) -> None:
    engine.load(
        f"""
        -- name: hit
        SELECT {select} FROM (SELECT n_1 AS a, n AS b FROM S NEXT S) PUBLISH H;
        -- name: reader
        SELECT by, b FROM H
        """
    )
    found = [*engine.publish_many([event("x", 1), event("y", 2)]), *engine.flush()]
    made = '<hit by="x"><b>y</b></hit>' if select.startswith("<") else {"by": "x", "b": "y"}
    assert {match.query: match.result for match in found} == {
        "hit": made,
        "reader": {"by": "x", "b": "y"},
    }


def test_sub_queries_of_each_language_in_the_other(engine: xscl.Engine) -> None:
    engine.load(
        """
        -- name: joined
        SELECT x, c FROM (SELECT x AS x FROM A/*[./n->x] JOIN {x = y} B/*[./n->y])
            NEXT{$2.n = $1.x} (SELECT n, n AS c FROM C);
        -- name: sequence
        SELECT k, n FROM (SELECT a.n AS k FROM EVENT SEQ(A a, B b) WHERE a.n = b.n) NEXT C;
        -- name: join
        (SELECT n_1 AS k FROM A NEXT{$1.n = $2.n} B)/*[./k->x] JOIN {x = y} C/*[./n->y]
        """
    )
    found = [
        *engine.publish_many([event(1, 1, "A"), event(1, 2, "B"), event(1, 3, "C")]),
        *engine.flush(),
    ]
    assert {match.query: match.start for match in found} == {
        "joined": 1,
        "sequence": 1,
        "join": None,
    }


def test_groups_and_counts_go_through_no_query(engine: xscl.Engine) -> None:
    rows = [{"name": f"q{k}", "k": k % 3} for k in range(30)]
    engine.subscribe_many("SELECT n FROM S NEXT{$2.n >= :k} S", rows)
    groups = engine.publish_many([event(n, n) for n in range(4)], grouped=True)
    assert groups.total == 0
    groups = [*engine.run([], grouped=True)]
    sizes = sorted((group.count, tuple(group.queries)) for group in groups)
    assert [size for size, _ in sizes] == [10, 10, 30, 30, 30] or sum(s for s, _ in sizes) == 90
    found = [match for group in groups for match in group.matches()]
    assert Counter(match.query for match in found) == Counter({f"q{k}": 3 for k in range(30)})
    with xscl.Engine() as other:
        other.subscribe_many("SELECT n FROM S NEXT{$2.n >= :k} S", rows)
        assert other.count([event(n, n) for n in range(4)]) == Counter(
            {f"q{k}": 3 for k in range(30)}
        )


def test_groups_stay_as_they_were_when_queries_come_and_go(engine: xscl.Engine) -> None:
    engine.subscribe("FILTER{n = 1}(S)", name="first")
    (group,) = engine.publish_many([event(1, 1)], grouped=True)
    engine.subscribe("FILTER{n = 1}(S)", name="second")
    engine.cancel("first")
    assert tuple(group.queries) == ("first",)
    assert [match.query for match in group.matches()] == ["first"]


@pytest.mark.parametrize("grouped", [False, True])
def test_callbacks_get_their_matches_and_no_others(engine: xscl.Engine, grouped: bool) -> None:
    got: list[Any] = []
    engine.subscribe("SELECT n FROM S", name="called", on_match=got.append)
    engine.subscribe("SELECT n FROM S", name="not")
    engine.publish_many([event(1, 1)], grouped=grouped)
    assert [match.query for match in got] == ["called"]


def test_queries_come_and_go_while_events_flow(engine: xscl.Engine) -> None:
    engine.subscribe(RISE, name="first")
    engine.publish_many([event(1, 1)])
    engine.subscribe(RISE, name="late")
    engine.publish_many([event(2, 2)])
    engine.cancel("first")
    engine.publish_many([event(3, 3)])
    assert [(m.query, m.start, m.time) for m in engine.flush()] == [("late", 2, 3)]


@pytest.mark.parametrize(
    "query",
    ["SELECT m FROM FILTER{{n > {}}}(S)", "SELECT m_1, m FROM S NEXT{{$2.n > {}}} S"],
)
def test_a_query_gets_what_was_reported_to_one_that_has_gone(
    engine: xscl.Engine, query: str
) -> None:
    engine.subscribe(query.format(0), name="stays")
    engine.subscribe(query.format(1), name="goes")

    def published(name: str) -> list[str]:
        events = [event(3, at, name, m="x") | {"stream": "S"} for at in (1, 2)]
        return [one.query for one in (*engine.publish_many(events), *engine.flush())]

    assert published("first").count("goes")
    engine.cancel("goes")
    engine.subscribe(query.format(2), name="comes")
    # Equal to what is known of the numbers that "goes" had.
    assert "comes" in published("second")


@pytest.mark.parametrize("lateness", [None, 0])
@pytest.mark.parametrize("source", ["SELECT m FROM S", "S"])
def test_a_later_reader_reads_what_was_pending_when_it_came(
    lateness: int | None, source: str
) -> None:
    """It needs other forms of attributes than were needed when their event came."""
    with xscl.Engine(lateness=lateness) as engine:
        engine.subscribe(f"({source}) NEXT (SELECT n FROM T) PUBLISH R", name="waits")
        engine.publish_many([event(1, 1, m="7")])
        engine.subscribe("FILTER{m > 6 AND starts-with(m, '7')}(R)", name="reads")
        found = engine.publish_many([event(2, at, "T") for at in (2, 3)])
        found += engine.flush()
    assert sorted(match.query for match in found) == ["reads", "waits"]


@pytest.mark.parametrize("value", [[[2, 3]], [[]], [[None]], [["a"], 1], [{"a": 1}]])
@pytest.mark.parametrize("query", ["FILTER{}(S)", "SELECT n, 1 AS c FROM S"])
def test_what_is_published_is_read_as_the_document_that_it_is(query: str, value: object) -> None:
    """An array that was the first entry of an array gives its own first entry."""
    readers = "SELECT n, string-length(n) AS size FROM R", "FILTER{}(R)"
    with xscl.Engine() as engine:
        engine.subscribe(f"{query} PUBLISH R", name="first")
        names = [engine.subscribe(text) for text in readers]
        (first, *read) = engine.publish_many([event(value, 1)])
    with xscl.Engine() as engine:
        names = [engine.subscribe(text) for text in readers]
        again = engine.publish_many([{"stream": "R", "timestamp": 1, "json": first.result}])
    assert len(names) == len(read)
    assert results(read) == results(again)


def test_a_later_publisher_puts_its_readers_a_level_up_with_all_they_know() -> None:
    with xscl.Engine(lateness=0) as engine:
        engine.subscribe("SELECT n_1 AS a, n AS b FROM R NEXT R", name="reader")
        engine.publish_many([event(1, 1, "R"), event(5, 2)])
        engine.subscribe("SELECT n FROM S PUBLISH R", name="publisher")
        found = engine.publish_many([event(2, 3), event(0, 4)])
        found += engine.flush()
    read = [match.result for match in found if match.query == "reader"]
    assert read == [{"a": 1, "b": 2}, {"a": 2, "b": 0}]


def test_history_sees_the_bodies_that_are_retained_and_continues_from_there(
    engine: xscl.Engine,
) -> None:
    engine.subscribe("S/*[./n->x] JOIN {x = y} T/*[./n->y]", name="holds")
    engine.publish_many([event(1, 1), event(2, 2)])
    engine.advance(3)
    late = engine.subscribe(RISE, name="late", history=True)
    assert results(late.found) == [{"a": 1, "b": 2}]
    engine.subscribe(RISE, name="without")
    engine.publish_many([event(3, 4)])
    found = engine.advance(5)
    assert [(match.query, match.result) for match in found] == [("late", {"a": 2, "b": 3})]


def test_weak_reports_immediately_and_drops_what_is_late(engine: xscl.Engine) -> None:
    engine.subscribe(f"{RISE} CONSISTENCY weak", name="weak")
    assert results(engine.publish_many([event(1, 1), event(2, 3)])) == [{"a": 1, "b": 2}]
    assert engine.publish_many([event(9, 2)]) == []
    assert results(engine.publish_many([event(4, 3), event(5, 4)])) == [
        {"a": 1, "b": 4},
        {"a": 2, "b": 5},
        {"a": 4, "b": 5},
    ]
    assert engine.stats()["event_queries"]["dropped"] == 1  # type: ignore[index]


def test_ids_are_known_until_the_watermark_passes_them() -> None:
    with xscl.Engine(lateness=10) as engine:
        engine.subscribe("SELECT n FROM S")
        assert len(engine.publish_many([event(1, 1), event(1, 1)])) == 1
        assert engine.skipped.duplicate == 1
        engine.publish_many([event(2, 50)])
        assert engine.stats(exact=True)["documents"] == 1
        assert engine.publish_many([event(1, 1)]) == []
        assert engine.skipped.late == 1


@pytest.mark.parametrize("size", [1, 10])
def test_a_document_that_no_tree_can_hold_is_refused(engine: xscl.Engine, size: int) -> None:
    engine.subscribe("SELECT n FROM FILTER{starts-with(n, '')}(S)")
    endless = 10**5_000
    values = ["a\0b", object(), endless, [-endless], {"a": endless}, 1]
    events = [{"timestamp": at, "json": {"n": one}} for at, one in enumerate(values)]
    batches = [events[at : at + size] for at in range(0, len(events), size)]
    found = [match for batch in batches for match in engine.publish_many(batch)]
    assert engine.skipped.malformed == 5
    assert results(found) == [{"n": 1}]


def test_a_published_stream_is_closed_for_those_who_come_later(engine: xscl.Engine) -> None:
    engine.subscribe("SELECT n AS a FROM S PUBLISH R")
    with pytest.raises(QueryError, match="b"):
        engine.subscribe("SELECT b FROM R", name="wrong")
    engine.subscribe("SELECT a FROM R", name="right")
    engine.subscribe("SELECT n AS b FROM S PUBLISH R", name="other")
    engine.subscribe("SELECT b FROM R", name="open")
    found = engine.publish_many([event(1, 1)])
    assert Counter((match.query, str(match.result)) for match in found)["open", "{'b': 1}"] == 1


def test_errors_leave_nothing_behind(engine: xscl.Engine) -> None:
    with pytest.raises(QueryError):
        engine.subscribe("SELECT n FROM (SELECT x FROM A/*->x JOIN {} B/*) NEXT C GROUP BY k")
    assert (engine.streams, engine.subscriptions) == ([], [])


@pytest.mark.parametrize(
    "query", ["S FOLD S", "(SELECT *, 0 AS c FROM S) FOLD{, $2.n > $.n, $.c + 1 AS c} S"]
)
@pytest.mark.parametrize("without", [set(), {"s_µ", "AI", "AN", "s_cse"}])
def test_equal_instances_of_an_iteration_are_one(query: str, without: set[str]) -> None:
    epochs = 8
    events = [event(2 * at + side, at) for at in range(epochs) for side in range(2)]
    with xscl.Engine(lateness=0, without=without) as engine:
        engine.subscribe(query)
        engine.publish_many(events[:10])
        engine.publish_many(events[10:])
        engine.advance(epochs)
        # Of each left event but the last two, one for either event of the last epoch.
        assert engine.stats()["event_queries"]["instances"] == 2 * (len(events) - 2) + 2


def test_a_million_events_leave_as_much_as_a_few() -> None:
    def sizes_after(many: int) -> dict[str, Any]:
        with xscl.Engine(lateness=0) as engine:
            engine.subscribe("SELECT n FROM S NEXT{$1.n = $2.n AND DUR <= 5} S")
            engine.subscribe("SELECT COUNT(*) AS c FROM WINDOW{5 s}(S)")
            for first in range(0, many, 100):
                engine.publish_many([event(n % 7, n) for n in range(first, first + 100)])
            stats = engine.stats(exact=True)
        return {"documents": stats["documents"], "events": stats["event_queries"]}

    few, more = sizes_after(700), sizes_after(1400)
    for key in ("instances", "waiting"):
        assert more["events"][key] == few["events"][key]
    assert more["documents"] == few["documents"] == 1


def test_all_is_there_again_after_a_restart(tmp_path: Path) -> None:
    state = tmp_path / "state"
    events = [event(n % 4, n) for n in range(12)]
    text = f"""
        -- name: rise
        {RISE} PUBLISH R;
        -- name: above
        SELECT a_1 AS a, b FROM R NEXT{{$1.b = $2.a}} R;
        -- name: window
        SELECT COUNT(*) AS c, SUM(n) AS s FROM WINDOW{{3 s}}(S);
        -- name: weak
        SELECT n_1 AS a, n AS b FROM S NEXT S CONSISTENCY weak;
        -- name: gone
        SELECT n FROM S NEXT S
    """

    def run(cuts: list[int]) -> Counter[Any]:
        found: list[Any] = []
        path = tmp_path / f"state{len(cuts)}"
        with xscl.Engine(path, lateness=2) as engine:
            engine.load(text)
            engine.cancel("gone")
        for first, last in zip([0, *cuts], [*cuts, len(events)], strict=True):
            with xscl.Engine(path, lateness=2) as engine:
                for one in events[first:last]:
                    found += engine.publish_many([one])
                if last == len(events):
                    found += engine.flush()
                    assert engine.flush() == []
        return Counter((m.query, m.start, m.time, str(m.result), m.id) for m in found)

    assert state.parent.exists()
    assert run([3, 4, 9]) == run([])


def test_groups_of_any_values_are_there_again_after_a_restart(tmp_path: Path) -> None:
    found = []
    for half in range(2):
        with xscl.Engine(tmp_path / "state", lateness=0) as engine:
            if not half:
                engine.subscribe("SELECT n, COUNT(*) AS c FROM WINDOW{1 h}(S) GROUP BY n")
            for place, one in enumerate([None, {"a": None}, [], ""]):
                found += results(engine.publish_many([event(one, 4 * half + place)]))
            found += results(engine.flush())
    assert [one["c"] for one in found] == [1] * 4 + [2] * 4


def test_a_flush_is_not_reported_again_after_a_restart(tmp_path: Path) -> None:
    with xscl.Engine(tmp_path / "s", lateness=100) as engine:
        engine.subscribe(RISE, name="rise")
        assert len([*engine.publish_many([event(1, 1), event(2, 2)]), *engine.flush()]) == 1
    with xscl.Engine(tmp_path / "s", lateness=100) as engine:
        assert engine.flush() == []
        found = [*engine.publish_many([event(3, 3)]), *engine.flush()]
    assert results(found) == [{"a": 2, "b": 3}]


def test_sharable_streams_change_no_match() -> None:
    streams = ["S1", "S2", "S3"]
    texts = [f"-- name: q{one}\nSELECT n_1 AS a, n AS b FROM {one} NEXT T" for one in streams]
    events = [event(n % 2, n, one) for n in range(6) for one in streams if n % 3 or one != "S2"]
    events += [event(7, n + 0.5, "T") for n in range(6)]

    def found(**options: Any) -> Counter[Any]:
        with xscl.Engine(**options) as engine:
            engine.load(";\n".join(texts))
            matches = [*engine.publish_many(events), *engine.flush()]
        return Counter((one.query, one.start, one.time, str(one.result)) for one in matches)

    shared = found(sharable=[{"S1", "S2"}, {"S2", "S3"}])
    assert shared == found() != Counter()
    with pytest.raises(xscl.XSCLError, match="set"):
        xscl.Engine(sharable=["S1"])


def test_each_technique_can_be_switched_off_and_none_that_is_not_there() -> None:
    with xscl.Engine(without={"s_cse", "AN", "s_⋈", "c_⋈", "merging"}) as engine:
        engine.subscribe(RISE)
    with pytest.raises(xscl.XSCLError, match="s_x"):
        xscl.Engine(without={"s_x"})


def test_groups_by_a_name_are_by_what_it_means(engine: xscl.Engine) -> None:
    """Queries that group one stream by one name may mean two attributes of it."""
    engine.subscribe("SELECT b, COUNT(*) AS n FROM (SELECT n AS b FROM S) GROUP BY b", name="n")
    engine.subscribe("SELECT b, COUNT(*) AS n FROM S GROUP BY b", name="b")
    found = [*engine.publish_many([event(1, 1, b=2)]), *engine.flush()]
    assert {match.query: match.result["b"] for match in found} == {"n": 1, "b": 2}


@pytest.mark.parametrize("others", [(), ("FILTER{z > 0 AND b = 1}(S)",), ("SELECT c, q FROM S",)])
@pytest.mark.parametrize("published", ["FILTER{c >= 10}(S)", "SELECT c, a FROM S"])
def test_what_a_query_finds_in_the_past_has_what_its_readers_ask_for(
    others: tuple[str, ...], published: str
) -> None:
    """Wherever attributes are for the others that read the same stream."""
    found = []
    for history in (False, True):
        with xscl.Engine() as engine:
            for query in (*others, "S//x->u FOLLOWED BY {u = v} S//x->v"):
                engine.subscribe(query)
            engine.subscribe("SELECT a, c FROM FILTER{a > 0}(X)", name="reader")
            matches = []
            if not history:
                engine.subscribe(f"{published} PUBLISH X", name="pub")
            for number in range(4):
                body = {"z": 7, "a": number + 1, "b": 1, "c": 10 * number, "x": number}
                matches += engine.publish("S", body, timestamp=number)
            if history:
                matches += engine.subscribe(
                    f"{published} PUBLISH X", name="pub", history=True
                ).found
            matches += engine.flush()
            matches = [one for one in matches if one.query in ("reader", "pub")]
            found.append(sorted((one.query, one.time, str(one.result)) for one in matches))
    assert found[0] == found[1]
    assert len(found[0]) in (6, 8)


@pytest.mark.parametrize("cancelled", [True, False])
@pytest.mark.parametrize(
    ("below", "above"),
    [
        ("SELECT a, SUM(a) AS g FROM WINDOW{INF}(S) GROUP BY a", "FILTER{g > 0}(R)"),
        ("SELECT a, 1 AS g FROM S", "FILTER{g > 0}(R) CONSISTENCY weak"),
        ("EVENT SEQ(S a, S b)", "EVENT SEQ(R a, S b) WITHIN 9 s OUTPUT NON OVERLAPPING"),
    ],
)
def test_a_query_whose_level_is_another_goes_and_stays(
    below: str, above: str, cancelled: bool
) -> None:
    """Nothing is published or asked between."""
    with xscl.Engine(lateness=0) as engine:
        engine.subscribe(f"{below} PUBLISH R", name="below")
        engine.subscribe(above, name="above")
        matches = [engine.publish("S", {"a": at}, timestamp=at) for at in range(5)]
        assert "above" in {match.query for some in matches for match in some}
        engine.cancel("below")
        engine.subscribe("SELECT a FROM S PUBLISH T", name="other")
        if cancelled:
            engine.cancel("above")
        engine.publish("S", {"a": 1}, timestamp=20)
        found = engine.publish("R", {"g": 1}, timestamp=21)
        found += [*engine.publish("S", {"a": 1}, timestamp=22), *engine.flush()]
        assert ("above" in {match.query for match in found}) == (not cancelled)


@pytest.mark.parametrize("text", ["SELECT k FROM S", "S NEXT{$2.k = $1.k} S", "S FOLD{,} T"])
@pytest.mark.parametrize("history", [False, True])
def test_a_query_comes_again_that_had_gone(text: str, history: bool) -> None:
    """It sees what comes, as it did before, whatever came meanwhile."""
    engine = xscl.Engine()
    engine.subscribe("S/*->x JOIN {x = y} Never/none->y", name="keep")
    for first in (0, 10, 20):
        engine.subscribe(text, name="q", history=history)
        matches = []
        for number, stream in enumerate("SST"):
            matches += engine.publish(stream, {"k": 1}, id=f"{first} {number}", timestamp=first)
            first += 1
        assert [*matches, *engine.flush()]
        engine.cancel("q")
