"""Other engines over the same events and queries: sequences, and totals over windows."""

from __future__ import annotations

from benchmarks.peers.contest import FEWEST, LIMIT, Contest, Peer
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
        "two forms in turn: after an event of one kind, the next one of another kind, of the same "
        "person and with a greater amount, within a time (`skip_till_next_match`); and the total "
        "of a kind and person over a sliding window, where it exceeds a bound. Each engine counts "
        f"the matches of each query, {outcome.matches} in all; all counts are those of XSCL. Flink "
        "SQL: `MATCH_RECOGNIZE` with a reluctant gap, and `OVER` a range; Pathway: an interval "
        "join; Bytewax: a keyed step; DuckDB: a self-join and a window function, once at the end. "
        f"Times, *start* ({FEWEST} events) and limit ({LIMIT:g} s) as for joins. OpenCEP is not on "
        "PyPI.",
        outcome.tables(),
        (outcome.plot("events"),),
    )
