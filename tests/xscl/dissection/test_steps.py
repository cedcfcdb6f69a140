"""A query in each step of its dissection, against golden texts.

`steps/NAME.xscl` is a query, `steps/NAME.txt` what each step adds to its draft.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from xscl.dissection.dissect import STEPS, dissect
from xscl.dissection.draft import DisjunctDraft, Draft
from xscl.dissection.parts import Disjunct, OperatorSide
from xscl.dissection.tree_patterns import PatternNode
from xscl.language import parse
from xscl.language.normal_form import ConstantTest
from xscl.language.syntax import Query
from xscl.language.unparse import Wording
from xscl.stream_names import public_name
from xscl.xpath_stage import Definition

GOLDEN = Path(__file__).parent / "steps"


@pytest.mark.parametrize("case", sorted(GOLDEN.glob("*.xscl")), ids=lambda path: path.stem)
def test_golden(case: Path) -> None:
    query = read(case.read_text(encoding="utf-8"))
    assert "\n".join(way(query)) + "\n" == case.with_suffix(".txt").read_text(encoding="utf-8")


def way(query: Query) -> Iterator[str]:
    """A line for each thing that a step has changed in the draft."""
    draft = Draft(query)
    before: list[str] = []
    for step in STEPS:
        draft = step(draft)
        after = list(drawn(draft))
        yield f"{step.__name__}:"
        yield from (f"  {line}" for line in after if line not in before)
        before = after


def drawn(draft: Draft) -> Iterator[str]:
    if draft.streams:
        yield f"streams: {', '.join(map(public_name, draft.streams))}"
    wording = Wording(draft.query.text)
    shared = [drawn_node(node, wording) for node in draft.patterns.nodes]
    yield from shared
    if draft.patterns.outputs:
        yield f"outputs: {draft.patterns.outputs}"
    for number, disjunct in enumerate(draft.disjuncts, 1):
        for line in drawn_disjunct(disjunct, wording):
            if line not in shared:
                yield f"disjunct {number}, {line}"


def drawn_node(node: PatternNode, wording: Wording) -> str:
    filters = "".join(f"[{wording.condition(condition)}]" for condition in node.conditions)
    binds = "".join(f" -> {variable}" for variable in node.variables)
    below = "" if node.parent is None else f" below {node.parent}"
    under = f" under {', '.join(node.functions)}" if node.functions else ""
    step = f"{node.step.axis}{wording.test(node.step)}{filters}{binds}{under}"
    return f"node {node.number}, block {node.block}: {step}{below}"


def drawn_disjunct(draft: DisjunctDraft, wording: Wording) -> Iterator[str]:
    for conjunct in draft.conjuncts:
        if isinstance(conjunct, ConstantTest):
            yield f"{conjunct.operand.variable} {conjunct.operator} {conjunct.constant!r}"
        else:
            yield f"{conjunct.left.variable} {conjunct.operator} {conjunct.right.variable}"
    for name, node in draft.selected.items():
        yield f"selected {name}: {node}"
    yield from (drawn_node(node, wording) for node in draft.patterns.nodes)
    yield from (f"edge {edge.left} {edge.operator} {edge.right}" for edge in draft.edges)
    for number, definition in draft.definitions.items():
        yield f"definition of {number}: {spelled(definition)}"
    for node, one in draft.opened:
        names = ", ".join(parameter.name for parameter in one.parameters)
        yield f"left open at {node}: {names}"
    for index, graph in enumerate(draft.graphs):
        sides = " | ".join(
            str(side.blocks) if side.operator is None else f"operator {side.operator}"
            for side in graph.sides
        )
        nodes = " ".join(str(node.number) for node in graph.graph.nodes)
        edges = ", ".join(f"{e.left} {e.operator} {e.right}" for e in graph.graph.edges)
        yield f"operator {index} of {sides}: nodes {nodes}; edges {edges or 'none'}"
        yield f"operator {index} gives {graph.columns}, the strings of {graph.valued}"
    for index, operator in enumerate(draft.operators):
        template = operator.plan.template.id
        yield f"plan of operator {index}: template {template} of {operator.assignment}"


def spelled(definition: Definition) -> str:
    return "".join(
        ("/" if step.axis == "child" else "//")
        + step.test
        + "".join(f"[{getattr(test, 'expression', '…')}]" for test in step.filters)
        for step in definition
    )


def read(text: str) -> Query:
    (query,), errors = parse(text)
    assert not errors
    return query


def disjunct_of(text: str) -> Disjunct:
    (disjunct,) = dissect(read(text)).disjuncts
    return disjunct


JOIN = "S//a->x[b->y] JOIN {x = u} S//c->u JOIN {y = v} S//d->v"


def test_sides_are_blocks_in_order() -> None:
    for blocks, operator in (((), None), ((1, 0), 0), ((0, 0), 0), ((0, 1), None), ((0,), 0)):
        with pytest.raises(ValueError, match="block"):
            OperatorSide(blocks, operator)


def test_an_operator_is_whole() -> None:
    operator = disjunct_of(JOIN).operators[0]
    for changes in (
        {"sides": operator.sides[:1]},
        {"sides": operator.sides[::-1]},
        {"assignment": operator.assignment[1:]},
        {"columns": ()},
    ):
        with pytest.raises(ValueError, match=r"\w"):
            replace(operator, **changes)


def test_a_disjunct_is_whole() -> None:
    disjunct = disjunct_of(JOIN)
    for changes in (
        {"operators": ()},
        {"operators": disjunct.operators[:1]},
        {"operators": disjunct.operators[::-1]},
        {"operators": (disjunct.operators[1],) * 2},
        {"outputs": disjunct.outputs[1:]},
        {"selected": {"z": len(disjunct.patterns)}},
        {"definitions": {}},
        {"streams": ("S",)},
    ):
        with pytest.raises(ValueError, match=r"\w"):
            replace(disjunct, **changes)


def test_a_dissection_is_whole() -> None:
    whole = dissect(read("(SELECT * FROM S//a)//a->x JOIN {x = y} S//b->y"))
    for changes in ({"streams": ("S", "T")}, {"subqueries": ()}):
        with pytest.raises(ValueError, match="stream"):
            replace(whole, **changes)


def test_patterns_precede_their_children() -> None:
    node = disjunct_of(JOIN).patterns[0]
    with pytest.raises(ValueError, match="parent"):
        replace(node, parent=0)
