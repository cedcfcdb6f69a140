"""The cheapest brackets of a chain (NEXT CEP's rule for `;`; Schultz-Møller et al., Figure 5), of
those that law N allows.

µ and DT of a part do not depend on its brackets, b and r do, so the cheapest part need not be part
of the cheapest whole: for each part the programme keeps the cheapest for every (b, r).  Above
`EXACT` operands it keeps the cheapest alone, as the paper has it.

Law N: (L ; M) ; R finds what L ; (M ; R) finds, if φ of R, which is then judged before L is there,
reads M and R only and cannot choose among several keys of M, and if all composites of R have
equally many times.  θ stays at the left spine (`operators`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xscl.pattern_stage.compositions.cost import Flow, joined_by
from xscl.pattern_stage.compositions.plan import Bracket, Chain, Plan, lengths, plans, variables
from xscl.pattern_stage.values.terms import STEP

__all__ = ["EXACT", "bracketed", "is_allowed", "parts_allowed"]

EXACT = 12
"""The greatest number of operands with which all brackets are compared."""

_SAME = 1 - 1e-12
"""Costs that differ by less are equal: sums of the same terms in another order."""

Refusals = tuple[str, ...]

_State = tuple[float, float, float, Bracket]
"""Cost of a part, its burst size and rate, and its brackets."""


def parts_allowed(chain: Chain) -> tuple[list[int], Refusals]:
    """For each operand the last one up to which law N allows a part that begins with it, off the
    left spine; and why not up to the end.  Operands are counted from 0, in texts from 1."""
    count = len(chain.operands)
    own = [variables(one) for one in chain.operands]
    last, refusals = [count - 1], dict[str, None]()
    for first in range(1, count):
        inside = own[first]
        fixed = set[str]()
        for one in chain.steps[first - 1].phi:
            for name, other in _both_ways(one.equality):
                if _variable(name) not in inside and _variable(other) in inside:
                    fixed.add(other)
        place = first + 1
        while place < count:
            why, more = _refusal(chain, place, inside, own[place], fixed)
            if why:
                refusals[why] = None
                break
            fixed |= more
            inside |= own[place]
            place += 1
        last.append(place - 1)
    return last, tuple(refusals)


def is_allowed(plan: Plan) -> bool:
    """Whether law N allows the brackets of all chains of a plan."""
    return all(
        end <= parts_allowed(one)[0][first]
        for one in plans(plan)
        if isinstance(one, Chain)
        for first, end in _off_the_spine(one.order)
    )


def _off_the_spine(order: Bracket, *, spine: bool = True) -> Iterator[tuple[int, int]]:
    """The first and last operand of each part off the left spine."""
    if isinstance(order, int):
        return
    if not spine:
        yield _ends(order)
    yield from _off_the_spine(order[0], spine=spine)
    yield from _off_the_spine(order[1], spine=False)


def _ends(order: Bracket) -> tuple[int, int]:
    first = last = order
    while not isinstance(first, int):
        first = first[0]
    while not isinstance(last, int):
        last = last[1]
    return first, last


def _refusal(
    chain: Chain, place: int, inside: frozenset[str], own: frozenset[str], fixed: set[str]
) -> tuple[str | None, set[str]]:
    """Why an operand cannot be the last of a part, else the fields that its step fixes, too."""
    shortest, longest = lengths(chain.operands[place])
    if shortest != longest:
        return f"events of operand {place + 1} differ in length", set()
    more = set[str]()
    for one in chain.steps[place - 1].phi:
        if one.variables <= own:
            continue
        if not one.variables <= inside | own:
            return f"the FILTER of step {place + 1} reads what is before the part", set()
        keys = [
            (name, other)
            for name, other in _both_ways(one.equality)
            if _variable(name) in inside and _variable(other) in own
        ]
        if not keys:
            return f"the FILTER of step {place + 1} is no equality of fields", set()
        if keys[0][0] not in fixed:
            return f"no FILTER fixes what step {place + 1} compares", set()
        more.add(keys[0][1])
    return None, more


def _both_ways(equality: tuple[str, str] | None) -> list[tuple[str, str]]:
    return [] if equality is None else [equality, equality[::-1]]


def _variable(name: str) -> str:
    return name.partition(STEP)[0]


def bracketed(
    flows: Sequence[Flow], last: Sequence[int], *, exact: bool = True
) -> tuple[float, Bracket]:
    """The least cost of a chain of operands with these outputs, and its brackets, of which parts
    off the left spine end at `last` or before; of equal ones those with the shortest left part."""
    count = len(flows)
    times = [one.detection_time for one in flows]
    parts: dict[tuple[int, int], list[_State]] = {
        (place, place): [(0.0, one.burst_size, one.burst_rate, place)]
        for place, one in enumerate(flows)
    }
    for length in range(2, count + 1):
        for first in range(count - length + 1):
            end = first + length - 1
            if first and end > last[first]:
                continue
            found = dict[tuple[float, float], _State]()
            left_time = 0.0
            for split in range(first, end):
                left_time += times[split]
                rights = parts.get((split + 1, end))
                if rights is None:
                    continue
                right_time = sum(times[split + 1 : end + 1])
                share = right_time / left_time
                for cost, size, rate, brackets in parts[first, split]:
                    factor = share * size
                    right, least = rights[0], float("inf")
                    for one in rights:
                        more = one[0] + factor * one[1] * one[2]
                        if one[2] > rate:
                            more += (one[2] - rate) * one[1]
                        if more < least * _SAME or one is right:
                            right, least = one, more
                    total = cost + least + flows[first].mu
                    key = joined_by(size, rate, left_time, right_time)
                    known = found.get(key)
                    if known is None or total < known[0] * _SAME:
                        found[key] = total, *key, (brackets, right[3])
            states = [*found.values()]
            parts[first, end] = states if exact else [_cheapest(states)]
    best = _cheapest(parts[0, count - 1])
    return best[0], best[3]


def _cheapest(states: Sequence[_State]) -> _State:
    """Of equal ones the first."""
    best = states[0]
    for one in states:
        if one[0] < best[0] * _SAME:
            best = one
    return best
