"""What a composition reads of documents: the blocks of the events that each match has, and the
names that conditions ask of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from xscl.documents.document import Document
from xscl.language.syntax import Query
from xscl.language.unparse import Wording
from xscl.pattern_stage.compositions.plan import Chain, Conjunct, Either, Event, Many, Plan
from xscl.pattern_stage.values.terms import STEP, Attribute, Column, Range, parts
from xscl.patterns.compile_composition import CompiledComposition
from xscl.why.events import Reading
from xscl.why.sequences.hint import seen_of

__all__ = ["read_by_composition"]


def read_by_composition(
    query: Query, compiled: CompiledComposition, documents: Sequence[Document]
) -> Iterator[Reading]:
    """The blocks of the events that each match has."""
    wording = Wording(query.text)
    normal = compiled.composition.normal
    asked: dict[str, dict[str, None]] = {}
    for conjunct in _conjuncts(normal):
        for name in _names(conjunct.predicate):
            variable, _, own = name.partition(STEP)
            attribute = Attribute.named(own)
            if attribute.steps:
                asked.setdefault(variable, {})[attribute.steps[0]] = None
    for event in _needed(normal):
        place = int(event.variable)
        names = tuple(asked.get(event.variable, ()))
        for block in compiled.blocks[place]:
            yield Reading(block, names, partial(seen_of, block, wording, documents))


def _needed(plan: Plan) -> Iterator[Event]:
    """The events that each composite has."""
    match plan:
        case Event():
            yield plan
        case Many(operand):
            yield from _needed(operand)
        case Chain(operands):
            for one in operands:
                yield from _needed(one)


def _conjuncts(plan: Plan) -> Iterator[Conjunct]:
    match plan:
        case Event(_, _, _, conditions):
            yield from conditions
        case Either(operands, _, conditions):
            yield from conditions
            for one in operands:
                yield from _conjuncts(one)
        case Many(operand, phi, theta):
            yield from (*phi, *theta)
            yield from _conjuncts(operand)
        case Chain(operands, steps, _, exceptions):
            for step in steps:
                yield from (*step.phi, *step.theta)
            for exception in exceptions:
                yield from exception.conditions
            for one in operands:
                yield from _conjuncts(one)


def _names(term: object) -> Iterator[str]:
    match term:
        case Column(0, name) | Range(_, name):
            yield name
        case _:
            for part in parts(term):
                yield from _names(part)
