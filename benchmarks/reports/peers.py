"""Other engines over the same items and queries: joins."""

from __future__ import annotations

from pathlib import Path

from benchmarks.peers.contest import FEWEST, LIMIT, Contest, Peer, winners
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
        "of the cookbook's kind (the same title elsewhere, re-posts, another title for the same "
        "link, a title that comes back), each beyond the fourth about a channel of its reader's "
        "and within a number of days of its own. Each engine reads the file and counts the matches "
        f"of each query, {outcome.matches} in all; they are compared with XSCL's. Each is used as "
        "its own documentation recommends, on one core where it lets itself be asked: interval "
        "joins in Flink SQL (one statement set), Spark (a streaming query each) and Pathway; in "
        "Bytewax a keyed step with its state for each query; in DuckDB a SELECT each, or all "
        f"queries of a form as a table of what they say. {batch} answer once, over all items; the "
        "queries of the others stand. Figures are processor time of all processes of an engine "
        f"together, its start included (the column *start*: one query, {FEWEST} items). A cell has "
        f"{LIMIT:g} s of the clock; an engine that cannot is not tried with more queries. The "
        "scripts are in `benchmarks/peers`; each engine is installed from PyPI into an environment "
        f"of its own.\n\n{winners(outcome.measured, outcome.sizes)}",
        outcome.tables(),
        (outcome.plot("items"),),
    )
