"""The pieces of a document say the document again, and what is marked is what the node has."""

from __future__ import annotations

import json
from typing import Any
from xml.sax.saxutils import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from tests.drawn import drawn
from xscl.documents.document import Document
from xscl.documents.marked import MarkedText, marked_text
from xscl.xpath_stage import json_values, string_value

TEXTS = st.text(st.characters(codec="utf-8", categories=["L", "N", "P", "S", "Zs"]), max_size=4)
NAMES = st.sampled_from(["a", "b", "p:c"])
ATTRIBUTES = st.dictionaries(st.sampled_from(["k", "p:k", "xml:lang"]), TEXTS, max_size=2)


def quoted(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")


def element(name: str, attributes: dict[str, str], inner: list[str]) -> str:
    own = "".join(f' {key}="{quoted(value)}"' for key, value in attributes.items())
    return f'<{name} xmlns:p="urn:p"{own}>{"".join(inner)}</{name}>'


XML = st.recursive(
    st.builds(element, NAMES, ATTRIBUTES, TEXTS.map(quoted).map(lambda text: [text])),
    lambda below: st.builds(
        element,
        NAMES,
        ATTRIBUTES,
        st.lists(below | TEXTS.map(quoted) | st.sampled_from(["<!-- & -->", "\n "]), max_size=3),
    ),
    max_leaves=6,
)
KEYS = st.sampled_from(["a", "b c", "d"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS,
    lambda below: st.lists(below, max_size=3) | st.dictionaries(KEYS, below, max_size=3),
    max_leaves=8,
)


def whole(marked: MarkedText) -> str:
    return "".join(text for text, _ in marked.pieces)


def of_mark(marked: MarkedText, mark: int) -> str:
    return "".join(text for text, one in marked.pieces if one == mark)


def nodes(root: etree._Element) -> list[tuple[int, str | None, str]]:
    """All nodes with their string values."""
    found: list[tuple[int, str | None, str]] = []
    for number, one in enumerate(root.iter("*")):
        found.append((number, None, string_value(one)))
        found += ((number, str(key), str(value)) for key, value in one.attrib.items())
    return found


def without_layout(root: etree._Element) -> bytes:
    """A tree without white space between elements alone, which is a matter of layout."""
    for one in root.iter("*"):
        texts = [one.text, *(child.tail for child in one)]
        if len(one) and not "".join(filter(None, texts)).strip():
            one.text = None
            for child in one:
                child.tail = None
    return etree.tostring(root, method="c14n")


@drawn(40)
@given(XML, st.data())
def test_xml(text: str, data: st.DataObject) -> None:
    root = etree.fromstring(text)
    number, attribute, value = data.draw(st.sampled_from(nodes(root)))
    document = Document(0, "S", "d", 0, text, json=False)
    marked = marked_text(document, {(number, attribute): 1})
    shown = whole(marked)
    again = etree.fromstring(shown)
    assert without_layout(again) == without_layout(root)
    said = unescape(of_mark(marked, 1), {"&quot;": '"'})
    if attribute is None:
        # In an element without text next to its elements, white space is a matter of layout.
        said, value = ("".join(text.split()) for text in (said, value))
    assert said == value


@drawn(40)
@given(JSON, st.data())
def test_json(value: Any, data: st.DataObject) -> None:
    document = Document(0, "S", "d", 0, json.dumps(value).encode(), json=True)
    values = json_values(value)
    number = data.draw(st.integers(0, len(values) - 1))
    marked = marked_text(document, {(number, None): 1})
    assert json.loads(whole(marked)) == value
    assert {one for _, one in marked.pieces} <= {None, 1}
    chosen, said = values[number], of_mark(marked, 1)
    if isinstance(chosen, str):
        assert json.loads(f'"{said}"') == chosen
    elif not isinstance(chosen, list | dict):
        assert json.loads(said) == chosen


def odd_ones(text: str) -> list[tuple[int, int, int]]:
    """Every second character."""
    return [(at, at + 1, 1) for at in range(1, len(text), 2)]


@drawn(40)
@given(JSON, st.data())
def test_parts_of_a_text(value: Any, data: st.DataObject) -> None:
    # Text is bytes: a value that is a string stands for itself.
    document = Document(0, "S", "d", 0, json.dumps(value).encode(), json=True)
    values = json_values(value)
    number = data.draw(st.integers(0, len(values) - 1))
    marked = marked_text(document, {(number, None): odd_ones})
    assert whole(marked) == whole(marked_text(document, {}))
    if isinstance(values[number], str):
        assert json.loads(f'"{of_mark(marked, 1)}"') == values[number][1::2]


@pytest.mark.parametrize(
    ("text", "marks", "pieces"),
    [
        ("<a>x</a>", {(0, None): 1}, [("<a>", None), ("x", 1), ("</a>", None)]),
        (
            "<a><b k='v'>x</b><b/></a>",
            {(1, "k"): 2, (1, None): 1},
            [
                ('<a>\n  <b k="', None),
                ("v", 2),
                ('">', None),
                ("x", 1),
                ("</b>\n  <b/>\n</a>", None),
            ],
        ),
        (
            '<a k="&quot;&lt;">R&amp;D<b>xy</b></a>',
            {(0, "k"): odd_ones, (0, None): odd_ones},
            [
                ('<a k="&quot;', None),
                ("&lt;", 1),
                ('">R', None),
                ("&amp;", 1),
                ("D<b>x", None),
                ("y", 1),
                ("</b></a>", None),
            ],
        ),
        (
            "<a>x<b>y</b></a>",
            {(0, None): 1},
            [("<a>", None), ("x", 1), ("<b>", None), ("y", 1), ("</b></a>", None)],
        ),
    ],
)
def test_pieces(
    text: str, marks: dict[tuple[int, str | None], int], pieces: list[tuple[str, int | None]]
) -> None:
    assert marked_text(Document(0, "S", "d", 0, text, json=False), marks).pieces == pieces


def test_of_a_large_document_its_beginning() -> None:
    text = f"<a>{'é' * 200_000}</a>"
    for body in (text, text.encode()):
        marked = marked_text(Document(0, "S", "d", 0, body, json=False), {(0, None): 1})
        assert not marked.whole
        assert whole(marked).startswith("<a>é")
        assert len(whole(marked)) <= 20_000
