"""Reports as they were measured, kept as JSON next to their plots: one figure can be measured
again, and the page has it with the others."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.report import Bars, Plot, Report, Statement, Table

__all__ = ["Record", "read", "write"]


@dataclass(frozen=True, slots=True)
class Record:
    """A report, and how it was measured: by which command, on which machine, at which commit of the
    product, on which day, in how many seconds (None: not recorded); `load` is how many cores other
    processes kept busy meanwhile.

    Records from before the book had sizes of its own may be `reduced`, and have the load average at
    the end; `note` says what has changed since."""

    report: Report
    command: str
    machine: str
    load: float
    commit: str
    date: str
    seconds: int | None = None
    reduced: bool = False
    note: str = ""


def write(record: Record, folder: Path) -> None:
    """Keeps a record in a folder, in place of an earlier one of the same name."""
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(asdict(record), indent=1, ensure_ascii=False)
    _file(folder, record.report.name).write_text(text + "\n", encoding="utf-8")


def read(names: Iterable[str], folder: Path) -> list[Record]:
    """The records of these names that there are."""
    files = (_file(folder, name) for name in names)
    return [
        _record(json.loads(file.read_text(encoding="utf-8"))) for file in files if file.exists()
    ]


def _file(folder: Path, name: str) -> Path:
    return folder / f"{name}.json"


def _record(data: dict[str, Any]) -> Record:
    report = data.pop("report")
    tables = tuple(
        Table(tuple(table["columns"]), tuple(map(tuple, table["rows"])))
        for table in report.pop("tables")
    )
    plots = tuple(_plot(plot) for plot in report.pop("plots"))
    statements = tuple(Statement(**statement) for statement in report.pop("statements"))
    return Record(Report(**report, tables=tables, plots=plots, statements=statements), **data)


def _plot(data: dict[str, Any]) -> Plot | Bars:
    if "heights" in data:
        return Bars(**data)
    lines = {name: [(x, y) for x, y in points] for name, points in data.pop("lines").items()}
    return Plot(**data, lines=lines)
