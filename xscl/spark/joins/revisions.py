"""The queries that a join is given, in addition to those of its last run -> the revisions of its
checkpoint, and a plan: which queries continue, start, begin again, stop.

A revision is a file, `queries/revision-K.json`; the first one also holds what stays as it is for
the life of the checkpoint.  A query without a name gets its number as one: it keeps that in an
engine that has had other queries before.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pyspark.sql import SparkSession

from xscl.durable.plan import Plan
from xscl.errors import StateError
from xscl.language.parsing import is_declaration
from xscl.language.scan import scan
from xscl.spark.ingestion.spark_files import put_text, texts_in
from xscl.spark.joins.folder import JoinFolder
from xscl.spark.joins.live_cells import Revision
from xscl.spark.joins.plan import Queries
from xscl.spark.joins.stream import kinds_of
from xscl.times import written

__all__ = ["Fixed", "endless", "named", "revised"]


@dataclass(frozen=True, slots=True)
class Fixed:
    """What stays as it is for the life of a checkpoint: its `source`, `--items` or `--events`, the
    `lateness` (microseconds, None without bound), whether matches are `grouped`, the `format`, and
    the number of `tasks`."""

    source: str
    lateness: int | None
    grouped: bool
    format: str
    tasks: int

    def check(self, before: Fixed, root: str) -> None:
        """Raises StateError where it was something else before."""
        for name in self.__slots__:
            now, then = getattr(self, name), getattr(before, name)
            if now != then:
                raise StateError(
                    f"{root} was begun with {before._said(name)}, and this is "
                    f"{self._said(name)}: give the same as then, or another folder with --to"
                )

    def _said(self, name: str) -> str:
        """One of its members, as a user gives it."""
        value = getattr(self, name)
        match name:
            case "source":
                return str(value)
            case "grouped":
                return "--grouped" if value else "no --grouped"
            case "lateness":
                return f"--lateness {'INF' if value is None else repr(written(value))}"
            case "tasks":
                return f"--conf spark.xscl.join.tasks={value}"
        return f"--{name} {value}"


def named(texts: Iterable[str], tables: Mapping[str, object]) -> Queries:
    """The queries of some texts, each with a name: the number that it has in all of them, where it
    has none.

    >>> print(named(["S//a->x; -- name: b\\nS//b->x"], {}).texts[0])
    -- name: q1
    S//a->x; -- name: b
    S//b->x
    """
    number = 0
    found = []
    for text in texts:
        scanned = scan(text)
        pieces: list[str] = []
        done, heading = 0, False
        for statement in scanned.statements:
            if is_declaration(scanned.text, statement):
                heading = heading or statement.name is not None
                continue
            number += 1
            if statement.name is None and not heading:
                line = "" if statement.start == 0 else "\n"
                pieces += [text[done : statement.start], f"{line}-- name: q{number}\n"]
                done = statement.start
            heading = False
        found.append("".join([*pieces, text[done:]]))
    return Queries.of(found, tables)


def revised(
    spark: SparkSession, folder: JoinFolder, queries: Queries, fixed: Fixed
) -> tuple[list[Revision], Plan | None]:
    """The revisions with which a join continues, of which a new one is written, and its plan, where
    there are queries of before.  Raises StateError where the checkpoint is of something else."""
    files = texts_in(spark, folder.queries, ".json")
    if not files:
        _write(spark, folder, 0, Revision(queries), fixed)
        return [Revision(queries)], None
    entries = [json.loads(files[name]) for name in (_name(k) for k in range(len(files)))]
    fixed.check(Fixed(**entries[0]["fixed"]), folder.root)
    revisions = [_read(entry) for entry in entries]
    before = revisions[-1].queries
    if before == queries:
        return revisions, None
    found = _plan(before, queries, fixed.tasks)
    if found.starting or found.changed or found.stopping:
        new = Revision(queries, frozenset([*found.changed, *found.stopping]))
        _write(spark, folder, len(revisions), new, None)
        revisions.append(new)
    return revisions, found


def endless(queries: Queries) -> Sequence[str]:
    """The names of the queries for which documents are retained for good: no window of theirs
    ends."""
    return [name for name, kind in kinds_of(queries, 1).items() if "endless" in kind]


def _plan(before: Queries, queries: Queries, tasks: int) -> Plan:
    """What becomes of each query; one whose cells are others than before begins again."""
    with before.engine(0) as engine:
        found = engine.plan((text, queries.tables_of(text)) for text in queries.texts)
    then, now = kinds_of(before, tasks), kinds_of(queries, tasks)
    moved = {name for name in found.continuing if then[name] != now[name]}
    continuing = [name for name in found.continuing if name not in moved]
    changed = [*found.changed, *(name for name in found.continuing if name in moved)]
    return replace(found, continuing=continuing, changed=changed)


def _read(entry: Mapping[str, Any]) -> Revision:
    queries = Queries(tuple(entry["texts"]), dict(entry["tables"]))
    return Revision(queries, frozenset(entry["cancelled"]))


def _write(
    spark: SparkSession, folder: JoinFolder, number: int, one: Revision, fixed: Fixed | None
) -> None:
    entry = {
        "texts": one.queries.texts,
        "tables": one.queries.tables,
        "cancelled": sorted(one.cancelled),
    }
    if fixed is not None:
        entry["fixed"] = {name: getattr(fixed, name) for name in Fixed.__slots__}
    put_text(spark, f"{folder.queries}/{_name(number)}", json.dumps(entry))


def _name(number: int) -> str:
    return f"revision-{number}.json"
