"""`canonical` brings addresses of one page together: in joins, patterns and event queries."""

from __future__ import annotations

import itertools

import pytest

from tests.drawn import seeded
from xscl import Engine, QueryError
from xscl.xpath_stage.values import canonical_url

PAGES = ("a.example/x", "a.example/x/y", "b.example/?p=1&q=2", "b.example/", "no address", "")


def variant(page: str, number: int) -> str:
    """One of the ways to write an address of a page; of what is none there is one."""
    draw = seeded("addresses", number)
    host, slash, rest = page.partition("/")
    if not slash:
        return page
    path, _, query = rest.partition("?")
    some = query.split("&") if query else []
    draw.shuffle(some)
    some += draw.sample(["utm_source=feed", "fbclid=1", "ref=rss"], draw.randrange(3))
    host = draw.choice(["", "www.", "WWW."]) + draw.choice([host, host.upper()])
    port = draw.choice(["", "", ":443"])
    scheme = "https" if port else draw.choice(["http", "https", "HTTPS"])
    text = f"{scheme}://{host}{port}/{path}" + ("/" if path and draw.random() < 0.5 else "")
    text += ("?" + "&".join(some) if some else "") + draw.choice(["", "#top"])
    return draw.choice(["", " ", "\n"]) + text


@pytest.mark.drawn
def test_addresses_of_one_page_are_equal() -> None:
    draw = seeded("pages")
    pages = [(draw.choice("ST"), draw.choice(PAGES)) for _ in range(120)]
    said = [(stream, page, variant(page, at)) for at, (stream, page) in enumerate(pages)]
    pairs = {
        (str(one), str(other))
        for (one, (stream, page, _)), (other, (next_stream, same, _)) in itertools.product(
            enumerate(said), repeat=2
        )
        if stream == "S" and next_stream == "T" and page == same
    }
    following = set()
    for one, other in sorted(pairs, key=lambda pair: (int(pair[0]), int(pair[1]))):
        if int(one) < int(other) and not any(one == before for before, _ in following):
            following.add((one, other))
    with Engine(lateness=0) as engine:
        engine.load(
            "-- name: join\n"
            "S/json[./link->x] JOIN {canonical(x) = canonical(normalize-space(y))}"
            " T/json[./link->y];\n"
            "-- name: next\n"
            "SELECT n_1, n FROM S NEXT{canonical($1.link) = canonical($2.link)} T;\n"
            "-- name: pattern\n"
            "EVENT SEQ(S a, T b) WHERE canonical(a.link) = canonical(b.link)"
        )
        found = engine.publish_many(
            {"stream": stream, "id": str(at), "timestamp": at, "json": {"link": link, "n": str(at)}}
            for at, (stream, _, link) in enumerate(said)
        )
        found += engine.flush()
    joined = [one.documents for one in found if one.query == "join"]
    assert len(joined) == len({*joined})
    assert {*joined} == pairs
    patterns = [one.documents for one in found if one.query == "pattern"]
    assert len(patterns) == len({*patterns})
    assert {*patterns} == {pair for pair in pairs if int(pair[0]) < int(pair[1])}
    results = [one.result for one in found if one.query == "next"]
    assert {(one["n_1"], one["n"]) for one in results} == following  # type: ignore[index,call-overload]


def test_an_address_that_is_written_in_the_query() -> None:
    with Engine() as engine:
        engine.subscribe("S/i->x JOIN {canonical(x) = 'https://a.example/b' AND x != y} T/i->y")
        engine.publish("S", "<i>http://www.a.example/b/?utm_source=x</i>", id="s")
        engine.publish("S", "<i>http://a.example/c</i>", id="t")
        (match,) = engine.publish("T", "<i/>", id="u")
        assert match.documents == ("s", "u")


def test_filters_have_it_not() -> None:
    has = r"`canonical` is not allowed \(a predicate has it, as in `JOIN \{canonical\(x\) = "
    with Engine() as engine, pytest.raises(QueryError, match=has):
        engine.subscribe("S/i[canonical(link) = 'https://a.example/b']")


LINKS = [
    "http://www.a.example/x/?utm_source=r", "https://a.example/x", "https://a.example/y", None,
    "http://a.example/y#top",
]  # fmt: skip
X, Y = "https://a.example/x", "https://a.example/y"
PATTERNS: dict[str, list[tuple[str, object]]] = {
    "SELECT canonical(b.link) AS link FROM EVENT SEQ(S a, S b) WHERE canonical(a.link) = "
    "canonical('http://www.a.example/y/') AND a.link = canonical(b.link)": [("24", {"link": Y})],
    "SELECT a.n FROM PATTERN SEQ(S a, S b) WHERE skip_till_next_match { Canonical(a.link) = b.link"
    " }": [("01", {"n": 0})],
    "SELECT canonical(a.link) AS l, canonical(b[].link) AS m, canonical(b.LEN) AS n, "
    "1 + canonical(a.n) AS o, canonical(sum(b[].n)) AS s FROM PATTERN SEQ(S a, S+ b[]) WHERE "
    "skip_till_any_match { canonical(b[i].link) != canonical(b[i-1].link) AND b.LEN = 2 AND "
    "a.n = 0 }": [
        ("012", {"l": X, "m": [X, Y], "n": "2", "o": 1, "s": "3"}),
        ("014", {"l": X, "m": [X, Y], "n": "2", "o": 1, "s": "5"}),
    ],
    "SELECT b.n FROM EVENT SEQ(S a, !S c, S b) WHERE canonical(c.link) = canonical(a.link) AND "
    "a.n = 0": [("01", {"n": 1})],
    "SELECT b.n FROM EVENT SEQ(S a, S b) WHERE canonical(a.timestamp) = '1' AND canonical(b.link) "
    "< canonical(a.link) ": [],
}  # fmt: skip


@pytest.mark.parametrize("query", PATTERNS)
def test_a_pattern_has_it_wherever_it_has_values(query: str) -> None:
    with Engine() as engine:
        engine.subscribe(query, name="q")
        found = engine.publish_many(
            {"id": str(n), "timestamp": n, "json": {"n": n} | ({"link": link} if link else {})}
            for n, link in enumerate(LINKS)
        )
        found += engine.flush()
        said = sorted(("".join(one.documents), str(one.result)) for one in found)
        assert said == sorted((documents, str(result)) for documents, result in PATTERNS[query])


@pytest.mark.parametrize(
    "text", [" see http://x.example/ ", " mailto://x ", "\n://", " ftp://a/b "]
)
def test_text_that_is_no_address_stays_as_it_is(text: str) -> None:
    assert canonical_url(text) == text
