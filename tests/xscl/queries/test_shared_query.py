"""Queries that are the same up to constants: evaluated as one, they match what each would match
alone."""

from __future__ import annotations

import itertools
import json
import random
import re
from collections import Counter
from contextlib import ExitStack
from typing import Any

import pytest

import xscl
from tests.drawn import DRAW, seeded, times
from tests.xscl.engine.ways import WAYS
from xscl.queries.shared_query import SharedQuery

TEXTS = {
    "both sides": (
        "S//item->i[feed = :feed][./link->l] FOLLOWED BY {l = k, 7 s}"
        " S//item->p[author = :who][./linked->k]"
    ),
    "in the predicate": (
        "S//item[./link->l][./feed->f] JOIN {l = k AND f = :feed AND lower-case(w) = :who}"
        " S//item[./linked->k][./author->w]"
    ),
    "the same node twice": "S//item->i[author = :who and author = :other]",
    "a number": "S//item->i[price = :price][feed = :feed]",
    "ranges": "S//item->i[price >= :price][price < :most][feed = :feed]",
    "ranges from the left": "S//item->i[:most > .//price][:price <= ./price]",
    "an attribute": "S//item[@k = :feed]/author->a",
    "of an attribute": "S//item/@k->k[. = :feed]",
    "further down": "S//item->i[author[. = :who][@of = :feed]]"
    " JOIN {i/link = x} S//item[linked->x]",
    "a branch": "S//item->i[./author->a][./link->l] JOIN {l = k AND a = :who} S//item/linked->k",
    "disjuncts": (
        "SELECT l, w FROM S//item[./link->l][./feed->f] JOIN"
        " {l = k AND f = :feed OR l = k AND w = :who} S//item[./linked->k][./author->w]"
    ),
    "a chain": (
        "S//item->i[feed = :feed][./link->l] FOLLOWED BY {l = k}"
        " S//item->j[./linked->k][./author->a] FOLLOWED BY {a = b}"
        " S//item->m[author = :who][./author->b]"
    ),
    "other conditions": "S//item->i[contains(author, :who)][not(feed = :feed)]",
    "several in one": "S//item->i[author = :who or feed = :feed][price < :price + :most]",
    "an order in the predicate": "S//item[./price->p] JOIN {p = q AND p < :price} S//item/price->q",
    "nested": "S//item->i[not(author[. = :who][@of != :feed])][author[@of = :feed][. != :who]]",
    "alongside an attribute": "S//item/@k->k[starts-with(., :feed)][. != :who]",
    "a position of a child": "S//item->i[author[:price] = :who]",
    "a branch compared": "S//item->i[./price->p]/link->l JOIN {l = k AND p >= :most} S//linked->k",
    "a position": "S//item->i[author = :who][1][feed = :feed]",
    "in the result": "SELECT <r>{i/author[. = :who]}</r> FROM S//item->i[author = :who]",
    "a window": "S//item->i[feed = :feed][./link->l] FOLLOWED BY {l = k, :price s}"
    " S//item/linked->k",
}


def row(random: random.Random) -> dict[str, object]:
    return {
        "feed": random.choice(["f0", "f1", "f2", ""]),
        "who": random.choice(["ann", "bob", "cem"]),
        "other": random.choice(["ann", "bob", 3]),
        "price": random.choice([0, 1, 2.5, 3]),
        "most": random.choice([1, 3, 4.5, 10]),
    }


def document(random: random.Random) -> str:
    def some(name: str, values: list[str], attribute: str = "") -> str:
        return "".join(
            f"<{name}{attribute}>{random.choice(values)}</{name}>"
            for _ in range(random.choice([0, 1, 1, 2]))
        )

    items = ""
    for _ in range(random.choice([1, 1, 2])):
        feed = random.choice(["f0", "f1", "f2"])
        parts = some("feed", ["f0", "f1", "f2", ""]) + some("link", ["u", "v"])
        parts += some("linked", ["u", "v"]) + some("price", ["0", "1.0", " 2.5 ", "3", "x", "-1"])
        parts += some("author", ["ann", "bob", "cem", "Bob", "3"], f' of="{feed}"')
        items += f'<item k="{feed}">{parts}</item>'
    return f"<d>{items}</d>"


