"""Which node executes which operator (NEXT CEP; Schultz-Møller et al., section 5): a greedy choice
for each operator of a plan, and round robin to compare with.

Both are pure; who executes operators is another matter.  An operator that is deployed already stays
where it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import cycle
from typing import TypeVar

from xscl.pattern_stage.compositions.canonical import canonicals
from xscl.pattern_stage.compositions.operators import Operator

__all__ = ["place", "round_robin"]

N = TypeVar("N")


def place(
    plan: Operator,
    nodes: Mapping[N, float],
    deployed: Mapping[str, N] | None = None,
    forms: Mapping[Operator, str] | None = None,
) -> dict[Operator, N]:
    """The node of each operator of a plan, in the order in which they were placed.

    `nodes` have the CPU of what they run already.  `deployed` has the nodes of the operators that
    run, by canonical form; None: no operator is shared, nor are two of this plan.  What is below a
    shared operator is not placed.  `forms` are the canonical forms of the plan's operators, if they
    are known.

    The node is the first for which this is least: the events that inputs send to it from other
    nodes (sources send for free), and the CPU of all that it then runs.
    """
    load = dict(nodes)
    there = dict(deployed or {})
    known = (forms or canonicals(plan)) if deployed is not None else {}
    placed = dict[Operator, N]()

    def visit(one: Operator) -> None:
        if one.kind == "event":
            return
        if known and known[one] in there:
            placed[one] = there[known[one]]
            return
        for each in one.inputs:
            visit(each)
        sent = dict[N, float]()
        for each in one.inputs:
            if each in placed:
                sent[placed[each]] = sent.get(placed[each], 0.0) + each.flow.mu
        # What all inputs send is the same for each node, but for what need not be sent.
        node = min(load, key=lambda node: load[node] - sent.get(node, 0.0))
        placed[one] = node
        load[node] += one.cpu
        if known:
            there[known[one]] = node

    visit(plan)
    return placed


def round_robin(plans: Sequence[Operator], nodes: Sequence[N]) -> Iterator[dict[Operator, N]]:
    """For each plan the nodes of its operators, which take nodes in turn; none is shared."""
    turn = cycle(nodes)

    def visit(one: Operator, placed: dict[Operator, N]) -> dict[Operator, N]:
        for each in one.inputs:
            visit(each, placed)
        if one.kind != "event":
            placed[one] = next(turn)
        return placed

    for plan in plans:
        yield visit(plan, {})
