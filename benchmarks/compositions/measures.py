"""How much drawn queries cost with and without rewriting (Schultz-Møller et al., figures 9 and
10)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import islice
from math import floor, log2, prod
from statistics import mean
from typing import NamedTuple

from benchmarks.compositions.running import Batch, Planned, batches, cpu, digest, planned
from benchmarks.compositions.workload import RATES, Query, Workload, arrivals, queries
from benchmarks.scale import Scale
from xscl.pattern_stage.compositions.bracket_next import bracketed
from xscl.pattern_stage.compositions.cost import Rates
from xscl.pattern_stage.compositions.plan import Chain
from xscl.pattern_stage.compositions.tree import tree

__all__ = [
    "Sample",
    "agreed",
    "between",
    "correlation",
    "crossing",
    "geometric",
    "measured_gain",
    "programmes",
    "sample",
    "samples",
    "seeds",
    "supported",
]

WARM = 10
"""Seconds of stream before a measurement; with rates times ten a tenth of it is as many events."""
STEP = 0.5
MANY = 4096
"""The greatest number of queries."""
WAYS = (False, True)
"""As drawn, and rewritten."""


@cache
def steps(seconds: float, seed: int, factor: float) -> tuple[Sequence[Batch], int]:
    """The stream, after a warm-up of so many steps."""
    warm = WARM / factor
    return batches(arrivals(warm + seconds, seed, factor), STEP / factor), round(WARM / STEP)


class Sample(NamedTuple):
    """Processor seconds for a second of stream, as drawn (`off`) and rewritten (`on`), and what the
    model says of both."""

    off: float
    on: float
    cost_off: float
    cost_on: float

    @property
    def ratio(self) -> float:
        """How many times cheaper rewriting is."""
        return self.off / self.on


def sample(
    some: Sequence[Query], seconds: float, seed: int, factor: float = 1, rounds: int = 3
) -> Sample:
    """Of a set of queries, the best of interleaved runs; both ways have had the same matches."""
    ways = [[planned(one, rewriting=way) for one in some] for way in (False, True)]
    agreed(ways, seed)
    batches_, warm = steps(seconds, seed, factor)
    taken = [[cpu(way, batches_, warm) / seconds for way in ways] for _ in range(rounds)]
    off, on = (min(times) for times in zip(*taken, strict=True))
    return Sample(off, on, *(sum(one.cost for one in way) for way in ways))


def agreed(ways: Sequence[Sequence[Planned]], seed: int) -> None:
    """Raises AssertionError unless several ways find the same in the beginning of the stream."""
    beginning, _ = steps(2, seed, 1)
    # Of many queries some stand for all.
    found = {digest(way[:32], beginning) for way in ways}
    if len(found) > 1:
        raise AssertionError(f"different matches, seed {seed}: {ways[0][:32]}")


def seeds(scale: Scale) -> range:
    """Five at full size, fewer with a smaller limit."""
    return range(1, 1 + (max(1, min(5, int(scale.limit / 6))) if scale.full else 1))


def samples(workload: Workload, size: int, seed: int, many: int, seconds: float) -> list[Sample]:
    """Of queries one by one."""
    return [sample([one], seconds, seed) for one in islice(queries(workload, size, seed), many)]


def programmes(size: int, seed: int, many: int, seconds: float) -> tuple[int, float, int]:
    """Of chains: how many are dearer by the exact programme than by the paper's; the time of those
    for which the two differ, exact : paper's; and how many these are."""
    dearer, times = 0, list[float]()
    stream, warm = steps(seconds, seed, 1)
    for query in islice(queries("next", size, seed), many):
        assert isinstance(query.plan, Chain)
        flows = [tree(one, RATES).flow for one in query.plan.operands]
        last = [len(flows) - 1] * len(flows)
        exact, paper = (bracketed(flows, last, exact=way) for way in (True, False))
        dearer += exact[0] > paper[0] * (1 + 1e-9)
        if exact[1] != paper[1]:
            ways = [
                [Planned(replace(query.plan, order=order), query.streams, cost)]
                for cost, order in (exact, paper)
            ]
            agreed(ways, seed)
            taken = [[cpu(way, stream, warm) for way in ways] for _ in range(3)]
            one, other = (min(each) for each in zip(*taken, strict=True))
            times.append(one / other)
    return dearer, geometric(times) if times else 1.0, len(times)


