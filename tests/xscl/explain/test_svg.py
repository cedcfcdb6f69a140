"""Pictures: whatever a query holds is text in them, and nothing lies outside or on another box."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree

from tests.drawn import times
from tests.xscl.explain.drawing import queries
from tests.xscl.explain.subscribed import dissected
from xscl.explain import as_json, as_svg
from xscl.explain.words import plain

SVG = "{http://www.w3.org/2000/svg}"
ELEMENTS = {"svg", "title", "style", "rect", "g", "text", "path"}


def drawn(text: str) -> etree._Element:
    """The picture of a text's queries, seen to be what a picture may be."""
    dissections = dissected(text)
    root = etree.fromstring(as_svg(dissections).encode())
    assert {str(one.tag).removeprefix(SVG) for one in root.iter()} <= ELEMENTS
    names = {str(name) for one in root.iter() for name in one.attrib}
    assert not [name for name in names if name.startswith("on") or "href" in name]
    said = [*said_in(root)]
    for dissection in dissections:
        for one in dissection.everything():
            assert plain(one.query.name) in said
            members = as_json(one)
            if one.disjuncts:
                assert isinstance(members["variables"], list)
                for variable in members["variables"]:
                    assert any(variable in words for words in said), variable
            for disjunct in one.disjuncts:
                for stage in disjunct.operators:
                    if len(stage.sides) == 2:
                        assert any(stage.plan.template.id in words for words in said)
    boxes = [*places(root, 0, 0)]
    for x, y, width, height in boxes:
        assert 0 <= x <= x + width <= int(root.get("width", ""))
        assert 0 <= y <= y + height <= int(root.get("height", ""))
    for (x, y, width, height), (u, v, across, down) in combinations(boxes, 2):
        assert x + width <= u or u + across <= x or y + height <= v or v + down <= y
    return root


def said_in(root: etree._Element) -> list[str]:
    """All texts, those that are cut whole."""
    texts = root.iter(f"{SVG}text")
    return [one.findtext(f"{SVG}title") or "".join(one.itertext()) for one in texts]


def places(element: etree._Element, x: int, y: int) -> list[tuple[int, int, int, int]]:
    """Where the boxes of nodes are: left, top, width, height."""
    if moved := element.get("transform"):
        across, down = moved.removeprefix("translate(").removesuffix(")").split()
        x, y = x + int(across), y + int(down)
    found = []
    if "node" in (element.get("class") or "").split():
        sizes = (int(element.get(name, "0")) for name in ("x", "y", "width", "height"))
        left, top, width, height = sizes
        found.append((x + left, y + top, width, height))
    for child in element:
        found += places(child, x, y)
    return found


@pytest.mark.parametrize(
    "retained",
    [
        "<script>alert(1)</script>",
        "]]>&lt;<!--",
        '"><g onload="x',
        "\u202ea\u00a0",
        "日本語 é",
    ],
)
def test_whatever_names_and_filters_hold(retained: str) -> None:
    root = drawn(f"S//'{retained}'->x[. = '{retained}'] JOIN {{x = y}} T//b->y")
    assert any(plain(retained) in words for words in said_in(root))


@settings(deadline=None, max_examples=times(40))
@given(st.lists(queries(), min_size=1, max_size=2))
def test_any_queries(texts: list[str]) -> None:
    drawn(";\n".join(texts))


def test_each_comparison_is_an_edge() -> None:
    root = drawn("A//a->x[b->u] JOIN {x = y AND u < v} B//b->y[c->v] JOIN {x != z} C//c->z")
    signs = [one for one in root.iter(f"{SVG}g") if "sign" in (one.get("class") or "")]
    titles = [one.findtext(f"{SVG}title") or "" for one in signs]
    for said in ("x = y, value join", "u < v, residual comparison", "x != z, residual comparison"):
        assert said in titles


def test_no_query_is_a_picture_too() -> None:
    assert drawn("") is not None


@pytest.mark.parametrize(
    "text",
    [
        "EVENT SEQ(O o, !P p) WHERE [id] WITHIN 10",
        "PATTERN SEQ(S a, S+ b[]) WHERE skip_till_next_match { [id] AND b[1].x > a.x } WITHIN 1",
        "S//a->x JOIN {x = y} (SELECT a.id FROM EVENT SEQ(A a, B b) WITHIN 9)//id->y",
    ],
)
def test_a_pattern_is_drawn_as_its_automaton(text: str) -> None:
    said = [*said_in(drawn(text))]
    assert "F" in said
    assert any(one.startswith("begin: ") for one in said)
    assert any("consistency strong" in one for one in said)
    assert not any("never holds" in one for one in said)


