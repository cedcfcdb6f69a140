"""Reports into docs/benchmarks.md and the plots beside it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchmarks import plots
from benchmarks.machine import description
from benchmarks.report import Report, image_name, markdown, statements_table
from benchmarks.scale import Scale

__all__ = ["write"]

INTRODUCTION = """# Benchmarks

The figures of section 6.6 of the thesis, and what goes beyond them, measured by

    make {command}

on {machine}.

The *floor* is `lxml.etree.fromstring` alone over the same documents. Baselines share no code with
the engine: *Sequential* evaluates one SQL query for each XSCL query, *MMQJP* one for each template
(Algorithm 1), *with views* after materialising R_vj, R_L and R_R (section 6.6.2); all in DuckDB,
over witness relations that are loaded beforehand and not timed. The results of all ways are
compared in each run. A number after `~` is scaled up from a sample; — is what was not measured or
took too long.
"""


def write(reports: Sequence[Report], scale: Scale, docs: Path) -> None:
    """Writes the page and its plots under a folder."""
    statements = [statement for report in reports for statement in report.statements]
    parts = [INTRODUCTION.format(command=scale.name, machine=description())]
    parts.append("## What the thesis states, and what was to be reached\n")
    parts.append(statements_table(statements) + "\n")
    parts += [markdown(report) for report in reports]
    for report in reports:
        for number, plot in enumerate(report.plots):
            plots.write(plot, docs / image_name(report, number))
    docs.mkdir(parents=True, exist_ok=True)
    (docs / "benchmarks.md").write_text("\n".join(parts), encoding="utf-8")
