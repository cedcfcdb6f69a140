"""The funnel: its counts are those of `why` asked of every combination of documents."""

from __future__ import annotations

import json
from itertools import product

import pytest
from hypothesis import HealthCheck, event, given, note

from tests.drawn import drawn
from tests.oracle.as_xscl import xscl_text
from tests.oracle.drawn_documents import documents
from tests.oracle.drawn_queries import queries
from tests.oracle.terms import Document as Drawn
from tests.oracle.terms import Query as DrawnQuery
from tests.oracle.terms import blocks_of
from xscl.documents.document import Document
from xscl.errors import XSCLError
from xscl.language import parse
from xscl.language.syntax import Query
from xscl.why import Funnel, Tally, Why, as_text, funnel, why

SETTINGS = drawn(60, suppress_health_check=list(HealthCheck))
DAY = 86_400_000_000
PROMO = (
    "S//book->b[year > 2000][./author->a][./title->t] "
    "FOLLOWED BY {a = c AND t = u, 7 days} "
    "S//blog[./author->c][./title->u]"
)


def query_of(text: str) -> Query:
    (query,), errors = parse(text)
    assert not errors
    return query


def document(number: int, time: int, xml: str, stream: str = "S") -> Document:
    return Document(number, stream, f"d{number}", time, xml, False)


def book(number: int, time: int, author: str, title: str, year: int = 2006) -> Document:
    inside = f"<author>{author}</author><title>{title}</title><year>{year}</year>"
    return document(number, time, f"<book>{inside}</book>")


def blog(number: int, time: int, author: str, title: str) -> Document:
    inside = f"<author>{author}</author><title>{title}</title>"
    return document(number, time, f"<blog>{inside}</blog>")


# Against `why`.


@given(
    queries("plain", streams=("S",), most=3) | queries("plain", streams=("S",), most=3, easy=True),
    documents("plain"),
)
@SETTINGS
def test_its_counts_are_those_of_why_for_every_combination(
    drawn: DrawnQuery, known: list[Drawn]
) -> None:
    note(xscl_text(drawn))
    query = query_of(xscl_text(drawn))
    published = [
        document(n, round(d.timestamp * 1_000_000), str(d.content), d.stream)
        for n, d in enumerate(known)
    ]
    counted = funnel(query, published)
    read = [[d for d in published if d.stream == block.stream] for block in blocks_of(drawn.source)]
    every = [why(query, chosen) for chosen in product(*read)]
    if all(read):
        agree_on_documents(counted, every)
    for disjunct in range(1, every[0].disjuncts + 1 if every else 1):
        matching = sum(all(f.holds for f in answer.of(disjunct)) for answer in every)
        tallies = [s for s in counted.conditions if s.disjunct in (None, disjunct)]
        assert tallies[-1].passed == matching
        assert not any(tally.capped for tally in tallies)
        if len(read) == 2:
            agree_on_pairs([s for s in tallies if s.pairs], every, disjunct)
        event(f"{len(read)} blocks: {'some' if matching else 'none'}")
    json.dumps(counted.to_dict())
    assert str(counted)


def agree_on_documents(counted: Funnel, every: list[Why]) -> None:
    """The documents that come through each step and filter, and those that fail by one alone."""
    for block in range(1, len(every[0].documents) + 1):
        judged = {
            answer.documents[block - 1]: [
                f.holds
                for f in answer.findings
                if f.block == block and f.kind in ("step", "filter")
            ]
            for answer in every
        }
        tallies = [s for s in counted.conditions if s.block == block and s.kind != "stream"]
        for index, tally in enumerate(tallies):
            assert tally.passed == sum(all(holds[: index + 1]) for holds in judged.values())
            assert tally.alone == sum(
                holds.count(False) == 1 and holds[index] is False for holds in judged.values()
            )


def agree_on_pairs(tallies: list[Tally], every: list[Why], disjunct: int) -> None:
    """The pairs of different documents, those in time, and those that fail by one condition alone.

    Which of several that is depends on their order, so they are counted together.
    """
    pairs = []
    for answer in every:
        findings = answer.of(disjunct)
        before = next(i for i, finding in enumerate(findings) if finding.kind == "documents")
        if all(finding.holds for finding in findings[:before]):
            pairs.append([finding.holds for finding in findings[before:]])
    assert tallies[0].passed == sum(pair[0] is True for pair in pairs)
    assert tallies[1].passed == sum(pair[0] is True and pair[1] is True for pair in pairs)
    if len(tallies) <= 4 and not any(tally.alone_capped for tally in tallies):
        assert sum(s.alone for s in tallies) == sum(pair.count(False) == 1 for pair in pairs)
    assert all(tally.alone >= len(tally.missed) for tally in tallies)


# What people read.


