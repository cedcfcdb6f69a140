"""Pairs of equal leaves, against every pair of rows."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import duckdb
from hypothesis import event, example, given
from hypothesis import strategies as st

from tests.drawn import drawn
from tests.join_stage.witnessing import leave, witnesses_of
from xscl.join_stage import Batch
from xscl.join_stage.constraints import FOREVER
from xscl.join_stage.relational.relations import Column, create, insert, numbers
from xscl.join_stage.relational.state import JoinState
from xscl.join_stage.relational.value_join import Delta, join_values, note_joining_paths
from xscl.xpath_stage import Witnesses

DEPTH = 2


@dataclass(frozen=True)
class Leaf:
    """A row of `node`; its chain is three nodes deep, the leaf last."""

    document: int
    node: int
    path: int
    string: int | None

    @property
    def chain(self) -> list[int]:
        return [0, 1, self.node]


Accepted = tuple[int, int, tuple[int, ...]]  # path, spine, depths
Join = tuple[int, int, int, int]  # spines of left and right, lo, wl


@dataclass(frozen=True)
class Case:
    times: list[int]
    """The documents' times, by number."""
    first: int
    """The first document of the current batch."""
    leaves: list[Leaf]
    accepts: list[Accepted]
    joins: list[Join]


@st.composite
def cases(draw: st.DrawFn) -> Case:
    times = draw(st.lists(st.integers(0, 6), min_size=2, max_size=5))
    if draw(st.booleans()):
        times.sort()
    numbers = range(len(times))
    leaves = [
        Leaf(document, 2 + place, draw(st.integers(0, 1)), draw(st.sampled_from([1, 1, 2, None])))
        for document in numbers
        for place in range(draw(st.integers(1, 3)))
    ]
    depths = st.sampled_from([(2,), (0, 2), (1, 2)])
    spines = st.integers(0, 1)
    accepts = st.sets(st.tuples(st.integers(0, 1), spines, depths), min_size=2, max_size=8)
    bounds = st.tuples(st.sampled_from([0, -FOREVER]), st.sampled_from([0, 1, 3, FOREVER]))
    joins = draw(st.dictionaries(st.tuples(spines, spines), bounds, min_size=1, max_size=3))
    return Case(
        times,
        draw(st.sampled_from(numbers)),
        leaves,
        sorted(draw(accepts)),
        [(*ends, *limits) for ends, limits in joins.items()],
    )


Pair = tuple[int | None, ...]  # j, dl, dr, dt, s, l0, l1, r0, r1


def expected(case: Case) -> Counter[Pair]:
    found: Counter[Pair] = Counter()
    for left in case.leaves:
        for right in case.leaves:
            dt = case.times[right.document] - case.times[left.document]
            if (
                left.document == right.document
                or max(left.document, right.document) < case.first
                or left.string is None
                or left.string != right.string
            ):
                continue
            for j, (ls, rs, lo, wl) in enumerate(case.joins):
                for path, spine, ld in case.accepts:
                    for other_path, other_spine, rd in case.accepts:
                        accepted = (path, spine) == (left.path, ls)
                        accepted &= (other_path, other_spine) == (right.path, rs)
                        if accepted and lo < dt and abs(dt) <= wl:
                            nodes = (
                                [left.chain[depth] for depth in ld],
                                [right.chain[depth] for depth in rd],
                            )
                            padded = [
                                nodes[side][i] if i < len(nodes[side]) else None
                                for side in (0, 1)
                                for i in range(DEPTH)
                            ]
                            pair = (j, left.document, right.document, dt, left.string, *padded)
                            found[pair] += 1
    return found


def begin(state: JoinState, case: Case, numbers: range) -> None:
    witnesses = Witnesses()
    for number in numbers:
        leaves = (leaf for leaf in case.leaves if leaf.document == number)
        rows = ((leaf.path, tuple(leaf.chain), leaf.string) for leaf in leaves)
        leave(witnesses, number, rows)
    documents = [(number, case.times[number], "S", f"d{number}") for number in numbers]
    state.begin(Batch(tuple(documents), witnesses=witnesses_of(witnesses)))


def pairs(case: Case) -> Counter[Pair]:
    with duckdb.connect() as connection:
        create(connection)
        state = JoinState(connection, float)
        accepts = list(zip(*case.accepts, strict=True))
        insert(
            connection,
            "accept",
            {
                "path": Column("INTEGER", accepts[0]),
                "spine": Column("INTEGER", accepts[1]),
                "depths": Column("INTEGER[]", accepts[2]),
            },
        )
        joins = [(j, *join) for j, join in enumerate(case.joins)]
        names = ("j", "ls", "rs", "lo", "wl")
        columns = zip(names, zip(*joins, strict=True), strict=True)
        insert(connection, "value_join", {n: numbers(c) for n, c in columns})
        if case.first:
            begin(state, case, range(case.first))
        begin(state, case, range(case.first, len(case.times)))
        before, now = case.times[: case.first], case.times[case.first :]
        note_joining_paths(connection)
        join_values(
            connection,
            bounds=(min(join[2] for join in case.joins), max(join[3] for join in case.joins)),
            depth=DEPTH,
            delta=Delta(case.first, min(now) >= max(before, default=0)),
        )
        return Counter(
            connection.execute("SELECT j, dl, dr, dt, s, l0, l1, r0, r1 FROM pair").fetchall()
        )


ANY = [(0, 0, (2,))]
BOTH = [Leaf(0, 2, 0, 1), Leaf(1, 2, 0, 1)]


@given(cases())
@example(Case([1, 2], 1, BOTH, ANY, [(0, 0, 0, FOREVER)]))  # in order
@example(Case([2, 1], 1, BOTH, ANY, [(0, 0, 0, FOREVER)]))  # the earlier one comes later
@example(Case([1, 1], 1, BOTH, ANY, [(0, 0, 0, FOREVER)]))  # in one batch
@example(Case([1, 1], 1, BOTH, ANY, [(0, 0, -FOREVER, 0)]))  # JOIN: both orders
@example(Case([1, 2], 0, BOTH, ANY, [(0, 0, -FOREVER, 1)]))  # in one batch
@drawn(30)
def test_pairs_are_those_of_nested_loops(case: Case) -> None:
    wanted = expected(case)
    event("pairs" if wanted else "none")
    assert pairs(case) == wanted
