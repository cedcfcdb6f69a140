"""Queries that come and go while documents flow: what they see, and what they leave behind."""

from __future__ import annotations

import random
from typing import Any

import pytest

import xscl
from tests.drawn import seeded, times

BOOK = "<book><author>{}</author><title>{}</title></book>"
QUERY = (
    "S//book[./author->a][./title->t] FOLLOWED BY {a = b AND t = u, 10} "
    "S//book[./author->b][./title->u]"
)


def book(engine: xscl.Engine, id: str, time: float, author: str = "A", title: str = "T") -> Any:
    found = engine.publish("S", BOOK.format(author, title), id=id, timestamp=time)
    return [(match.query, match.documents) for match in found]


def test_a_new_query_sees_what_comes_after_it() -> None:
    with xscl.Engine() as engine:
        engine.subscribe(QUERY, name="old")
        book(engine, "d1", 1)
        engine.subscribe(QUERY, name="new")
        assert book(engine, "d2", 2) == [("old", ("d1", "d2"))]
        assert sorted(book(engine, "d3", 3)) == [
            ("new", ("d2", "d3")),
            ("old", ("d1", "d3")),
            ("old", ("d2", "d3")),
        ]


def test_with_history_it_sees_what_is_retained() -> None:
    with xscl.Engine() as engine:
        engine.subscribe("S//book", name="reader")
        book(engine, "d1", 1)
        book(engine, "d2", 2)
        reported: list[xscl.Match] = []
        new = engine.subscribe(QUERY, name="new", history=True, on_match=reported.append)
        assert [match.documents for match in new.found] == [("d1", "d2")]
        assert reported == new.found
        assert [found for found in book(engine, "d3", 3) if found[0] == "new"] == [
            ("new", ("d1", "d3")),
            ("new", ("d2", "d3")),
        ]


def test_history_of_a_stream_that_nobody_read() -> None:
    with xscl.Engine() as engine:
        book(engine, "d1", 1)
        assert engine.subscribe(QUERY, history=True).found == []
        assert book(engine, "d2", 2) == []


def test_history_of_chains_sub_queries_and_what_they_publish() -> None:
    chain = "S//title->x JOIN {x = y} S//title->y JOIN {y = z} S//title->z"
    with xscl.Engine() as engine:
        engine.subscribe("S//book", name="reader")
        for number in range(3):
            book(engine, f"d{number}", number)
        assert len(engine.subscribe(chain, name="chain", history=True).found) == 6
        # The left part is there already, its composites too.
        again = engine.subscribe(chain.replace("z} S", "z AND x = z} S"), history=True)
        assert len(again.found) == 6
        assert len(book(engine, "d3", 3)) == 1 + 18 + 18
        assert len(engine.subscribe(chain, name="more", history=True).found) == 24
        sub = engine.subscribe(f"(SELECT <t>{{x}}</t> FROM {chain})/t->t", history=True)
        assert len(sub.found) == 24
        engine.subscribe("triples/t", name="triples")
        published = engine.subscribe(
            f"SELECT <t>{{x}}</t> FROM {chain} PUBLISH triples", name="p", history=True
        )
        assert sorted(match.query for match in published.found) == ["p"] * 24 + ["triples"] * 24


def test_history_costs_no_match_of_others() -> None:
    with xscl.Engine() as engine:
        engine.subscribe(QUERY, name="old")
        book(engine, "d1", 1)
        engine.subscribe(QUERY, name="new", history=True)
        assert sorted(book(engine, "d2", 2)) == [("new", ("d1", "d2")), ("old", ("d1", "d2"))]
        engine.subscribe("S//book//author->a JOIN {a = b} S//title->b", history=True)
        assert len(book(engine, "d3", 3)) == 4


def test_a_cancelled_query_is_silent() -> None:
    with xscl.Engine() as engine:
        reported: list[xscl.Match] = []
        first = engine.subscribe(QUERY, name="first", on_match=reported.append)
        engine.subscribe(QUERY, name="second")
        book(engine, "d1", 1)
        first.cancel()
        first.cancel()
        assert book(engine, "d2", 2) == [("second", ("d1", "d2"))]
        assert reported == []
        with pytest.raises(xscl.StateError, match="no query is named 'first'"):
            engine.cancel("first")


def test_callbacks_may_subscribe_cancel_and_publish() -> None:
    with xscl.Engine() as engine:
        seen: list[tuple[str, tuple[str, ...]]] = []

        def react(match: xscl.Match) -> None:
            seen.append((match.query, match.documents))
            if match.query == "first":
                first.cancel()
                engine.subscribe(QUERY, name="next", on_match=react, history=True)
                book(engine, "d3", 3)
                raise RuntimeError("callbacks may raise, too")

        first = engine.subscribe(QUERY, name="first", on_match=react)
        book(engine, "d1", 1)
        assert book(engine, "d2", 2) == [("first", ("d1", "d2"))]
        # What is retained when the first is cancelled is of no query.
        assert seen == [("first", ("d1", "d2"))]
        assert book(engine, "d4", 4) == [("next", ("d3", "d4"))]
        assert seen[1:] == [("next", ("d3", "d4"))]


