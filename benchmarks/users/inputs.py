"""Documents and queries as files in a directory, which processes of any checkout can read."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

from lxml import etree

from benchmarks.archives import ARCHIVES, replayed
from benchmarks.measure import Envelopes
from datasets import ITEM, LeafJoin, query_text

__all__ = ["DOCUMENTS", "JSON_ITEM", "QUERIES", "archived", "as_json", "different", "write"]

DOCUMENTS, QUERIES = "documents.jsonl", "queries.xscl"
JSON_ITEM = replace(ITEM, root="json")


def write(folder: Path, documents: Envelopes = (), queries: str = "") -> Path:
    """Writes both to a folder of its own, which is returned."""
    folder.mkdir()
    with (folder / DOCUMENTS).open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(document, ensure_ascii=False) + "\n" for document in documents)
    (folder / QUERIES).write_text(queries, encoding="utf-8")
    return folder


def as_json(documents: Envelopes) -> Envelopes:
    """The same items as text of JSON."""

    def item(xml: str) -> str:
        return json.dumps({leaf.tag: leaf.text or "" for leaf in etree.fromstring(xml)})

    return [
        {**{k: v for k, v in one.items() if k != "xml"}, "json": item(one["xml"])}
        for one in documents
    ]


def different(joins: Sequence[LeafJoin]) -> str:
    """A query text in which all queries differ: each is about another channel, too."""
    lines = []
    for number, line in enumerate(query_text(ITEM, joins).split("\nS//item->a")):
        channel = f"[./channel_url='http://channel{number}.example/']"
        lines.append(f"{channel}{line}" if number else line)
    return "\nS//item->a".join(lines)


def archived(most: int | None) -> Envelopes:
    """The items of the archives of real feeds in shared/, so many, in order of time; none where the
    archives are absent."""
    records: Iterable[dict[str, object]] = (
        record for file in sorted(ARCHIVES.glob("*/items.jsonl")) for record in replayed(file)
    )
    return list(islice(sorted(records, key=lambda one: one["timestamp"]), most))  # type: ignore[arg-type,return-value]
