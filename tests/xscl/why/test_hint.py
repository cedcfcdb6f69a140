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


KINDS: list[dict[str, object]] = [
    {"id": "k", "stream": "K", "timestamp": 5,
     "xml": "<i><kind>News</kind><kind>Tech</kind><name>theory of it</name></i>"},
]  # fmt: skip
OF_KINDS = {
    # Of several nodes a function takes the first, and white space at the ends of a constant counts.
    "K/i[contains(kind, 'Tech')]": "no document of K met `[contains(kind, 'Tech')]`",
    "K/i[contains(kind, 'news')]": "no document of K met `[contains(kind, 'news')]`; 'News' and "
    "'news' are equal but for case",
    "K/i[starts-with(name, 'the ')]": "no document of K met `[starts-with(name, 'the ')]`",
    "K/i[lower-case(nam) = 'theory']": "no document of K met `[lower-case(nam) = 'theory']`; nam: "
    "there is /i/name",
}


@pytest.mark.parametrize("query", OF_KINDS)
def test_what_is_said_of_a_function_that_does_not_hold(query: str) -> None:
    with Engine() as engine:
        engine.subscribe(query, name="q")
        assert engine.publish_many(KINDS) == []
        assert engine.hint("q", KINDS) == OF_KINDS[query]


def test_what_matches_has_no_hint() -> None:
    queries = ["S//item", "S/item[./link->t] JOIN {t = u} S/item[./link->u]", "J/json/tags"]
    with Engine() as engine:
        for query in queries:
            engine.subscribe(query)
        assert engine.publish_many(DOCUMENTS)
        assert [engine.hint(one.name) for one in engine.subscriptions] == [None] * len(queries)


def test_the_names_of_all_documents_are_known_however_many() -> None:
    """Also those of documents that are not retained, and that are dropped."""
    with Engine(lateness=1) as engine:
        engine.subscribe("S//itm", name="q")
        engine.count(
            [{"timestamp": n, "xml": f"<a{n % 50}><item/></a{n % 50}>"} for n in range(3000)]
        )
        assert engine.hint("q") == "no document of S had `itm`; did you mean `item`?"


def test_a_query_too_large_to_be_judged_unasked_has_no_hint() -> None:
    conditions = " and ".join(["not(title)"] * 200)
    with Engine() as engine:
        engine.subscribe(f"S//item[{conditions}]", name="q")
        assert engine.publish_many(DOCUMENTS) == []
        assert engine.hint("q", DOCUMENTS) is None


