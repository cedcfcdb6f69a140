"""Other engines over the same items and queries: joins."""

from __future__ import annotations

from pathlib import Path

from benchmarks.peers.contest import FEWEST, LIMIT, Contest, Peer
from benchmarks.peers.queries import queries, write
from benchmarks.report import Report
from benchmarks.scale import Scale

ITEMS = 20_000
SIZES = (1, 10, 100, 1_000)
PEERS = (
    Peer("Flink SQL, local", "apache-flink", "flink_sql.py"),
    Peer("Spark Structured Streaming", "pyspark[sql]", "spark_streams.py"),
    Peer("Pathway", "pathway", "pathway_tables.py"),
    Peer("Bytewax with dictionaries", "bytewax", "bytewax_flow.py"),
    Peer("DuckDB, a SELECT a query", "duckdb", "duckdb_sql.py", "statements", standing=False),
    Peer("DuckDB, queries in a table", "duckdb", "duckdb_sql.py", "table", standing=False),
)


def run(scale: Scale) -> Report:
    def folder(place: Path, items: int, count: int) -> None:
        write(place, items, queries(count))

    sizes = SIZES if scale.full else [n for n in SIZES if n <= scale.many // 10]
    outcome = Contest(PEERS, folder, "items.jsonl", min(ITEMS, scale.items)).held(sizes)
    batch = " and ".join(peer.name for peer in PEERS if not peer.standing)
    return Report(
        "peers",
        "Peers: other engines over the same items and queries",
        f"{outcome.documents:,} items in the shape of section 6.6.3 as lines of JSON, and queries "
        "as in the cookbook, each beyond the fourth with a channel and a window of its own. Each "
        f"engine counts the matches of each query, {outcome.matches} in all; all counts are those "
        "of XSCL. Each is used as its documentation recommends: interval joins in Flink SQL, Spark "
        "and Pathway, a keyed step in Bytewax; in DuckDB a SELECT for each query, or one join with "
        f"a table of queries. {batch} answer once, at the end. Processor time of all processes, "
        f"with their start (column *start*: one query, {FEWEST} items), without it in the second "
        f"table; at most {LIMIT:g} s of the clock for a cell. Scripts: `benchmarks/peers`.",
        outcome.tables(),
        (outcome.plot("items"),),
    )
