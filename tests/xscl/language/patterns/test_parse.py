"""EVENT and PATTERN as text: what the papers and the shared cases print is read, spellings are one
query, and what is no pattern stays what it was."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.shared import SHARED, needs
from xscl.language import parse
from xscl.language.same_query import normal_form
from xscl.language.syntax import Block, EventPattern, Join, Query, Selected, SubQuery
from xscl.language.walk import operands

CASES = SHARED / "conformance" / "pattern-sase.jsonl"
SASE = SHARED / "data" / "event-streams" / "sase"


def good(text: str) -> Query:
    [query], errors = parse(text)
    assert not errors, errors[0]
    return query


def pattern(text: str) -> EventPattern:
    source = good(text).source
    assert isinstance(source, EventPattern)
    return source


@needs("conformance")
def test_the_shared_cases_are_read() -> None:
    with CASES.open(encoding="utf-8") as lines:
        for line in lines:
            case = json.loads(line)
            queries, errors = parse(case["queries"])
            assert not errors, f"{case['case']}: {errors[0]}"
            assert all(isinstance(query.source, EventPattern) for query in queries)


@pytest.mark.parametrize("file", sorted(SASE.rglob("*.query")), ids=lambda file: file.stem)
def test_the_queries_of_sase_1_0_are_read(file: Path) -> None:
    pattern(file.read_text(encoding="utf-8"))


PLAIN = (
    "PATTERN SEQ(A a, !B b, C+ c[]) WHERE skip_till_any_match {[x] AND [y] AND a.p != 0.8 * b.q "
    "AND (c[1].p <= 2 OR c[c.LEN].p = 3)} WITHIN 60 OUTPUT NON OVERLAPPING CONSISTENCY weak"
)
SPELLINGS = [
    PLAIN.lower().replace("seq(a a, !b b, c+ c[])", "SEQ(A a, !B b, C+ c[])"),
    PLAIN.replace("AND", "∧").replace("OR", "∨").replace("!=", "≠").replace("<=", "≤"),
    PLAIN.replace("!=", "<>")
    .replace("c[1].p <= 2 OR", "2 >= c[1].p OR")
    .replace("2 >= c[1].p", "c[1].p<=2"),
    PLAIN.replace("[x] AND [y]", "[x, y]").replace("= 3", "== 3").replace("!B b", "~(B b)"),
    PLAIN.replace("SEQ", "").replace("c[]", "c").replace("C+", "'C' +").replace("60", "1min"),
    PLAIN.replace("_", "-")
    .replace(" {", " AND ")
    .replace("}", "")
    .replace("(c[1]", "((c[1]")
    .replace("= 3)", "= 3))"),
    PLAIN.replace(" a.p", " /* it's; [ */ -- {'\n a.p (: ' :)").replace("c.LEN", " c . len"),
    PLAIN.replace("match {", "match(a, c[]) {").replace("a.p", "$a.'p'").replace("b.q", 'b."q"'),
]


@pytest.mark.parametrize("number", range(len(SPELLINGS)))
def test_spellings_are_one_pattern(number: int) -> None:
    assert _shape(pattern(SPELLINGS[number])) == _shape(pattern(PLAIN))


def test_a_name_may_end_in_primes_wherever_it_is_read() -> None:
    primed = PLAIN.replace("C+ c", "C+ c''").replace("c[", "c''[").replace("c.LEN", "c''.LEN")
    primed = primed.replace("c''''", "c''")
    assert repr(_shape(pattern(primed))).replace("c''", "c").replace('"c"', "'c'") == repr(
        _shape(pattern(PLAIN))
    )


def _shape(source: EventPattern) -> object:
    from xscl.patterns.compile import compile_pattern

    text = Query("q", None, source, "", 0, None)
    compiled = compile_pattern(text)
    streams = [[block.stream.text for block in some] for some in compiled.blocks]
    return compiled.pattern, compiled.constants, streams


@pytest.mark.parametrize(
    "text",
    [
        "EVENT",
        "PATTERN//item",
        "EVENT PUBLISH p",
        "SELECT * FROM EVENT",
        "(EVENT)/a->x JOIN {x = y} S//b->y",
        "EVENT FOLLOWED BY {1 day} PATTERN",
        "event join {} pattern",
    ],
)
def test_streams_may_have_the_names_of_patterns(text: str) -> None:
    query = good(text)
    assert not isinstance(query.source, EventPattern)
    inner = [one.query.source for one in operands(query.source) if isinstance(one, SubQuery)]
    assert all(isinstance(source, Block) for source in inner)


def test_a_pattern_in_a_sub_query_and_alone() -> None:
    inner = "SELECT a.publish AS w FROM EVENT SEQ(A a, B b) WHERE a.publish = 'x)' PUBLISH p"
    assert good(inner).publish is not None
    query = good(f"({inner})//w->u JOIN {{u = v}} (EVENT A)/x->v")
    assert isinstance(query.source, Join)
    for side in (query.source.left, query.source.right):
        assert isinstance(side, SubQuery)
        assert isinstance(side.query.source, EventPattern)
    assert pattern("( EVENT A a )") == pattern("  EVENT A a")


def test_the_statements_around_a_pattern_are_found() -> None:
    text = """-- name: one
    EVENT SEQ(A a, B b) WHERE a.'k;l' = 'it''s; here' /* and; don't */ WITHIN 5; -- of one
    -- name: two
    S//a[b = ';']"""
    queries, errors = parse(text)
    assert not errors
    assert [query.name for query in queries] == ["one", "two"]