EVENT_HINTS = {
    "PATTERN SEQ(S/item a, S/item b) WHERE a.titel = b.titel WITHIN 5": "no document of S had "
    "`titel`; did you mean `title`?",
    "PATTERN SEQ(S/item a, J b) WHERE [feeed] WITHIN 5": "no document of S had `feeed`; there is "
    "`title`, `by`, `link`, `in`, `k`",
    "EVENT SEQ(S/itm a, S/item b) WITHIN 5": "no document of S had `itm`; did you mean `item`?",
    "PATTERN SEQ(J a, S/item[by = 'Bob'] b) WITHIN 5": "no document of S met `[by = 'Bob']`",
    "EVENT SEQ(S/item a, !S/itm c, S/item b) WHERE a.k = b.k WITHIN 5": None,
    "SELECT title FROM S/itm NEXT J": "no document of S had `itm`; did you mean `item`?",
    "FILTER{author = 'y'}(J UNION K)": None,
    "SELECT * FROM (FILTER{author = 'y'}(J)) UNION (FILTER{titel = 'y'}(S))": None,
    "EVENT SEQ(ANY(S, K) x, ANY(J, S) y) WHERE x.title = 'none' WITHIN 10": None,
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


ORDERS: list[dict[str, object]] = [
    {"id": f"{event}{at}", "timestamp": at, "stream": "S",
     "json": {"event": event, "k": f"k-{at % 3}"}}
    for at, event in enumerate(["ordered", "paid", "shipped"] * 4)
]  # fmt: skip
MISSPELT = {
    "S//json[event = 'orderd']": "no document of S met `[event = 'orderd']`; did you mean "
    "'ordered'?",
    "S//json['orderd' = event][./k->k] JOIN {k = l} S//json[./k->l]": "no document of S met "
    "`['orderd' = event]`; did you mean 'ordered'?",
    "EVENT SEQ(S a, S b) WHERE a.event = 'orderd' AND a.k = b.k WITHIN 10": "no document of S met "
    "`a.event = 'orderd'`; did you mean 'ordered'?",
    "EVENT SEQ(S a, S b) WHERE 'PAID' = b.event AND a.k = b.k WITHIN 10": "no document of S met "
    "`'PAID' = b.event`; 'PAID' and 'paid' are equal but for case",
    "PATTERN SEQ(S a, S+ b[]) WHERE b[1].event = 'shiped' WITHIN 10": "no document of S met "
    "`b[1].event = 'shiped'`; did you mean 'shipped'?",
    "EVENT SEQ(S a, S b) WHERE [event = 'orderd'] WITHIN 10": "no document of S met "
    "`[event = 'orderd']`; did you mean 'ordered'?",
    "EVENT SEQ(S a, S b) WHERE a.event = 'sent' AND a.k = b.k WITHIN 10": "no document of S met "
    "`a.event = 'sent'`",
    "EVENT SEQ(S a, S b) WHERE a.k = 'k-9' WITHIN 10": "no document of S met `a.k = 'k-9'`",
    "EVENT SEQ(S a, S b) WHERE a.event = 'paid' AND a.k = 'k-2' WITHIN 10": "no document of S met "
    "all of `a.event = 'paid'`, `a.k = 'k-2'`",
    "EVENT SEQ(S a, !S c, S b) WHERE c.event = 'orderd' AND a.event = b.k WITHIN 10": None,
    "FILTER{event = 'orderd'}(S)": "no document of S met `event = 'orderd'`; did you mean "
    "'ordered'?",
    "FILTER{event = 'shiped' OR k = 'k9'}(S)": "no document of S met `event = 'shiped' OR "
    "k = 'k9'`; did you mean 'shipped'?",
    "FILTER{event != event}(S)": "no document of S met `event != event`",
}


@pytest.mark.parametrize("query", MISSPELT)
def test_a_misspelt_value_is_named(query: str) -> None:
    with Engine() as engine:
        engine.subscribe(query, name="q")
        assert engine.publish_many(ORDERS) == []
        assert engine.hint("q", ORDERS) == MISSPELT[query]


def test_a_hint_from_a_part_of_the_documents_says_so() -> None:
    with Engine() as engine:
        engine.subscribe("FILTER{n = 1}(S) NEXT{$2.n = 7} S", name="q")
        rows = [{"timestamp": n, "json": {"n": n % 5}} for n in range(20)]
        assert engine.publish_many(rows) == []
        assert engine.hint("q", rows[2:5]) == (
            "of the 3 documents looked at: no document of S met `n = 1`"
        )
        assert engine.hint("q", rows) is None


def test_a_sample_of_each_stream_is_looked_at_and_is_called_one() -> None:
    """However many documents of another stream came before."""
    of_s = [{"id": f"s{n}", "timestamp": n, "xml": "<item><t>1</t></item>"} for n in range(300)]
    of_t = [
        {"stream": "T", "id": f"t{n}", "timestamp": 900, "xml": f"<T><k>{n}</k></T>"}
        for n in range(300)
    ]
    sample = [*of_s[::6], *of_t[::6]]
    with Engine() as engine:
        engine.subscribe("S/item JOIN {} T/T[k = 'x']", name="block")
        engine.subscribe("S/item[./t->t] JOIN {t = u} T/T[./k->u][k > 1]", name="values")
        assert engine.publish_many([*of_s, *of_t]) == []
        looked = "of the 100 documents looked at: "
        assert engine.hint("block", sample) == f"{looked}no document of T met `[k = 'x']`"
        hint = engine.hint("values", sample)
        assert hint is not None
        assert hint.startswith("of the 200 documents looked at: 100 and ")


def test_a_misspelt_name_of_a_query_that_has_matches() -> None:
    with Engine() as engine:
        engine.subscribe("SELECT titel FROM FILTER{}(S/item)", name="q")
        engine.subscribe("SELECT title FROM FILTER{by = 'Ann'}(S/item)", name="r")
        assert len(engine.publish_many(DOCUMENTS)) == 3
        missing = "no document of S had `titel`; did you mean `title`?"
        assert engine.hint("q", DOCUMENTS, names_only=True) == missing
        assert engine.hint("r", DOCUMENTS[1:], names_only=True) is None


@pytest.mark.parametrize(
    ("query", "documents"),
    [
        ("S/a[@Kind = 'x']", ["<a kind='x'/>"]),
        ("S/a[Kind = 'x']", ["<a><kind>x</kind></a>", "<a><Kind>y</Kind></a>"]),
        ("EVENT SEQ(S/a[@Kind = 'x'] a, S b) WITHIN 9", ["<a kind='x'/>", "<b/>"]),
        (
            "S//a[./l->x] JOIN {x = y} S//b[./m->y]",
            ["<a><l>www.example.org/go?to=http://x.org</l></a>", "<b><m>z</m></b>"],
        ),
    ],
)
def test_what_lacks_a_value_or_has_an_odd_one_has_a_hint(query: str, documents: list[str]) -> None:
    given: list[dict[str, object]] = [
        {"id": f"d{time}", "timestamp": time, "xml": one} for time, one in enumerate(documents)
    ]
    with Engine() as engine:
        engine.subscribe(query, name="q")
        assert engine.publish_many(given) == []
        assert engine.hint("q", given)
        assert engine.why("q")
