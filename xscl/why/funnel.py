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

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from xscl.counts import counted
from xscl.documents.document import Document
from xscl.errors import XSCLError
from xscl.language.syntax import Query
from xscl.language.unparse import Wording
from xscl.why.blocks import JudgedBlock
from xscl.why.comparisons import needed_after
from xscl.why.conditions import Conditions, conditions_of
from xscl.why.findings import LISTED, Miss, Tally
from xscl.why.operator_tallies import OperatorTallies, Through
from xscl.why.patterns import Pattern
from xscl.why.report import Funnel
from xscl.why.timing import Composite

__all__ = ["block_tallies", "funnel"]

_MOST_EXPLAINED = 1_000
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
    conditions = conditions_of(query)
    published = [*documents]
    tallies: list[Tally] = []
    through: dict[range, Through] = {}
    for block, inputs in enumerate(_inputs(conditions, published, results)):
        counted, left = _block(conditions, block, inputs)
        tallies += counted
        through[range(block, block + 1)] = Through(left)
    tallies += _operators(conditions, through)
    return Funnel(query.name, len(published), tuple(tallies))


def _inputs(
    conditions: Conditions, published: Sequence[Document], results: Sequence[Iterable[Document]]
) -> list[list[Document]]:
    """The documents that each block reads."""
    reading = sum(pattern.stream is None for pattern in conditions.patterns)
    if reading != len(results):
        raise XSCLError(
            f"query {conditions.query.name!r} reads the results of "
            f"{counted(reading, 'sub-query')}, found those of {len(results)}; give the result "
            "documents of each"
        )
    of_sub_queries = iter(results)
    return [
        [*next(of_sub_queries)]
        if pattern.stream is None
        else [document for document in published if document.stream == pattern.stream]
        for pattern in conditions.patterns
    ]


def _block(
    conditions: Conditions, block: int, documents: Sequence[Document]
) -> tuple[list[Tally], list[Composite]]:
    """The tallies of a block, and the documents that came through."""
    pattern, sides = conditions.patterns[block], conditions.sides(block)
    through: list[Composite] = []

    def came(document: Document, judged: JudgedBlock) -> None:
        through.append(Composite.of([document], judged.relations(sides)))

    return block_tallies(pattern, documents, conditions.wording, came), through


def block_tallies(
    pattern: Pattern,
    documents: Sequence[Document],
    wording: Wording,
    through: Callable[[Document, JudgedBlock], object],
) -> list[Tally]:
    """The tallies of a block over the documents of its stream; `through` gets those that came
    through all conditions."""
    passed = [0] * len(pattern.conditions)
    alone: list[list[Document]] = [[] for _ in passed]
    for document in documents:
        judged = JudgedBlock.of(pattern, document)
        holds = judged.holds
        if all(holds):
            through(document, judged)
        elif holds.count(False) == 1:
            alone[holds.index(False)].append(document)
        for index in range(holds.index(False) if False in holds else len(holds)):
            passed[index] += 1
    tallies = []
    if pattern.stream is not None:
        tallies.append(Tally("stream", pattern.number, pattern.stream, len(documents)))
    for index, condition in enumerate(pattern.conditions):
        missed = []
        for document in alone[index][:_MOST_EXPLAINED]:
            judged = JudgedBlock.of(pattern, document)
            missed.append(Miss((document.id,), judged.finding(index, wording)))
        missed.sort(key=lambda miss: miss.finding.near is None)
        tallies.append(
            Tally(
                condition.kind,
                pattern.number,
                condition.text,
                passed[index],
                alone=len(alone[index]),
                missed=tuple(missed[:LISTED]),
            )
        )
    return tallies


def _operators(conditions: Conditions, blocks: dict[range, Through]) -> list[Tally]:
    """The tallies of all operators, given what came through each block.

    Disjuncts that say the same of an operator and those inside it share its tallies.
    """
    tallies: dict[tuple[int, ...], list[Tally]] = {}
    through: dict[tuple[int, ...], Through] = {}
    users: dict[tuple[int, ...], list[int]] = {}
    every = [conjunct for disjunct in conditions.disjuncts for conjunct in disjunct]
    for number, disjunct in enumerate(conditions.disjuncts, start=1):
        found = {**blocks}
        for owner, operator in enumerate(conditions.operators):
            own = [conjunct for conjunct in disjunct if conjunct.owner == owner]
            here = {*operator.blocks}
            inside = (
                c.at for c in disjunct if here.issuperset(conditions.operators[c.owner].blocks)
            )
            key = (owner, *inside)
            users.setdefault(key, []).append(number)
            if key not in tallies:
                above = needed_after(conjunct for conjunct in every if conjunct.owner > owner)
                of = OperatorTallies(
                    operator, found[operator.left], found[operator.right], own, above
                )
                tallies[key], through[key] = of.tallies()
            found[operator.blocks] = through[key]
    shown: list[Tally] = []
    for key, some in tallies.items():
        if len(users[key]) == len(conditions.disjuncts):
            shown += some
        else:
            shown += (replace(tally, disjunct=user) for user in users[key] for tally in some)
    return shown
