"""Other engines over the same events and queries: sequences, and totals over windows."""

from __future__ import annotations

from benchmarks.peers.contest import FEWEST, LIMIT, Contest, Peer, winners
from benchmarks.peers.events.queries import write
from benchmarks.report import Report
from benchmarks.scale import Scale

EVENTS = 100_000
SIZES = (1, 10, 100)
PEERS = (
    Peer("Flink SQL, local", "apache-flink", "events/flink_sql.py"),
    Peer("Pathway", "pathway", "events/pathway_tables.py"),
    Peer("Bytewax with dictionaries", "bytewax", "events/bytewax_flow.py"),
    Peer("DuckDB, a SELECT a query", "duckdb", "events/duckdb_sql.py", standing=False),
)


def run(scale: Scale) -> Report:
    sizes = SIZES if scale.full else [n for n in SIZES if n <= scale.many // 10]
    outcome = Contest(PEERS, write, "events.jsonl", min(EVENTS, scale.items)).held(sizes)
    return Report(
        "pattern_peers",
        "Peers: other engines over the same events and patterns",
        f"{outcome.documents:,} events of 20 kinds and 100 people as lines of JSON, and queries of "
        "two kinds in turn: after an event of one kind the next one of another kind, of the same "
        "person and with a greater amount, within a time (`skip_till_next_match`); and the total "
        "of a kind and person over a sliding window, where it exceeds a bound. Each engine reads "
        f"the file and counts the matches of each query, {outcome.matches} in all; they are "
        "compared with XSCL's. Each is used as its own documentation recommends: in Flink SQL "
        "`MATCH_RECOGNIZE` with a reluctant gap, skipping to the next row, and `OVER` a range (one "
        "statement set); in Pathway an interval join, grouped by its earlier or its later event; "
        "in Bytewax a keyed step with its state for each query; in DuckDB a self-join and a window "
        "function. DuckDB answers once, over all events; the queries of the others stand. OpenCEP "
        "is not on PyPI. Figures are processor time of all processes of an engine together, its "
        f"start included (the column *start*: one query, {FEWEST} events). A cell has {LIMIT:g} s "
        "of the clock; an engine that cannot is not tried with more queries.\n"
        f"\n{winners(outcome.measured, outcome.sizes)}",
        outcome.tables(),
        (outcome.plot("events"),),
    )
