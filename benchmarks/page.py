"""Records into docs/benchmarks.md and the plots beside it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchmarks import plots
from benchmarks.record import Record
from benchmarks.report import image_name, markdown, number, statements_table

__all__ = ["write"]

INTRODUCTION = """# Benchmarks

The figures of section 6.6 of the thesis, and what goes beyond them. Measured by

{conditions}

The *floor* is `lxml.etree.fromstring` alone over the same documents. Baselines share no code with
the engine: *Sequential* evaluates one SQL query for each XSCL query, *MMQJP* one for each template
(Algorithm 1), *with views* after materialising R_vj, R_L and R_R (section 6.6.2); in DuckDB where
nothing else is said, over witness relations that are loaded beforehand and not timed. The results
of all ways are compared in each run. A number after `~` is scaled up from a sample; — is what was
not measured or took too long.
"""


def write(records: Sequence[Record], docs: Path) -> None:
    """Writes the page and its plots under a folder."""
    reports = [record.report for record in records]
    statements = [statement for report in reports for statement in report.statements]
    parts = [INTRODUCTION.format(conditions=_conditions(records))]
    parts.append("## What the thesis states, and what was to be reached\n")
    parts.append(statements_table(statements) + "\n")
    parts += [markdown(report) for report in reports]
    for report in reports:
        for place, plot in enumerate(report.plots):
            plots.write(plot, docs / image_name(report, place))
    (docs / "benchmarks.md").write_text("\n".join(parts), encoding="utf-8")


def _conditions(records: Sequence[Record]) -> str:
    """By which command and on which machine each figure was measured."""
    groups: dict[tuple[str, str], list[Record]] = {}
    for record in records:
        groups.setdefault((record.command, record.machine), []).append(record)
    lines = []
    for (command, machine), some in groups.items():
        titles = "; ".join(record.report.title.partition(":")[0] for record in some)
        what = "all figures" if len(groups) == 1 else titles
        load = max(record.load for record in some)
        lines.append(f"- `{command}` on {machine}, with a load of up to {number(load)}: {what}")
    return "\n".join(lines)
