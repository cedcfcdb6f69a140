"""The witnesses of spines, against libxml2's XPath step by step."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from tests.drawn import drawn
from tests.xpath_stage.drawing import URI, Oracle, Stage, documents, spines
from xscl.xpath_stage import Filter, Spine, Step, Witnesses, parse


def spine(path: str, *marks: int, value: tuple[str, ...] | None = (), stream: str = "S") -> Spine:
    """The spine of a path such as `//a/b`; all of its steps are marked if no others are."""
    steps = tuple(
        Step("descendant" if axis == "//" else "child", test)
        for axis, test in re.findall("(//?)([^/]+)", path)
    )
    return Spine(stream, steps, marks or tuple(range(len(steps))), value)


def check(stage: Stage, asked: list[Spine], text: str) -> int:
    """Compares all spines on one document; returns how many tuples there were."""
    oracle = Oracle(text)
    total = 0
    for one, found in zip(asked, stage.tuples(asked, text), strict=True):
        expected = oracle.tuples(one)
        assert Counter(marked for marked, _ in found) == Counter(expected.keys())
        if one.value is not None:
            assert dict(found) == expected
        total += len(found)
    return total


@given(st.lists(spines(), min_size=3, max_size=8), st.lists(documents, min_size=1, max_size=3))
@drawn(80)
def test_marked_nodes_are_those_of_nested_loops(asked: list[Spine], texts: list[str]) -> None:
    stage = Stage()
    total = sum(check(stage, asked, text) for text in texts)
    event("witnesses" if total else "none")


@given(st.lists(st.tuples(spines(), documents), min_size=2, max_size=5))
@drawn(60)
def test_spines_may_come_while_documents_flow(turns: list[tuple[Spine, str]]) -> None:
    stage = Stage()
    asked: list[Spine] = []
    for one, text in turns:
        asked.append(one)
        check(stage, asked, text)


def test_an_edge_is_more_than_its_end_paths() -> None:
    """Law 1: `d` has an accepted path and an `a` above it, which is not the `a` above `c`."""
    stage = Stage()
    d, e = spine("//a//c//d", 0, 2), spine("//a/e", 0, 1)
    crossed = "<a><c><a><d/><e/></a></c></a>"
    of_d, of_e = stage.tuples([d, e], crossed)
    assert [marked for marked, _ in of_d] == [((0, None), (3, None))]
    assert [marked for marked, _ in of_e] == [((2, None), (4, None))]
    for text in (crossed, "<a><c><a><c><d/></c><e/></a></c><e/></a>"):
        check(stage, [d, e], text)


def test_every_way_through_nested_names() -> None:
    """Both `a` above the inner `b`, and each pair of them once."""
    (found,) = Stage().tuples([spine("//a//b", 0, 1)], "<a><a><b/></a><b/></a>")
    outer, inner = (0, None), (1, None)
    assert {marked for marked, _ in found} == {
        (outer, (2, None)),
        (inner, (2, None)),
        (outer, (3, None)),
    }


def test_unmarked_steps_do_not_multiply() -> None:
    (found,) = Stage().tuples([spine("//a//b", 1)], "<a><a><a><b/></a></a></a>")
    assert [marked for marked, _ in found] == [((3, None),)]


def test_attributes_have_their_elements_number() -> None:
    text = f'<a k="1" p:k="2" xmlns:p="{URI}"><b k="3"/></a>'
    (found,) = Stage().tuples([spine("//@*")], text)
    assert sorted(found, key=str) == [
        (((0, "k"),), "1"),
        (((0, f"{{{URI}}}k"),), "2"),
        (((1, "k"),), "3"),
    ]


def test_the_document_has_no_attributes() -> None:
    (found,) = Stage().tuples([Spine("S", (Step("child", "@k"),), (0,), ())], '<a k="1"/>')
    assert found == []


def test_comments_and_instructions_have_no_numbers() -> None:
    (found,) = Stage().tuples([spine("//b")], "<a><!--x--><?y z?><c/><b/></a>")
    assert [marked for marked, _ in found] == [((2, None),)]


@pytest.mark.parametrize(
    ("content", "value"),
    [
        pytest.param("", "", id="nothing"),
        pytest.param(" x\n", " x\n", id="white space stays"),
        pytest.param("x<b>y</b>z", "xyz", id="mixed content"),
        pytest.param("<b>y</b><b/><c>z</c>", "yz", id="elements alone"),
        pytest.param("x<!--n-->y<?n n?>z", "xyz", id="what is no text"),
        pytest.param("x<![CDATA[<y>&amp;]]>z", "x<y>&amp;z", id="CDATA"),
        pytest.param("&lt;&#x20AC;&amp;", "<€&", id="references"),
        pytest.param("a\r\nb\rc", "a\nb\nc", id="line ends"),
        pytest.param("\U0001f600e\u0301", "\U0001f600e\u0301", id="no normal form"),
    ],
)
def test_string_values_are_exact(content: str, value: str) -> None:
    (found,) = Stage().tuples([spine("/a")], f"<a>{content}</a>")
    assert found == [(((0, None),), value)]


def test_attribute_values_are_normalised_by_xml_alone() -> None:
    (found,) = Stage().tuples([spine("/a/@k", 1)], '<a k=" x&#10;y\n&lt;"/>')
    assert found == [(((0, "k"),), " x\ny <")]


def test_strings_are_interned_only_where_asked_for() -> None:
    stage = Stage()
    (found,) = stage.tuples([spine("//a", value=None)], "<a>long text</a>")
    assert found == [(((0, None),), None)]
    assert len(stage.strings) == 0


def test_a_row_holds_for_all_spines_of_its_path() -> None:
    """Rows are of paths, not of variables (docs/laws.md#path-rows)."""
    stage = Stage()
    for asked in (spine("//a"), spine("/a"), spine("//*"), spine("//*", value=None)):
        stage.evaluator.register(asked)
    batch = Witnesses()
    stage.evaluator.evaluate("S", parse("<a/>"), 1, batch)
    assert len(batch) == 1
    assert {accept.spine for accept in stage.evaluator.take_changes().accepts} == {0, 1, 2, 3}


def test_streams_are_separate() -> None:
    stage = Stage()
    assert stage.tuples([spine("//a", stream="R"), spine("//a")], "<a/>") == [
        [],
        [(((0, None),), "")],
    ]


def test_a_spine_registered_twice_is_one() -> None:
    stage = Stage()
    assert stage.evaluator.register(spine("//a")) == stage.evaluator.register(spine("//a"))


def test_filters_of_one_path_are_decided_at_each_node() -> None:
    stage = Stage()
    named = Spine("S", (Step("descendant", "a", (Filter("@k"), Filter("b"))),), (0,), ())
    second = Spine("S", (Step("descendant", "a", (Filter("a[2]", (), True),)),), (0,), ())
    text = "<r><a k='1'/><a k='1'><b/></a><a><b/><a/><a/></a></r>"
    first, other = stage.tuples([named, second], text)
    assert [marked for marked, _ in first] == [((2, None),)]
    assert [marked for marked, _ in other] == [((2, None),), ((7, None),)]
