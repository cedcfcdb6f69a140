"""What is known of documents never changes what another one leaves, or that it is refused.

A text is cut at its brackets, and a JSON value at its keys: one that looks like a document that was
read is not parsed.  So nearly equal texts are drawn, and each is evaluated twice: where others were
before it, and alone.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import event, example, given
from hypothesis import strategies as st

from tests.drawn import drawn
from tests.xpath_stage.parsing.test_json_documents import VALUES
from tests.xpath_stage.test_evaluator import spine
from xscl.xpath_stage import (
    Filter,
    MalformedDocument,
    Spine,
    Step,
    Strings,
    Witnesses,
    XPathEvaluator,
    evaluate_json,
    evaluate_text,
    evaluate_value,
)

ASKED = [
    spine("//a"),
    spine("//b/a"),
    spine("//item"),
    spine("//@k"),
    spine("/r/@m"),
    spine("//{*}c"),
    Spine("S", (Step("descendant", "a"),), (0,), ("number",)),
    Spine("S", (Step("child", "r"), Step("descendant", "*")), (0, 1), ("lower-case",)),
]
FEW = ASKED[:1]
FILTERED = [
    [Spine("S", (Step("descendant", "a", (Filter(condition),)),), (0,), ())]
    for condition in (". = '1'", "string-length(.) = 1")
]

DOCUMENTS = [
    "<r><a>x</a><b><a>y</a></b></r>",
    '<r m="1"><a k="x">x</a><b k="y" m="z"><a/></b>\n</r>\n',
    '<?xml version="1.0"?>\n<r><a>x</a>y<b/></r>',
    '<r xmlns="u" xmlns:p="v" m="1"><c p:k="2" k="3">x</c><p:a/></r>',
    "<r>x<b>y<a>z</a></b>w</r>",
]
PIECES = [*"<>&\"'/=!?;x \n\t\r\0\ufffe\ud800é7", "&amp;", "&lt;", "&#65;", "]]>", "<!--", "-->"]
PIECES += [
    'k="1"',
    "<a>",
    "</a>",
    "<a/>",
    "xmlns",
    "xmlns:p=",
    "xml:id",
    "<![CDATA[",
    "\ufeff",
    "X",
]

MADE = {
    "in a text": ("<r><a>{}</a></r>", PIECES),
    "in a value": ('<r><a k="{}">x</a></r>', PIECES),
    "in a tag": ("<r><a{}>x</a></r>", PIECES),
    "before": ("{}<r><a>x</a></r>", PIECES),
    "after": ("<r><a>x</a></r>{}", PIECES),
    "in a declaration": ('<?xml version="1.{}"?><r/>', PIECES),
    "after one": ('<?xml version="1.0"?>{}<r/>', PIECES),
    "a namespace": ('<r xmlns="{}"><c>x</c></r>', PIECES),
}


def left(evaluator: XPathEvaluator, body: Any, *, by: Any = evaluate_text) -> Any:
    """The rows of a body, with their strings, or why it is refused."""
    found = Witnesses()
    try:
        by(evaluator, "S", body, 1, found)
    except MalformedDocument as error:
        assert not found.left
        return str(error)
    values = {number: value for value, number in evaluator.strings.numbers.items()}
    return [
        (evaluator.attribute_name(node), node % (1 << 32), value and values.get(value, "NaN"))
        for _, node, _, value, _ in found.rows()
    ]


def evaluator_of(asked: list[Spine]) -> XPathEvaluator:
    evaluator = XPathEvaluator(Strings())
    for one in asked:
        evaluator.register(one)
    return evaluator


@st.composite
def nearly(draw: st.DrawFn, documents: list[str], pieces: list[str]) -> str:
    """A document of those, some pieces of it gone or others between."""
    text = draw(st.sampled_from(documents))
    for _ in range(draw(st.integers(0, 2))):
        begin = draw(st.integers(0, len(text)))
        end = min(len(text), begin + draw(st.integers(0, 3)))
        text = text[:begin] + draw(st.sampled_from(["", *pieces])) + text[end:]
    return text


@given(
    st.sampled_from([FEW, ASKED, *FILTERED]),
    st.lists(nearly(DOCUMENTS, PIECES), min_size=1, max_size=6),
    st.booleans(),
)
@drawn(80)
def test_a_text_is_read_as_if_it_came_alone(
    asked: list[Spine], texts: list[str], encoded: bool
) -> None:
    evaluator = evaluator_of(asked)
    for text in (*DOCUMENTS, *DOCUMENTS, *texts, *texts, *texts):
        body = text.encode("utf-8", "surrogatepass") if encoded else text
        alone = left(evaluator_of(asked), body)
        event("refused" if isinstance(alone, str) else "read")
        assert left(evaluator, body) == alone


@pytest.mark.parametrize(("form", "pieces"), MADE.values(), ids=MADE)
def test_no_piece_passes_for_another(form: str, pieces: list[str]) -> None:
    for asked in (FEW, ASKED, *FILTERED):
        evaluator = evaluator_of(asked)
        texts = [form.format(piece) for piece in ("1", "", *pieces)]
        for text in (*texts[:2], *texts, *texts):
            assert left(evaluator, text) == left(evaluator_of(asked), text), text


LATIN = '<?xml version="1.0" encoding="latin1"?><a>é</a>'


@pytest.mark.parametrize(
    ("known", "next_one"),
    [
        ("<a>x<b>y</b></a>", "<a>x>b<y</b></a>"),
        ('<a k="">x</a>', "<a k>x<>x</a>"),
        ("<a k='=\"\"'/>", "<a k='=\"v' c='w\"'/>"),
        ('<a x= "=" y="2"/>', '<a x= "=" !!!="2"/>'),
        ('<?xml version="1.0"?><a>x</a>', '<?xml version="1.0"?a><>x</a>'),
        ('<?xml version="1.0"?><a>x</a>', '<?xml version="1.0"?>x<a>x</a>'),
        ('<r xmlns:p="u"><p:c/></r>', '<r xmlns:p=""><p:c/></r>'),
        ('<r xml:id="a"><a xml:id="b"/></r>', '<r xml:id="a"><a xml:id="a"/></r>'),
        ("<r><a>x</a></r>", "<r><a>x</a></r>".encode("utf-16")),
        (LATIN, LATIN),
        (LATIN, LATIN.encode()),
        ("<r><a>x</a></r>", b"<r><a>\xff</a></r>"),
    ],
)
def test_what_looks_similar_is_not(known: str, next_one: str | bytes) -> None:
    evaluator = evaluator_of(ASKED)
    assert left(evaluator, known) == left(evaluator, known) == left(evaluator, known)
    assert left(evaluator, next_one) == left(evaluator_of(ASKED), next_one)


def test_a_document_that_is_built_like_another_is_not_parsed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Also with entities, other values of attributes, texts above elements, and functions."""
    evaluator = evaluator_of(ASKED)
    first = '<r xmlns="u" m="1">t<a k="x">x</a> <b k="y" m="z"><a/></b>\n</r>\n'
    other = '<r xmlns="u" m="&lt;2\n">&amp;lt;<a k="&amp;">7 </a> <b k="" m=""><a/></b></r>'
    json_first, json_other = [{"r": {"a": [text, 7]}, "item": None} for text in ("x", "<\r&")]
    for _ in range(2):
        left(evaluator, first)
        left(evaluator, json_first, by=evaluate_value)
    alone = [
        left(evaluator_of(ASKED), other),
        left(evaluator_of(ASKED), json_other, by=evaluate_value),
    ]
    monkeypatch.delattr("xscl.xpath_stage.bodies.parse")
    monkeypatch.delattr("xscl.xpath_stage.bodies.json_tree")
    assert [left(evaluator, other), left(evaluator, json_other, by=evaluate_value)] == alone


