"""Documents a second, from XML text to matches counted inside the join stage.

The workload of the thesis' section 6.6.3: feed items of 418 channels over five months, random
queries over their five leaves, here with windows of 7 days.  The counts must equal an oracle's
that shares no code with the engine.  The ratio is to lxml's parse alone over the same documents.

    python benchmarks/feed_stream.py [--items 50000] [--queries 1000] [--batch 5000]
"""

from __future__ import annotations

import argparse
import platform
import sys
import time
from pathlib import Path

from lxml import etree

sys.path.insert(0, str(Path(__file__).parents[1]))

import xscl
from tests.oracle.feed_counts import count_matches, read_queries
from xscl.samples import feed_stream, random_queries


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--items", type=int, default=50_000)
    parser.add_argument("--queries", type=int, default=1_000)
    parser.add_argument("--batch", type=int, default=5_000)
    arguments = parser.parse_args()
    documents = list(feed_stream(arguments.items))
    text = random_queries(arguments.queries)
    started = time.perf_counter()
    for document in documents:
        etree.fromstring(document["xml"])
    floor = time.perf_counter() - started
    with xscl.Engine() as engine:
        started = time.perf_counter()
        engine.load(text)
        loading = time.perf_counter() - started
        started = time.perf_counter()
        counts = engine.count(documents, batch=arguments.batch)
        seconds = time.perf_counter() - started
    expected = count_matches(read_queries(text), documents)
    same = {name: n for name, n in counts.items() if n} == {k: n for k, n in expected.items() if n}
    print(f"{platform.processor() or platform.machine()}, Python {platform.python_version()}")
    print(
        f"{arguments.items:,} items, {arguments.queries:,} queries, batches of {arguments.batch:,}"
    )
    print(f"queries loaded in {loading:.2f} s")
    print(
        f"{arguments.items / seconds:,.0f} docs/s, {seconds / floor:.1f} times lxml's parse alone"
    )
    print(f"{counts.total():,} matches; equal to the oracle's: {'yes' if same else 'NO'}")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
