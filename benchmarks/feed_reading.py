"""Items a second from the bytes of feeds, against feedparser alone and lxml alone in one run.

The feeds are the well-formed ones of the archives in shared/ (files or folders may be given
instead).  The same bytes go three ways: `parse_feed` to items, with their texts, links, dates and
canonical forms; `feedparser.parse`; lxml's parse and a walk over the items, which is the floor.
Each way runs several times, in turn, and its best time counts; what is remembered from one item to
the next (dates, canonical links) is forgotten before each.

    python benchmarks/feed_reading.py [--rounds 5] [FILE …]
"""

from __future__ import annotations

import argparse
import io
import platform
import sys
import time
from collections.abc import Callable
from pathlib import Path

import feedparser
from lxml import etree

sys.path.insert(0, str(Path(__file__).parents[1]))

from xscl.feeds import canonical, parse_feed
from xscl.feeds.dates import seconds_of
from xscl.feeds.names import local_name
from xscl.feeds.parsing import tree_of
from xscl.feeds.xml_feed import ROOTS

ARCHIVES = Path(__file__).parents[2] / "shared" / "data" / "feed-archives"
ITEMS = ("{*}item", "{*}entry")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE")
    arguments = parser.parse_args()
    bodies = list(well_formed(arguments.files or sorted(ARCHIVES.glob("*/raw"))))
    ways: dict[str, Callable[[bytes], int]] = {
        "xscl": lambda body: len(parse_feed(body, "f").items),
        "documents": lambda body: sum(
            len(item.document()) > 0 for item in parse_feed(body, "f").items
        ),
        "feedparser": lambda body: len(feedparser.parse(io.BytesIO(body)).entries),
        "lxml": lambda body: sum(1 for _ in etree.fromstring(body).iter(*ITEMS)),
    }
    best = dict.fromkeys(ways, float("inf"))
    counts: dict[str, int] = {}
    for _ in range(arguments.rounds):
        for name, read in ways.items():
            canonical.cache_clear()
            seconds_of.cache_clear()
            started = time.process_time()
            counts[name] = sum(read(body) for body in bodies)
            best[name] = min(best[name], time.process_time() - started)
    size = sum(len(body) for body in bodies) / 1e6
    print(f"{len(bodies)} feeds, {size:.1f} MB, {counts['xscl']:,} items; {platform.machine()}")
    for name, seconds in best.items():
        rate = counts[name] / seconds
        times = best["feedparser"] / seconds * counts[name] / counts["feedparser"]
        print(f"{name:12}{rate:>10,.0f} items/s{times:>8.1f} times feedparser")
    return 0


def well_formed(sources: list[Path]) -> list[bytes]:
    files = [
        file
        for source in sources
        for file in ([source] if source.is_file() else sorted(source.rglob("*")))
        if file.is_file()
    ]
    bodies = [file.read_bytes() for file in files]
    return [body for body in bodies if is_well_formed(body)]


def is_well_formed(body: bytes) -> bool:
    root = tree_of(body, None)
    return root is not None and local_name(root.tag) in ROOTS


if __name__ == "__main__":
    sys.exit(main())
