"""Which leaves are looked up by likeness, and in which index.

Leaves whose texts some query compares with each other, by one measure, are in one index, with the
lowest of the thresholds: a text is in it once for all queries.  Leaves that no query compares are
apart, as titles and authors: the threshold of the one, and its frequent tokens, do not slow the
other.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from xscl.join_stage.in_process.edges import Accepts
from xscl.join_stage.likeness import AlikeTexts
from xscl.join_stage.registry import Registry
from xscl.join_stage.tokens import Measures

__all__ = ["AlikeLeaves", "alike_leaves"]


@dataclass(frozen=True, slots=True)
class AlikeLeaves:
    """Leaves of a plan that are compared by a measure: their spines on either side, the lowest of
    the plan's thresholds, in millionths, and the index of their texts."""

    measure: str
    least: int
    spines: tuple[Collection[int], Collection[int]]
    texts: AlikeTexts


def alike_leaves(
    registry: Registry, accepts: Accepts, measures: Measures
) -> dict[str, list[AlikeLeaves]]:
    """The leaves of each plan that a likeness leads, by the plan's id."""
    compared: dict[str, dict[str, dict[tuple[int, int], int]]] = {}
    for plan in registry.crossing.values():
        leading = plan.leading(registry.thresholds_of(plan))
        if leading is not None and leading[0].measure is not None:
            of_plans = compared.setdefault(leading[0].measure, {})
            of_plans[plan.id] = registry.compared_by(plan, leading[0])
    found: dict[str, list[AlikeLeaves]] = {}
    for measure, of_plans in compared.items():
        pairs = {pair for of_plan in of_plans.values() for pair in of_plan}
        spines = {spine for pair in pairs for spine in pair}
        # Spines of one leaf path have the same texts.
        same = (spines.intersection([one for one, _ in some]) for some in accepts.of_paths())
        group_of = _together([*pairs, *filter(None, same)])
        lowest = _lowest((group_of[left], least) for of_plan in of_plans.values()
                         for (left, _), least in of_plan.items())  # fmt: skip
        indexes = {one: AlikeTexts(measures, measure, least) for one, least in lowest.items()}
        for plan_id, of_plan in of_plans.items():
            of_groups = _lowest((group_of[left], least) for (left, _), least in of_plan.items())
            found[plan_id] = [
                AlikeLeaves(
                    measure,
                    least,
                    (
                        {left for left, _ in of_plan if group_of[left] == group},
                        {right for _, right in of_plan if group_of[right] == group},
                    ),
                    indexes[group],
                )
                for group, least in of_groups.items()
            ]
    return found


def _lowest(some: Iterable[tuple[int, int]]) -> dict[int, int]:
    """The lowest number of each group."""
    found: dict[int, int] = {}
    for group, number in some:
        found[group] = min(number, found.get(group, number))
    return found


def _together(some: Iterable[Collection[int]]) -> dict[int, int]:
    """For each number one that stands for all that hang together with it.

    >>> _together([(1, 2), (3, 4), (2, 5), (6, 6)])
    {1: 1, 2: 1, 3: 3, 4: 3, 5: 1, 6: 6}
    """
    groups: dict[int, set[int]] = {}
    for one in some:
        known = [groups.get(number) for number in one]
        if known[0] is None or any(group is not known[0] for group in known):
            whole = set(one).union(*filter(None, known))
            groups.update(dict.fromkeys(whole, whole))
    return {number: min(groups[number]) for number in sorted(groups)}
