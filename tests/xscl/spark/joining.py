"""`xscl join` on the Spark that tests share, over files of envelopes; and what it has written."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any
from unittest import mock

import pyarrow.parquet as pq
from click.testing import CliRunner, Result

from xscl.cli.main import cli

__all__ = ["events", "rows", "run_join"]


def run_join(*options: str, code: int = 0) -> Result:
    """Runs the command to its end, which is this."""
    # That the job has ended is seen soon.
    with mock.patch("xscl.cli.spark_jobs.running._TICK", 0.05):
        done = CliRunner().invoke(
            cli, ["join", *options], standalone_mode=False, catch_exceptions=False
        )
    assert done.return_value == code, done.stderr
    return done


def events(path: Path, documents: Iterable[Mapping[str, Any] | str]) -> None:
    """A file of envelopes, or of other lines; a name is a time in a stream of files."""
    lines = (one if isinstance(one, str) else json.dumps(one) for one in documents)
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}")
    draft.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    number = int("".join(filter(str.isdigit, path.name)) or 0)
    os.utime(draft, (number, number))
    draft.rename(path)


def rows(table: Path) -> list[dict[str, Any]]:
    """The rows of a table, of all its batches that are whole, in their order."""
    found: list[dict[str, Any]] = []
    batches: Sequence[Path] = sorted(table.glob("batch=*"), key=lambda one: int(one.name[6:]))
    for batch in batches:
        if (batch / "_SUCCESS").exists():
            for file in batch.glob("*.parquet"):
                found += pq.ParquetFile(file).read().to_pylist()
            for file in batch.glob("*.jsonl"):
                found += map(json.loads, file.read_text("utf-8").splitlines())
    return found
