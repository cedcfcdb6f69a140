"""What a pattern reads of documents: the blocks of its components, and the names that its condition
asks of their events."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial

from xscl.documents.attributes import Node
from xscl.documents.columns import attributes_of, values_in
from xscl.documents.document import Document
from xscl.language.syntax import Block, EventPattern, Query
from xscl.language.unparse import Wording
from xscl.pattern_stage.values.terms import Aggregate, Attribute, Read, leaves
from xscl.patterns.compile import CompiledPattern
from xscl.patterns.written import Written
from xscl.why.blocks import judge_events
from xscl.why.events import Reading
from xscl.why.findings import Finding
from xscl.why.sequences.funnel import components_of
from xscl.why.sequences.taken import Event, Run

__all__ = ["read_by_pattern", "seen_of"]


def read_by_pattern(
    query: Query, compiled: CompiledPattern, documents: Sequence[Document]
) -> Iterator[Reading]:
    """The blocks of the events that a pattern requires."""
    assert isinstance(query.source, EventPattern)
    wording, pattern = Wording(query.text), compiled.pattern
    written = Written(query.source, query.text, pattern)
    compared = [one for one in leaves(pattern.conjuncts) if isinstance(one, Read | Aggregate)]

    for at, (component, made) in enumerate(
        zip(query.source.components, pattern.components, strict=True)
    ):
        if made.negated or len(component.types) > 1:
            # What one of several types lacks, another may have.
            continue
        asked = [one.attribute for one in compared if one.component == at]
        asked += [test.attribute for test in pattern.tests]
        names = dict.fromkeys(map(_name, asked))
        (block,) = component.types
        alone = partial(_alone, written, compiled, at)
        of = partial(seen_of, block, wording, documents, alone=alone)
        yield Reading(block, tuple(filter(None, names)), of)


Alone = Callable[[Document, Node, Mapping[str, Node]], Iterable[Finding]]
"""What is found of one event: of a document, its node and those of its block's variables."""


def _alone(
    written: Written,
    compiled: CompiledPattern,
    at: int,
    document: Document,
    node: Node,
    bound: Mapping[str, Node],
) -> Iterator[Finding]:
    """What a condition requires of an event of a component alone."""
    event = Event(at, document.id, document.time, node, bound)
    run = Run(compiled.pattern, compiled.constants, (event,))
    for text, test in written.tests:
        if test.constant is not None:
            yield run.found_of_test(test, Finding("filter", at + 1, text, None))
    for conjunct in compiled.pattern.conjuncts:
        if components_of(conjunct) == {at}:
            finding = Finding("filter", at + 1, written.clause(conjunct), None)
            yield run.finding(conjunct, finding)


def seen_of(
    block: Block,
    wording: Wording,
    documents: Sequence[Document],
    place: int,
    alone: Alone | None = None,
) -> Iterator[tuple[Sequence[Finding], tuple[str, ...] | None]]:
    """The findings of a block on one of some documents, with those of each of its events `alone`,
    and the names of the event's attributes."""
    document = documents[place]
    findings, seen = judge_events(place + 1, block, wording, document)
    if seen is None or seen.tree is None:
        yield findings, None
        return
    elements = {one: number for number, one in enumerate(seen.tree.elements)}
    value_of = values_in(document, elements)
    for node, bound in seen.events():
        # What has a namespace is no attribute of an event, but the variable may stand for it.
        names = tuple(attributes_of(node, bound, value_of))
        yield (*findings, *(alone(document, node, bound) if alone else ())), names


def _name(attribute: Attribute | None) -> str | None:
    """The name that an attribute begins with; None of one that every event has."""
    return attribute.steps[0] if attribute is not None and attribute.steps else None
