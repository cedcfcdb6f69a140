"""What became of the runs of an automaton over some documents."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from xscl.consistency import Level
from xscl.dissection.parts import Dissection
from xscl.documents.document import Document
from xscl.patterns.compile_automaton import CompiledAutomaton
from xscl.times import moment
from xscl.why.automata.input import input_of
from xscl.why.automata.report import AutomatonWhy, Part
from xscl.why.automata.runs import Entered, Runs

__all__ = ["Withheld", "why_automaton"]

_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Withheld:
    """What decides when a match is reported: the level of the query, the watermark and the newest
    time of its streams (microseconds; None where there is none yet)."""

    level: Level
    watermark: int | None
    newest: int | None
    sequence: str | None = None
    """The attribute that numbers its events without gaps."""

    def holds_back(self, time: int) -> str | None:
        """Why a match of a time is not reported yet; None if it is."""
        level, mark = self.level, self.watermark
        clock = max((one for one in (mark, self.newest) if one is not None), default=None)
        if level.name == "strong" or level.window is not None:
            until = time - (level.window or 0)
            if mark is None or mark < until:
                now = "there is none" if mark is None else f"it is {moment(mark)}"
                gaps = f", where a number of `{self.sequence}` is missing" if self.sequence else ""
                return f"{level} withholds it until the watermark is {moment(until)}{gaps}; {now}"
        if clock is None or clock < time:
            now = "nothing has come" if clock is None else f"it is {moment(clock)}"
            return f"{level} withholds it until the newest time is {moment(time)}; {now}"
        return None


def why_automaton(
    dissection: Dissection,
    given: Sequence[Document],
    held: Iterable[Document],
    withheld: Withheld,
) -> AutomatonWhy:
    """Judges an automaton on documents; `held` are those that may have come between."""
    compiled = dissection.compiled
    assert isinstance(compiled, CompiledAutomaton)
    given = sorted(given, key=lambda document: document.time)
    seen = input_of(compiled, given)
    parts = []
    asked = {(one.stream, one.id) for one in given}
    others = [one for one in held if (one.stream, one.id) not in asked]
    for by, events in seen.parts.items():
        runs = Runs(compiled, by, events)
        notes = {
            match: [
                *_between(compiled, runs, match, others),
                *filter(None, [withheld.holds_back(match.time)]),
            ]
            for match in runs.matches
        }
        parts.append(Part(runs, notes))
    ids = tuple(document.id for document in given)
    return AutomatonWhy(dissection.query.name, ids, compiled, tuple(parts), seen.outside)


def _between(
    compiled: CompiledAutomaton, runs: Runs, match: Entered, others: Sequence[Document]
) -> list[str]:
    """That there is no such match where the documents between those of a run are seen, too."""
    first = match.run.start
    some = [one for one in others if first <= one.time <= match.time]
    more = input_of(compiled, some).parts.get(runs.by, []) if some else []
    if not more or match in Runs(compiled, runs.by, [*runs.events, *more]).matches:
        return []
    ids = [*dict.fromkeys(event.document for event in sorted(more, key=lambda one: one.time))]
    shown = ", ".join(ids[:_SHOWN]) + (", …" if ids[_SHOWN:] else "")
    return [f"with the documents between there is no such match: ask for them, too: {shown}"]
