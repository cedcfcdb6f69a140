"""XML texts that are built alike: what is read of their parts is what is read of their trees."""

from __future__ import annotations

import random
from copy import deepcopy

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

import xscl
from tests.drawn import drawn
from tests.xscl.documents.test_attributes import SLOTS, event_of_node, trees
from xscl.documents.attributes import Node, text_of_node
from xscl.documents.columns import Columns
from xscl.pattern_stage.values.terms import EVERYTHING, Slot
from xscl.xpath_stage import AlikeTexts

VALUES = ["7", " 8.50 ", "x & <y>", "-INF", 'a "word"', "é", ""]
TEXTS = [*VALUES, "two\nlines", "tab\t"]


def another(tree: etree._Element, draw: random.Random) -> str:
    """A document of the same structure, with other texts where it has some."""
    copied = deepcopy(tree)
    for element in copied.iter():
        if element.text is not None:
            element.text = draw.choice(TEXTS)
        if element.tail is not None:
            element.tail = draw.choice(TEXTS)
        for name in element.attrib:
            element.set(name, draw.choice(VALUES))
    return etree.tostring(copied, encoding="unicode")


def parsed(text: str, at: int, name: str | None) -> tuple[Node, dict[str, Node]]:
    """A node of a document, by the number of its element, and one variable: the last element."""
    elements = [*etree.fromstring(text).iter()]
    return (elements[at], name), {"b": (elements[-1], None)}


@given(trees(), SLOTS, st.randoms(use_true_random=False), st.booleans())
@drawn(100)
def test_what_is_read_of_parts_is_what_is_read_of_trees(
    tree: etree._Element,
    slots: list[Slot],
    draw: random.Random,
    everything: bool,
) -> None:
    reader = Columns([[*slots, *([EVERYTHING] if everything else [])]])
    alike, times = AlikeTexts(), 0
    element = draw.choice([*tree.iter()])
    at = [*tree.iter()].index(element)
    name = draw.choice([None, None, *element.attrib])
    for number in range(4):
        text = another(tree, draw)
        cut = alike.cut(text if number % 2 else text.encode())
        output, bound = parsed(text, at, name)
        expected = [event_of_node(reader, output, bound, text_of_node)]
        assert cut is not None
        known = cut.places("reader")
        if known is None:
            cut.note("reader", output, reader.nodes(output, bound))
            continue
        places, parts = known

        def text_of(some: slice, parts: list[str] = parts) -> str:
            return "".join(parts[some])

        read = reader.of_reached(places, text_of, text_of, 3, 4, 5, "d")
        assert repr(read) == repr(expected)
        times += 1
    assert times == 2


@pytest.mark.parametrize(
    "malformed",
    ["<a>x & y</a>", "<a>x</b>", "<a>x\x01</a>", "<a>x</a>y", "<a><!-- -- -->x</a>", "<a>x]]></a>"],
)
@pytest.mark.parametrize("text", ["EVENT SEQ(S a, S b)", "SELECT COUNT(*) AS n FROM S"])
def test_what_is_malformed_is_refused_whatever_came_before(malformed: str, text: str) -> None:
    with xscl.Engine() as engine:
        engine.subscribe(text)
        for number in range(4):
            engine.publish("S", f"<a>{number}</a>", id=str(number), timestamp=number)
        with pytest.raises(xscl.DocumentError):
            engine.publish("S", malformed, id="bad", timestamp=9)


@pytest.mark.parametrize("whole", [False, True])
def test_a_part_of_a_document_says_nothing_of_the_others(whole: bool) -> None:
    """A document that memory cannot hold is read in parts, each a tree of its own."""
    alike = AlikeTexts()
    for number in range(4):
        text = f"<a><b>1</b><b>{number}</b></a>"
        cut = alike.cut(text)
        part = etree.fromstring(f"<b>{number}</b>"), None
        assert cut is not None
        assert cut.places("reader") is None
        cut.note("reader", (etree.fromstring(text), None) if whole else part, [part])
