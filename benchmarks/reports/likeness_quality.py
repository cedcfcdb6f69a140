"""Which threshold finds the same story: titles that are alike against items with a link in common,
over archives of real feeds."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import xscl
from benchmarks.archives import ARCHIVES
from benchmarks.report import Cell, Plot, Report, Table
from benchmarks.scale import Scale
from xscl.times import from_timestamp, to_seconds

MEASURES = ("words", "containment", "trigrams")
THRESHOLDS = (0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
DAYS = 7
LINKS = (
    "S/item[feed->f][link->l] "
    "JOIN {{canonical(l) = canonical(m) AND f < g, {days} days}} S/item[feed->g][link->m]"
)
TITLES = (
    "SELECT t, u FROM S/item[feed->f]/title->t "
    "JOIN {{similar(t, u, '{measure}') >= {least} AND f < g, {days} days}} S/item[feed->g]/title->u"
)
Pair = tuple[str, ...]


def run(scale: Scale) -> Report:
    rows: list[tuple[Cell, ...]] = []
    lines: dict[str, list[tuple[float, float]]] = {}
    folders = sorted(ARCHIVES.glob("*/items.jsonl"))
    for file in folders:
        documents = list(items(file))[: scale.items]
        same = pairs(documents, LINKS.format(days=DAYS))
        for measure in MEASURES:
            found = {
                least: pairs(documents, TITLES.format(measure=measure, least=least, days=DAYS))
                for least in THRESHOLDS
            }
            curve = []
            for least, some in found.items():
                both = len(some & same)
                precision = both / len(some) if some else None
                recall = both / len(same) if same else None
                rows.append(
                    (
                        file.parent.name,
                        measure,
                        least,
                        len(some),
                        len(same),
                        both,
                        precision,
                        recall,
                    )
                )
                if precision is not None and recall is not None:
                    curve.append((recall, precision))
            lines[f"{file.parent.name}, {measure}"] = curve
    absent = "" if folders else " The archives (shared/data/feed-archives) are absent."
    return Report(
        "likeness_quality",
        "Joins by likeness: which threshold finds the same story",
        f"Pairs of items of two feeds within {DAYS} days whose titles are alike, by measure and "
        "threshold, over archives of real feeds; and pairs that have a link in common, which are "
        "the truth here. It is a strict one: most stories of two feeds have a link of each feed's "
        "own, and count as wrong. *Precision* is the share of the pairs found that have a "
        "link in common, *recall* the share of the pairs with a link in common that are found."
        f"{absent}",
        (
            Table(
                ("archive", "measure", "threshold", "found", "common link", "both", "precision",
                 "recall"),
                tuple(rows),
            ),
        ),
        (Plot("recall", "precision", lines, log_y=False),),
    )  # fmt: skip


def items(file: Path) -> Iterator[dict[str, Any]]:
    """The items of an archive as documents, each once."""
    seen = set[tuple[str, str]]()
    for number, line in enumerate(file.open(encoding="utf-8")):
        one = json.loads(line)
        key = one["channel"], one.get("link") or one["title"]
        if not one.get("title") or key in seen:
            continue
        seen.add(key)
        parts = {"feed": one["channel"], "title": one["title"], "link": one.get("link", "")}
        xml = "".join(f"<{name}>{escape(text)}</{name}>" for name, text in parts.items())
        yield {
            "stream": "S",
            "id": f"i{number}",
            "timestamp": to_seconds(from_timestamp(one["first_seen"])),
            "xml": f"<item>{xml}</item>",
        }


def pairs(documents: list[dict[str, Any]], query: str) -> set[Pair]:
    """The pairs of documents that a query finds."""
    with xscl.Engine(on_skip=lambda error: None) as engine:
        engine.subscribe(query)
        return {match.documents for match in engine.run(documents)}
