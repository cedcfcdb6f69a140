"""The attributes that compiled text reads of an event, against a dict of its attributes made as
docs/semantics.md#names defines it."""

from __future__ import annotations

from typing import Any

import hypothesis.strategies as st
from hypothesis import given

from xscl.pattern_stage.algebra import (
    NULL,
    SideTexts,
    admits,
    attributes,
    continues,
    function,
    iterated,
    mapped,
    reader,
    same,
)
from xscl.pattern_stage.algebra.functions import as_json
from xscl.pattern_stage.algebra.nodes import (
    Aggregate,
    Iterate,
    Map,
    Node,
    Select,
    Sequence,
    Source,
    Union,
)
from xscl.pattern_stage.layouts import Layouts
from xscl.pattern_stage.values import terms
from xscl.pattern_stage.values.terms import (
    EVERYTHING,
    Age,
    Arithmetic,
    Attribute,
    Call,
    Column,
    Comparison,
    Constant,
    Form,
    Slot,
)

NAMES = ("a", "b", "c")
CONSTANTS = (1.0, "x", 2_000_000)
SUM = Arithmetic("+", Column(0, "a"), Constant(0, number=True))
VALUES = st.sampled_from([1, 2.5, "x", "7", True, None])


def source_event(layout: Layouts, type_: int, shown: dict[str, object], end: int) -> Any:
    """An event of a source as an engine makes it."""
    values: list[object] = []
    for slot in layout.slots(type_):
        assert slot is not None
        if slot == EVERYTHING:
            values.append(shown)
            continue
        value = shown.get(slot.attribute.steps[0], ...)
        if value is ...:
            values.append(None)
        elif slot.form is Form.VALUE:
            values.append(NULL if value is None else value)
        else:
            one = NULL if value is None else value
            text = "" if one is NULL else str(one).lower() if one is True else str(one)
            values.append(text if slot.form is Form.TEXT else float("nan"))
            if slot.form is Form.NUMBER and text.replace(".", "").isdigit():
                values[-1] = float(text)
    return (end, end, end, *values)


CLOSED, OPEN = Source(0, NAMES), Source(1, None)
COUNTED = Map(True, (("n", Constant(0, number=True)), ("t", Column(0, "b"))), OPEN)
NODES: dict[str, Node] = {
    "closed": CLOSED,
    "open": OPEN,
    "select": Select((), OPEN),
    "project": Map(False, (("x", Column(0, "b")), ("s", SUM)), OPEN),
    "star": COUNTED,
    "replaced": Map(True, (("b", SUM),), CLOSED),
    "union": Union(CLOSED, OPEN),
    "collide": Sequence((), True, CLOSED, OPEN),
    "both open": Sequence((), True, OPEN, COUNTED),
    "apart": Sequence((), False, Map(False, (("u", SUM),), CLOSED), OPEN),
    "left open": Sequence((), False, OPEN, Map(False, (("z", SUM),), CLOSED)),
    "nested": Sequence((), True, Sequence((), True, OPEN, OPEN), OPEN),
}


def event_of(node: Node, layout: Layouts, draw: Any) -> tuple[Any, dict[str, object]]:
    """A drawn event of a node, and its attributes by the definitions."""
    match node:
        case Source(type_, listed):
            shown = draw(st.dictionaries(st.sampled_from([*NAMES, "a_1", "n", "u"]), VALUES))
            event = source_event(layout, type_, shown, draw(st.integers(0, 9)))
            names = shown if listed is None else [name for name in listed if name in shown]
            return event, {name: shown[name] for name in names}
        case Select():
            return event_of(node.input, layout, draw)
        case Map():
            widen = mapped(node, layout)
            inner, has = event_of(node.input, layout, draw)
            found = dict(has) if node.star else {}
            for name, scalar in node.items:
                found.pop(name, None)
                if isinstance(scalar, Column):
                    if scalar.name in has:
                        found[name] = has[scalar.name]
                elif isinstance(scalar, Constant):
                    found[name] = 1
                elif str(has.get("a", "x")).replace(".", "").isdigit():
                    found[name] = float(str(has["a"])) + 1
            return widen(inner, CONSTANTS), found
        case Union():
            side = draw(st.integers(0, 1))
            inner, has = event_of((node.left, node.right)[side], layout, draw)
            return (inner[0], inner[1], inner[2], side, inner), has
        case Sequence():
            left, left_has = event_of(node.left, layout, draw)
            right, right_has = event_of(node.right, layout, draw)
            renamed = {name + "_1" * node.renamed: value for name, value in left_has.items()}
            return (left[0], right[1], None, left, right), renamed | right_has
        case _:
            raise TypeError(node)


@given(st.data(), st.sampled_from([*NODES]))
def test_reads_are_the_attributes(data: st.DataObject, which: str) -> None:
    node, layout = NODES[which], Layouts()
    asked = ["a", "b", "c", "n", "t", "s", "x", "z", "u", "a_1", "b_1", "a_1_1", "n_1", "none"]
    slots = [Slot(Attribute((name,)), Form.VALUE) for name in asked]
    gather, read = attributes(node, layout), reader(node, slots, layout)
    event, expected = event_of(node, layout, data.draw)
    assert gather(event) == expected
    values = dict(zip(asked, map(as_json_or_missing, read(event)), strict=True))
    assert values == {name: expected.get(name, ...) for name in asked}


