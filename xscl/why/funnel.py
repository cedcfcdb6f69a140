"""How many documents and combinations come through each condition of a query, and where the
others are lost.

What is counted.  Of a block: the documents of its stream, then those that pass each step and
filter and all before it.  Of an operator: the pairs of what came through on both sides (documents,
or combinations that an inner operator let through) that are of different documents; of these
those in its time; of these those for which each comparison holds together with those before it,
equalities first.  A document, or a pair, failed by one condition alone if that one is false and
all others hold; where one of several may be left out, the first false one is named.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xscl.counts import counted
from xscl.documents.document import Document
from xscl.errors import XSCLError
from xscl.language.syntax import Query
from xscl.why.blocks import judge_block
from xscl.why.findings import LISTED, Miss, Tally
from xscl.why.operator_tallies import operator_tallies
from xscl.why.operators import Plan, plan_of
from xscl.why.pairs import Composite
from xscl.why.patterns import Pattern
from xscl.why.report import Funnel
from xscl.why.trees import Tree

__all__ = ["funnel"]

_MOST_TOLD = 1_000
"""Documents that fail by one condition alone, among which near misses are looked for."""


def funnel(
    query: Query,
    documents: Iterable[Document],
    results: Sequence[Iterable[Document]] = (),
) -> Funnel:
    """Counts what comes through each condition of a query, whose parameters have values.

    `results` are the result documents of each sub-query that it reads, in the order of the text.
    Raises XSCLError where their number is wrong, DocumentError for a document that cannot be read.
    """
    plan = plan_of(query)
    published = [*documents]
    tallies: list[Tally] = []
    through: dict[range, list[Composite]] = {}
    for pattern, inputs in zip(plan.patterns, _inputs(plan, published, results), strict=True):
        counted, left = _block(plan, pattern, inputs)
        tallies += counted
        through[range(pattern.number - 1, pattern.number)] = left
    tallies += operator_tallies(plan, through)
    return Funnel(query.name, len(published), tuple(tallies))


def _inputs(
    plan: Plan, published: Sequence[Document], results: Sequence[Iterable[Document]]
) -> list[list[Document]]:
    """The documents that each block reads."""
    reading = sum(pattern.stream is None for pattern in plan.patterns)
    if reading != len(results):
        raise XSCLError(
            f"query {plan.query.name!r} reads the results of "
            f"{counted(reading, 'sub-query')}, found those of {len(results)}; give the result "
            "documents of each"
        )
    of_sub_queries = iter(results)
    return [
        [*next(of_sub_queries)]
        if pattern.stream is None
        else [document for document in published if document.stream == pattern.stream]
        for pattern in plan.patterns
    ]


def _block(
    plan: Plan, pattern: Pattern, documents: Sequence[Document]
) -> tuple[list[Tally], list[Composite]]:
    """The tallies of a block, and the documents that came through."""
    operands = plan.operands(pattern.number - 1)
    wording = plan.wording
    conditions = judge_block(pattern, None, operands, wording).findings
    passed = [0] * len(conditions)
    alone: dict[int, list[Document]] = {}
    through: list[Composite] = []
    for document in documents:
        judged = judge_block(pattern, Tree.of(document), operands, wording, told=False)
        holds = [finding.holds for finding in judged.findings]
        if all(holds):
            through.append(Composite((document,), document.time, document.time, judged.factors))
        elif holds.count(False) == 1:
            alone.setdefault(holds.index(False), []).append(document)
        for index in range(next((i for i, held in enumerate(holds) if not held), len(holds))):
            passed[index] += 1
    tallies = []
    if pattern.stream is not None:
        tallies.append(Tally("stream", pattern.number, pattern.stream, len(documents)))
    for index, finding in enumerate(conditions):
        failed = alone.get(index, [])
        missed = []
        for document in failed[:_MOST_TOLD]:
            told = judge_block(pattern, Tree.of(document), operands, wording)
            missed.append(Miss((document.id,), told.findings[index]))
        missed.sort(key=lambda miss: miss.finding.near is None)
        tallies.append(
            Tally(
                finding.kind,
                pattern.number,
                finding.text,
                passed[index],
                alone=len(failed),
                missed=tuple(missed[:LISTED]),
            )
        )
    return tallies, through
