"""The law of printing: what is printed of an EQL query parses to the same tree."""

from __future__ import annotations

import itertools
import json
import re

from hypothesis import given
from hypothesis import strategies as st

from tests.drawn import drawn
from tests.shared import SHARED, needs
from xscl.language import parse
from xscl.language.eql.unparse import CompositionWording
from xscl.language.same_query import bare
from xscl.language.syntax import Composition, Query

RELATIONS = st.sampled_from(["=", "==", "!=", "<>", "≠", "<", "<=", "≤", ">", ">=", "≥"])
LENGTHS = st.sampled_from(["5", "10min", "1.5 h", "52 weeks", "0.000001 s", ":w days", "3 msec"])
ATTRIBUTES = st.sampled_from(
    ["x", "a-b", "a/b/@c", "@lang", "'my x'/b", "'it''s'", "timestamp", "é/'2'", "x/'y'"]
)
FIELDS = ATTRIBUTES.flatmap(
    lambda name: st.sampled_from([f"V.{name}", f"PREV(V.{name})", f"all( V.{name} )"])
)
CONSTANTS = st.sampled_from(["0", "1.05", ".5", "'it''s'", '"2"', ":p"])


def joined(parts: st.SearchStrategy[str], *signs: str) -> st.SearchStrategy[str]:
    return st.tuples(parts, st.sampled_from(signs), parts).map(" ".join)


VALUES = st.recursive(
    FIELDS | CONSTANTS,
    lambda inner: (
        joined(inner, "+", "-", "*", "/").map("( {} )".format)
        | joined(inner, "+", "-", "*", "/")
        | inner.map("- {}".format)
    ),
    max_leaves=4,
)
ATOMS = (
    # Some variable is in each.
    st.tuples(st.just("V.x + "), VALUES, RELATIONS, VALUES).map(" ".join)
    | st.tuples(st.just("- V.x"), RELATIONS, VALUES).map(" ".join)
    | st.tuples(FIELDS, st.sampled_from(["'a''b'", ":s"])).map(" CONTAINS ".join)
    | LENGTHS.map("(V, V) OCCURS WITHIN {}".format)
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
QUALIFICATIONS = st.lists(CONDITIONS | CONDITIONS.map("FILTER ( {} )".format), max_size=3)
# An event has its number in the place of `#`.
EVENTS = st.sampled_from(
    [
        *("t V#", "t AS V#", "'my stream' V#", "t//a->x[. > 3]/b V#", "t/'my item'[c = 'd'] AS V#"),
        *("S#", "(SELECT A.x FROM (t A; u B) WHERE A.y = 1)/p V#", "(t A+)//p AS V#"),
    ]
)
PATTERNS = st.recursive(
    EVENTS,
    lambda inner: (
        joined(inner, ";", "|", "\\").map("( {} )".format)
        | st.lists(inner, min_size=2, max_size=4).map(" ; ".join).map("( {} )".format)
        | inner.map("({})+".format)
        | inner.map("({})".format)
        | st.tuples(inner, inner, inner).map("({0[0]}; {0[1]} | {0[2]})".format)
    ),
    max_leaves=6,
)
ITEMS = st.lists(
    st.sampled_from(["V", "V.x AS y", "PREV(V.x)", "V.a-b", "2 * V.x + 1 AS n", "V.x AS dc:x"]),
    max_size=3,
)


def says_what_it_prints(query: Query) -> None:
    text = CompositionWording(query.text).query(query)
    [again], errors = parse(text)
    assert not errors, (text, errors[0])
    assert bare(again) == bare(query), text


@needs("conformance")
def test_of_the_shared_cases() -> None:
    with (SHARED / "conformance" / "pattern-eql.jsonl").open(encoding="utf-8") as lines:
        for line in lines:
            for query in parse(json.loads(line)["queries"])[0]:
                assert isinstance(query.source, Composition)
                says_what_it_prints(query)


@drawn(150)
@given(PATTERNS, QUALIFICATIONS, ITEMS)
def test_of_drawn_queries(pattern: str, qualifications: list[str], items: list[str]) -> None:
    text = f"SELECT {', '.join(items) or '*'} FROM (t V; {numbered(pattern)})"
    text += f" WHERE {', '.join(qualifications)}" if qualifications else ""
    [query], errors = parse(f"{text} CONSISTENCY middle(5 min) PUBLISH out")
    assert not errors, (text, errors[0])
    says_what_it_prints(query)


def numbered(pattern: str) -> str:
    """Each event with a number of its own."""
    number = itertools.count(1)
    return re.sub("#", lambda _: str(next(number)), pattern)