def as_json_or_missing(value: object) -> object:
    """A value as a dict has it, or an ellipsis."""
    return ... if value is None else as_json(value)


def shown(layout: Layouts, end: int, **attributes_: object) -> Any:
    """An event of the open source."""
    return source_event(layout, 1, attributes_, end)


def test_an_iteration_sees_the_left_event_first_and_then_the_latest() -> None:
    # SELECT *, 1 AS n FROM S FOLD{, $2.a > $.a, $.n + $2.a AS n, $2.b AS last} S
    total = Arithmetic("+", Column(2, "n"), Column(1, "a"))
    node = Iterate(
        condition=(Comparison("<=", Age(None), Constant(2, number=True), "number"),),
        continuing=(Comparison(">", Column(1, "a"), Column(2, "a"), "either"),),
        aggregates=(("n", total), ("last", Column(1, "b"))),
        common=None,
        kept=("t",),
        right_names=None,
        left=COUNTED,
        right=OPEN,
    )
    layout = Layouts()
    gather = attributes(node, layout)
    steps = [(continues(node, f, layout), iterated(node, f, layout)) for f in (True, False)]
    within = admits(node, layout, first=True), admits(node, layout)
    slots = [Slot(Attribute((name,)), form) for name in ("n", "last") for form in Form]
    read, widen = reader(node, slots, layout), mapped(COUNTED, layout)
    first = widen(shown(layout, 0, a=1, b="x", c=0), CONSTANTS)
    second, third = shown(layout, 1_000_000, a="10", b=2), shown(layout, 3_000_000, a=9)
    assert within[0](first, second, first, CONSTANTS)
    assert steps[0][0](first, second, first, CONSTANTS)
    once = steps[0][1](first, second, first, CONSTANTS)
    assert gather(once) == {"a_1": 1, "b_1": "x", "c_1": 0, "n_1": 1, "t": "x"} | {
        "a": "10",
        "b": 2,
        "n": 11,
        "last": 2,
    }
    assert read(once) == ("11", 11.0, 11.0, "2", 2.0, 2)
    assert not within[1](first, third, once, CONSTANTS)
    assert not steps[1][0](first, third, once, CONSTANTS)
    assert gather(steps[1][1](first, third, once, CONSTANTS))["n"] == 20


def test_an_aggregate_reads_keys_and_values() -> None:
    items = (("k", Column(0, "a")), ("n", Call("count", ())))
    node, layout = Aggregate(None, ("b", "a"), items, OPEN), Layouts()
    assert attributes(node, layout)((0, 0, None, "x", NULL, 2.0)) == {"k": None, "n": 2}


def test_conditions_are_false_where_a_side_is_missing() -> None:
    layout = Layouts()

    def holds(predicate: Any, **has: object) -> bool:
        made = function("a, c", SideTexts.over(OPEN, layout).predicate(predicate))
        return bool(made(shown(layout, 0, **has), CONSTANTS))

    longer = Comparison(">", Call("string-length", (Column(0, "a"),)), Constant(0, True), "number")
    assert holds(longer, a="xy")
    assert not holds(longer, a="x")
    assert not holds(longer)
    inside = terms.TextTest("contains", Call("upper-case", (Column(0, "a"),)), Column(0, "b"))
    assert holds(inside, a="xy", b="Y")
    assert not holds(inside, a="xy")
    bad = terms.TextTest("matches", Column(0, "a"), Column(0, "b"))
    assert holds(bad, a="xyz", b="y")
    assert not holds(bad, a="xyz", b="(")
    unlike = Comparison("!=", Column(0, "a"), Constant(0, True), "number")
    assert holds(unlike, a=2)
    assert not holds(unlike, a="two")


def test_equal_events_are_one() -> None:
    layout = Layouts()
    project = Map(False, (("x", Column(0, "a")),), OPEN)
    either = Union(OPEN, Select((), OPEN))
    keys = {node: same(node, layout) for node in (OPEN, project, either, COUNTED)}
    shared: list[object] = [1, {"b": True}]
    one, other = (source_event(layout, 1, {"a": shared, "b": n}, n) for n in (1, 2))
    assert keys[OPEN](one) != keys[OPEN](other)
    moved = (*other[:2], one[2], *other[3:])
    assert keys[OPEN](one) == keys[OPEN](moved)
    assert keys[either]((1, 1, 1, 0, one)) == keys[either]((1, 1, 1, 1, one))
    assert keys[project](one) != keys[project](other)  # Their times differ.
    assert keys[project](one) == keys[project]((*one[:2], *other[2:]))
    counted = [(*one[:2], None, inner, 1.0) for inner in (one, other)]
    assert keys[COUNTED](counted[0]) != keys[COUNTED](counted[1])
    truth = source_event(layout, 1, {"a": True}, 1), source_event(layout, 1, {"a": 1}, 1)
    assert keys[project](truth[0]) != keys[project](truth[1])
