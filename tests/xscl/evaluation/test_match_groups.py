"""Match groups: the same matches, reported by document pairs; and callbacks and streams over
them."""

from __future__ import annotations

import pickle
from collections import Counter
from functools import cache
from types import SimpleNamespace
from typing import Any

import pytest

import xscl
from xscl.documents.composites import OperatorRow
from xscl.evaluation.groups.grouping import MatchGrouping
from xscl.evaluation.groups.match_groups import MatchGroups
from xscl.join_stage import ChannelTuple
from xscl.samples import feed_stream, random_queries

PROMO = "S//book->b[./title->t] FOLLOWED BY {t = u, 10} S//blog->g[./title->u]"


def book(title: str, time: int, name: str) -> dict[str, object]:
    text = f"<book><title>{title}</title></book>"
    return {"stream": "S", "xml": text, "id": name, "timestamp": time}


def blog(title: str, time: int, name: str) -> dict[str, object]:
    text = f"<blog><title>{title}</title></blog>"
    return {"stream": "S", "xml": text, "id": name, "timestamp": time}


@cache
def in_duckdb(window: str, number: int) -> Counter[str]:
    with xscl.Engine(strategies=xscl.Strategies(in_process=0)) as engine:
        engine.load(random_queries(40, window=window))
        return Counter(match.id for match in engine.run(feed_stream(number)))


@pytest.mark.parametrize("window", ["7 days", "6 hours", "INF"])
@pytest.mark.parametrize("batch", [1, 50, 300])
@pytest.mark.parametrize("in_process", [0, 100, 1000])
def test_groups_have_the_matches_of_a_stream(window: str, batch: int, in_process: int) -> None:
    # Each batch is some statements in DuckDB.
    number = 40 if in_process == 0 and batch == 1 else 300
    documents = list(feed_stream(number))
    text = random_queries(40, window=window)
    expected = in_duckdb(window, number)
    with xscl.Engine(strategies=xscl.Strategies(in_process=in_process)) as engine:
        engine.load(text)
        groups = list(engine.run(documents, batch=batch, grouped=True))
    assert Counter(match.id for group in groups for match in group.matches()) == expected
    assert sum(group.count for group in groups) == expected.total()
    for group in groups:
        matches = group.matches()
        assert {match.query for match in matches} == set(group.queries)
        assert len(group.queries) == len(tuple(group.queries))
        assert {match.documents for match in matches} == {group.documents}
    # All that the same documents satisfy is in one group.
    assert len({group.documents for group in groups}) == len(groups)


def test_a_sequence_of_groups() -> None:
    with xscl.Engine() as engine:
        engine.subscribe(PROMO, name="promo")
        assert (
            len(engine.publish_many([book("x", n, f"b{n}") for n in range(5)], grouped=True)) == 0
        )
        groups = engine.publish_many([blog("x", 8, "g"), blog("x", 13, "h")], grouped=True)
    assert groups.total == len(groups) == 7
    assert [group.documents for group in groups][:5] == [(f"b{n}", "g") for n in range(5)]
    assert sorted(group.documents for group in groups)[-2:] == [("b4", "g"), ("b4", "h")]
    assert [groups[n].documents for n in range(-7, 7)] == 2 * [one.documents for one in groups]
    assert [one.documents for one in groups[2:4]] == [("b2", "g"), ("b3", "g")]
    with pytest.raises(IndexError):
        groups[7]
    # What it holds outlives the engine.
    (match,) = groups[0].matches()
    assert (match.query, match.result) == (
        "promo",
        "<result><book><title>x</title></book><blog><title>x</title></blog></result>",
    )


def test_what_is_not_in_a_channel_is_in_the_same_group() -> None:
    """Queries that need more than the pair, disjuncts and published ones."""
    with xscl.Engine() as engine:
        engine.subscribe(PROMO, name="promo")
        text = (
            "SELECT k FROM S//book[./title->t][./kind->k] FOLLOWED BY {t = u} S//blog[./title->u]"
        )
        engine.subscribe(text, name="kind")
        engine.subscribe(PROMO.replace("t = u", "t = u OR t = 'x'"), name="either")
        engine.subscribe(f"{PROMO} PUBLISH promos", name="published")
        engine.subscribe("promos//title->x", name="read")
        engine.subscribe("S//blog", name="filter")
        document = "<book><title>x</title><kind>novel</kind></book>"
        assert len(engine.publish("S", document, id="b", timestamp=0, grouped=True)) == 0
        groups = list(
            engine.publish("S", blog("x", 1, "g")["xml"], id="g", timestamp=1, grouped=True)
        )
    queries = {group.documents: group.queries for group in groups}
    assert queries.pop(("b", "g")) == ("promo", "kind", "either", "published")
    assert queries.pop(("g",)) == ("filter",)
    ((published,),) = queries
    (of_published,) = (group for group in groups if group.documents == (published,))
    assert [match.query for match in of_published.matches()] == ["read", "read"]