def test_near_misses_are_listed_first() -> None:
    """Of two thousand documents, one pair that fails for the case of an author."""
    books = [book(n, n * DAY // 100, f"Author {n}", f"Title {n}") for n in range(1000)]
    blogs = [
        blog(1000 + n, n * DAY // 100 + 1, f"Author {n}" if n % 2 else f"author {n}", f"Title {n}")
        for n in range(1000)
    ]
    counted = funnel(query_of(PROMO), [*books, *blogs])
    tally = next(s for s in counted.conditions if s.text == "a = c")
    assert (tally.alone, len(tally.missed)) == (500, 20)
    assert {miss.finding.near for miss in tally.missed} == {"but for case"}
    assert tally.missed[0].documents == ("d0", "d1000")
    assert counted.conditions[-1].passed == 500


def test_the_window_that_is_a_day_too_short_shows() -> None:
    late = [blog(100 + n, n * DAY + 8 * DAY, f"A {n}", f"T {n}") for n in range(50)]
    books = [book(n, n * DAY, f"A {n}", f"T {n}") for n in range(50)]
    counted = funnel(query_of(PROMO), [*books, *late])
    tally = next(s for s in counted.conditions if s.kind == "time")
    assert tally.alone == 50
    assert "8 days after" in (tally.missed[0].finding.note or "")
    assert "failed by FOLLOWED BY {7 days} alone" in as_text(counted)


def test_a_filter_that_keeps_all_back_shows() -> None:
    books = [book(n, n, "Ann", "One", year=1990 + n) for n in range(10)]
    counted = funnel(query_of(PROMO), [*books, blog(10, DAY, "Ann", "One")])
    tally = next(s for s in counted.conditions if s.text == "[year > 2000]")
    assert (tally.passed, tally.alone) == (0, 10)


def test_one_value_in_all_documents_is_counted_to_a_bound_and_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("xscl.why.pairs._MOST_PAIRS", 1_000)
    books = [book(n, n, "Ann", "One") for n in range(40)]
    blogs = [blog(40 + n, 40 + n, "Ann", "One") for n in range(40)]
    counted = funnel(query_of(PROMO), [*books, *blogs])
    last = counted.conditions[-1]
    assert last.capped
    assert 0 < last.passed <= 1_600
    assert "≥" in as_text(counted)


def test_a_chain_is_counted_operator_by_operator() -> None:
    text = "S//a->x FOLLOWED BY {x = y, 1 h} S//b->y FOLLOWED BY {y = z, 1 h} S//c->z"
    hour = 3_600_000_000
    published = [
        document(n, n * hour // 2, f"<{name}>{value}</{name}>")
        for n, (name, value) in enumerate(
            [("a", "1"), ("b", "1"), ("c", "1"), ("a", "2"), ("b", "2"), ("c", "3")]
        )
    ]
    tallies = [(s.text, s.passed) for s in funnel(query_of(text), published).conditions if s.pairs]
    assert [passed for _, passed in tallies] == [4, 2, 2, 4, 2, 1]


def test_a_group_must_come_later_as_a_whole() -> None:
    """Its earliest document after what it follows, its latest within the window."""
    text = "S//a->x FOLLOWED BY {x = y, 1 h} (S//b->y JOIN {y = z} S//c->z)"
    hour = 3_600_000_000
    times = {"a": [2, 3, 4], "b": [3, 5], "c": [5, 6]}
    published = [
        document(number, time * hour // 2, f"<{name}>1</{name}>")
        for number, (name, time) in enumerate((n, t) for n, some in times.items() for t in some)
    ]
    tallies = [(s.text, s.passed) for s in funnel(query_of(text), published).conditions if s.pairs]
    # Of b and c at (3, 5), (3, 6), (5, 5), (5, 6) half hours, which a at 2, 3, 4 come before?
    assert [passed for _, passed in tallies] == [4, 4, 4, 12, 3, 3]


def test_what_is_not_found_by_value_is_a_lower_bound() -> None:
    """A pair that fails by the only equality alone is found where its values are near."""
    text = (
        "S//book[./author->a][./title->t] JOIN {a = c AND t != u} S//blog[./author->c][./title->u]"
    )
    published = [
        *(book(n, n, author, "One") for n, author in enumerate(["Ann", "Ben", "Cy"])),
        *(blog(3 + n, n, author, "Two") for n, author in enumerate(["ann", "Ben", "Di"])),
    ]
    tally = next(s for s in funnel(query_of(text), published).conditions if s.text == "a = c")
    assert (tally.passed, tally.alone, tally.alone_capped) == (1, 1, True)
    assert tally.missed[0].documents == ("d0", "d3")


def test_the_results_of_a_sub_query_are_asked_for() -> None:
    query = query_of("S//a->x FOLLOWED BY {x = y, 1 h} (SELECT k FROM S//c->k)//k->y")
    one = document(0, 0, "<a>1</a>")
    with pytest.raises(XSCLError, match="sub-quer"):
        funnel(query, [one])
    result = document(1, 1, "<result><k>1</k></result>", "results")
    assert funnel(query, [one], [[result]]).conditions[-1].passed == 1