def reported(matches: list[xscl.Match]) -> list[tuple[Any, ...]]:
    return sorted(
        (m.query, m.documents, m.nodes, sorted(m.bindings.items()), m.id) for m in matches
    )


@pytest.mark.drawn
@pytest.mark.parametrize("seed", range(times(1)))
def test_groups_and_counts_are_of_the_same_matches(seed: int) -> None:
    """Whatever the way, with members and other queries side by side."""
    random_, members = seeded(seed), 6 if DRAW >= 1 else 3
    alone = {"query_sharing": False, "strategies": xscl.Strategies(in_process=0)}
    with ExitStack() as stack:
        options = stack.enter_context(random_.choice(WAYS).taken())
        usual, grouping, counting, apart = engines = [
            stack.enter_context(xscl.Engine(lateness=5, **each))
            for each in (options, options, options, alone)
        ]
        names = (f"n{number}" for number in itertools.count())
        for step in range(10):
            if step % 5 == 0:
                for text in random_.sample([*TEXTS.values()], 3):
                    some = [{**row(random_), "name": next(names)} for _ in range(members)]
                    for engine in engines:
                        engine.subscribe_many(text, some, history=step == 5)
            for gone in random_.sample([sub.name for sub in usual.subscriptions], step % 4):
                for engine in engines:
                    engine.cancel(gone)
            batch = [
                {"id": f"{step} {i}", "xml": document(random_), "timestamp": step + i % 3}
                for i in range(random_.choice([1, 1, 4]))
            ]
            found, expected = usual.publish_many(batch), apart.publish_many(batch)
            assert reported(found) == reported(expected)
            assert [match.query for match in found] == [match.query for match in expected]
            groups = grouping.publish_many(batch, grouped=True)
            in_groups = [match for group in groups for match in group.matches()]
            assert reported(in_groups) == reported(expected)
            assert groups.total == len(expected)
            assert len({group.documents for group in groups}) == len(groups)
            counts = +counting.count(batch, batch=len(batch))
            assert counts == Counter(match.query for match in expected)


@pytest.mark.drawn
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
@pytest.mark.parametrize("seed", range(times(1)))
def test_they_match_what_each_matches_alone(text: str, seed: int) -> None:
    random_ = seeded(text, seed)
    engines = [xscl.Engine(), xscl.Engine(query_sharing=False)]
    came = 0
    for step in range(24):
        if step % 6 == 0:
            some = [{**row(random_), "name": f"n{came + i}"} for i in range(9)]
            came += len(some)
            for engine in engines:
                engine.subscribe_many(text, some)
        if random_.random() < 0.3:
            names = [sub.name for sub in engines[0].subscriptions]
            for gone in random_.sample(names, min(len(names), 5)):
                for engine in engines:
                    engine.cancel(gone)
        some = [
            {
                "id": f"{step} {i}",
                "xml": document(random_),
                "timestamp": step + random_.randint(0, 3),
            }
            for i in range(random_.choice([1, 1, 4]))
        ]
        found = [engine.publish_many(some) for engine in engines]
        assert reported(found[0]) == reported(found[1])
        assert [m.query for m in found[0]] == [m.query for m in found[1]]
        assert [m.result for m in found[0]] == [m.result for m in found[1]]
    for subscription in engines[0].subscriptions:
        subscription.cancel()
    stats = engines[0].stats(exact=True)
    for name in ("automaton_states", "rows", "documents", "shared_queries", "constants"):
        assert stats[name] == 0


