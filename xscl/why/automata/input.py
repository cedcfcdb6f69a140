"""The input of an automaton: the events of each part in some documents."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from xscl.documents.document import Document
from xscl.language.unparse import Wording
from xscl.patterns.compile_automaton import CompiledAutomaton
from xscl.why.blocks import judge_events
from xscl.why.findings import Finding
from xscl.why.report import found_of
from xscl.why.sequences.taken import Event

__all__ = ["Input", "input_of"]


@dataclass(slots=True)
class Input:
    """The events of each part, by the values of `by`; why a document has none, by its id."""

    parts: dict[tuple[str, ...], list[Event]] = field(default_factory=dict)
    outside: dict[str, str] = field(default_factory=dict)


def input_of(compiled: CompiledAutomaton, documents: Iterable[Document]) -> Input:
    """What an automaton sees of documents."""
    found = Input()
    by = compiled.automaton.by
    for document in documents:
        failed: list[tuple[str, list[Finding]]] = []
        events: list[Event] = []
        for number, (name, (block,)) in enumerate(
            zip(compiled.names, compiled.blocks, strict=True)
        ):
            findings, seen = judge_events(1, block, _wording(compiled, name), document)
            failed.append((name, findings))
            if seen is not None:
                id, time = document.id, document.time
                events += (Event(number, id, time, *one) for one in seen.events())
        within, lacking = False, ""
        for event in events:
            values = [event.read(one) for one in compiled.program.by]
            missing = next(
                (name for name, one in zip(by, values, strict=True) if one is None), None
            )
            if missing is not None:
                lacking = f"it has no `{missing}`, which splits the input"
            else:
                found.parts.setdefault(tuple(map(str, values)), []).append(event)
                within = True
        if not within:
            found.outside[document.id] = lacking or _unselected(failed)
    return found


def _wording(compiled: CompiledAutomaton, name: str) -> Wording:
    return Wording(compiled.automaton.events[name])


def _unselected(failed: list[tuple[str, list[Finding]]]) -> str:
    """Why no type has an event of a document, by the type that came furthest."""

    def held(one: tuple[str, list[Finding]]) -> int:
        return sum(finding.holds is True for finding in one[1])

    name, findings = max(failed, key=held)
    bad = next(finding for finding in findings if finding.holds is False)
    reason = "; ".join(str(line) for line in found_of(bad))
    return f"`{name}`: {bad.kind} {bad.text} fails" + (f": {reason}" if reason else "")
