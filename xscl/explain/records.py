"""A query's dissection as members of JSON, for programs: `xscl explain --format json`."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from xscl.dissection.parts import Disjunct, Dissection, JoinOperator
from xscl.explain.event_plans import EventPlans
from xscl.explain.explained import explained
from xscl.explain.notes import notes
from xscl.explain.stages import RULE_NAMES, comparisons, joins, reduced, roles, waiting
from xscl.explain.words import Words, operator
from xscl.stream_names import is_internal
from xscl.times import to_seconds

__all__ = ["as_json"]


def as_json(
    dissection: Dissection, others: Sequence[Dissection] | EventPlans = ()
) -> dict[str, object]:
    """The members of a query, its sub-queries nested in it; `others` are the queries beside which
    it stands, in their order, or the plans of them.

    `template` is the id of its template (null without a join, a list for several joins or
    disjuncts), `value_joins` their number and `variables` those that it binds.  In `disjuncts`
    each block has its tree pattern and each stage its join graph; blocks and stages count from 1.
    `window` is in seconds, null without end; so is what a side is `kept` for after its time.
    A pattern has other members: its states with their edges, and what it waits for; an event query
    these, and its schema and its plan.
    """
    if (own := explained(dissection)) is not None:
        plans = others if isinstance(others, EventPlans) else EventPlans(others or (dissection,))
        members = own.members(dissection, plans)
        if dissection.query.language.schemas or dissection.subqueries:
            members["subqueries"] = [as_json(one, plans) for _, one in dissection.subqueries]
        return members
    stages = joins(dissection)
    templates = [stage.plan.template.id for stage in stages]
    template: object = templates[0] if len(templates) == 1 else templates
    never = not dissection.disjuncts
    streams = (stream for stream in dissection.streams if not is_internal(stream))
    return {
        "name": dissection.query.name,
        "template": template if stages or never else None,
        "value_joins": sum(len(stage.graph.value_joins) for stage in stages),
        "variables": list(dissection.variables),
        "streams": list(dict.fromkeys(streams)),
        "publishes": dissection.feeds,
        "disjuncts": [_disjunct(dissection, disjunct) for disjunct in dissection.disjuncts],
        "subqueries": [as_json(inner, others) for _, inner in dissection.subqueries],
        "notes": notes(dissection),
    }


def _disjunct(dissection: Dissection, disjunct: Disjunct) -> dict[str, object]:
    words = Words(dissection, disjunct)
    stages = enumerate(disjunct.operators, 1)
    return {
        "blocks": [
            _block(dissection, disjunct, words, block) for block in range(len(disjunct.streams))
        ],
        "stages": [
            _stage(disjunct, words, number, stage)
            for number, stage in stages
            if len(stage.sides) == 2
        ],
    }


def _block(
    dissection: Dissection, disjunct: Disjunct, words: Words, block: int
) -> dict[str, object]:
    stream = disjunct.streams[block]
    inner = dict(dissection.subqueries).get(stream)
    return {
        "block": block + 1,
        "stream": stream if inner is None else None,
        "subquery": None if inner is None else inner.query.name,
        "pattern": [
            {
                "node": node.number,
                "parent": node.parent,
                "axis": "self" if node.step.test == "." else node.step.axis,
                "test": node.step.test,
                "variables": list(node.variables),
                "functions": list(node.functions),
                "filters": words.conditions(node),
                "roles": list(roles(disjunct, node.number)),
            }
            for node in disjunct.patterns
            if node.block == block
        ],
    }


def _stage(disjunct: Disjunct, words: Words, number: int, stage: JoinOperator) -> dict[str, object]:
    graphs = reduced(disjunct, stage)
    left = [{node.number for node in graph.nodes} for graph in graphs]
    steps = zip(RULE_NAMES, pairwise(left), strict=True)
    window = None if stage.constraint.window is None else to_seconds(stage.constraint.window)
    return {
        "stage": number,
        "operator": operator(stage),
        "window": window,
        "sides": [
            {
                "blocks": [block + 1 for block in side.blocks],
                "stage": None if side.operator is None else side.operator + 1,
                "kept": window if waits else 0.0,
            }
            for side, waits in zip(stage.sides, waiting(stage), strict=True)
        ],
        "edges": [
            {
                "left": words.node(one.edge.left),
                "operator": one.edge.sign,
                "right": words.node(one.edge.right),
                "kind": one.kind,
                "nodes": [one.edge.left, one.edge.right],
            }
            for one in comparisons(stage)
        ],
        "removed": {name: sorted(before - after) for name, (before, after) in steps},
        "minor": sorted(left[-1]),
        "template": stage.plan.template.id,
    }
