"""Nodes that execute drawn queries (Schultz-Møller et al., section 6.3): queries come one after the
other until a node, or a sink, is overloaded.

Time at a node is counted in units: an event at an operator takes one, and one for each instance
that it touches; so does an event that is received from another node or a source, and one that is
sent to another node or a sink.  What an operator does in a second is either what the cost model has
as its worst case, or what it did in a run of the engine: its work does not depend on its node.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import cycle, islice
from statistics import mean, pstdev
from time import process_time
from typing import Literal, NamedTuple

from benchmarks.compositions.running import Work, work_of
from benchmarks.compositions.workload import RATES, Query, Workload, queries
from xscl.pattern_stage.compositions.canonical import canonicals
from xscl.pattern_stage.compositions.operators import Operator, operators
from xscl.pattern_stage.compositions.placement import place, round_robin
from xscl.pattern_stage.compositions.rules import SWITCHES, rewritten

__all__ = [
    "SINK",
    "SIZE",
    "STRATEGIES",
    "Cluster",
    "Costs",
    "Outcome",
    "Prepared",
    "Strategy",
    "capacity",
    "prepared",
    "supported",
]

Strategy = Literal["round robin", "greedy", "reuse", "rewrite"]
STRATEGIES: tuple[Strategy, ...] = ("round robin", "greedy", "reuse", "rewrite")
Costs = Literal["model", "run"]
"""Where the work of operators is from."""

SIZE = 5
"""Operators of a query."""
SINK = 15_000.0
"""Events a second that a sink's machine takes."""
OF_ONE_NODE = 10
"""Drawn queries of `;` that one node supports: its capacity."""
MOST = 3_000


class Prepared(NamedTuple):
    """The operators of a query, with their canonical forms."""

    root: Operator
    forms: Mapping[Operator, str]


@cache
def prepared(
    workload: Workload, seed: int, costs: Costs, rewriting: bool
) -> tuple[list[Prepared], Iterator[Query]]:
    """The queries so far, and those to come."""
    return [], queries(workload, SIZE, seed)


def queries_of(
    workload: Workload, seed: int, costs: Costs, *, rewriting: bool
) -> Iterator[Prepared]:
    """Queries as they were drawn, or rewritten."""
    there, more = prepared(workload, seed, costs, rewriting)
    for number in range(MOST):
        if number == len(there):
            there.append(_prepared(next(more), costs, rewriting=rewriting))
        yield there[number]


def _prepared(query: Query, costs: Costs, *, rewriting: bool) -> Prepared:
    made = rewritten(query.plan, RATES, without=() if rewriting else SWITCHES)
    root = made.root
    if costs == "run":
        root = _as_measured(root, iter(work_of(made.plan, query.streams)))
    return Prepared(root, canonicals(root, (), lambda one: one.type))


def _as_measured(one: Operator, work: Iterator[Work]) -> Operator:
    """An operator with what it and those below it have done in a run."""
    if one.event is not None:
        return one
    inputs = tuple(_as_measured(each, work) for each in one.inputs)
    cpu = made = sum(each.flow.mu for each in inputs)
    if one.kind == ";":
        did = next(work)
        cpu, made = cpu + did.touched, did.made
    return replace(one, inputs=inputs, flow=replace(one.flow, mu=made), cpu=cpu)


@dataclass(frozen=True, slots=True)
class Outcome:
    """How many queries came before the first overload, and of what: a node or a sink; with the
    operators that were asked for and those deployed, the queries that were there already as a
    whole, the events a second between nodes, the variation of the nodes' load, the longest time to
    place a query, and what the dearest operator of the last query takes of one node's capacity:
    with more than 1 no placement helps."""

    supported: int
    overloaded: Literal["node", "sink"]
    asked: int
    deployed: int
    whole: int
    traffic: float
    variation: float
    placing: float
    dearest: float


@dataclass(slots=True)
class Cluster:
    """Nodes with what they execute."""

    count: int
    strategy: Strategy
    sinks: int = 1
    cpu: dict[int, float] = field(init=False)
    """What operators cost at each node, as `place` reads it."""
    loads: list[float] = field(init=False)
    asked: int = 0
    deployed: int = 0
    whole: int = 0
    traffic: float = 0.0
    placing: float = 0.0
    to_sinks: list[float] = field(init=False)
    _there: dict[str, int] = field(default_factory=dict)
    _received: set[tuple[object, int]] = field(default_factory=set)
    """What is sent to which node."""
    _turn: Iterator[int] = field(init=False)

    def __post_init__(self) -> None:
        self.cpu = dict.fromkeys(range(self.count), 0.0)
        self.loads = [0.0] * self.count
        self.to_sinks = [0.0] * self.sinks
        self._turn = cycle(range(self.count))

    def deploy(self, query: Prepared) -> None:
        """Places a query's operators, and adds what they cost."""
        root, forms = query
        if self.strategy not in ("reuse", "rewrite"):
            forms = {}
        every = [*operators(root)]
        started = process_time()
        if self.strategy == "round robin":
            [placed] = round_robin([root], [*islice(self._turn, len(every))])
        else:
            placed = place(root, self.cpu, self._there if forms else None, forms)
        self.placing = max(self.placing, process_time() - started)
        self.asked += len(every)
        self.whole += forms.get(root) in self._there
        for one, node in placed.items():
            if forms.get(one) not in self._there:
                self._start(one, node, placed, forms)
        self.loads[placed[root]] += root.flow.mu
        least = min(range(self.sinks), key=self.to_sinks.__getitem__)
        self.to_sinks[least] += root.flow.mu

    def _start(
        self,
        one: Operator,
        node: int,
        placed: Mapping[Operator, int],
        forms: Mapping[Operator, str],
    ) -> None:
        self.deployed += 1
        self.cpu[node] += one.cpu
        self.loads[node] += one.cpu
        if one in forms:
            self._there[forms[one]] = node
        for each in one.inputs:
            at = placed.get(each)
            sent = (each.event.type if each.event else forms.get(each, each)), node
            if at != node and sent not in self._received:
                self._received.add(sent)
                self.loads[node] += each.flow.mu
                if at is not None:
                    self.loads[at] += each.flow.mu
                    self.traffic += each.flow.mu

    def overloaded(self, capacity: float) -> Literal["node", "sink"] | None:
        """What is, if anything."""
        if max(self.to_sinks) > SINK:
            return "sink"
        return "node" if max(self.loads) > capacity else None


def capacity(seed: int, costs: Costs) -> float:
    """Of a node, by what it supports."""
    one = Cluster(1, "greedy")
    for query in islice(queries_of("next", seed, costs, rewriting=False), OF_ONE_NODE):
        one.deploy(query)
    return one.loads[0]


def supported(
    workload: Workload, seed: int, costs: Costs, count: int, strategy: Strategy, sinks: int
) -> Outcome:
    """Deploys queries on so many nodes until something is overloaded."""
    cluster, most = Cluster(count, strategy, sinks), capacity(seed, costs)
    some = queries_of(workload, seed, costs, rewriting=strategy == "rewrite")
    for before, query in enumerate(some):
        cluster.deploy(query)
        over = cluster.overloaded(most)
        if over is not None:
            return Outcome(
                before,
                over,
                cluster.asked,
                cluster.deployed,
                cluster.whole,
                cluster.traffic,
                _variation(cluster.loads),
                cluster.placing,
                max(one.cpu for one in operators(query.root)) / most,
            )
    raise AssertionError("nothing is overloaded")


def _variation(loads: Sequence[float]) -> float:
    return pstdev(loads) / mean(loads)