@pytest.mark.parametrize("zeros", [*itertools.permutations([0, 0.0, -0.0])])
@pytest.mark.parametrize(
    "text",
    [
        "S//a->x[. div :v > 0]",
        "EVENT SEQ(S a, T b) WHERE a.a / :v > 0 WITHIN 1 h",
        'SELECT {"a": x, "zero": :v} FROM S//a->x[. != :w]',
    ],
)
def test_zero_has_no_sign_whichever_was_first(text: str, zeros: tuple[float, ...]) -> None:
    with xscl.Engine() as engine, xscl.Engine() as plain:
        engine.subscribe_many(text, [{"v": zero, "w": "k", "name": str(zero)} for zero in zeros])
        plain.subscribe(text, params={"v": 0.0, "w": "k"})
        documents = [{"id": id, "stream": id, "json": {"a": 1}, "timestamp": 0} for id in "ST"]
        documents[1]["timestamp"] = 1
        expected = [json.dumps(match.result) for match in plain.publish_many(documents)]
        found = engine.publish_many(documents)
        assert len(expected) == 1
        assert sorted(match.query for match in found) == ["-0.0", "0", "0.0"]
        written = {match.query: json.dumps(match.result) for match in found}
        assert [written["0.0"], written["-0.0"]] == expected * 2


def test_counting_them_builds_no_match() -> None:
    rows = [{"feed": f"f{i}"} for i in range(3)]
    text = "S//item->i[feed = :feed]"
    with xscl.Engine() as engine:
        engine.subscribe_many(text, rows)
        counts = engine.count([{"xml": "<item><feed>f1</feed></item>"}] * 2)
    assert counts == {"q1[0]": 0, "q1[1]": 2, "q1[2]": 0}


def test_they_share_states_templates_and_rows() -> None:
    with xscl.Engine() as engine:
        subs = engine.subscribe_many(
            TEXTS["both sides"], [{"feed": f"f{i}", "who": f"w{i % 7}"} for i in range(1000)]
        )
        stats = engine.stats(exact=True)
        assert isinstance(subs[3].wiring.source, SharedQuery)
        assert subs[3].wiring is subs[4].wiring
    assert (stats["queries"], stats["rows"], stats["templates"]) == (1000, 1, 1)
    assert (stats["shared_queries"], stats["constants"]) == (1, 1007)
    assert stats["automaton_states"] == 5


def test_each_has_its_own_query_and_dissection() -> None:
    with xscl.Engine() as engine:
        subs = engine.subscribe_many(
            "S//item->i[feed = :feed]", [{"feed": "f0"}, {"feed": "f1", "name": "mine"}]
        )
        assert subs[1].query.name == "mine"
        assert "feed = 'f1'" in engine.explain("mine")
        engine.publish("S", "<item><feed>f0</feed></item>", id="d", timestamp=0)
        assert "'f0'" in str(engine.why("mine", "d"))


def test_one_that_comes_later_sees_later_documents_only() -> None:
    text = "S//item[feed = :feed]/link->l JOIN {l = k} S//item[feed = :feed]/link->k"
    with xscl.Engine() as engine:
        engine.subscribe_many(text, [{"feed": "f0", "name": "first"}])
        publish = "<item><feed>f0</feed><link>u</link></item>"
        engine.publish("S", publish, id="d0", timestamp=0)
        (late,) = engine.subscribe_many(text, [{"feed": "f0", "name": "late"}])
        found = engine.publish("S", publish, id="d1", timestamp=1)
        assert {match.query for match in found} == {"first"}
        found = engine.publish("S", publish, id="d2", timestamp=2)
        assert {m.documents for m in found if m.query == "late"} == {("d1", "d2"), ("d2", "d1")}
        late.cancel()
        assert {m.query for m in engine.publish("S", publish, id="d3", timestamp=3)} == {"first"}


def test_a_callback_is_called_for_each() -> None:
    reported: list[str] = []
    with xscl.Engine() as engine:
        engine.subscribe_many(
            "S//item->i[feed = :feed]",
            [{"feed": "f0"}, {"feed": "f0"}],
            on_match=lambda match: reported.append(match.query),
        )
        engine.publish("S", "<item><feed>f0</feed></item>")
    assert reported == ["q1[0]", "q1[1]"]


