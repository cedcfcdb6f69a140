"""The streams and queries of NEXT CEP's evaluation (Schultz-Møller et al., section 6.1): eight
Poisson streams, and drawn trees of `;`, `|` or both over them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from heapq import merge
from math import comb
from random import Random
from typing import Literal

from xscl.pattern_stage.algebra.nodes import Source
from xscl.pattern_stage.compositions.bracket_next import is_allowed
from xscl.pattern_stage.compositions.cost import Rates
from xscl.pattern_stage.compositions.plan import Bracket, Chain, Either, Event, Plan, Step

__all__ = [
    "RATES",
    "SECOND",
    "SIZES",
    "STREAMS",
    "WORKLOADS",
    "Query",
    "Workload",
    "arrivals",
    "queries",
]

SECOND = 1_000_000
STREAMS = tuple(float(1 << exponent) for exponent in range(8))
"""Events a second of each stream."""
RATES = Rates(dict(enumerate(STREAMS)))

Workload = Literal["next", "union", "mix"]
WORKLOADS: tuple[Workload, ...] = ("next", "union", "mix")
SIZES: dict[Workload, tuple[int, ...]] = {
    "next": (2, 3, 5, 8),
    "union": (2, 3, 5, 8),
    "mix": (2, 4, 6, 8),
}
"""Operators of a query."""


def arrivals(seconds: float, seed: int = 1, factor: float = 1) -> Iterator[tuple[int, int]]:
    """Streams and times in microseconds, in order of time; a longer run begins like a shorter one.
    With a factor all rates are as many times as high."""

    def stream(number: int) -> Iterator[tuple[int, int]]:
        draw, now = Random(f"stream {seed} {number}"), 0.0
        while True:
            now += draw.expovariate(STREAMS[number] * factor)
            yield round(now * SECOND), number

    for time, number in merge(*(stream(number) for number in range(len(STREAMS)))):
        if time >= seconds * SECOND:
            return
        yield number, time


@dataclass(frozen=True, slots=True)
class Query:
    """A plan as it was drawn: its events are those of the streams, in order, its variables
    numbers."""

    plan: Plan
    streams: tuple[int, ...]
    refused: int
    """How many trees were drawn before whose order law N refuses."""


def queries(workload: Workload, size: int, seed: int) -> Iterator[Query]:
    """Queries of so many operators, without end."""
    draw, refused = Random(f"{workload} {size} {seed}"), 0
    while True:
        streams = tuple(draw.randrange(len(STREAMS)) for _ in range(size + 1))
        leaves = [Event(str(place), Source(place, None), one) for place, one in enumerate(streams)]
        plan: Plan
        if workload == "mix":
            plan = _mixed(draw, size // 2, draw.random() < 0.5, leaves)
        else:
            order = _tree(draw, 0, size)
            plan = _chain(leaves, order) if workload == "next" else Either((*leaves,), order)
        if is_allowed(plan):
            yield Query(plan, streams, refused)
            refused = 0
        else:
            refused += 1


def _tree(draw: Random, first: int, inner: int) -> Bracket:
    """Uniform among the binary trees of so many inner nodes, over leaves from the first on."""
    if not inner:
        return first
    weights = [_catalan(left) * _catalan(inner - 1 - left) for left in range(inner)]
    [left] = draw.choices(range(inner), weights)
    return _tree(draw, first, left), _tree(draw, first + left + 1, inner - 1 - left)


def _catalan(inner: int) -> int:
    return comb(2 * inner, inner) // (inner + 1)


def _chain(operands: list[Plan] | list[Event], order: Bracket) -> Chain:
    return Chain((*operands,), (Step(),) * (len(operands) - 1), order)


def _mixed(draw: Random, blocks: int, sequence: bool, leaves: list[Event]) -> Plan:
    """So many blocks of two operators, `;` and `|` in turn by depth, over leaves in order."""
    others = [0, 0, 0]
    for _ in range(blocks - 1):
        others[draw.randrange(3)] += 1
    operands, place = list[Plan](), 0
    for one in others:
        count = 2 * one + 1
        mine = leaves[place : place + count]
        operands.append(_mixed(draw, one, not sequence, mine) if one else mine[0])
        place += count
    order = _tree(draw, 0, 2)
    return _chain(operands, order) if sequence else Either((*operands,), order)
