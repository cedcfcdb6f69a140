"""The cookbook's queries over archives of real feeds, with the number of matches of each.

The archives in shared/ hold items over time (`items.jsonl`, one record for each version of an item)
and feeds as they were fetched (`raw/`).  The records are replayed, each as one document in the
items' shape; the feeds are read by `read_feeds` and published as polling would, so that an item of
several fetches counts once.  The links across feeds that the engine finds must be exactly the pairs
of a self-join in plain SQL over the same canonical links.

    python benchmarks/archives.py [--batch 5000]
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import duckdb
import pyarrow as pa
from lxml import etree

sys.path.insert(0, str(Path(__file__).parents[1]))

import xscl
from xscl.feeds import Feed, Item, canonical
from xscl.feeds.dates import seconds_of
from xscl.feeds.html_text import clean, guessed, marked_up
from xscl.sources.feed_files import read_feeds

ROOT = Path(__file__).parents[1]
ARCHIVES = ROOT.parent / "shared" / "data" / "feed-archives"
COOKBOOK = ROOT / "docs" / "cookbook.md"

Envelope = dict[str, Any]
Pair = tuple[str, str]

ACROSS = {
    "link": """
        SELECT DISTINCT a.id, b.id FROM link a JOIN link b ON a.url = b.url AND a.feed < b.feed
    """,
    "linked": """
        SELECT DISTINCT a.id, b.id FROM link a JOIN linked b ON a.url = b.url AND a.feed <> b.feed
    """,
}
"""The pairs of items of two feeds that share a link, and those where the second links to the
first, in SQL."""

ACROSS_IN_XSCL = """
    -- name: link
    S/item[feed->fa][link->la] JOIN {la = lb AND fa < fb} S/item[feed->fb][link->lb];
    -- name: linked
    S/item[feed->fa][link->la] JOIN {la = to AND fa != fb} S/item[feed->fb][linked->to]
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--batch", type=int, default=5_000)
    arguments = parser.parse_args()
    same = True
    everything: list[Envelope] = []
    for archive in sorted(path.parent for path in ARCHIVES.glob("*/items.jsonl")):
        records = list(replayed(archive / "items.jsonl"))
        same &= report(f"{archive.name}/items.jsonl", records, arguments.batch)
        refused: list[xscl.DocumentError] = []
        items = list(fetched(archive / "raw", refused.append))
        same &= report(f"{archive.name}/raw", items, arguments.batch)
        print(f"    files that are no feeds: {len(refused)}")
        everything += records
    same &= report("all items.jsonl as one stream", everything, arguments.batch)
    return 0 if same else 1


def report(name: str, documents: list[Envelope], batch: int) -> bool:
    """Prints what the queries find in an archive; returns whether it equals what SQL finds."""
    started = time.perf_counter()
    with xscl.Engine() as engine:
        engine.load(cookbook())
        counts = engine.count(documents, batch=batch)
        taken, again = engine.documents, engine.skipped.duplicate
    seconds = time.perf_counter() - started
    print(f"{name}: {taken:,} items, and {again:,} fetched again, in {seconds:.1f} s")
    for query, count in counts.items():
        print(f"    {query:16}{count:>10,}")
    found, expected = across_feeds(documents), across_feeds_in_sql(documents)
    for kind, pairs in expected.items():
        verdict = "equal" if found[kind] == pairs else f"NOT EQUAL: {len(found[kind]):,}"
        print(f"    across feeds, by {kind:8}{len(pairs):>10,} pairs in SQL; {verdict}")
    return found == expected


def cookbook() -> str:
    """The queries of docs/cookbook.md, as one query file."""
    page = COOKBOOK.read_text(encoding="utf-8")
    return ";\n".join(re.findall(r"^```xscl\n(.*?)^```$", page, re.MULTILINE | re.DOTALL))


def replayed(file: Path) -> Iterator[Envelope]:
    """The records of an archive, in order of their first fetch, which is their arrival; the id is
    archive and line."""
    with file.open(encoding="utf-8") as lines:
        for place, line in enumerate(lines, 1):
            record = json.loads(line)
            arrival = datetime.fromisoformat(record["first_seen"]).timestamp()
            yield item_of(record).envelope("S", arrival) | {"id": f"{file.parent.name}:{place}"}


def item_of(record: dict[str, Any]) -> Item:
    """An archive's record in the items' shape."""
    raw = record.get("link", "")
    link = canonical(raw)
    summary = marked_up(record.get("summary", ""))
    web = [url for url in summary.links if url.startswith(("http://", "https://"))]
    return Item(
        feed=Feed(record["channel"]),
        id=record.get("id", ""),
        link=link,
        raw_links=tuple(url for url in dict.fromkeys([raw, *web]) if url != canonical(url)),
        title=clean(guessed(record["title"]).words),
        authors=tuple(map(clean, record.get("authors", ()))),
        categories=tuple(map(clean, record.get("categories", ()))),
        published=seconds_of(record.get("published", "")),
        summary=clean(summary.words),
        linked=tuple(dict.fromkeys(map(canonical, web))),
    )


def fetched(folder: Path, on_error: Callable[[xscl.DocumentError], None]) -> Iterator[Envelope]:
    """The items of an archive's feed files, fetch by fetch, under the name of their channel.

    Files are named `20260701T114126Z__channel.xml`; those that are no feeds go to `on_error`.
    """
    for file in sorted(folder.iterdir()):
        fetch, _, channel = file.stem.partition("__")
        arrival = datetime.strptime(fetch, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC).timestamp()
        for envelope in read_feeds(file, "S", arrival=arrival, on_error=on_error):
            yield envelope | {
                "id": envelope["id"].replace(str(file), channel, 1),
                "xml": envelope["xml"].replace(escape(str(file)), escape(channel), 1),
            }


def across_feeds(documents: list[Envelope]) -> dict[str, set[Pair]]:
    """The pairs of items across feeds, as the engine finds them: by `link`, and by `linked`."""
    found: dict[str, set[Pair]] = {kind: set() for kind in ACROSS}
    with xscl.Engine() as engine:
        engine.load(ACROSS_IN_XSCL)
        for match in engine.run(documents, batch=5_000):
            first, second = match.documents
            found[match.query].add((first, second))
    return found


def across_feeds_in_sql(documents: Iterable[Envelope]) -> dict[str, set[Pair]]:
    """The same by self-joins in SQL."""
    rows: dict[str, list[tuple[str, str, str]]] = {kind: [] for kind in ACROSS}
    seen = set()
    for envelope in documents:
        if envelope["id"] in seen:
            continue
        seen.add(envelope["id"])
        item = etree.fromstring(envelope["xml"])
        feed = item.findtext("feed", "")
        for kind, table in rows.items():
            table += ((envelope["id"], feed, node.text or "") for node in item.findall(kind))
    with duckdb.connect() as database:
        for kind, table in rows.items():
            columns = zip(*table, strict=True) if table else ((), (), ())
            database.register(
                kind,
                pa.table(
                    [pa.array(column, pa.string()) for column in columns], ["id", "feed", "url"]
                ),
            )
        return {kind: set(database.execute(sql).fetchall()) for kind, sql in ACROSS.items()}


if __name__ == "__main__":
    sys.exit(main())
