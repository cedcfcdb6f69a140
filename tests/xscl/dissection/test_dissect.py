"""Dissected queries: the input of stage 1, and the joins of stage 2."""

from __future__ import annotations

import pytest

from xscl.dissection.dissect import dissect
from xscl.dissection.parts import Disjunct, Dissection, JoinOperator, OperatorSide
from xscl.join_stage import TimeConstraint
from xscl.language import parse
from xscl.stream_names import is_internal
from xscl.xpath_stage import Definition, Spine


def dissected(text: str) -> Dissection:
    (query,), errors = parse(text)
    assert not errors
    return dissect(query)


def stage_of(text: str) -> JoinOperator:
    """The only stage of the only disjunct of a query."""
    (stage,) = part_of(text).operators
    return stage


def part_of(text: str) -> Disjunct:
    """The only disjunct of a query."""
    (part,) = dissected(text).disjuncts
    return part


def spelled(definition: Definition) -> str:
    return "".join(
        ("/" if step.axis == "child" else "//")
        + step.test
        + "".join(f"[{filter.expression}]" for filter in step.filters)
        for step in definition
    )


Asked = tuple[str, str, tuple[int, ...], tuple[str, ...] | None]


def spines(part: Disjunct) -> set[Asked]:
    """The whole input of stage 1: stream, path, marked steps, functions on the value."""
    found: list[Spine] = []
    for stage in part.operators:
        chains = [chain for pair in stage.plan.joins for chain in pair] + list(stage.plan.singles)
        blocks = (chain for chain in chains if stage.sides[chain.side].operator is None)
        found += (part.spine(stage, chain) for chain in blocks)
    return {(spine.stream, spelled(spine.steps), spine.marks, spine.value) for spine in found}


Q1 = """
S//book->x1[./author->x2][./title->x3] FOLLOWED BY {x2=x5 AND x3=x6, 7 days}
S//blog->x4[./author->x5][./title->x6]
"""
Q2 = """
S//book->x1[./author->x2][./category->x7] FOLLOWED BY {x2=x5 AND x7=x8, 8 days}
S//blog->x4[./author->x5][./category->x8]
"""
Q3 = """
S//blog->x4[./author->x5][./title->x6] FOLLOWED BY {x5=x5' AND x6=x6', 9 days}
S//blog->x4'[./author->x5'][./title->x6']
"""


def test_the_first_query_of_table_6_2() -> None:
    parts = dissected(Q1)
    (part,) = parts.disjuncts
    assert spines(part) == {
        ("S", "//book/author", (0, 1), ()),
        ("S", "//book/title", (0, 1), ()),
        ("S", "//blog/author", (0, 1), ()),
        ("S", "//blog/title", (0, 1), ()),
    }
    assert parts.streams == ("S", "S")
    assert [part.patterns[node].variables for node in part.outputs] == [("x1",), ("x4",)]
    assert part.selected == {}
    assert part.operators[0].constraint == TimeConstraint(True, 7 * 86_400_000_000)


def test_the_queries_of_table_6_2_have_one_template() -> None:
    templates = {stage_of(text).plan.template for text in (Q1, Q2, Q3)}
    assert len(templates) == 1
    (template,) = templates
    assert len(template.graph.nodes) == 6
    assert len(template.graph.value_joins) == 2


@pytest.mark.parametrize(
    ("query", "asked"),
    [
        pytest.param("S", {("S", "/*", (0,), None)}, id="a stream alone"),
        pytest.param("S//a/b", {("S", "//a/b", (1,), None)}, id="the output node alone"),
        pytest.param("S//a->x/@k", {("S", "//a/@k", (1,), None)}, id="an attribute"),
        pytest.param("S//a[b][c = '1']", {("S", "//a[b][c = '1']", (0,), None)}, id="filters"),
        pytest.param("S//a[b->x]", {("S", "//a[./b]", (0,), None)}, id="bound for nothing"),
        pytest.param(
            "S//a[b->x[@k]/c->y]",
            {("S", "//a[./b[@k][./c]]", (0,), None)},
            id="a branch of branches",
        ),
        pytest.param(
            "SELECT x FROM S//a[b->x[c]][d->y]",
            {("S", "//a[./d]/b[c]", (0, 1), None)},
            id="one that is selected, one that is not",
        ),
        pytest.param(
            "S//a[.->x] JOIN {x = y} T//b->y",
            {("S", "//a", (0,), ()), ("T", "//b", (0,), ())},
            id="the node itself",
        ),
        pytest.param(
            "S//a/b/c->x JOIN {x = y} T//d//e->y[f]",
            {("S", "//a/b/c", (2,), ()), ("T", "//d//e[f]", (1,), ())},
            id="the way to the output node is no part of the join",
        ),
        pytest.param(
            "S//a[b/c->x] JOIN {x = y AND x < z} S//d[e->y][f->z]",
            {
                ("S", "//a/b/c", (0, 2), ()),
                ("S", "//d/e", (0, 1), ()),
                ("S", "//d/f", (0, 1), ()),
            },
            id="a residual comparison",
        ),
        pytest.param(
            "S//a->x[b->y] JOIN {x = z AND y = z} S//c->z",
            {
                ("S", "//a", (0,), ()),
                ("S", "//a/b", (0, 1), ()),
                ("S", "//c", (0,), ()),
            },
            id="an inner node that joins",
        ),
    ],
)
def test_what_stage_1_is_asked_for(query: str, asked: set[Asked]) -> None:
    def tidy(path: str) -> str:
        return path.replace("[./", "[")

    found = spines(part_of(query))
    assert {(s, tidy(path), *others) for s, path, *others in found} == {
        (s, tidy(path), *others) for s, path, *others in asked
    }