def test_chains_that_find_the_same_documents_in_other_ways_are_in_one_group() -> None:
    found: list[str] = []
    with xscl.Engine() as engine:
        engine.subscribe("S/a JOIN {1 h} S/b JOIN {1 h} S/c", name="left")
        engine.subscribe("S/a JOIN {1 h} (S/b JOIN {1 h} S/c)", name="right")
        called = "(S/a JOIN {1 h} S/b) JOIN {1 h} S/c"
        engine.subscribe(called, "called", lambda match: found.append(match.query))
        for number, name in enumerate("abc"):
            groups = engine.publish("S", f"<{name}/>", id=name, timestamp=number, grouped=True)
    assert [(one.documents, one.queries, one.count) for one in groups] == [
        (("a", "b", "c"), ("left", "right", "called"), 3)
    ]
    assert (groups.total, found) == (3, ["called"])


def test_callbacks_and_streams_are_reported() -> None:
    reported: list[str] = []
    with xscl.Engine() as engine:
        engine.subscribe(PROMO, name="told", on_match=lambda match: reported.append(match.query))
        engine.subscribe(PROMO, name="quiet")
        engine.subscribe(f"{PROMO} PUBLISH promos", name="published")
        with engine.stream("promos") as promos:
            engine.publish_many([book("x", 0, "b"), blog("x", 1, "g")], grouped=True)
            assert [match.query for match in [next(promos)]] == ["published"]
            assert len(promos) == 0
    assert reported == ["told"]


def test_a_group_stays_as_it_is_when_queries_go() -> None:
    with xscl.Engine() as engine:
        one = engine.subscribe(PROMO, name="one")
        engine.subscribe(PROMO, name="other")
        engine.publish_many([book("x", 0, "b")])
        groups = engine.publish_many([blog("x", 1, "g")], grouped=True)
        one.cancel()
        (later,) = engine.publish_many([blog("x", 2, "h")], grouped=True)
    assert groups[0].queries == ("one", "other")
    assert [match.query for match in groups[0].matches()] == ["one", "other"]
    assert later.queries == ("other",)


def test_groups_of_a_channel_share_one_sequence_of_names() -> None:
    with xscl.Engine() as engine:
        for _ in range(5):
            engine.subscribe("S//a->x JOIN {x = y} S//b->y")
        engine.publish_many({"stream": "S", "xml": "<a>1</a>"} for _ in range(20))
        first, *others = engine.publish("S", "<b>1</b>", grouped=True)
        assert first.queries == ("q1", "q2", "q3", "q4", "q5")
        assert len(others) == 19
        assert all(other.queries is first.queries for other in others)


@pytest.mark.parametrize("condition", ["t = u", "t = u OR t = 'x'"], ids=["alone", "with more"])
def test_the_names_of_a_group_are_a_sequence_that_does_not_change(condition: str) -> None:
    """Whether all of them are of one channel, or one is not; and whatever comes and goes later."""
    with xscl.Engine() as engine:
        names = ("first", "other", "last")
        for name, says in zip(names, ("t = u", condition, "t = u"), strict=True):
            engine.subscribe(PROMO.replace("t = u", says), name=name)
        (group,) = engine.publish_many([book("y", 0, "b"), blog("y", 2, "g")], grouped=True)
        for name in names[:2]:
            engine.cancel(name)
        engine.subscribe(PROMO, name="first")
    queries = group.queries
    assert len(queries) == len(names)
    assert queries == names
    assert names == queries
    assert queries != list(names)
    assert queries != names[1:]
    assert hash(queries) == hash(names)
    assert repr(queries) == repr(names)
    assert [*queries] == [*names]
    assert [*reversed(queries)] == [*reversed(names)]
    assert (queries[0], queries[-1], queries[:1]) == (names[0], names[-1], names[:1])
    assert names[0] in queries
    assert "nobody" not in queries
    assert queries.index(names[-1]) == len(names) - 1
    assert queries.count(names[0]) == 1
    assert pickle.loads(pickle.dumps(queries)) == names
    assert group.queries is queries
    with pytest.raises(IndexError):
        queries[len(names)]
    with pytest.raises(AttributeError):
        group.queries = ()  # type: ignore[misc]