def measured_gain(workload: Workload, size: int, seed: int, many: int, seconds: float) -> float:
    """The share of the gain by rewriting with the rates of the first minute, in place of the true
    ones."""
    counts = Counter(stream for stream, _ in arrivals(60, seed))
    rates = Rates({stream: max(1, count) / 60 for stream, count in counts.items()})
    some = [*islice(queries(workload, size, seed), many)]
    ways = [[planned(one, rewriting=True, rates=each) for one in some] for each in (RATES, rates)]
    agreed(ways, seed)
    stream, warm = steps(seconds, seed, 1)
    taken = [[cpu(way, stream, warm) for way in ways] for _ in range(3)]
    given, measured = (min(each) for each in zip(*taken, strict=True))
    return given / measured


def supported(
    workload: Workload, size: int, seed: int, seconds: float, factor: float
) -> tuple[int, int]:
    """Operators of as many queries as take a second for a second of stream, as drawn and rewritten:
    interpolated between two numbers of queries, one of them twice the other."""
    stream, warm = steps(seconds, seed, factor)
    drawn, some = queries(workload, size, seed), list[Query]()
    agreed([[planned(one, rewriting=way) for one in _first(some, drawn, 32)] for way in WAYS], seed)
    found = list[int]()
    for rewriting in WAYS:

        def taken(count: int, rewriting: bool = rewriting) -> float:
            plans = [planned(one, rewriting=rewriting) for one in _first(some, drawn, count)]
            return cpu(plans, stream, warm) / seconds

        found.append(size * floor(crossing(taken, MANY)))
    off, on = found
    return off, on


def crossing(taken: Callable[[int], float], most: int) -> float:
    """The number at which what is taken, which grows about as the number does, is 1: interpolated
    between powers of two.  A few numbers say where to look, as each takes its time."""
    count, times = min(8, most), dict[int, float]()

    def at(count: int) -> float:
        if count not in times:
            times[count] = taken(count)
        return times[count]

    if at(count) <= 1:
        # What most queries would take is not measured.
        count = min(most // 2, max(count, 1 << floor(log2(count / times[count]))))
    while count > 1 and at(count) > 1:
        count //= 2
    while 2 * count < most and at(2 * count) <= 1:
        count *= 2
    before, after = at(count), at(2 * count)
    return count + min(1.0, max(0.0, (1 - before) / (after - before))) * count


def _first(some: list[Query], drawn: Iterator[Query], count: int) -> list[Query]:
    """The first queries drawn."""
    some += islice(drawn, max(0, count - len(some)))
    return some[:count]


def between(one: float, low: float, high: float) -> bool:
    """Within a tenth."""
    low, high = sorted((low, high))
    return 0.9 * low <= one <= 1.1 * high


def geometric(values: Sequence[float]) -> float:
    """The geometric mean."""
    return float(prod(values) ** (1 / len(values)))


def correlation(pairs: Sequence[tuple[float, float]]) -> float:
    """Spearman's rank correlation."""
    ones, others = (_ranks([pair[side] for pair in pairs]) for side in (0, 1))
    one, other = mean(ones), mean(others)
    together = sum((a - one) * (b - other) for a, b in zip(ones, others, strict=True))
    apart = sum((a - one) ** 2 for a in ones) * sum((b - other) ** 2 for b in others)
    return float(together / apart**0.5)


def _ranks(values: Sequence[float]) -> list[float]:
    """Equal values have the mean of their ranks."""
    places = dict[float, list[int]]()
    for place, value in enumerate(sorted(values)):
        places.setdefault(value, []).append(place)
    return [mean(places[value]) for value in values]
