"""The same without the engine: joins as one would write them for a fixed set of queries.

Flat items are joined in dictionaries (`baselines.dictionary_join`), the items of the archives by
SQL in DuckDB; both begin with the text of the documents.
"""

from __future__ import annotations

import gc
import json
import re
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import duckdb
import pyarrow as pa
from lxml import etree

from benchmarks.baselines.dictionary_join import DictionaryJoin
from benchmarks.measure import Envelopes
from benchmarks.users.inputs import DOCUMENTS, QUERIES
from benchmarks.users.turns import Run
from datasets import ITEM, LeafJoin

__all__ = [
    "alone",
    "batches",
    "durable",
    "floor",
    "loaded",
    "python",
    "sql_count",
    "sql_lines",
]

STATEMENT = re.compile(r"-- name: (\S+)\n(.*?);", re.DOTALL)
LEAF = re.compile(r"\./(\w+)->([ab])(\d+)")
CONSTANT = re.compile(r"='([^']*)'")


def timed(run: Callable[[], int | None]) -> Run:
    gc.collect()
    started = time.process_time()
    matches = run()
    return Run(time.process_time() - started, matches)


def floor(documents: Envelopes) -> Run:
    """Reads the documents, and does nothing with them."""

    def read() -> None:
        for one in documents:
            if "xml" in one:
                etree.fromstring(one["xml"])
            else:
                json.loads(one["json"])

    return timed(read)


def loaded(folder: Path) -> Run:
    """Query texts of exactly this form to what a join needs of them, by regular expressions."""
    text = (folder / QUERIES).read_text(encoding="utf-8")

    def load() -> int:
        names = Counter[str]()
        different = Counter[object]()
        for name, query in STATEMENT.findall(text):
            names[name] += 1
            different[frozenset(LEAF.findall(query)), *CONSTANT.findall(query)] += 1
        return len(names)

    return timed(load)


def batches(documents: Envelopes, joins: Sequence[LeafJoin]) -> Run:
    join = DictionaryJoin(ITEM, joins)
    return timed(lambda: join.process(documents))


def alone(documents: Envelopes, joins: Sequence[LeafJoin]) -> Run:
    join = DictionaryJoin(ITEM, joins)
    each = []
    gc.collect()
    started = time.process_time()
    matches = 0
    for one in documents:
        begun = time.thread_time()
        matches += join.process([one])
        each.append(time.thread_time() - begun)
    total = time.process_time() - started
    return Run(total, matches, sorted(each)[len(each) * 99 // 100])


def durable(documents: Envelopes, joins: Sequence[LeafJoin], delay: float = 0) -> Run:
    """With each document in SQLite within so many seconds: without a delay in a transaction of its
    own, before the next one comes."""
    join = DictionaryJoin(ITEM, joins)
    with tempfile.TemporaryDirectory() as place:
        database = sqlite3.connect(Path(place) / "state.db")
        database.executescript(
            "PRAGMA journal_mode = WAL; CREATE TABLE document (id TEXT PRIMARY KEY, xml TEXT)"
        )

        def take() -> int:
            matches, written = 0, time.monotonic()
            for one in documents:
                matches += join.process([one])
                database.execute("INSERT INTO document VALUES (?, ?)", (one["id"], one["xml"]))
                if time.monotonic() - written >= delay:
                    database.commit()
                    written = time.monotonic()
            database.commit()
            return matches

        run = timed(take)
        database.close()
    return run


def sql_lines(folder: Path, tag: str, sql: str) -> Run:
    """The matches that SQL finds over the values of one element, as lines of JSON in a file."""

    def write() -> int:
        with tempfile.TemporaryDirectory() as place, tables(folder, tag) as database:
            file = Path(place) / "matches.jsonl"
            database.execute(f"COPY ({sql}) TO '{file}' (FORMAT json)")
            return file.read_bytes().count(b"\n")

    return timed(write)


def sql_count(folder: Path, tag: str, sql: str) -> Run:
    def count() -> int:
        with tables(folder, tag) as database:
            return int(database.execute(f"SELECT count(*) FROM ({sql})").fetchall()[0][0])

    return timed(count)


def tables(folder: Path, tag: str) -> duckdb.DuckDBPyConnection:
    """A table `item` of id, time and value, a row for each element of the name."""
    rows: list[tuple[str, float, str]] = []
    with (folder / DOCUMENTS).open(encoding="utf-8") as file:
        for line in file:
            one = json.loads(line)
            item = etree.fromstring(one["xml"])
            rows += ((one["id"], one["timestamp"], node.text or "") for node in item.iter(tag))
    ids, times, values = zip(*rows, strict=True) if rows else ((), (), ())
    database = duckdb.connect()
    columns = [
        pa.array(ids, pa.string()),
        pa.array(times, pa.float64()),
        pa.array(values, pa.string()),
    ]
    database.register("item", pa.table(columns, ["id", "time", "value"]))
    return database


def python(code: str) -> Run:
    """A new Python that runs some code."""
    before = _children()
    subprocess.run([sys.executable, "-P", "-c", code], check=True)
    return Run(_children() - before)


def _children() -> float:
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return ended.ru_utime + ended.ru_stime