ODD = st.sampled_from(
    ["\0", "\ufffe", "\ud800", "\r", 1.5, float("inf"), 10**400, {1: "x"}, ("a",)]
)


@given(
    st.lists(
        st.dictionaries(st.sampled_from(["r", "a", "b", "item"]), VALUES | ODD, max_size=3),
        min_size=1,
        max_size=4,
    )
)
@example([{"a": "x"}, {"a": 7}, {"a": None}, {"a": True}, {"a": {}}, {"a": []}, {"a": [[]]}])
@example([{"a": ["x", "y"]}, {"a": ["x"]}, {"a": [["x"]]}, {"a": {"a": "x"}}])
@drawn(60)
def test_a_value_is_read_as_if_it_came_alone(values: list[Any]) -> None:
    evaluator = evaluator_of(ASKED)
    for value in (*values, *values, *values):
        alone = left(evaluator_of(ASKED), value, by=evaluate_value)
        assert left(evaluator, value, by=evaluate_value) == alone
        assert left(evaluator, [value], by=evaluate_value) == left(
            evaluator_of(ASKED), [value], by=evaluate_value
        )


TEXTS_OF_JSON = [
    '{"a": "x", "item": "y"}',
    '{"r": {"a": [7, -0, 1.50, true, null, "x"], "b": {"a": {}}}, "item": "z"}',
    '{"a":"x","b":"y"}',
    '{"a": {}, "b": "x"}',
    '["x", ["y"], 1e5]',
    '"x"',
    "7",
]
PIECES_OF_JSON = [*'{}[]",:\\ \n\t\0é7-+.eE', "\ufffe", "\ud800", "\\u0041", "null", "NaN", "1e999"]
PIECES_OF_JSON += [
    "9" * 19,
    "-" + "9" * 20,
    '"a"',
    '"a":',
    '"b": "x", ',
    '{"a": "x"}',
    "01",
    "true",
    "9" * 5000,
]


