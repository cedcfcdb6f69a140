"""Documents of one structure are walked once: what they leave is what each would leave alone."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from itertools import product

from hypothesis import event, given
from hypothesis import strategies as st

from tests.drawn import drawn
from tests.xpath_stage.drawing import AFTER, BEFORE, Oracle, Stage, documents, spines
from tests.xpath_stage.test_evaluator import check, spine
from xscl.xpath_stage import (
    Filter,
    Spine,
    Step,
    Strings,
    Witnesses,
    XPathEvaluator,
    evaluate_text,
)
from xscl.xpath_stage.structures import Decision

_TEXT = re.compile(r">([^<>]+)<")

TEXTS = ["1", "2", " 2 ", "10", "x", "é"]

COMPARED = ["b = '1'", "a != '2'", "b > 1", "a <= 1", ". >= 2", ". = 'x'", "c = 10"]


def retold(text: str, number: int) -> str:
    """A document of the same structure, with other texts."""
    return _TEXT.sub(lambda found: f">{found[1].strip() and number}<", text)


@given(
    st.lists(spines(), min_size=1, max_size=5),
    st.lists(spines(), min_size=1, max_size=2),
    st.lists(documents, min_size=1, max_size=3),
)
@drawn(80)
def test_the_next_of_a_structure_is_like_one_that_comes_alone(
    asked: list[Spine], later: list[Spine], texts: list[str]
) -> None:
    stage = Stage()
    found = 0
    for known in (asked, [*asked, *later], later):
        for number in range(3):
            found += sum(check(stage, known, retold(text, number)) for text in texts)
    event("witnesses" if found else "none")


compared = st.builds(
    lambda name, condition: Spine("S", (Step("descendant", name, (Filter(condition),)),), (0,), ()),
    st.sampled_from("abr*"),
    st.sampled_from(COMPARED),
)


@given(
    st.lists(compared | spines(), min_size=1, max_size=4),
    st.lists(compared, min_size=1, max_size=2),
    documents.map(lambda text: f"<r><a>1</a>{text[len(BEFORE) : -len(AFTER)]}<b>1</b></r>"),
    st.randoms(use_true_random=False),
)
@drawn(150)
def test_filters_see_the_texts_of_each_document(
    asked: list[Spine], later: list[Spine], text: str, dice: random.Random
) -> None:
    """Of many documents of one structure, whatever filters hold of: libxml2 is asked of each."""
    stage = Stage()
    for known in (asked, [*asked, *later]):
        for _ in range(8):
            others = _TEXT.sub(lambda found: f">{found[1].strip() and dice.choice(TEXTS)}<", text)
            check(stage, known, others)
    met = stage.evaluator.paths.structures["S"].values()
    event("decided" if any(isinstance(one, Decision) for one in met) else "not decided")


def test_the_texts_of_the_next_document_are_its_own() -> None:
    evaluator = XPathEvaluator(strings := Strings())
    evaluator.register(spine("/r/a/b"))
    found = Witnesses()
    for number, text in enumerate(["one", "", "three"]):
        evaluate_text(evaluator, "S", f"<r><a><b>{text}</b></a><a/></r>", number, found)
    values = {number: value for value, number in strings.numbers.items()}
    assert [values[string] for *_, string, _ in found.rows() if string is not None] == [
        "one",
        "",
        "three",
    ]
    assert len({id(layout) for _, layout, _ in found.left}) == 1


def forests(names: str) -> Iterator[str]:
    """All ways in which elements of these names, in this order, can be nested."""
    if not names:
        yield ""
    for size in range(len(names)):
        for below, beside in product(forests(names[1 : 1 + size]), forests(names[1 + size :])):
            yield f"<{names[0]}>{below or size}</{names[0]}>{beside}"


def test_names_in_one_order_are_not_one_structure() -> None:
    """All forty-two documents of the same names in the same order, in three orders, so that each
    comes after others of its names."""
    stage = Stage()
    asked = [spine("/r/a"), spine("/r/a/b"), spine("//b//a"), spine("//b/b")]
    documents = [f"<r>{forest}</r>" for forest in forests("abbab")]
    assert len({*documents}) == 42
    for text in (*documents, *reversed(documents), *documents):
        for one, found in zip(asked, stage.tuples(asked, text), strict=True):
            assert dict(found) == Oracle(text).tuples(one), text


def test_what_is_not_of_the_names_alone_is_looked_at_each_time() -> None:
    """Attributes, mixed text, and a comment within a leaf's text."""
    stage = Stage()
    asked = [spine("/r/@k"), spine("/r/a"), spine("/r/a/b")]
    for text in (
        "<r k='1'><a>x<b>y</b></a></r>",
        "<r><a>x<b>y</b>z</a></r>",
        "<r k='2'><a>x<b>1<!--c-->2</b></a></r>",
        "<r k='2'><a>x<b>3<!--c-->4</b></a></r>",
    ):
        for one, found in zip(asked, stage.tuples(asked, text), strict=True):
            assert dict(found) == Oracle(text).tuples(one)
