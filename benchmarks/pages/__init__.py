"""The book's two pages, made of its records: docs/performance.md for users, docs/figures.md for
whoever reads the papers."""

from __future__ import annotations

from pathlib import Path

from benchmarks import record, reports
from benchmarks.pages import figures, performance

__all__ = ["write_pages"]


def write_pages(docs: Path) -> None:
    """Writes both, and the plots next to the records in `benchmarks`."""
    records = record.read(reports.NAMES, docs / "benchmarks")
    figures.write(records, docs)
    performance.write(records, docs)