def test_a_range_costs_only_those_in_it() -> None:
    text = "S//item->i[price < :most]"
    with xscl.Engine() as engine:
        engine.subscribe_many(text, [{"most": most} for most in range(1000)])
        found = engine.publish("S", "<item><price>995.5</price></item>")
        assert [match.query for match in found] == [f"q1[{i}]" for i in range(996, 1000)]
        assert engine.publish("S", "<item><price>1000</price></item>") == []
        assert engine.publish("S", "<item><price>dear</price></item>") == []


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
def test_equal_texts_match_what_each_matches_alone(text: str) -> None:
    random_ = random.Random(text)
    engines = [xscl.Engine(), xscl.Engine(query_sharing=False)]
    for number in range(12):
        written = text
        for name, value in row(random_).items():
            value = f"'{value}'" if isinstance(value, str) else str(value)
            written = re.sub(rf":{name}\b", value, written)
        for engine in engines:
            if number % 2:
                engine.subscribe(written, f"n{number}")
            else:
                engine.load(f"-- name: n{number}\n{written};\n-- name: also {number}\n{written}")
    for step in range(12):
        some = [{"id": f"{step} {i}", "xml": document(random_), "timestamp": step} for i in (0, 1)]
        found = [engine.publish_many(some) for engine in engines]
        assert reported(found[0]) == reported(found[1])
    for one, other in zip(*(engine.subscriptions for engine in engines), strict=True):
        assert one.query == other.query
        assert one.dissection == other.dissection


def test_a_text_is_named_by_its_place() -> None:
    text = "-- name: a\nS//i->x[f = 'f0'];\n-- name: b\nS//i->x[f = 'f1'];\n"
    with xscl.Engine() as engine:
        engine.load(text)
        with pytest.raises(xscl.QueryError, match="'b' is taken by the query at line 3, column 10"):
            engine.subscribe("S//i->x[f = 'f3']", "b")
        assert engine.subscribe("S//i->x[f = 'f3']").name == "q3"
        with pytest.raises(xscl.QueryError, match="line of text"):
            engine.subscribe("S//i->x[f = 'f3']", "two\nlines")


def test_queries_without_constants_share_their_dissection() -> None:
    text = "S//item[./link->l] JOIN {l = k, 3 s} S//item[./linked->k]"
    with xscl.Engine() as engine:
        one, two, three = (engine.subscribe(text, name) for name in "abc")
        assert two.outline.disjuncts is three.outline.disjuncts
        assert one.query == xscl.Engine().subscribe(text, "a").query
        assert three.query.name == three.outline.query.name == "c"
        engine.publish("S", "<item><link>u</link></item>", id="d0", timestamp=0)
        (late,) = engine.load(f"-- name: late\n{text}", history=True)
        found = engine.publish("S", "<item><linked>u</linked></item>", id="d1", timestamp=1)
        assert [match.query for match in found] == ["a", "b", "c", "late"]
        assert late.query.named_at == 9
        for subscription in engine.subscriptions:
            subscription.cancel()
        assert engine.stats(exact=True)["rows"] == 0


@pytest.mark.parametrize("name", sorted(TEXTS.keys() - {"a position", "in the result", "a window"}))
def test_what_differs_in_constants_alone_multiplies_nothing(name: str) -> None:
    random_ = random.Random(name)
    sizes = []
    # Whether a value is a number is a difference of its own.
    fixed = {"other": "ann"}
    for count in (1, 60):
        with xscl.Engine() as engine:
            engine.subscribe_many(TEXTS[name], [{**row(random_), **fixed} for _ in range(count)])
            stats = engine.stats(exact=True)
            sizes.append([stats[of] for of in ("automaton_states", "rows", "templates")])
    assert sizes[0] == sizes[1]
