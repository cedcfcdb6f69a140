"""What was measured, as data and as Markdown: tables, plots, and whether what the thesis states of
them holds here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest

__all__ = [
    "Bars",
    "Cell",
    "Plot",
    "Report",
    "Statement",
    "Table",
    "markdown",
    "number",
    "time_text",
]

_REDUCED = ", at reduced size"

Cell = str | int | float | None


@dataclass(frozen=True, slots=True)
class Table:
    """Columns, and rows of as many cells; None was not measured."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]

    def __post_init__(self) -> None:
        if any(len(row) != len(self.columns) for row in self.rows):
            raise ValueError("each row has a cell for each column")

    def markdown(self) -> str:
        """As Markdown.

        >>> print(Table(("way", "n"), (("a", 1_000),)).markdown())
        | way | n |
        | --- | --- |
        | a | 1,000 |
        """
        lines = [_row(self.columns), _row(["---"] * len(self.columns))]
        lines += [_row([_cell(cell) for cell in row]) for row in self.rows]
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Plot:
    """Lines over a common axis: for each name, points (x, y)."""

    x: str
    y: str
    lines: dict[str, list[tuple[float, float]]]
    log_x: bool = False
    log_y: bool = True


@dataclass(frozen=True, slots=True)
class Bars:
    """A bar for each name; `y` is what they measure."""

    y: str
    heights: dict[str, float]


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement, its author and source; whether it holds here (None: this run cannot show it),
    and the figures that support this."""

    source: str
    text: str
    holds: bool | None
    here: str


@dataclass(frozen=True, slots=True)
class Report:
    """One figure: `name` is its module's, `text` says what was measured and how."""

    name: str
    title: str
    text: str
    tables: tuple[Table, ...]
    plots: tuple[Plot | Bars, ...] = ()
    statements: tuple[Statement, ...] = field(default=())


def markdown(report: Report, measured: str = "", level: int = 2) -> str:
    """The report's section of the page, each plot after its table, without its statements;
    `measured` says how, when and where."""
    parts = [f"{'#' * level} {report.title}", report.text, *([measured] if measured else [])]
    tables = map(Table.markdown, report.tables)
    images = (
        f"![{report.title}: {_axes(plot)}]({image_name(report, number)})"
        for number, plot in enumerate(report.plots)
    )
    parts += [part for pair in zip_longest(tables, images) for part in pair if part]
    return "\n\n".join(parts) + "\n"


def _axes(plot: Plot | Bars) -> str:
    return plot.y if isinstance(plot, Bars) else f"{plot.y} by {plot.x}"


def image_name(report: Report, number: int) -> str:
    """Where the page finds a plot, from its own place."""
    suffix = f"_{number + 1}" if number else ""
    return f"benchmarks/{report.name}{suffix}.svg"


def statements_table(statements: Iterable[tuple[Statement, bool]]) -> str:
    """Statements with their verdicts; True means that it was measured at reduced size."""
    verdicts = {True: "reached", False: "**missed**", None: "not judged"}
    rows = tuple(
        (s.source, s.text, verdicts[s.holds] + _REDUCED * (reduced and s.holds is not None), s.here)
        for s, reduced in statements
    )
    return Table(("where", "statement", "here", "measured"), rows).markdown()


def number(value: float) -> str:
    """A number as people write it: three figures, thousands separated; NaN was not measured.

    >>> number(12345.6), number(12.345), number(float("nan"))
    ('12,346', '12.3', '—')
    """
    if value != value:
        return "—"
    if value == 0 or abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def time_text(value: float | None) -> str | None:
    """Seconds with a fitting unit.

    >>> time_text(0.00123), time_text(75)
    ('1.23 ms', '75 s')
    """
    if value is None:
        return None
    for least, unit in ((1, "s"), (1e-3, "ms")):
        if value >= least:
            return f"{number(value / least)} {unit}"
    return f"{number(value * 1e6)} µs"


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _cell(cell: Cell) -> str:
    if cell is None:
        return "—"
    if isinstance(cell, str):
        return cell
    return f"{cell:,}" if isinstance(cell, int) else number(cell)
