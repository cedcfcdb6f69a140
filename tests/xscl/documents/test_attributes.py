"""The attributes of events: of a node as XPath has them; of a JSON value as its tree has them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st
from lxml import etree

from tests.drawn import drawn
from tests.xpath_stage.parsing.test_json_documents import VALUES
from xscl.documents.attributes import Node, reached, text_of_node
from xscl.documents.columns import Columns, ValueOf, values_in
from xscl.documents.document import Document
from xscl.documents.events import Event
from xscl.documents.trees import Trees, content_of, nodes_of
from xscl.pattern_stage.values.terms import EVERYTHING, Attribute, Form, Slot
from xscl.xpath_stage import MalformedDocument, double_of, encode_name, json_tree

NAMES = st.sampled_from(["a", "b", "item", "dc creator"])
STEPS = st.lists(NAMES, max_size=3).map(tuple)
ATTRIBUTES = st.one_of(
    st.builds(Attribute, STEPS),
    st.builds(Attribute, STEPS, st.sampled_from(["a", "b"])),
    st.builds(Attribute, own=st.just("document")),
)
FORMS = st.sampled_from([Form.TEXT, Form.NUMBER])
SLOTS = st.lists(st.builds(Slot, ATTRIBUTES, FORMS), max_size=4)


@st.composite
def trees(draw: st.DrawFn, levels: int = 3) -> etree._Element:
    element = etree.Element(draw(st.sampled_from(["a", "b", "item", "{urn:x}a"])))
    element.text = draw(st.sampled_from([None, "7", " 8.50 ", "x", "-INF", "NaN"]))
    for name in draw(st.sets(st.sampled_from(["a", "b"]))):
        element.set(name, draw(st.sampled_from(["", "1e3", "y"])))
    if levels:
        for child in draw(st.lists(trees(levels - 1), max_size=3)):
            element.append(child)
            child.tail = draw(st.sampled_from([None, "9"]))
    return element


def xpath_of(attribute: Attribute) -> str:
    """The definition (docs/semantics.md#events-and-attributes)."""
    names = [f"*[name() = '{encode_name(step)}']" for step in attribute.steps]
    if attribute.attribute is not None:
        names.append(f"@{attribute.attribute}")
    elif len(names) == 1:
        names = [f"{names[0]} | @*[name() = '{attribute.steps[0]}'][not(../{names[0]})]"]
    return f"({'/'.join(names) or '.'})[1]"


def expected(root: etree._Element, slot: Slot) -> object:
    if slot.attribute.own is not None:
        return "d" if slot.form is Form.TEXT else float("nan")
    path = xpath_of(slot.attribute)
    if not root.xpath(path):
        return None
    text = root.xpath(f"string({path})")
    if slot.form is Form.TEXT:
        return text
    double = double_of(text)
    return float("nan") if double is None else double


def event_of_node(
    reader: Columns, output: Node, bound: Mapping[str, Node], value_of: ValueOf
) -> Event:
    """The event of the one stage of a reader, of a node."""
    nodes = reader.nodes(output, bound)
    (event,) = reader.of_reached(nodes, text_of_node, value_of, 3, 4, 5, "d")
    return event


def of_node(root: etree._Element, slots: list[Slot], name: str | None = None) -> tuple[object, ...]:
    """The slots of a node."""
    event = event_of_node(Columns([slots]), (root, name), {}, text_of_node)
    assert event[:3] == (3, 4, 5)
    return event[3:]


def of_value(value: object, slots: list[Slot]) -> tuple[object, ...]:
    """The slots of a JSON value: by itself, and among others of several stages that ask for
    others, too."""
    (event,) = Columns([slots]).of_values([value], [3], [4], [5], ["d"])[0]
    more = [None, *slots, Slot(Attribute(("b",)), Form.VALUE), EVERYTHING]
    stages = Columns([more, slots[1:], slots])
    others = [value, {"b": 1, "a": "x"}, [], value]
    columns = stages.of_values(others, [3] * 4, [4] * 4, [5] * 4, ["d"] * 4)
    for one in (0, -1):
        assert repr(columns[0][one][3 : 4 + len(slots)]) == repr((None, *event[3:]))
        assert repr(columns[1][one][3:]) == repr(event[4:])
        assert repr(columns[2][one]) == repr(event)
    return event[3:]


@given(trees(), SLOTS)
@drawn(60)
def test_of_an_element_as_xpath_has_them(root: etree._Element, slots: list[Slot]) -> None:
    assert repr(of_node(root, slots)) == repr(tuple(expected(root, slot) for slot in slots))


@given(VALUES, SLOTS)
@example([[], {"a": [[1, {"b": None}], -0.0]}], [Slot(Attribute(("item",)), Form.TEXT)])
@example({"a": -0.0}, [Slot(Attribute(("a",)), Form.NUMBER)])
@example(
    {"a": [[-1, 2]], "b": 10**400},
    [Slot(Attribute((n,)), f) for n in "ab" for f in (Form.TEXT, Form.NUMBER)],
)
@drawn(80)
def test_of_json_as_its_tree_has_them(value: Any, slots: list[Slot]) -> None:
    try:
        root = json_tree(value)
    except MalformedDocument:
        return
    of_tree = of_node(root, slots)
    assert repr(of_value(value, slots)) == repr(of_tree)


@given(st.dictionaries(NAMES, VALUES, max_size=3) | VALUES, SLOTS, st.lists(STEPS, max_size=3))
@example({"a": [], "b": [None, 1], "item": {"a": 1}}, [], [("a",), ("b",), ("item",)])
@drawn(100)
def test_values_and_all_attributes_of_json_as_its_tree_has_them(
    value: Any, slots: list[Slot], more: list[tuple[str, ...]]
) -> None:
    """Of retained documents, the nodes of which an event query reads."""
    document = Document(5, "S", "d", 4, json.dumps(value).encode(), True, Trees())
    try:
        output = nodes_of(document, 0).element(0), None
    except MalformedDocument:
        return
    slots = [*slots, EVERYTHING, *(Slot(Attribute(steps), Form.VALUE) for steps in more if steps)]
    event = event_of_node(Columns([slots]), output, {}, values_in(document))
    read = Columns([slots]).of_values([content_of(document)], [3], [4], [5], ["d"])
    assert repr(read) == repr([[event]])


@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.sampled_from(["", "7", "x"]),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    ),
    SLOTS,
)
@drawn(80)
def test_of_json_that_has_the_names(value: Any, slots: list[Slot]) -> None:
    of_tree = of_node(json_tree(value), slots)
    assert repr(of_value(value, slots)) == repr(of_tree)


def test_variables_come_before_children() -> None:
    root = etree.fromstring("<a k='1'><k>2</k><who n='3'><k>4</k></who></a>")
    bound: Mapping[str, Node] = {"k": (root[1], None), "n": (root[1], "n")}

    def texts(*steps: str, attribute: str | None = None) -> list[str]:
        found = reached((root, None), bound, Attribute(steps, attribute))
        return [text_of_node(node) for node in found]

    assert texts("k") == ["4"]
    assert texts("k", "k") == ["4"]
    assert texts("k", attribute="n") == ["3"]
    assert texts("n") == ["3"]
    assert texts("n", "k") == texts("n", attribute="k") == []
    assert texts(attribute="k") == ["1"]
    assert texts("who", "k") == ["4"]


def test_below_an_attribute_is_nothing() -> None:
    root = etree.fromstring("<a k='1'><k>2</k></a>")
    slots = [Slot(Attribute(steps), Form.NUMBER) for steps in ((), ("k",))]
    assert of_node(root, slots, "k") == (1.0, None)
