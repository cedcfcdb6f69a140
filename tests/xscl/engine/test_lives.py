"""Lives of an engine: chains that have left parts in common come, with history, and go.

Where the model of docs/semantics.md#documents-in-reach cannot decide whether a document is
retained, the engine is asked; what a query then finds depends on that only, whatever others have
asked.  XSCL_SEED is the number of the first life.
"""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest

import xscl
from tests.drawn import SEED, times
from tests.oracle import patterns
from tests.oracle.as_nested_loops import query_in_loops
from tests.oracle.as_xscl import xscl_text
from tests.oracle.live import LiveModel
from tests.oracle.terms import (
    Block,
    Compared,
    Item,
    Join,
    JoinedBy,
    Query,
    Side,
    Source,
    Step,
    VariablePath,
)
from tests.xscl.engine.drawing import Reporter, reported_by_oracle
from tests.xscl.engine.three_ways import WAYS as FORMS
from tests.xscl.engine.three_ways import published
from tests.xscl.engine.ways import WAYS

LIVES = times(8)
PORTIONS = 6


class Life:
    """An engine and its model; `chains` are those drawn so far, each a block and then operators
    with the block on their right."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)
        self.values = self.dice.sample("abA12", self.dice.choice([1, 2, 2, 3]))
        self.streams = self.dice.choice(["S", "S", "SR"])
        self.lateness = self.dice.choice([0, 1, 2, 2, 3, 5])
        self.chains: list[list[tuple[Block, JoinedBy | None]]] = []
        self.ids: dict[str, str] = {}
        self.clock = 10.0

    def live(self) -> int:
        """Compares what the engine reports with the model, and returns how many matches."""
        way = self.dice.choice(WAYS)
        model, reporter, reported = LiveModel(self.lateness), Reporter(self.ids.keys()), 0
        with way.taken() as options, xscl.Engine(lateness=self.lateness, **options) as engine:
            for _ in range(self.dice.choice([10, 18, 30])):
                if not model.names or self.dice.random() < 0.2:
                    query, name = self.query(), f"q{len(self.chains)}"
                    history = bool(self.ids) and self.dice.random() < 0.7
                    engine.stats(exact=True)  # drops what is out of reach
                    rows = model.subscribe(
                        query_in_loops(name, query, {}),
                        history=history,
                        holds=lambda id: engine.holds(str(id)),
                    )
                    found = engine.subscribe(xscl_text(query), name=name, history=history).found
                elif len(model.names) > 1 and self.dice.random() < 0.1:
                    name = self.dice.choice(model.names)
                    model.cancel(name)
                    engine.cancel(name)
                    continue
                else:
                    documents = [self.document() for _ in range(self.dice.choice([1, 1, 1, 3, 7]))]
                    rows = model.publish(documents)
                    form = self.dice.choice(FORMS)
                    counts, some = published(engine, [*map(envelope, documents)], form)
                    assert counts == Counter(row.query for row in rows), (way, form)
                    reported += sum(counts.values()) if some is None else 0
                    if some is None:
                        continue
                    found = some
                assert reporter.reported(found) == reported_by_oracle(rows), way
                assert engine.skipped.late == model.late
                reported += len(found)
        return reported

    def query(self) -> Query:
        """A new chain, or an earlier one with another end or another window."""
        chain = [(self.block(0), None)]
        if self.chains and self.dice.random() < 0.7:
            chain = list(self.dice.choice(self.chains))
            change = self.dice.random()
            if change < 0.3 and len(chain) > 1:
                chain.pop()
            elif change < 0.5 and len(chain) > 1:
                block, _ = chain.pop()
                chain.append((block, self.operator(len(chain))))
        while len(chain) < 2 or (len(chain) < 4 and self.dice.random() < 0.3):
            chain.append((self.block(len(chain)), self.operator(len(chain))))
        self.chains.append(chain)
        source: Source = chain[0][0]
        for block, operator in chain[1:]:
            assert operator is not None
            source = Join(source, operator, block)
        names = self.dice.sample(range(len(chain)), self.dice.randrange(3))
        return Query(source, tuple(Item(VariablePath(f"v{number}")) for number in names))

    def block(self, number: int) -> Block:
        steps = Step("/", self.dice.choice("xx*")), Step("/", self.dice.choice("aab"), f"v{number}")
        return Block(self.dice.choice(self.streams), steps)

    def operator(self, number: int) -> JoinedBy:
        sign = self.dice.choice(["=", "=", "=", "=", "!=", "<"])
        left = Side(VariablePath(f"v{self.dice.randrange(number)}"))
        window = self.dice.choice([0, 1, 2, 3, 5, 8, 8, None])
        return JoinedBy(
            self.dice.choice(["FOLLOWED BY", "JOIN"]),
            Compared(left, sign, Side(VariablePath(f"v{number}"))),
            window,
            None if window is None else str(window),
        )

    def document(self) -> patterns.Document:
        self.clock += self.dice.choice([0, 0, 0, 0.5, 0.5, 1])
        name, stream = f"d{len(self.ids)}", self.dice.choice(self.streams)
        self.ids[name] = stream
        leaves = "".join(
            f"<{leaf}>{self.dice.choice(self.values)}</{leaf}>"
            for leaf in self.dice.choices("ab", k=self.dice.choice([1, 1, 2]))
        )
        root = self.dice.choice("xxxy")
        time = self.clock - self.dice.choice([0, 0, 0, 0, 1, 1, 2, 3, 4, 6])
        return patterns.Document(stream, name, time, f"<{root}>{leaves}</{root}>")


def envelope(document: patterns.Document) -> dict[str, Any]:
    return {
        "stream": document.stream,
        "id": document.id,
        "timestamp": document.timestamp,
        "xml": document.xml,
    }


@pytest.mark.drawn
@pytest.mark.parametrize("portion", range(PORTIONS))
def test_what_a_query_finds_is_a_matter_of_the_documents_retained(portion: int) -> None:
    matches = 0
    for seed in range(SEED + portion, SEED + LIVES, PORTIONS):
        try:
            matches += Life(seed).live()
        except Exception as error:
            error.add_note(f"in the life of XSCL_SEED={seed}")
            raise
    assert matches or LIVES < 4 * PORTIONS


def test_a_leaf_that_went_before_its_slice_is_in_no_match() -> None:
    """Its row is dropped by its own reach; its document and the slice of its string stay longer."""
    assert Life(20240).live()