class Counted(int):
    """A number that counts its comparisons."""

    comparisons = 0
    __hash__ = int.__hash__

    def __eq__(self, other: object) -> bool:
        Counted.comparisons += 1
        return int.__eq__(self, other)


def test_pairs_that_have_more_than_their_channel_cost_what_they_are() -> None:
    most = 500
    with xscl.Engine() as engine:
        query = engine.subscribe("S//a->x JOIN {x = y} S//b->y")
        plan = SimpleNamespace(joins=[(0, 0)])
        part = SimpleNamespace(plan=plan, sole=[query.numbers], heads=[(0, 0)])
        channel: Any = type("Of", (), {"parts": [part]})()
        retained: Any = dict.fromkeys(range(most + 1))
        others = [Counted(number) for number in range(most)]
        # Numbers that are equal, and not the same objects.
        rows = [
            (query, OperatorRow((Counted(other), Counted(most)), (0, 0), ())) for other in others
        ]
        groups = MatchGroups()
        Counted.comparisons = 0
        MatchGrouping(engine._queries.stages, lambda code: None).group(
            [ChannelTuple(channel, Counted(most), others, True)], rows, retained, groups, {}
        )
        assert Counted.comparisons < 20 * most
        assert len(groups) == most
        assert groups.total == 2 * most


@pytest.mark.parametrize("then", ["documents", "query", "close"])
def test_a_group_has_its_documents_whatever_the_engine_drops(then: str) -> None:
    """They are looked up on demand, and copied when the engine drops any."""
    engine = xscl.Engine(lateness=0)
    engine.subscribe("S//a->x JOIN {x = y, 5} S//a->y", name="q")
    found = []
    for time in range(0, 20, 2):
        document = f"<a>{time // 10}</a>"
        found.append(engine.publish("S", document, id=f"d{time}", timestamp=time, grouped=True))
    last = [one for groups in found for group in groups for one in group.documents]
    if then == "documents":
        for time in range(100, 200):
            engine.publish("S", "<a>x</a>", timestamp=time)
    elif then == "query":
        engine.cancel("q")
    else:
        engine.close()
    del engine
    assert [one for groups in found for group in groups for one in group.documents] == last
    assert sum(len(group.matches()) for groups in found for group in groups) == len(last) // 2
    assert [match.result for group in found[1] for match in group.matches()]


CROSSING = {
    "eq": "S//a->x JOIN {x = y} S//b->y",
    "le": "S//a->x JOIN {x <= y} S//b->y",
    "ne": "S//a->x JOIN {x != y} S//b->y",
    "ever": "S//a JOIN {} S//b",
    "soon": "S//a JOIN {, 2} S//b",
    "alike": "S//a->x JOIN {similar(x, y) >= 0.5} S//b->y",
    "both": "S//a->x JOIN {x = y AND x <= y} S//b->y",
}


@pytest.mark.parametrize(("in_process", "batch"), [(0, 20), (100, 1), (100, 4), (100, 20)])
@pytest.mark.parametrize("called", [False, True])
def test_pairs_found_by_values_by_time_and_by_likeness_are_in_one_group(
    in_process: int, batch: int, called: bool
) -> None:
    documents = [
        {"id": f"d{n}", "timestamp": n, "xml": f"<{'ab'[n % 2]}>{n * 7 % 5}</{'ab'[n % 2]}>"}
        for n in range(20)
    ]
    got: list[str] = []
    strategies = xscl.Strategies(in_process=in_process)
    with xscl.Engine(strategies=strategies) as engine, xscl.Engine(strategies=strategies) as plain:
        for name, text in CROSSING.items():
            on_match = (lambda match: got.append(match.id)) if called else None
            engine.subscribe(text, name=name, on_match=on_match)
            plain.subscribe(text, name=name)
        groups = [*engine.run(documents, batch=batch, grouped=True)]
        expected = [*plain.run(documents, batch=batch)]
    queries: dict[tuple[str, ...], set[str]] = {}
    for match in expected:
        queries.setdefault(match.documents, set()).add(match.query)
    assert {group.documents: {*group.queries} for group in groups} == queries
    assert len(groups) == len(queries)
    assert sorted(match.id for group in groups for match in group.matches()) == sorted(
        match.id for match in expected
    )
    assert sum(group.count for group in groups) == len(expected)
    assert sorted(got) == (sorted(match.id for match in expected) if called else [])