@pytest.mark.parametrize(
    "select",
    [
        "a.x, b[].y AS ys, avg(b[].y), b.LEN, a.x + 2 * b[1].y / 3 AS sum, a, b[], a.'dc x'",
        "<r k='{a.x}' l=\"{b[].y}\">{b[]}{string(avg(b[].y))}{a.'dc x'}{ a.x - 1 } }}</r>",
        '{"a": a.x, "b": [b[].y, "c"], "d": -b.LEN, "e": (a.x + 1) / 2, "f": 2 * a.x, "g": :p * 2,'
        ' "h": a.\'dc x\', "i": {"j": count(b[])}, "k": -1, "l": a.x % 3}',
    ],
)
def test_what_is_selected_of_matches(select: str) -> None:
    query = good(f"SELECT {select} FROM PATTERN SEQ(A a, B+ b[]) WHERE a.x > 1")
    assert "Selected(" in repr(query.select)
    starred = good("SELECT * FROM PATTERN SEQ(A a, B+ b[]) WHERE a.x > 1")
    assert starred.source == pattern(" " * 14 + "PATTERN SEQ(A a, B+ b[]) WHERE a.x > 1")
    assert starred.select is None


def test_constants_alone_distinguish_queries() -> None:
    one, other, another = (
        good(f"EVENT A a WHERE {condition}")
        for condition in ("a.x = 1", "a.x = 1.0 -- one", "a.x = '1'")
    )
    assert normal_form(one) == normal_form(other) != normal_form(another)
    assert isinstance(good("SELECT a.x FROM EVENT A a").select[0].path, Selected)  # type: ignore[index]


@pytest.mark.parametrize("publishing", ["", " PUBLISH and", " publish publish", " PUBLISH within"])
def test_publish_may_be_an_attribute_and_any_word_a_stream(publishing: str) -> None:
    query = good(f"EVENT A WHERE publish = 1 AND 2 < publish AND publish/publish = 'x'{publishing}")
    assert (query.publish is not None) == bool(publishing)
    assert query.publish is None or query.publish.text == publishing.split()[-1]


@pytest.mark.parametrize("text", ["PATTERN A+", "PATTERN SEQ(A, B+)", "EVENT A WHERE p = 50%"])
def test_publish_may_follow_a_sign(text: str) -> None:
    assert good(f"{text} PUBLISH p").publish is not None
