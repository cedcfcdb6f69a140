"""Numbers in filters: a constant is the number that its digits are in a document, whatever way a
filter is evaluated."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

import xscl
from tests.drawn import drawn

WAYS: dict[str, Callable[[str, str, str], str]] = {
    "shared": lambda a, sign, c: f"S/r[{a} {sign} {c}]",
    "published": lambda a, sign, c: f"S/r[{a} {sign} {c}] PUBLISH p",
    "a call": lambda a, sign, c: f"S/r[number({a}) {sign} {c}]",
    "a half of it": lambda a, sign, c: f"S/r[{a} {sign} {c} and {a} {sign} {c}] UNION S/none",
    "in a pattern": lambda a, sign, c: f"EVENT SEQ(S/r[{a} {sign} {c}] x)",
    "in an event query": lambda a, sign, c: f"FILTER{{n > 0}}(S/r[{a} {sign} {c}])",
}

decimals = st.builds(
    lambda n, places: f"{n / 10**places:.{places}f}", st.integers(0, 99_999), st.integers(0, 6)
)


@drawn(120)
@given(st.lists(decimals, min_size=1, max_size=4), st.sampled_from(["=", "!=", "<", ">="]))
def test_a_constant_is_the_number_of_its_digits(texts: list[str], sign: str) -> None:
    """As libxml2 reads the expression; it need not round as Python does."""
    documents = [f"<r><a>{text}</a><n>1</n></r>" for text in texts]
    with xscl.Engine() as engine:
        for number, constant in enumerate(texts):
            for way, text in WAYS.items():
                engine.subscribe(text("a", sign, constant), f"{way} {number}")
            engine.subscribe(
                f"S/r[a {sign} :c]", f"parameter {number}", params={"c": float(constant)}
            )
        found = set[tuple[str, str]]()
        for number, document in enumerate(documents):
            for match in engine.publish("S", document, id=f"d{number}", timestamp=number):
                found.add((match.query, match.documents[0]))
        for match in engine.flush():
            found.add((match.query, match.documents[0]))
        for number, constant in enumerate(texts):
            expected = {
                f"d{place}"
                for place, document in enumerate(documents)
                if etree.XPath(f"a {sign} {constant}")(etree.fromstring(document))
            }
            for way in (*WAYS, "parameter"):
                own = {id for query, id in found if query == f"{way} {number}"}
                assert own == expected, (way, constant, texts)


@pytest.mark.parametrize("number", ["1.57", "1.14", "2.78", "0.000000000123456789", "1e-7", "12"])
@pytest.mark.parametrize("query", ["S/json[a = {}]", "S/json[a = {}] PUBLISH p", "S/json[a >= {}]"])
def test_a_number_of_json_is_itself(query: str, number: str) -> None:
    constant = f"{float(number):.18f}".rstrip("0") if "e" in number else number
    with xscl.Engine() as engine:
        engine.subscribe(query.format(constant), "q")
        later = engine.publish_many(
            [{"stream": "S", "id": str(n), "json": json.loads(f'{{"a": {number}}}')} for n in "ab"]
        )
        assert [one.query for one in later] == ["q", "q"]
