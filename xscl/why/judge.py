"""Why documents match a query or do not: every condition judged, in order, on these documents.

The streams; each block's steps and filters; then, innermost operator first, that the documents
differ, their times, and the comparisons in the order written.  Stage 2 takes no part in it, so that
it is a check of its answer.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import takewhile

from xscl.documents.document import Document
from xscl.errors import XSCLError
from xscl.language.syntax import Query
from xscl.why.blocks import JudgedBlock, judge_stream
from xscl.why.comparisons import Ground, judge_comparison, needed_after
from xscl.why.conditions import Conditions, Conjunct, conditions_of
from xscl.why.findings import Finding
from xscl.why.relations import Relation
from xscl.why.report import Why
from xscl.why.timing import Composite, judge_documents, judge_time

__all__ = ["why"]


def why(query: Query, documents: Sequence[Document | None]) -> Why:
    """Judges a query, whose parameters have values, on one document for each of its blocks, in the
    order of the text.

    A block that reads a sub-query takes one of its result documents.  What is about a block
    without a document (None) is not judged.  Raises XSCLError where the number of documents is
    wrong or more assignments are left than can be kept apart, DocumentError for a document that
    cannot be read.
    """
    conditions = conditions_of(query)
    if len(documents) != len(conditions.patterns):
        raise XSCLError(_wrong_number(conditions, len(documents)))
    given = [*zip(conditions.patterns, documents, strict=True)]
    findings = [
        judge_stream(pattern, document.stream)
        for pattern, document in given
        if document is not None and pattern.stream is not None
    ]
    blocks = [JudgedBlock.of(pattern, document) for pattern, document in given]
    relations: list[Relation] = []
    for number, judged in enumerate(blocks):
        findings += (judged.finding(n, conditions.wording) for n in range(len(judged.found)))
        relations += judged.relations(conditions.sides(number))
    compared = _comparisons(conditions.disjuncts, Ground(relations, blocks))
    for owner, operator in enumerate(conditions.operators):
        left, right = (_side(documents, blocks) for blocks in (operator.left, operator.right))
        findings += [judge_documents(left, right), judge_time(operator, left, right)]
        findings += (finding for of, finding in compared if of == owner)
    ids = tuple(None if document is None else document.id for document in documents)
    return Why(query.name, ids, tuple(findings), len(conditions.disjuncts))


def _side(documents: Sequence[Document | None], blocks: range) -> Composite | None:
    """The documents on a side of an operator, None where one of them was not given."""
    some = [d for d in (documents[block] for block in blocks) if d is not None]
    return Composite.of(some) if len(some) == len(blocks) else None


def _comparisons(
    disjuncts: Sequence[tuple[Conjunct, ...]], ground: Ground
) -> list[tuple[int, Finding]]:
    """The findings of all disjuncts' comparisons, each with the operator that it belongs to; those
    that all disjuncts begin with are judged once."""
    places = zip(*([conjunct.at for conjunct in some] for some in disjuncts), strict=False)
    shared = len([*takewhile(lambda at: len(set(at)) == 1, places)])
    needed = {side for some in disjuncts for side in needed_after(some[shared:])}
    found, relations = _judged(disjuncts[0][:shared], ground.relations, needed, ground)
    for number, disjunct in enumerate(disjuncts, start=1):
        rest, _ = _judged(disjunct[shared:], relations, (), ground)
        several = number if len(disjuncts) > 1 else None
        found += ((owner, replace(finding, disjunct=several)) for owner, finding in rest)
    return found


def _judged(
    conjuncts: Sequence[Conjunct],
    relations: Sequence[Relation],
    needed: Collection[str],
    ground: Ground,
) -> tuple[list[tuple[int, Finding]], Sequence[Relation]]:
    findings = []
    for index, conjunct in enumerate(conjuncts, start=1):
        left = {*needed, *needed_after(conjuncts[index:])}
        finding, relations = judge_comparison(conjunct, relations, left, ground)
        findings.append((conjunct.owner, finding))
    return findings, relations


def _wrong_number(conditions: Conditions, found: int) -> str:
    blocks = "\n".join(
        f"    {p.number}: {'a sub-query' if p.stream is None else f'stream {p.stream}'}, {p.text}"
        for p in conditions.patterns
    )
    expected = len(conditions.patterns)
    documents = "1 document" if expected == 1 else f"{expected} documents, one for each block"
    return (
        f"query {conditions.query.name!r} joins {documents}; found {found}. Its blocks:\n{blocks}"
    )
