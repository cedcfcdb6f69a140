"""The law of printing: what is printed of an event query parses to the same tree."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from tests.drawn import drawn
from tests.shared import SHARED, needs
from xscl.language import parse
from xscl.language.events.unparse import EventWording
from xscl.language.same_query import bare
from xscl.language.syntax import Events, Query

NAMES = st.sampled_from(["x", "Price_1", "x'", "$1.x", "$2.y", "$.'a-b'", "$.'it''s'", "AVG", "é"])
NUMBERS = st.sampled_from(["0", "1.05", ".5", "80%", "'it''s'", '"2"', ":p"])
RELATIONS = st.sampled_from(["=", "==", "!=", "<>", "≠", "<", "<=", "≤", ">", ">=", "≥"])
LENGTHS = st.sampled_from(["5", "10min", "1.5 h", "52 weeks", "0.000001 s", ":w days", "3 ms"])


def joined(parts: st.SearchStrategy[str], *signs: str) -> st.SearchStrategy[str]:
    return st.tuples(parts, st.sampled_from(signs), parts).map(" ".join)


VALUES = st.recursive(
    NAMES | NUMBERS,
    lambda inner: (
        joined(inner, "+", "-", "*", "/").map("( {} )".format)
        | joined(inner, "+", "-", "*", "/")
        | inner.map("- {}".format)
        | inner.map("string-length( {})".format)
        | st.tuples(inner, inner).map("max( {0[0]}, {0[1]})".format)
    ),
    max_leaves=5,
)
ATOMS = (
    st.tuples(VALUES, RELATIONS, VALUES).map(" ".join)
    | st.tuples(st.sampled_from(["DUR", "$1.DUR"]), RELATIONS, LENGTHS).map(" ".join)
    | st.tuples(LENGTHS, RELATIONS, st.just("DUR")).map(" ".join)
    | st.sampled_from(["TRUE", "FALSE", "contains($1.x, 'a')", "matches(x, '^a')"])
)
CONDITIONS = st.recursive(
    ATOMS,
    lambda inner: (
        joined(inner, "AND", "OR", "∧", "∨")
        | joined(inner, "AND", "OR").map("( {} )".format)
        | inner.map("NOT {}".format)
        | inner.map("NOT ( {} )".format)
    ),
    max_leaves=4,
)
SLOTS = st.just("") | CONDITIONS
FOLDS = (
    st.just("FOLD")
    | SLOTS.map("FOLD{{ {} }}".format)
    | st.tuples(SLOTS, SLOTS, VALUES).map("FOLD{{ {0[0]}, {0[1]}, {0[2]} AS n, 1 AS m}}".format)
)
NEXTS = st.just("NEXT") | SLOTS.map("NEXT{{ {} }}".format)
BLOCKS = st.sampled_from(["S", "T-1.b", "'my stream'", "S//a->x[. > 3]/b"])
# `*` alone over a block with a path is of another language.
ITEMS = st.lists(VALUES.map("{} AS n".format) | st.sampled_from(["*, a", "Name"]), min_size=1)
EXPRESSIONS = st.recursive(
    BLOCKS,
    lambda inner: (
        st.tuples(SLOTS, inner).map("FILTER{{ {0[0]} }}({0[1]})".format)
        | st.tuples(inner, NEXTS | FOLDS | st.just("UNION"), inner).map(" ".join)
        | inner.map("({})".format)
        | st.tuples(ITEMS.map(", ".join), inner).map("(SELECT {0[0]} FROM {0[1]})".format)
        | inner.map("(SELECT * FROM FILTER{{}}({}) PUBLISH p)".format)
        | inner.map("(SELECT COUNT(*) AS n, x FROM WINDOW{{3 s}}({}) GROUP BY x, y)".format)
    ),
    max_leaves=5,
)


def says_what_it_prints(query: Query, declared: str = "") -> None:
    text = EventWording(query.text).query(query)
    [again], errors = parse(f"{declared}{text}")
    assert not errors, (text, errors[0])
    assert bare(again) == bare(query), text


@needs("conformance")
def test_of_the_shared_cases() -> None:
    with (SHARED / "conformance" / "pattern-cel.jsonl").open(encoding="utf-8") as lines:
        for line in list(lines)[::2]:
            text = json.loads(line)["queries"]
            declared = "".join(
                f"{part};" for part in text.split(";") if part.strip().startswith("DECLARE")
            )
            for query in parse(text)[0]:
                if isinstance(query.source, Events):
                    says_what_it_prints(query, declared)


@drawn(60)
@given(EXPRESSIONS)
def test_of_drawn_queries(expression: str) -> None:
    queries, errors = parse(f"FILTER{{TRUE}}({expression}) CONSISTENCY weak PUBLISH out")
    assert not errors, errors[0]
    for query in queries:
        says_what_it_prints(query)