def drawn_query(dice: random.Random) -> str:
    names = [dice.choice("abcd") for _ in range(6)]
    blocks = [
        f"S//{name}->x{i}[./{other}->y{i}]"
        for i, (name, other) in enumerate(zip(names[:3], names[3:], strict=True))
    ]
    operator = dice.choice(["JOIN", "FOLLOWED BY"])
    window = dice.choice(["INF", "5", "9"])
    shape = dice.randrange(6)
    joined = f"{blocks[0]} {operator} {{y0 = {dice.choice(['x1', 'y1'])}, {window}}} {blocks[1]}"
    match shape:
        case 0:
            return f"{blocks[0]}[. != '{dice.randrange(3)}']"
        case 1:
            return f"{joined} JOIN {{y1 = x2, {window}}} {blocks[2]}"
        case 2:
            return f"(SELECT <r>{{y0}}</r> FROM {joined})/r/*->z JOIN {{z = y2}} {blocks[2]}"
        case 3:
            return f"SELECT y1 FROM {joined} PUBLISH p{dice.randrange(2)}"
        case _:
            either = f"{{lower-case(y0) = y1 OR x0 < x1, {window}}}"
            return f"{blocks[0]} {operator} {either} {blocks[1]}"


def drawn_document(dice: random.Random) -> str:
    def element(levels: int) -> str:
        name = dice.choice("abcd")
        if not levels:
            return f"<{name}>{dice.randrange(3)}</{name}>"
        return f"<{name}>{''.join(element(levels - 1) for _ in range(2))}</{name}>"

    return element(2)


KEPT = ("automaton_states", "paths", "templates", "rows", "value_joins", "strings", "witnesses")
ROUNDS = times(5)


@pytest.mark.drawn
def test_adding_and_cancelling_leaves_nothing_behind() -> None:
    """Rounds of a hundred queries (more by `make fuzz`): the engine is as one that never had
    them."""
    dice = seeded("come and go")
    queries = (
        "S//a->x[./b->y] JOIN {y = z, 5} S//c->z; S//d->v FOLLOWED BY {v = w, 5} S//*->w;"
        "SELECT <a>{x}</a> FROM S//a->x JOIN {x = y, 3} S//b->y PUBLISH p0; p0//a"
    )
    pool = [drawn_query(dice) for _ in range(300)]
    with xscl.Engine(lateness=3) as engine, xscl.Engine(lateness=3) as twin:

        def sizes(of: xscl.Engine) -> dict[str, object]:
            stats = of.stats(exact=True)
            return {key: stats[key] for key in KEPT}

        def publish(number: int) -> None:
            for _ in range(number):
                time = float(twin.documents)
                text = drawn_document(dice)
                for one in (engine, twin):
                    one.publish("S", text, timestamp=time)

        for one in (engine, twin):
            one.load(queries)
        publish(150)
        for round in range(ROUNDS):
            added = [engine.subscribe(dice.choice(pool), name=f"n{i}") for i in range(100)]
            if round % 4 == 0:
                publish(1)
            dice.shuffle(added)
            for subscription in added:
                subscription.cancel()
            if round % 16 == 0:
                assert sizes(engine) == sizes(twin)
            publish(1)
        assert sizes(engine) == sizes(twin)
        for subscription in engine.subscriptions:
            subscription.cancel()
        left = engine.stats(exact=True)
        for kind in ("automaton_states", "templates", "rows", "strings", "witnesses", "documents"):
            assert left[kind] == 0, kind


def test_what_is_out_of_reach_stays_so_when_a_wider_window_comes() -> None:
    with xscl.Engine(lateness=0) as engine:
        engine.subscribe("S//book JOIN {, 5} S//book")
        for number in range(40):
            book(engine, f"d{number}", number)
        engine.subscribe("S//book JOIN {, 100} S//book")
        book(engine, "d33", 40)
        assert engine.skipped.duplicate == 0
        book(engine, "d36", 40)
        assert engine.skipped.duplicate == 1


def test_what_nobody_reads_any_more_is_no_duplicate() -> None:
    with xscl.Engine() as engine:
        engine.subscribe("R", name="other")
        engine.subscribe("S", name="first")
        book(engine, "d1", 1)
        engine.cancel("first")
        book(engine, "d1", 1)
        assert engine.skipped.duplicate == 0
        engine.subscribe("S", name="second")
        assert book(engine, "d1", 1) == [("second", ("d1",))]
        engine.cancel("second")
        engine.subscribe("S", name="third")
        assert book(engine, "d1", 1) == [("third", ("d1",))]
        assert engine.skipped.duplicate == 0


def test_what_only_a_query_without_matches_reads_goes_with_it() -> None:
    with xscl.Engine() as engine:
        never = engine.subscribe("S//a->x JOIN {x = y AND 1 = 2} S//b->y")
        engine.publish("S", "<a>1</a>", id="d", timestamp=0)
        never.cancel()
        assert engine.stats(exact=True)["documents"] == 0