def test_a_position_counts_before_the_filters_alongside_it() -> None:
    (spine,) = spines(part_of("S//a[b][2][c]"))
    assert spine[1] == "//a[a[b][2]][c]"


def test_conjuncts_alongside_a_binding_stay_together() -> None:
    (spine,) = spines(part_of("SELECT x FROM S//a[b->x and c = '1' and d]"))
    assert spine[1] == "//a[c = '1' and d]/b"


def test_a_number_alongside_a_binding_is_no_position() -> None:
    (spine,) = spines(part_of("SELECT x FROM S//a[b->x and count(c)]"))
    assert spine[1] == "//a[boolean(count(c))]/b"


def test_variables_of_one_definition_have_one_definition_and_two_nodes() -> None:
    parts = part_of("SELECT x, y FROM S//a[b->x][b->y] JOIN {x = z AND y = w} S//c[d->z][e->w]")
    assert parts.selected["x"] != parts.selected["y"]
    assert parts.definitions[parts.selected["x"]] == parts.definitions[parts.selected["y"]]


@pytest.mark.parametrize(
    ("select", "variables"),
    [
        ("", []),
        ("SELECT * FROM ", []),
        ("SELECT y, x/c, y AS z FROM ", ["y", "x"]),
        ("SELECT <r k='{y}'>{x}<s>{string(y)}</s></r> FROM ", ["y", "x"]),
    ],
)
def test_selected_variables(select: str, variables: list[str]) -> None:
    assert list(part_of(f"{select}S//a->x[b->y]").selected) == variables


def test_comparing_a_variable_with_itself_says_nothing_for_equality() -> None:
    plain = stage_of("S//a->x JOIN {x = y} S//b->y")
    assert stage_of("S//a->x JOIN {x = x AND x = y} S//b->y").plan == plain.plan
    assert stage_of("S//a->x JOIN {x = y AND y = x} S//b->y").plan == plain.plan


@pytest.mark.parametrize(
    ("operator", "constraint"),
    [
        ("FOLLOWED BY {x = y}", TimeConstraint(True, None)),
        ("JOIN {x = y, INF}", TimeConstraint(False, None)),
        ("JOIN {x = y, 1.5 s}", TimeConstraint(False, 1_500_000)),
    ],
)
def test_time_constraints(operator: str, constraint: TimeConstraint) -> None:
    assert stage_of(f"S//a->x {operator} S//b->y").constraint == constraint


# Chains.


def test_a_chain_is_a_stage_for_each_operator() -> None:
    part = part_of(
        "SELECT x FROM A//a->x[./b->y] JOIN {x = z AND y < z} B//c->z "
        "FOLLOWED BY {lower-case(y) = u, 5} C//d[./e->u]"
    )
    first, second = part.operators
    assert first.sides == (OperatorSide((0,)), OperatorSide((1,)))
    assert second.sides == (OperatorSide((0, 1), 0), OperatorSide((2,)))
    names = [part.patterns[node].step.test for node in first.columns]
    # The outputs of A and B, then what the next stage compares: y under a function.
    assert names == ["a", "c", "."]
    assert [part.patterns[node].functions for node in first.valued] == [("lower-case",)]
    assert len(second.graph.value_joins) == 1
    assert second.plan.composite == (True, False)
    assert second.columns == (*first.columns[:2], part.outputs[2])
    assert spines(part) == {
        ("A", "//a", (0,), ()),
        ("A", "//a/b", (0, 1), ()),
        ("A", "//a/b", (0, 1, 1), ("lower-case",)),
        ("B", "//c", (0,), ()),
        ("C", "//d/e", (0, 1), ()),
    }


@pytest.mark.parametrize(
    "text",
    [
        "A//a->x JOIN {} B//b->y JOIN {x = y AND y = z} C//c->z",
        "A//a->x JOIN {x = y} B//b->y JOIN {y = z} C//c->z",
    ],
)
def test_a_comparison_is_made_as_early_as_can_be(text: str) -> None:
    first, second = part_of(text).operators
    assert len(first.graph.value_joins) == len(second.graph.value_joins) == 1


def test_a_comparison_needs_all_of_its_variables() -> None:
    part = part_of("A//a->x JOIN {} (B//b->y JOIN {x = z AND y = z} C//c->z)")
    inner, outer = part.operators
    assert inner.sides == (OperatorSide((1,)), OperatorSide((2,)))
    assert outer.sides == (OperatorSide((0,)), OperatorSide((1, 2), 0))
    assert len(inner.graph.value_joins) == len(outer.graph.value_joins) == 1


def test_what_is_not_compared_is_represented_by_one_column() -> None:
    _, last = part_of("A//a->x JOIN {} B//b->y JOIN {} C").operators
    assert [node.side for node in last.graph.nodes] == [0, 1]


def test_disjuncts_of_all_operators_multiply() -> None:
    text = "A//a->x JOIN {x = y OR x = '1'} B//b->y JOIN {y = z OR x = z} C//c->z"
    assert len(dissected(text).disjuncts) == 4


def test_sub_queries_have_streams_of_their_own() -> None:
    whole = dissected("(SELECT <r>{x}</r> FROM A//a->x PUBLISH p)/r->r JOIN {r = s} (B//s)//s->s")
    first, second = whole.subqueries
    assert whole.streams == (first[0], second[0])
    assert all(is_internal(stream) for stream in whole.streams)
    assert [inner.query.name for _, inner in whole.subqueries] == ["q1(1)", "q1(2)"]
    assert [inner.feeds for _, inner in whole.subqueries] == ["p", None]
    assert [one.query.name for one in whole.everything()] == ["q1(1)", "q1(2)", "q1"]
