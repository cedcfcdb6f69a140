"""What is said of a query that finds nothing: the first thing that nothing came through."""

from __future__ import annotations

import pytest

from xscl import Engine

DOCUMENTS: list[dict[str, object]] = [
    {"id": "a", "timestamp": 0,
     "xml": "<item k='1'><title>Foo </title><by>Ann</by><link>x</link><in><z>1</z></in></item>"},
    {"id": "b", "timestamp": 864_000,
     "xml": "<item><title>foo</title><by>Joe</by><link>x</link></item>"},
    {"id": "n", "stream": "N", "timestamp": 5, "xml": "<n:e xmlns:n='urn:x'><n:t>1</n:t></n:e>"},
    {"id": "j", "stream": "J", "timestamp": 5, "json": {"author": "x", "tags": ["a"]}},
]  # fmt: skip

FEED = "items of feeds are `S/item`, whatever the feed's format: no document of S had "
TWO = "2 and 2 documents match the blocks, but "
HINTS = {
    "S//itm": "no document of S had `itm`; did you mean `item`?",
    "S/Item": "no document of S had `Item`; did you mean `item`?",
    "S/elephant": "no document of S had `elephant`; there is `item`",
    "S/item[./titel->t]": "no document of S had `./titel->t`; did you mean `title`?",
    "S/item/titel": "no document of S had `titel` below `item`; did you mean `title`?",
    "S//item[titel = 'x']": "no document of S had `titel` below `item`; did you mean `title`?",
    "S/item/z": "no document of S had `z` below `item`; there is `title`, `by`, `link`, `in`",
    "S/rss/channel/item": FEED + "`rss`",
    "S//entry": FEED + "`entry`",
    "T//x": "no document of stream `T` has come",
    "N/e": "no document of N had `e`, but one of urn:x: write `*:e`, or declare a prefix",
    "J/json/authr": "no document of J had `authr` below `json`; did you mean `author`?",
    "S/item[@k = 2]": "no document of S met `[@k = 2]`",
    "S//item[by = 'Bob'][./title->t]": "no document of S met `[by = 'Bob']`",
    "S//item[by = 'ann']": "no document of S met `[by = 'ann']`; 'Ann' and 'ann' are equal but for "
    "case",
    "S/item[./title->t] JOIN {t = u} S/item[./title->u]": TWO + "have no value in common (`t = u`);"
    " 'Foo ' and 'foo' are equal but for white space and case",
    "S/item[./link->t] FOLLOWED BY {t = u, 7 days} S/item[./link->u]": TWO
    + "none of them within FOLLOWED BY {7 days}",
    "S/item[./link->t] JOIN {t != u} S/item[./link->u]": TWO + "none meet the condition (`t != u`)",
    "S/item[by = 'Ann'][./link->t] JOIN {t = u} S/item[by = 'Ann'][./link->u]": "1 and 1 documents "
    "match the blocks, but they are the same one, and a match is of different ones",
}


@pytest.mark.parametrize("query", HINTS)
def test_what_is_said_of_a_query(query: str) -> None:
    with Engine() as engine:
        engine.subscribe(query, name="q")
        assert engine.publish_many(DOCUMENTS) == []
        assert engine.hint("q", DOCUMENTS) == HINTS[query]


def test_what_matches_has_no_hint() -> None:
    queries = ["S//item", "S/item[./link->t] JOIN {t = u} S/item[./link->u]", "J/json/tags"]
    with Engine() as engine:
        for query in queries:
            engine.subscribe(query)
        assert engine.publish_many(DOCUMENTS)
        assert [engine.hint(one.name) for one in engine.subscriptions] == [None] * len(queries)


def test_the_names_of_all_documents_are_known_however_many() -> None:
    """Also those of documents that are not held, and that are let go."""
    with Engine(lateness=1) as engine:
        engine.subscribe("S//itm", name="q")
        engine.count(
            [{"timestamp": n, "xml": f"<a{n % 50}><item/></a{n % 50}>"} for n in range(3000)]
        )
        assert engine.hint("q") == "no document of S had `itm`; did you mean `item`?"


def test_a_query_too_large_to_be_judged_unasked_has_no_hint() -> None:
    conditions = " and ".join(["not(title)"] * 10_000)
    with Engine() as engine:
        engine.subscribe(f"S//item[{conditions}]", name="q")
        assert engine.publish_many(DOCUMENTS) == []
        assert engine.hint("q", DOCUMENTS) is None


EVENT_HINTS = {
    "FILTER{author = 'y'}(J)": "no document of J met `author = 'y'`",
    "FILTER{author = 'x' AND tags = 'b'}(J)": "no document of J met `tags = 'b'`",
    "FILTER{by = 'Ann'}(FILTER{title = 'foo'}(S))": "no document of S met all of `title = 'foo'`, "
    "`by = 'Ann'`",
    "SELECT autor FROM J NEXT S": None,
    "SELECT autor FROM FILTER{author = 'x'}(J) GROUP BY autor": "no document of J had `autor`; "
    "did you mean `author`?",
    "FILTER{title != ''}(S) NEXT{$2.by = $1.bye} S": "no document of S had `bye`; did you mean "
    "`by`?",
    "S FOLD{$2.title = $.title AND $2.x = 1} S": "no document of S had `x`; there is `title`, "
    "`by`, `link`, `in`, `k`",
    "S NEXT SS": "no document is of stream `SS`; did you mean `S`?",
    "SELECT COUNT(*) AS n FROM WINDOW{INF}(T//x)": "no document is of stream `T`; there is "
    "`S`, `N`, `J`",
    "SELECT q FROM given NEXT FILTER{author = 'y'}(J)": "no document of J met `author = 'y'`",
    "SELECT q FROM given NEXT{$2.author = 'y'} J": None,
}


@pytest.mark.parametrize("query", EVENT_HINTS)
def test_what_is_said_of_an_event_query(query: str) -> None:
    with Engine() as engine:
        engine.subscribe("SELECT author AS q FROM FILTER{author = 'z'}(J) PUBLISH given")
        engine.subscribe(query, name="q")
        assert engine.publish_many(DOCUMENTS) == []
        assert engine.hint("q", DOCUMENTS) == EVENT_HINTS[query]
        assert engine.hint("q") is None


def test_a_hint_from_a_part_of_the_documents_says_so() -> None:
    with Engine() as engine:
        engine.subscribe("FILTER{n = 1}(S) NEXT{$2.n = 7} S", name="q")
        rows = [{"timestamp": n, "json": {"n": n % 5}} for n in range(20)]
        assert engine.publish_many(rows) == []
        assert engine.hint("q", rows[2:5]) == (
            "of the 3 documents looked at: no document of S met `n = 1`"
        )
        assert engine.hint("q", rows) is None
