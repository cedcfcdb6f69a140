"""The answers: findings or tallies of a query's conditions, as tables for a terminal or as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from io import StringIO
from itertools import chain, islice

from rich.box import SIMPLE
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from xscl.counts import counted
from xscl.language.problems import enumerated
from xscl.printable import printable
from xscl.why.findings import Finding, Tally, Values, reached

__all__ = ["Funnel", "Why", "as_text", "found_of", "furthest"]

_MARKS = {True: ("✓", "green"), False: ("✗", "bold red"), None: ("·", "dim")}
_SHOWN = 5
_MOST_JUDGED = 10_000
"""Events in the place of the documents, in all ways of taking them together."""
_AS_THEY_ARE = ("stream", "documents", "time")


@dataclass(frozen=True, slots=True)
class Why:
    """Why some documents match a query, or do not.

    `documents` are the ids of the blocks' documents, None where none was given; `disjuncts` is
    the number of the query's disjuncts.
    """

    query: str
    documents: tuple[str | None, ...]
    findings: tuple[Finding, ...]
    disjuncts: int = 1

    @property
    def holds(self) -> bool:
        """Whether the documents match."""
        return any(all(f.holds for f in self.of(d + 1)) for d in range(self.disjuncts))

    @property
    def cause(self) -> Finding | None:
        """The first condition that is false, of the disjunct with the fewest false ones; None
        where none is."""
        some = ([f for f in self.of(d + 1) if f.holds is False] for d in range(self.disjuncts))
        fewest: list[Finding] = min(some, key=len)
        return fewest[0] if fewest else None

    def of(self, disjunct: int) -> list[Finding]:
        """The findings that a disjunct consists of, by its number from 1."""
        return [f for f in self.findings if f.disjunct in (None, disjunct)]

    def to_dict(self) -> dict[str, object]:
        """As JSON."""
        cause = self.cause
        return {
            "query": self.query,
            "documents": list(self.documents),
            "holds": self.holds,
            "cause": None if cause is None else self.findings.index(cause),
            "findings": [asdict(finding) for finding in self.findings],
        }

    def __str__(self) -> str:
        """As text of 100 columns."""
        return as_text(self)

    def __rich__(self) -> RenderableType:
        """As a table for a terminal: what holds and what fails, then the cause."""
        table = Table(box=SIMPLE, show_header=False, padding=(0, 1), pad_edge=False)
        table.add_column(width=1)
        table.add_column(ratio=2, overflow="fold")
        table.add_column(ratio=3, overflow="fold")
        heading: str | None = None
        for finding in self.findings:
            above = _heading(self, finding)
            if above != heading:
                heading = above
                table.add_row("", Text(above, style="bold"), "")
            mark, style = _MARKS[finding.holds]
            text = Text(finding.text, style="" if finding.holds else style)
            table.add_row(Text(mark, style=style), text, Text("\n").join(found_of(finding)))
        documents = ", ".join("(none)" if id is None else printable(id) for id in self.documents)
        match = "match" if len(self.documents) > 1 else "matches"
        fail = "do not match" if len(self.documents) > 1 else "does not match"
        title = Text.assemble((self.query, "bold cyan"), f": {documents} ")
        title.append(match if self.holds else fail, style="green" if self.holds else "bold red")
        return Group(title, table, _cause(self))


@dataclass(frozen=True, slots=True)
class Funnel:
    """The tallies of a query's conditions over some number of documents; of a pattern and an event
    query, the number of its matches among these, too."""

    query: str
    documents: int
    conditions: tuple[Tally, ...]
    matches: int | None = None

    def to_dict(self) -> dict[str, object]:
        """As JSON."""
        members = asdict(self)
        if self.matches is None:
            del members["matches"]
        return members

    def __str__(self) -> str:
        """As text of 100 columns."""
        return as_text(self)

    def __rich__(self) -> RenderableType:
        """As a table for a terminal: how many came through each condition, and what failed by one
        alone."""
        table = Table(box=SIMPLE, padding=(0, 1), pad_edge=False)
        table.add_column("condition", overflow="fold", ratio=3)
        table.add_column("of", ratio=1)
        table.add_column("passed", justify="right")
        table.add_column("failed alone", justify="right")
        for tally in self.conditions:
            # As Text: a filter's brackets are no markup.
            of = "events" if tally.block is None else f"documents, block {tally.block}"
            of = "pairs" if tally.pairs else of
            disjunct = "" if tally.disjunct is None else f", disjunct {tally.disjunct}"
            table.add_row(
                Text(tally.text),
                of + disjunct,
                _number(tally.passed, tally.capped),
                _number(tally.alone, tally.alone_capped) if tally.alone else "",
            )
        lines: list[RenderableType] = [
            Text.assemble((self.query, "bold cyan"), f": {counted(self.documents, 'document')}"),
            table,
        ]
        lines += (line for tally in self.conditions for line in _missed(tally))
        if self.matches is not None:
            lines.append(Text(counted(self.matches, "match", "matches")))
        return Group(*lines)


def furthest(ways: Sequence[Iterable[Why]]) -> Why:
    """Of the answers by way of taking the documents, as many of each way, the first that holds,
    else the one of which the most holds before something fails."""
    each = _MOST_JUDGED // len(ways)
    best: tuple[tuple[bool, int, int], Why] | None = None
    for answer in chain.from_iterable(islice(answers, each) for answers in ways):
        far = reached(answer.findings)
        if best is None or far > best[0]:
            best = far, answer
        if far[0]:
            break
    assert best is not None
    return best[1]


def as_text(answer: RenderableType, width: int = 100) -> str:
    """An answer as plain text of some width."""
    console = Console(file=StringIO(), width=width, color_system=None, highlight=False)
    with console.capture() as capture:
        console.print(answer)
    return "\n".join(line.rstrip() for line in capture.get().splitlines()) + "\n"


def _missed(tally: Tally) -> Iterable[Text]:
    """What failed by one condition alone, a line each; of a step only what nearly met it, as the
    others are documents that are about something else."""
    missed = [m for m in tally.missed if m.finding.near is not None or tally.kind != "step"]
    if not missed:
        return
    more = tally.alone - len(missed[:_SHOWN])
    others = f", and {more:,} more" if more else ""
    yield Text(f"failed by {tally.text} alone:", style="bold")
    for index, miss in enumerate(missed[:_SHOWN], start=1):
        documents = ", ".join(map(printable, miss.documents))
        last = others if index == len(missed[:_SHOWN]) else ""
        yield Text(f"  {documents}: ") + Text("; ").join(found_of(miss.finding)) + last


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
    return f"block {finding.block}" + ("" if id is None else f": {printable(id)}")


def found_of(finding: Finding) -> list[Text]:
    """The values on both sides, then what is near and what else there is to say."""
    lines = []
    sides = [_values(finding, side) for side in (finding.left, finding.right) if side is not None]
    if finding.kind == "stream":
        sides = sides[:1]
    if sides:
        lines.append(Text(" · ".join(sides)))
    elif finding.holds and finding.satisfied > 1:
        lines.append(Text(counted(finding.satisfied, "node"), style="dim"))
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
    kind = f"{cause.kind} " if cause.kind in ("stream", "step", "filter") else ""
    text = Text.assemble(f"Cause: {kind}", (cause.text, "bold red"), f"{block} fails")
    both = [side for side in (cause.left, cause.right) if side is not None and side.shown]
    sides = [_shown(cause, side.shown[0]) for side in both]
    if len(both) == 1:
        # Of a test the values of all events are on one side.
        (side,) = both
        sides = [_shown(cause, value) for value in side.shown]
        sides += [f"{side.more:,} more"] * bool(side.more)
    reason = cause.note
    if cause.near is not None and reason is None and len(sides) == 2:
        reason = f"{' and '.join(sides)} are alike {cause.near}"
    elif reason is None and sides:
        reason = enumerated(sides, "and")
    return text.append(f": {reason}." if reason else ".")