@given(
    st.sampled_from([FEW, ASKED, *FILTERED]),
    st.lists(nearly(TEXTS_OF_JSON, PIECES_OF_JSON), min_size=1, max_size=6),
)
@example(ASKED, ['{"a": {}, "b": "x", "a": "x"}', '{"a": {}, "b": "y", "a": "x"}'])
@example(FEW, ['{"a": "x", "a": "x"}', '{"a": "x", "a": "y"}', '{"a": \0}'])
@drawn(80)
def test_a_text_of_json_is_read_as_the_value_that_it_says(
    asked: list[Spine], texts: list[str]
) -> None:
    evaluator = evaluator_of(asked)
    for text in (*TEXTS_OF_JSON, *TEXTS_OF_JSON, *texts, *texts, *texts):
        body = text.encode("utf-8", "surrogatepass")
        try:
            value = json.loads(body)
        except ValueError:
            alone = left(evaluator_of(asked), body, by=evaluate_json)
            assert "it is no JSON" in alone
        else:
            alone = left(evaluator_of(asked), value, by=evaluate_value)
        event("refused" if isinstance(alone, str) else "read")
        assert left(evaluator, body, by=evaluate_json) == alone


def test_a_text_of_json_that_is_built_like_another_is_not_parsed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    evaluator = evaluator_of(ASKED)
    first, other = (
        TEXTS_OF_JSON[1],
        '{"r": {"a": [70, 0, 1e1, true, null, "\'é"], "b": {"a": {}}}, "item": ""}',
    )
    for _ in range(2):
        left(evaluator, first.encode(), by=evaluate_json)
    alone = left(evaluator_of(ASKED), json.loads(other), by=evaluate_value)
    monkeypatch.delattr("xscl.xpath_stage.bodies.json_tree")
    assert left(evaluator, other.encode(), by=evaluate_json) == alone


def test_values_of_many_levels_are_left_to_the_tree() -> None:
    evaluator = evaluator_of(ASKED)
    for levels in (10, 300, 100_000):
        value: Any = "x"
        for _ in range(levels):
            value = [value]
        found = left(evaluator, value, by=evaluate_value)
        assert isinstance(found, str) == (levels > 256), levels
