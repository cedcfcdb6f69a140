"""Findings for a terminal: a table of the conditions, what they found, and the cause."""

from __future__ import annotations

from collections.abc import Iterable
from io import StringIO

from rich.box import SIMPLE
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from xscl.why.findings import Finding, Values, Why
from xscl.why.stages import Funnel, Stage

__all__ = ["as_text", "funnel_table", "why_table"]

_MARKS = {True: ("✓", "green"), False: ("✗", "bold red"), None: ("·", "dim")}
_SHOWN = 5
_KINDS = {
    "stream": "stream ",
    "step": "step ",
    "filter": "filter ",
    "documents": "",
    "time": "",
    "comparison": "",
}
_AS_THEY_ARE = ("stream", "documents", "time")


def as_text(told: Why | Funnel, width: int = 100) -> str:
    """What `why` or `funnel` told, as plain text of some width."""
    console = Console(file=StringIO(), width=width, color_system=None, highlight=False)
    console.print(why_table(told) if isinstance(told, Why) else funnel_table(told))
    assert isinstance(console.file, StringIO)
    return "\n".join(line.rstrip() for line in console.file.getvalue().splitlines()) + "\n"


def why_table(why: Why) -> RenderableType:
    """The findings of `why`: what holds and what fails, then the cause."""
    table = Table(box=SIMPLE, show_header=False, padding=(0, 1), pad_edge=False)
    table.add_column(width=1)
    table.add_column(ratio=2, overflow="fold")
    table.add_column(ratio=3, overflow="fold")
    heading: str | None = None
    for finding in why.findings:
        above = _heading(why, finding)
        if above != heading:
            heading = above
            table.add_row("", Text(above, style="bold"), "")
        mark, style = _MARKS[finding.holds]
        text = Text(f"{finding.text}", style="" if finding.holds else style)
        table.add_row(Text(mark, style=style), text, Text("\n").join(_found(finding)))
    documents = ", ".join("(none)" if id is None else id for id in why.documents)
    match = "match" if len(why.documents) > 1 else "matches"
    fail = "do not match" if len(why.documents) > 1 else "does not match"
    title = Text.assemble((why.query, "bold cyan"), f": {documents} ")
    title.append(match if why.holds else fail, style="green" if why.holds else "bold red")
    return Group(title, table, _cause(why))


def funnel_table(funnel: Funnel) -> RenderableType:
    """A funnel: how many came through each condition, and what failed by one condition alone."""
    table = Table(box=SIMPLE, padding=(0, 1), pad_edge=False)
    table.add_column("condition", overflow="fold", ratio=3)
    table.add_column("of", ratio=1)
    table.add_column("passed", justify="right")
    table.add_column("failed alone", justify="right")
    for stage in funnel.stages:
        # As Text: what is written in a filter's brackets is no markup.
        of = "pairs" if stage.pairs else f"documents, block {stage.block}"
        disjunct = "" if stage.disjunct is None else f", disjunct {stage.disjunct}"
        table.add_row(
            Text(stage.text),
            of + disjunct,
            _number(stage.passed, stage.capped),
            _number(stage.alone, stage.alone_capped) if stage.alone else "",
        )
    lines: list[RenderableType] = [
        Text.assemble((funnel.query, "bold cyan"), f": {funnel.documents:,} documents"),
        table,
    ]
    lines += (line for stage in funnel.stages for line in _missed(stage))
    return Group(*lines)


def _missed(stage: Stage) -> Iterable[Text]:
    """What failed by one condition alone, a line each; of a step only what nearly met it, as the
    others are documents that are about something else."""
    missed = [m for m in stage.missed if m.finding.near is not None or stage.kind != "step"]
    if not missed:
        return
    more = stage.alone - len(missed[:_SHOWN])
    told = f", and {more:,} more" if more else ""
    yield Text(f"failed by {stage.text} alone:", style="bold")
    for index, miss in enumerate(missed[:_SHOWN], start=1):
        documents = ", ".join(miss.documents)
        last = told if index == len(missed[:_SHOWN]) else ""
        yield Text(f"  {documents}: ") + Text("; ").join(_found(miss.finding)) + last


def _number(number: int, capped: bool) -> str:
    return f"≥ {number:,}" if capped else f"{number:,}"


def _heading(why: Why, finding: Finding) -> str:
    if finding.disjunct is not None:
        return f"either (disjunct {finding.disjunct} of {why.disjuncts})"
    if finding.block is None or finding.kind == "comparison":
        return "between the blocks" if len(why.documents) > 1 else "predicate"
    if finding.kind == "stream":
        return "streams"
    id = why.documents[finding.block - 1]
    return f"block {finding.block}" + ("" if id is None else f": {id}")


def _found(finding: Finding) -> list[Text]:
    """The values on both sides, then what is near and what else is to be said."""
    lines = []
    sides = [_values(finding, side) for side in (finding.left, finding.right) if side is not None]
    if finding.kind == "stream":
        sides = sides[:1]
    if sides:
        lines.append(Text(" · ".join(sides)))
    elif finding.holds and finding.satisfied > 1:
        lines.append(Text(f"{finding.satisfied:,} nodes", style="dim"))
    elif finding.holds is None:
        lines.append(Text("not judged: nothing is left to judge it on", style="dim"))
    if finding.near is not None:
        lines.append(Text(f"≈ {finding.near}", style="yellow"))
    if finding.note is not None:
        lines.append(Text(finding.note, style="dim" if finding.holds else "yellow"))
    return lines


def _values(finding: Finding, values: Values) -> str:
    shown = ", ".join(_shown(finding, value) for value in values.shown) or "nothing"
    return f"{shown} and {values.more:,} more" if values.more else shown


def _shown(finding: Finding, value: str) -> str:
    if finding.kind in _AS_THEY_ARE:
        return value
    # A line break, a no-break space and the like are what people look for here.
    seen = (c if c.isprintable() else c.encode("unicode_escape").decode() for c in value)
    return f"'{''.join(seen)}'"


def _cause(why: Why) -> Text:
    cause = why.cause
    if cause is None:
        return Text("Every condition holds." if why.holds else "No condition is false.")
    block = "" if cause.block is None else f" (block {cause.block})"
    text = Text.assemble(f"Cause: {_KINDS[cause.kind]}", (cause.text, "bold red"), f"{block} fails")
    sides = [_shown(cause, s.shown[0]) for s in (cause.left, cause.right) if s and s.shown]
    reason = cause.note
    if cause.near is not None and len(sides) == 2:
        reason = f"{' and '.join(sides)} are alike {cause.near}"
    elif reason is None and sides:
        reason = " and ".join(sides)
    return text.append(f": {reason}." if reason else ".")
