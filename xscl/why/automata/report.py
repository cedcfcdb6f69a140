"""What became of the runs of an automaton: for a terminal, or as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

from rich.console import Group, RenderableType
from rich.text import Text

from xscl.matches.automaton_form import shown
from xscl.patterns.compile_automaton import CompiledAutomaton
from xscl.printable import printable
from xscl.times import moment, to_seconds
from xscl.why.automata.runs import Entered, Kept, Run, Runs, Step, Tried
from xscl.why.findings import Values
from xscl.why.report import as_text

__all__ = ["AutomatonWhy", "Part"]


@dataclass(frozen=True, slots=True)
class Part:
    """The runs of one part of the input, and what is to be said of each match."""

    runs: Runs
    notes: dict[Entered, list[str]]


@dataclass(frozen=True, slots=True)
class AutomatonWhy:
    """What became of the runs of an automaton over some documents, in order of time: at each time
    the runs there are, the arcs that each tries, and the conjunct of its fence that fails first.

    `documents` are their ids; `outside` has those that are not in the automaton's input, with the
    reason.
    """

    query: str
    documents: tuple[str, ...]
    compiled: CompiledAutomaton
    parts: tuple[Part, ...]
    outside: dict[str, str]

    @property
    def holds(self) -> bool:
        """Whether the documents match."""
        return any(part.notes for part in self.parts)

    @property
    def cause(self) -> str | None:
        """What keeps the documents from a match, of the run that came furthest."""
        if self.holds:
            return None
        steps = [
            (time, step)
            for part in self.parts
            for time, some in part.runs.steps.items()
            for step in some.values()
        ]
        if not steps:
            return "no document is in the automaton's input"
        ends = [(time, step) for time, step in steps if step.ended]
        if ends:
            time, step = max(ends, key=lambda one: (one[0] - one[1].run.start, one[0]))
            said = f"{self._what(step, time)} ends the run in {self._state(step.run)}"
            return f"{said}{self._failing(step)}"
        after = [run for _, step in steps for run in step.after]
        if not after:
            return f"no run begins{self._failing(steps[0][1])}"
        last = min(after, key=lambda run: run.start)
        return f"the run since {moment(last.start)} stays in {self._state(last)}"

    def to_dict(self) -> dict[str, object]:
        """As JSON."""
        return {
            "query": self.query,
            "documents": [*self.documents],
            "holds": self.holds,
            "cause": self.cause,
            "outside": dict(self.outside),
            "parts": [
                {
                    "by": dict(zip(self.compiled.automaton.by, part.runs.by, strict=True)),
                    "epochs": [
                        {
                            "time": to_seconds(time),
                            "documents": _documents(part.runs, time),
                            "runs": [self._step(step) for step in some.values()],
                        }
                        for time, some in part.runs.steps.items()
                    ],
                    "matches": [
                        {**self._run(match.run), "time": to_seconds(match.time), "notes": notes}
                        for match, notes in part.notes.items()
                    ],
                }
                for part in self.parts
            ],
        }

    def __str__(self) -> str:
        """As text of 100 columns."""
        return as_text(self)

    def __rich__(self) -> RenderableType:
        """As text for a terminal: time by time the runs and their arcs, then the cause."""
        ids = ", ".join(map(printable, self.documents))
        many = len(self.documents) > 1
        said = ("match" if many else "matches") if self.holds else "do not match"
        if not self.holds and not many:
            said = "does not match"
        title = Text.assemble((self.query, "bold cyan"), f": {ids} ")
        title.append(said, style="green" if self.holds else "bold red")
        lines = [title, *map(Text, self._outside())]
        for part in self.parts:
            if part.runs.by:
                named = zip(self.compiled.automaton.by, part.runs.by, strict=True)
                values = ", ".join(f"{name} = {printable(value)!r}" for name, value in named)
                lines.append(Text(f"part {values}", style="bold"))
            for time, some in part.runs.steps.items():
                lines.append(Text(self._when(part.runs, time), style="bold"))
                for step in some.values():
                    lines += self._lines(step, time)
            for match, notes in part.notes.items():
                since = f"since {moment(match.run.start)}, at {moment(match.time)}"
                lines.append(Text(f"match {since}{self._register(match.run)}", style="green"))
                lines += (Text(f"  {note}", style="yellow") for note in notes)
        if self.cause is not None:
            lines.append(Text(f"Cause: {self.cause}."))
        return Group(*lines)

    # For people.

    def _outside(self) -> Iterator[str]:
        for id, reason in self.outside.items():
            yield f"{printable(id)} is not in the input: {reason}"

    def _when(self, runs: Runs, time: int) -> str:
        ids = _documents(runs, time)
        return f"{moment(time)}: {', '.join(map(printable, ids)) or 'a window closes'}"

    def _lines(self, step: Step, time: int) -> Iterator[Text]:
        run = step.run
        since = "a run begins" if step.begins else f"the run since {moment(run.start)}"
        yield Text(f"  {since} in {self._state(run)}")
        if not step.tried:
            yield Text("    ✗ no arc takes or ignores it", style="red")
        for tried in step.tried:
            yield self._line(tried)
        if step.ended:
            yield Text("    the run ends", style="red")

    def _line(self, tried: Tried) -> Text:
        arc = tried.arc
        kind = "" if arc.kind == "consume" else f" {arc.kind}"
        event = "" if tried.event is None else f" {printable(tried.event.document)}"
        text = Text.assemble("    ", *([("✓", "green")] if tried.beyond else [("✗", "bold red")]))
        text.append(f" {arc.name}:{kind}{event} → ")
        if tried.beyond is None:
            return text.append(f"{arc.target}: {_fails(tried)}")
        return text.append(self._state(tried.beyond))

    def _state(self, run: Run) -> str:
        final = " (final)" if run.state in self.compiled.final else ""
        return f"{self.compiled.states[run.state]}{final}{self._register(run)}"

    def _register(self, run: Run) -> str:
        values = [f"{name} = {_json(one)}" for name, one in self._fields(run).items()]
        return f", {', '.join(values)}" if values else ""

    def _fields(self, run: Run) -> dict[str, Kept]:
        """The register without the values that a part has in common."""
        by = len(self.compiled.automaton.by)
        return dict(zip(self.compiled.automaton.register, run.register[by:], strict=True))

    def _what(self, step: Step, time: int) -> str:
        ids = dict.fromkeys(one.event.document for one in step.tried if one.event is not None)
        return ", ".join(map(printable, ids)) or f"the epoch at {moment(time)}"

    def _failing(self, step: Step) -> str:
        failing = [one for one in step.tried if one.beyond is None]
        if not failing:
            return "; no arc takes it" if not step.tried else ""
        return "; " + ", ".join(f"{one.arc.name}: {_fails(one)}" for one in failing)

    # For programs.

    def _run(self, run: Run) -> dict[str, object]:
        return {
            "start": to_seconds(run.start),
            "state": self.compiled.states[run.state],
            "register": {name: shown(one) for name, one in self._fields(run).items()},
        }

    def _step(self, step: Step) -> dict[str, object]:
        return {
            **self._run(step.run),
            "begins": step.begins,
            "ends": step.ended,
            "arcs": [self._tried(one) for one in step.tried],
        }

    def _tried(self, tried: Tried) -> dict[str, object]:
        beyond = None if tried.beyond is None else self._run(tried.beyond)
        fails = None
        if tried.fails is not None:
            left, right = _all(tried.fails.left), _all(tried.fails.right)
            fails = {"text": tried.fails.text, "left": left, "right": right}
        return {
            "name": tried.arc.name,
            "kind": tried.arc.kind,
            "event": tried.arc.event,
            "document": None if tried.event is None else tried.event.document,
            "to": tried.arc.target,
            "holds": tried.beyond is not None,
            "fails": fails,
            "register": None if beyond is None else beyond["register"],
        }


def _documents(runs: Runs, time: int) -> list[str]:
    return [*dict.fromkeys(one.document for one in runs.events if one.time == time)]


def _fails(tried: Tried) -> str:
    fails = tried.fails
    assert fails is not None
    sides = [f"'{one}'" for one in (*_all(fails.left), *_all(fails.right))]
    values = f" ({' and '.join(sides)})" if sides else ""
    return f"{fails.text} fails{values}"


def _all(values: Values | None) -> list[str]:
    return [] if values is None else [*values.shown]


def _json(value: Kept) -> str:
    return "missing" if value is None else json.dumps(shown(value), ensure_ascii=False)