@pytest.mark.parametrize(
    ("text", "names", "forbidden"),
    [
        ("EVENT SEQ(A a, B b, C c) WHERE [id] WITHIN 10", "abcF", ""),
        ("EVENT SEQ(A a, !N n, B b) WHERE [id] WITHIN 10", "abF", "n"),
        ("EVENT SEQ(!N n, A a, !M m) WHERE [id] WITHIN 10", "aF", "nm"),
        (
            "PATTERN SEQ(A a, !N n, B+ b[], C c) WHERE skip_till_next_match { [id] } WITHIN 1",
            ["a", "b[1]", "b[i]", "c", "F"],
            "n",
        ),
    ],
)
def test_arrows_are_attached_to_states(text: str, names: Sequence[str], forbidden: str) -> None:
    """Each goes from the side of a state to that of the next; one that a forbidden state lies in
    has that below it."""
    root = drawn(text)
    boxes = dict(_states(root))
    ahead = set()
    for one in _classed(root, "edge value"):
        if end := re.fullmatch(r"M(\d+) \d+H(\d+)", str(one.get("d"))):
            x, _ = _offset(one)
            ahead.add((x + int(end[1]), x + int(end[2]) + 7))
    for name, other in pairwise(names):
        (x, y, width), (next_x, next_y, _) = boxes[name], boxes[other]
        assert (x + width, next_x) in ahead
        assert y == next_y
    for name in forbidden:
        x, y, width = boxes[f"!{name}"]
        assert any(start < x + width / 2 < end for start, end in ahead)
        assert y > boxes["F"][1]
    assert len([*_classed(root, "edge residual")]) == len(forbidden)
    assert not any("none in" in one and "!" in one for one in said_in(root))


def test_arcs_of_an_automaton_are_drawn_as_they_are() -> None:
    """An arrow that ignorable arcs alone are on is dashed, one whose arcs end is pale."""
    arcs = (
        '{"from": "a", "to": "b", "event": "e"}, '
        '{"from": "b", "to": "f", "event": "e", "until": 9}, '
        '{"from": "b", "to": "b", "event": "e", "kind": "ignore"}, '
        '{"from": "a", "to": "a", "event": "e", "kind": "ignore"}, '
        '{"from": "a", "to": "a", "event": "e"}'
    )
    described = f'{{"events": {{"e": "S"}}, "final": ["f"], "arcs": [{arcs}], "within": 5}}'
    root = drawn(f"AUTOMATON {described}")
    for kind, many in (("value", 2), ("value dashed", 1), ("value dead", 1)):
        assert len([*_classed(root, f"edge {kind}")]) == many
        assert len([*_classed(root, f"tip {kind}")]) == many


def test_any_name_is_that_of_a_state() -> None:
    """One that begins as a negated component does is a state like others."""
    arcs = '{"from": "a", "to": "!paid", "event": "e"}, {"from": "!paid", "to": "f", "event": "e"}'
    described = f'{{"events": {{"e": "S"}}, "final": ["f"], "arcs": [{arcs}], "within": 5}}'
    root = drawn(f"AUTOMATON {described}")
    boxes = dict(_states(root))
    assert len({boxes[name][1] for name in ("a", "!paid", "f")}) == 1
    assert not [*_classed(root, "edge residual")]
    assert said_in(root).count("start") == said_in(root).count("final") == 1


def _classed(root: etree._Element, kind: str) -> Iterator[etree._Element]:
    return (one for one in root.iter(f"{SVG}path") if one.get("class") == kind)


def _offset(element: etree._Element) -> tuple[int, int]:
    """Where the groups that an element is in put it."""
    some = [str(one.get("transform")) for one in element.iterancestors() if one.get("transform")]
    places = [tuple(map(int, re.findall(r"-?\d+", one))) for one in some]
    return sum(x for x, _ in places), sum(y for _, y in places)


def _states(root: etree._Element) -> Iterator[tuple[str, tuple[int, int, int]]]:
    """The first line of each box, and the left, top and width of it."""
    for rect in root.iter(f"{SVG}rect"):
        if "node" in str(rect.get("class")):
            x, y = _offset(rect)
            left, top, width = (int(str(rect.get(name))) for name in ("x", "y", "width"))
            inside = (
                one
                for one in rect.itersiblings(f"{SVG}text")
                if one.get("x") == str(left + 10) and one.get("y") == str(top + 17)
            )
            if (line := next(inside, None)) is not None:
                yield "".join(line.itertext()), (x + left, y + top, width)
