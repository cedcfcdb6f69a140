"""What keeps an automaton from matching, in a sentence: the blocks and the names of the events that
every way to a final state takes, and the arcs on every way that no run could take."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from xscl.dissection.parts import Dissection
from xscl.documents.document import Document
from xscl.language.automata.description import Arc
from xscl.language.unparse import Wording
from xscl.pattern_stage.values.terms import Read, leaves
from xscl.patterns.compile_automaton import CompiledAutomaton
from xscl.why.automata.counts import count_automaton
from xscl.why.events import Reading
from xscl.why.sequences.hint import seen_of

__all__ = ["read_by_automaton", "untaken"]


def read_by_automaton(
    compiled: CompiledAutomaton, documents: Sequence[Document]
) -> Iterator[Reading]:
    """The blocks of the event types that every match takes, with the names that arcs ask of
    them."""
    for number, (name, (block,)) in enumerate(zip(compiled.names, compiled.blocks, strict=True)):
        every = (name, "*") if len(compiled.names) == 1 else (name,)
        if not _needed(compiled, [arc for arc in compiled.described if arc.event in every]):
            continue
        asked = [
            one.attribute
            for _, arc in compiled.arcs
            if arc.type == number or (arc.type is None and "*" in every)
            for one in leaves((arc.fence, tuple(term for _, term in arc.transfer)))
            if isinstance(one, Read)
        ]
        names = dict.fromkeys(
            [*compiled.automaton.by, *(one.steps[0] for one in asked if one.steps)]
        )
        wording = Wording(compiled.automaton.events[name])
        yield Reading(block, tuple(names), partial(seen_of, block, wording, documents))


def untaken(dissection: Dissection, documents: Sequence[Document]) -> str | None:
    """The first arc that every way to a final state has and that runs tried in vain; None where
    there is none."""
    compiled = dissection.compiled
    assert isinstance(compiled, CompiledAutomaton)
    found = count_automaton(dissection, documents)
    for arc, count in zip(compiled.described, found.arcs, strict=True):
        if count.failed and not count.passed and _needed(compiled, [arc]):
            (text, _), *others = count.failed
            near = f"; {count.near}" if count.near else ""
            # Each failed of some events, and held of others.
            what = "its conditions did not hold together" if others else f"`{text}` did not hold"
            return f"no run could take the arc `{arc.name}`: {what}{near}"
    return None


def _needed(compiled: CompiledAutomaton, some: Sequence[Arc]) -> bool:
    """Whether every way to a final state goes along one of some arcs."""
    arcs = [one for one in compiled.described if one.kind != "ignore" and one not in some]
    reached = {compiled.states[compiled.program.start]}
    while more := {one.target for one in arcs if one.source in reached} - reached:
        reached |= more
    final = {compiled.states[state] for state in compiled.final}
    # A run enters its final state: to begin in one is no match.
    return not any(one.target in final and one.source in reached for one in arcs)
