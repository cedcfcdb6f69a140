"""The engine as the benchmarks use it: queries in, documents in, the number of matches out.

Matches are read in groups (docs/laws.md#channel-tuples): one for each tuple of documents, with all
the queries that it satisfies, as a server of very many queries would.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import xscl
from datasets import LeafJoin, Schema, query_text

__all__ = ["ALL_PAIRS", "counted", "found", "loaded", "resident"]

ALL_PAIRS: dict[str, Any] = {"strategies": xscl.Strategies(signatures=False)}
"""The options of an engine that evaluates every pair of documents."""


def loaded(schema: Schema, joins: Sequence[LeafJoin], **options: Any) -> xscl.Engine:
    """An engine with these queries."""
    engine = xscl.Engine(**options)
    engine.load(query_text(schema, joins))
    # As the command line does, and a program should that has much in an engine.
    xscl.collect_rarely()
    return engine


def found(engine: xscl.Engine, documents: Sequence[Mapping[str, Any]]) -> int:
    """Publishes documents as one batch; the number of matches that they complete."""
    return engine.publish_many(documents, grouped=True).total


def counted(
    schema: Schema, joins: Sequence[LeafJoin], documents: Sequence[Mapping[str, Any]]
) -> Counter[str]:
    """The matches of each query in a new engine: what every baseline must find."""
    with loaded(schema, joins) as engine:
        return +engine.count(documents)


def resident() -> int:
    """The memory that the process has, in bytes (of Linux)."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")
