"""How many queries nodes support, by how operators are placed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from benchmarks.compositions.simulation import (
    SINK,
    SIZE,
    STRATEGIES,
    Costs,
    Outcome,
    Strategy,
    supported,
)
from benchmarks.compositions.workload import Workload
from benchmarks.report import Plot, Report, Statement, Table, number
from benchmarks.scale import Scale

NODES = (1, 2, 5, 10, 15, 20, 25, 30, 35, 40)
SEED = 1


class Setting(NamedTuple):
    """A workload with so many sinks."""

    workload: Workload
    sinks: int

    @property
    def title(self) -> str:
        return f"{self.workload}, {self.sinks} sink{'s' * (self.sinks > 1)}"


NEXT, ONE_SINK, SINKS = Setting("next", 5), Setting("union", 1), Setting("union", 5)
SETTINGS = (NEXT, ONE_SINK, SINKS)

Found = dict[Setting, dict[int, dict[Strategy, Outcome]]]


def run(scale: Scale) -> Report:
    nodes = NODES if scale.full else (1, 5, 10)
    costs: Costs = "run" if scale.full else "model"
    found = outcomes(costs, nodes)
    by_model = outcomes("model", nodes) if scale.full else found
    how = (
        "from what the operators did in a run of the engine over 20 s of stream (in the fourth "
        "table: from the worst case of the cost model)"
        if scale.full
        else "from the worst case of the cost model"
    )
    return Report(
        "next_nodes",
        "NEXT CEP: figure 11, placement on nodes",
        f"Queries of {SIZE} operators, drawn as in figure 9 (seed {SEED}), are placed one after "
        "another until a node or a sink is overloaded; the tables have how many fit. The load is "
        f"simulated, {how}; an event received or sent counts as one processed. A node has the "
        f"capacity of ten drawn `;` queries, a sink of {SINK:,.0f} events a second. *Round robin* "
        "and *greedy* share no operators; *reuse* does; *rewrite* rewrites before sharing. The "
        "last table is of the greatest number of nodes.",
        (*tables(found), *([modelled(by_model)] if scale.full else []), others(found)),
        tuple(
            Plot(
                "nodes",
                f"queries, {setting.title}",
                {
                    one: [(float(n), float(row[one].supported)) for n, row in line.items()]
                    for one in STRATEGIES
                },
                log_y=False,
            )
            for setting, line in found.items()
        ),
        statements(found, full=scale.full),
    )


def outcomes(costs: Costs, nodes: tuple[int, ...]) -> Found:
    return {
        setting: {
            n: {
                one: supported(setting.workload, SEED, costs, n, one, setting.sinks)
                for one in STRATEGIES
            }
            for n in nodes
        }
        for setting in SETTINGS
    }


def tables(found: Found) -> Iterator[Table]:
    """Queries, a table for each setting."""
    for setting, line in found.items():
        columns = (f"{setting.title}: nodes", *(f"{one}, queries" for one in STRATEGIES))
        yield Table(columns, tuple((n, *cells(row)) for n, row in line.items()))


def modelled(found: Found) -> Table:
    """Queries by the model, of all settings."""
    columns = ("by the cost model", "nodes", *(f"{one}, queries" for one in STRATEGIES))
    rows = (
        (setting.title, n, *cells(row))
        for setting, line in found.items()
        for n, row in line.items()
    )
    return Table(columns, (*rows,))


def cells(row: dict[Strategy, Outcome]) -> Iterator[str]:
    """Queries; those that a sink stopped are marked."""
    for one in STRATEGIES:
        yield f"{row[one].supported:,}{' (sink)' * (row[one].overloaded == 'sink')}"


def others(found: Found) -> Table:
    """With the most nodes: what is deployed, sent and balanced."""
    rows = tuple(
        (
            f"{setting.title}, {max(line)} nodes",
            one,
            row.asked,
            row.deployed,
            number(100 * row.whole / max(1, row.supported)),
            number(row.traffic),
            number(row.variation),
            number(1000 * row.placing),
            number(row.dearest),
        )
        for setting, line in found.items()
        for one, row in line[max(line)].items()
    )
    columns = (
        "workload",
        "strategy",
        "operators of all queries",
        "operators deployed",
        "queries deployed already, %",
        "events/s between nodes",
        "load of nodes: coefficient of variation",
        "placing a query, at most, ms",
        "greatest operator of the query that did not fit : capacity of a node",
    )
    return Table(columns, rows)


def statements(found: Found, *, full: bool) -> tuple[Statement, ...]:
    def of(setting: Setting, n: int, strategy: Strategy) -> int:
        return found[setting].get(n, found[setting][1])[strategy].supported

    chain, one, five = found[NEXT], found[ONE_SINK], found[SINKS]
    shared = STRATEGIES[1:]
    round_robin, at_15 = of(NEXT, 40, "round robin"), of(NEXT, 15, "round robin")
    greedy, reuse, rewrite = (of(NEXT, 40, way) for way in shared)
    last = chain[max(chain)]["greedy"]
    single = of(NEXT, 1, "greedy")
    grows = {n: row["greedy"].supported / n / single for n, row in chain.items()}
    worst = min(grows, key=grows.__getitem__)
    at_ten = {way: of(SINKS, 10, way) for way in shared}
    flat = {way: (of(ONE_SINK, 20, way), of(ONE_SINK, 40, way)) for way in shared}
    placing = max(
        row.placing for line in found.values() for each in line.values() for row in each.values()
    )
    paper, goal = "NEXT CEP, figure 11", "goal, NEXT CEP figure 11"
    return (
        Statement(
            paper,
            "next: round robin is flat beyond 15 nodes (at 40 at most 1.25 times as many queries)",
            round_robin <= 1.25 * at_15 if full else None,
            f"{at_15} queries at 15 nodes, {round_robin} at 40",
        ),
        Statement(
            goal,
            "next: greedy supports at least twice as many as round robin at 40 nodes (paper: "
            "improved considerably)",
            greedy >= 2 * round_robin if full else None,
            f"{greedy} and {round_robin} queries; the one that did not fit has an operator that "
            f"takes {number(last.dearest)} of a node",
        ),
        Statement(
            goal,
            "next: greedy supports at least 0.7 of N times what one node does, at N nodes (paper: "
            "scales linearly)",
            grows[worst] >= 0.7,
            f"{number(grows[worst])} at least: {of(NEXT, worst, 'greedy')} at {worst} nodes, "
            f"{single} at one",
        ),
        Statement(
            paper,
            "next: reuse supports at least as many as greedy with any number of nodes",
            all(row["reuse"].supported >= row["greedy"].supported for row in chain.values()),
            "reuse/greedy: "
            + ", ".join(
                f"{row['reuse'].supported}/{row['greedy'].supported}" for row in chain.values()
            ),
        ),
        Statement(
            paper,
            "next: at 40 nodes rewriting supports 1.24 times as many as greedy, 1.34 times as many "
            "as reuse",
            rewrite >= 1.24 * greedy and rewrite >= 1.34 * reuse if full else None,
            f"{number(rewrite / greedy)} and {number(rewrite / reuse)} times: {rewrite}, {greedy} "
            f"and {reuse} queries",
        ),
        Statement(
            paper,
            "union, one sink: saturates at around 80 queries, as the sink is overloaded (64 to 96, "
            "all but round robin)",
            all(
                row.overloaded == "sink" and 64 <= row.supported <= 96
                for row in (one[40][way] for way in shared)
            )
            if full
            else None,
            f"{', '.join(f'{after} ({way})' for way, (_, after) in flat.items())} at 40 nodes",
        ),
        Statement(
            goal,
            "union, one sink: flat from 20 nodes on (at 40 at most 1.1 times as many)",
            all(after <= 1.1 * before for before, after in flat.values()) if full else None,
            ", ".join(f"{before} and {after} ({way})" for way, (before, after) in flat.items()),
        ),
        Statement(
            paper,
            "union, five sinks: at 10 nodes rewriting supports 1.5 times as many as greedy",
            at_ten["rewrite"] >= 1.5 * at_ten["greedy"] if 10 in five else None,
            f"{number(at_ten['rewrite'] / at_ten['greedy'])} times: {at_ten['rewrite']} and "
            f"{at_ten['greedy']} queries",
        ),
        Statement(
            "goal, NEXT CEP",
            "a query is placed within 20 ms",
            placing <= 0.02,
            f"{number(1000 * placing)} ms at most",
        ),
    )
