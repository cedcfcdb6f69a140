"""How many queries nodes support, by how operators are placed."""

from __future__ import annotations

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
        "events that came to operators, and instances that these touched, in a run of the engine "
        "over 20 s of stream (second table: what the cost model has as the worst case)"
        if scale.full
        else "what the cost model has as the operators' worst case"
    )
    return Report(
        "next_nodes",
        "NEXT CEP: figure 11, placement on nodes",
        f"Queries of {SIZE} operators, drawn as in figure 9 (seed {SEED}), come one after the "
        "other until a node or a sink has more to do than it can; how many came before that. A "
        f"simulation of load: {how}, an event received or sent counts as one that is processed; a "
        f"node's capacity is that of ten drawn queries of `;`, a sink's {SINK:,.0f} events a "
        "second. *Round robin* and *greedy* share no operators; *reuse* and *rewrite* do, and "
        "*rewrite* has rules first.",
        (table(found), *([table(by_model)] if scale.full else []), others(found)),
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


def table(found: Found) -> Table:
    """Queries; those that a sink stopped are marked."""
    rows = tuple(
        (
            setting.title,
            n,
            *(
                f"{row[one].supported:,}{' (sink)' * (row[one].overloaded == 'sink')}"
                for one in STRATEGIES
            ),
        )
        for setting, line in found.items()
        for n, row in line.items()
    )
    return Table(("operators", "nodes", *STRATEGIES), rows)


def others(found: Found) -> Table:
    """With the most nodes: what is deployed, sent and balanced."""
    rows = list[tuple[str | int, ...]]()
    for setting, line in found.items():
        most = max(line)
        for one, row in line[most].items():
            rows.append(
                (
                    f"{setting.title}, {most} nodes",
                    one,
                    row.asked,
                    row.deployed,
                    number(row.traffic),
                    number(row.variation),
                    number(100 * row.whole / max(1, row.supported)),
                    number(1000 * row.placing),
                    number(row.dearest),
                )
            )
    columns = (
        "operators",
        "strategy",
        "asked for",
        "deployed",
        "events between nodes, a second",
        "variation of load",
        "queries there already, %",
        "placing a query, at most, ms",
        "dearest operator of the query that was too much, of a node",
    )
    return Table(columns, tuple(rows))


def statements(found: Found, *, full: bool) -> tuple[Statement, ...]:
    def of(setting: Setting, n: int, strategy: Strategy) -> int:
        return found[setting].get(n, found[setting][1])[strategy].supported

    chain, one, five = found[NEXT], found[ONE_SINK], found[SINKS]
    round_robin = of(NEXT, 40, "round robin")
    greedy, reuse, rewrite = (of(NEXT, 40, way) for way in STRATEGIES[1:])
    last = chain[max(chain)]["greedy"]
    grows = min(row["greedy"].supported / n for n, row in chain.items()) / of(NEXT, 1, "greedy")
    gains = {
        n: row["rewrite"].supported / max(1, row["greedy"].supported)
        for n, row in five.items()
        if n <= 15
    }
    flat = {way: of(ONE_SINK, 40, way) / of(ONE_SINK, 20, way) for way in STRATEGIES[1:]}
    placing = max(
        row.placing for line in found.values() for each in line.values() for row in each.values()
    )
    text = "NEXT CEP, figure 11"
    return (
        Statement(
            text,
            "next: round robin is flat from 15 nodes on, and greedy supports twice as many at 40",
            round_robin <= 1.25 * of(NEXT, 15, "round robin") and greedy >= 2 * round_robin
            if full
            else None,
            f"{round_robin} at 40 nodes, {of(NEXT, 15, 'round robin')} at 15; greedy {greedy}, "
            f"before a query with an operator that takes {number(last.dearest)} of a node alone",
        ),
        Statement(
            text,
            "next: greedy grows with the nodes, at least 0.7 of what so many single ones support",
            grows >= 0.7,
            f"{number(grows)} at least",
        ),
        Statement(
            text,
            "next: reuse supports as many as greedy with any number of nodes",
            all(row["reuse"].supported >= row["greedy"].supported for row in chain.values()),
            ", ".join(
                f"{row['reuse'].supported}/{row['greedy'].supported}" for row in chain.values()
            ),
        ),
        Statement(
            text,
            "next: at 40 nodes rewriting supports 1.24 times as many as greedy, 1.15 as reuse",
            rewrite >= 1.24 * greedy and rewrite >= 1.15 * reuse if full else None,
            f"{rewrite}, {greedy}, {reuse}",
        ),
        Statement(
            text,
            "union, one sink: flat from 20 to 40 nodes, and the sink is overloaded",
            max(flat.values()) <= 1.1
            and all(one[40][way].overloaded == "sink" for way in STRATEGIES[1:])
            if full
            else None,
            ", ".join(f"{number(ratio)} ({way})" for way, ratio in flat.items()),
        ),
        Statement(
            text,
            "union, five sinks: with some number of nodes up to 15 rewriting supports 1.3 times as "
            "many as greedy",
            max(gains.values()) >= 1.3,
            ", ".join(f"{number(ratio)} ({n} nodes)" for n, ratio in gains.items()),
        ),
        Statement(
            "beyond",
            "a query is placed within 20 ms",
            placing <= 0.02,
            f"{number(1000 * placing)} ms at most",
        ),
    )
