"""Why documents match a query or do not: every condition judged, in order, on these documents.

The streams; each block's steps and filters; then, innermost operator first, that the documents
differ, their times, and the comparisons in the order written.  The evaluation is direct, from the
syntax tree and the documents' trees: it shares nothing with the join stage, whose answer it is a
check of.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from xscl.documents.document import Document
from xscl.errors import XSCLError
from xscl.language.syntax import Query
from xscl.why.blocks import judge_block, judge_stream
from xscl.why.comparisons import Ground, judge_comparison, needed_after
from xscl.why.findings import Finding
from xscl.why.operators import Conjunct, Plan, plan_of
from xscl.why.relations import Factor
from xscl.why.report import Why
from xscl.why.timing import judge_documents, judge_time
from xscl.why.trees import Tree

__all__ = ["common", "why"]


def why(query: Query, documents: Sequence[Document | None]) -> Why:
    """Judges a query, whose parameters have values, on one document for each of its blocks, in the
    order of the text.

    A block that reads a sub-query takes one of its result documents.  What is about a block
    without a document (None) is not judged.  Raises XSCLError where the number of documents is
    wrong or more assignments are left than can be kept apart, DocumentError for a document that
    cannot be read.
    """
    plan = plan_of(query)
    if len(documents) != len(plan.patterns):
        raise XSCLError(_wrong_number(plan, len(documents)))
    findings = [
        judge_stream(pattern, document.stream)
        for pattern, document in zip(plan.patterns, documents, strict=True)
        if document is not None and pattern.stream is not None
    ]
    blocks = []
    for pattern, document in zip(plan.patterns, documents, strict=True):
        tree = None if document is None else Tree.of(document)
        operands = plan.operands(pattern.number - 1)
        blocks.append(judge_block(pattern, tree, operands, plan.wording))
        findings += blocks[-1].findings
    compared = _comparisons(plan, Ground.of(blocks))
    for owner, operator in enumerate(plan.operators):
        findings.append(judge_documents(operator, documents))
        findings.append(judge_time(operator, documents))
        findings += (finding for of, finding in compared if of == owner)
    ids = tuple(None if document is None else document.id for document in documents)
    return Why(query.name, ids, tuple(findings), len(plan.disjuncts))


def common(disjuncts: Sequence[tuple[Conjunct, ...]]) -> int:
    """How many comparisons all disjuncts begin with."""
    number = 0
    for some in zip(*disjuncts, strict=False):
        if any(conjunct.at != some[0].at for conjunct in some):
            break
        number += 1
    return number


def _comparisons(plan: Plan, ground: Ground) -> list[tuple[int, Finding]]:
    """The findings of all disjuncts' comparisons, each with the operator that it belongs to; those
    that all disjuncts begin with are judged once."""
    shared = common(plan.disjuncts)
    needed = {side for d in plan.disjuncts for side in needed_after(d[shared:])}
    first = plan.disjuncts[0][:shared]
    found, factors = _judged(first, ground.factors, needed, ground)
    for number, disjunct in enumerate(plan.disjuncts, start=1):
        rest, _ = _judged(disjunct[shared:], factors, set(), ground)
        several = number if len(plan.disjuncts) > 1 else None
        found += ((owner, replace(finding, disjunct=several)) for owner, finding in rest)
    return found


def _judged(
    conjuncts: Sequence[Conjunct],
    factors: tuple[Factor, ...],
    needed: set[str],
    ground: Ground,
) -> tuple[list[tuple[int, Finding]], tuple[Factor, ...]]:
    findings = []
    for index, conjunct in enumerate(conjuncts, start=1):
        left = needed | needed_after(conjuncts[index:])
        finding, factors = judge_comparison(conjunct, factors, left, ground)
        findings.append((conjunct.owner, finding))
    return findings, factors


def _wrong_number(plan: Plan, found: int) -> str:
    blocks = "\n".join(
        f"    {p.number}: {'a sub-query' if p.stream is None else f'stream {p.stream}'}, {p.text}"
        for p in plan.patterns
    )
    expected = len(plan.patterns)
    documents = "1 document" if expected == 1 else f"{expected} documents, one for each block"
    return f"query {plan.query.name!r} joins {documents}; found {found}. Its blocks:\n{blocks}"
