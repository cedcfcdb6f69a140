"""From a query to tree patterns and joins: the dissection of section 6.1, step by step."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps

from xscl.dissection.compare_nodes import compare_nodes
from xscl.dissection.define_nodes import define_nodes
from xscl.dissection.draft import DisjunctDraft, Draft
from xscl.dissection.join_blocks import join_blocks
from xscl.dissection.name_streams import name_streams, publishing_names, sub_query_names
from xscl.dissection.parts import Disjunct, Dissection
from xscl.dissection.plan_operators import plan_operators
from xscl.dissection.plant_blocks import plant_blocks
from xscl.dissection.split_disjuncts import split_disjuncts
from xscl.language.syntax import Query
from xscl.stream_names import internal_name

__all__ = ["STEPS", "dissect"]


def in_each(step: Callable[[DisjunctDraft], DisjunctDraft]) -> Callable[[Draft], Draft]:
    """A step of each disjunct, as a step of the query."""

    @wraps(step)
    def each(draft: Draft) -> Draft:
        return draft._replace(disjuncts=tuple(map(step, draft.disjuncts)))

    return each


STEPS: tuple[Callable[[Draft], Draft], ...] = (
    name_streams,
    plant_blocks,
    split_disjuncts,
    in_each(compare_nodes),
    in_each(define_nodes),
    in_each(join_blocks),
    in_each(plan_operators),
)


def dissect(query: Query) -> Dissection:
    """Dissects a well-formed query and its sub-queries.

    Parameters may be left open in it; raises Unbound for one whose value must be known.
    """
    draft = Draft(query)
    # For a pattern or an event query, only the streams: these are no joins, and `xscl.patterns` and
    # `xscl.event_queries` process them further.
    steps = (name_streams,) if query.language.timed else STEPS
    for step in steps:
        draft = step(draft)
    return Dissection(
        query=query,
        streams=draft.streams,
        variables=tuple(draft.patterns.variables),
        disjuncts=tuple(_done(disjunct, draft.streams) for disjunct in draft.disjuncts),
        subqueries=tuple(
            (internal_name(name), dissect(inner.query.renamed(name)))
            for name, inner in sub_query_names(query)
        ),
        publishing=tuple(
            (internal_name(name), dissect(inner.renamed(name)))
            for name, inner in publishing_names(query)
        ),
    )


def _done(draft: DisjunctDraft, streams: tuple[str, ...]) -> Disjunct:
    return Disjunct(
        streams=streams,
        patterns=draft.patterns.nodes,
        operators=draft.operators,
        outputs=draft.patterns.outputs,
        selected=draft.selected,
        definitions=draft.definitions,
        opened=draft.opened,
        labels={node.number: node.variables[0] for node in draft.patterns.nodes if node.variables},
    )
