"""Signatures: which rows of R_T a document pair can satisfy, cached (docs/laws.md#signatures).

A pair of documents has pairs of equal leaves in common.  A leaf's *position* is its path with the
nodes on the way; documents of one structure have their leaves at the same positions.  The set of a
pair's joined positions is a *state*, reached from the empty one by a transition for each pair of
positions, as in an automaton that is made deterministic as it runs.  So pairs that have the same in
common cost only a look-up for each equal leaf.

A state's *signature* is that set pruned to the nodes that queries mark, with these renumbered by
rank, on either side.  The cores of the conjunctive queries are run once for each signature, on its
first state.  The memo has their results in ranks, a state has them in nodes.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from xscl.join_stage.compiler import programs_of
from xscl.join_stage.evaluator import Binding, Program, Relation, Relations
from xscl.join_stage.in_process.edges import Edges
from xscl.join_stage.registry import Registry, Trie

__all__ = ["EMPTY", "Hit", "LeafPosition", "Outcome", "Signatures", "Transitions"]

EMPTY = 0
"""The state of a pair of documents that has nothing in common."""

_PROBED = 1_000
_UNASKED = 20_000
"""Equivalent pairs are counted every so many pairs; for so many, signatures may then rest."""

_STATES = 100_000
_POSITIONS = 1_000_000
_BINDINGS = 1_000_000
"""The maximal number of bindings with a memory of 1 GiB or more; fewer with less."""


class LeafPosition:
    """The place of a leaf: its path, and the codes of the nodes from the root to its own."""

    __slots__ = ("chain", "path")

    def __init__(self, path: int, chain: tuple[int, ...]) -> None:
        self.path = path
        self.chain = chain


Common = frozenset[tuple[LeafPosition, LeafPosition]]
"""The positions of joined leaves, each of a left document's and a right one's."""


@dataclass(frozen=True, slots=True)
class Hit:
    """The rest of a pair of documents after the core of a program: its place in R_T's trie, and the
    bindings; a string is represented by its position in the left document.

    Where it is `final`, nothing is left to be completed: these are rows and heads.
    """

    program: Program
    at: Trie
    bindings: tuple[Binding, ...]
    final: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """The hits of a pair of documents: those that are final, and those that are to be completed
    for each pair.  Hits of composites are always completed: their constraints concern more than
    times."""

    final: tuple[Hit, ...]
    open: tuple[Hit, ...]

    def __bool__(self) -> bool:
        return bool(self.final or self.open)


Hits = tuple[Hit, ...]

Key = tuple[tuple[int, int, tuple[int, ...], tuple[int, ...]], ...]


class Transitions(dict[int, int]):
    """From states to states, for one pair of joined positions."""

    __slots__ = ("_signatures", "positions")

    def __init__(
        self, signatures: Signatures, positions: tuple[LeafPosition, LeafPosition]
    ) -> None:
        super().__init__()
        self._signatures = signatures
        self.positions = positions

    def __missing__(self, state: int) -> int:
        following = self[state] = self._signatures.following(state, self.positions)
        return following


class Signatures:
    """States and signatures of document pairs, for the current queries.

    `pairs` counts the pairs of documents whose outcome was looked up, `new` the signatures that
    were evaluated for them.  Where fewer than half of the pairs resemble others, signatures do not
    pay: for a while pairs are joined in the plain way, and are only counted (`plain`).  `version`
    grows when states and transitions are built again.
    """

    def __init__(self, registry: Registry, edges: Edges, memory: int) -> None:
        self._registry = registry
        self._edges = edges
        share = min(1, memory / 2**30)
        self._most_states = _STATES * share
        self._most_positions = _POSITIONS * share
        self._most_bindings = _BINDINGS * share
        self.pairs = 0
        self.new = 0
        self.plain = 0
        self._plainly = 0
        self._pairs_before = 0
        self._new_before = 0
        self._positions: dict[tuple[int, tuple[int, ...]], LeafPosition] = {}
        self._weight = 0
        self._outcome_weight = 0
        self._memo: OrderedDict[Key, Hits] = OrderedDict()
        self.version = 0
        self._begin()

    def __len__(self) -> int:
        return len(self._memo)

    def settle(self, *, changed: bool) -> bool:
        """Between batches: updates to the queries, and drops what exceeds the bounds; returns
        whether the positions that were handed out are to be dropped, too."""
        if changed:
            self._memo.clear()
            self._weight = 0
        if changed or len(self._commons) > self._most_states:
            self._begin()
        if self.pairs - self._pairs_before >= _PROBED:
            if 2 * (self.new - self._new_before) > self.pairs - self._pairs_before:
                self._plainly = self.plain + _UNASKED
            self._pairs_before, self._new_before = self.pairs, self.new
        if len(self._positions) <= self._most_positions:
            return False
        self._positions.clear()
        self._begin()
        return True

    @property
    def pay(self) -> bool:
        """Whether signatures pay for pairs at present."""
        return self.plain >= self._plainly

    def position(self, path: int, chain: tuple[int, ...]) -> LeafPosition:
        """The position of a path and nodes; the same one for documents of one structure."""
        key = (path, chain)
        position = self._positions.get(key)
        if position is None:
            position = self._positions[key] = LeafPosition(path, chain)
        return position

    def transitions(self, left: LeafPosition, right: LeafPosition) -> Transitions:
        """From each state to that with one more pair of joined positions."""
        positions = (left, right)
        found = self._transitions.get(positions)
        if found is None:
            found = self._transitions[positions] = Transitions(self, positions)
        return found

    def following(self, state: int, positions: tuple[LeafPosition, LeafPosition]) -> int:
        """The state that has one more pair of joined positions than another."""
        common = self._commons[state] | {positions}
        number = self._numbers.get(common)
        if number is None:
            number = self._numbers[common] = len(self._commons)
            self._commons.append(common)
        return number

    def outcome(self, state: int, pairs: int) -> Outcome:
        """The hits of a state in which so many pairs of documents are."""
        self.pairs += pairs
        outcome = self._outcomes.get(state)
        if outcome is None:
            outcome = self._find(self._commons[state])
            self._outcome_weight += _weight((), (*outcome.final, *outcome.open))
            if self._outcome_weight > self._most_bindings:
                self._outcomes.clear()
                self._outcome_weight = 0
            self._outcomes[state] = outcome
        return outcome

    # Inside.

    def _begin(self) -> None:
        self.version += 1
        self._commons: list[Common] = [frozenset()]
        self._numbers: dict[Common, int] = {frozenset(): EMPTY}
        self._transitions: dict[tuple[LeafPosition, LeafPosition], Transitions] = {}
        self._outcomes: dict[int, Outcome] = {}
        self._outcome_weight = 0

    def _find(self, common: Common) -> Outcome:
        marked: list[tuple[int, int, tuple[int, ...], tuple[int, ...], LeafPosition]] = []
        for left, right in common:
            edge = self._edges.between(left.path, right.path)
            assert edge is not None
            marked.append(
                (
                    left.path,
                    right.path,
                    tuple([left.chain[depth] for depth in edge.left]),
                    tuple([right.chain[depth] for depth in edge.right]),
                    left,
                )
            )
        lefts = sorted({code for _, _, codes, _, _ in marked for code in codes})
        rights = sorted({code for _, _, _, codes, _ in marked for code in codes})
        left_ranks = {code: rank for rank, code in enumerate(lefts)}
        right_ranks = {code: rank for rank, code in enumerate(rights)}
        # No two have the same leaves, so that positions are never compared.
        ranked = sorted(
            (
                path,
                other,
                tuple([left_ranks[code] for code in codes]),
                tuple([right_ranks[code] for code in opposite]),
                position,
            )
            for path, other, codes, opposite, position in marked
        )
        key = tuple([entry[:4] for entry in ranked])
        hits = self._memo.get(key)
        if hits is None:
            hits = self._evaluate(key)
            self._remember(key, hits)
        else:
            self._memo.move_to_end(key)
        positions = [entry[4] for entry in ranked]
        translated = [_translated(hit, lefts, rights, positions) for hit in hits]
        return Outcome(
            tuple([hit for hit in translated if hit.final]),
            tuple([hit for hit in translated if not hit.final]),
        )

    def _remember(self, key: Key, hits: Hits) -> None:
        self._memo[key] = hits
        self._weight += _weight(key, hits)
        while self._weight > self._most_bindings and len(self._memo) > 1:
            self._weight -= _weight(*self._memo.popitem(last=False))

    def _evaluate(self, key: Key) -> Hits:
        """The cores of all plans over a signature; nodes are ranks, strings the numbers of its
        entries."""
        self.new += 1
        pairs = Relation()
        for number, (path, other, left_ranks, right_ranks) in enumerate(key):
            edge = self._edges.between(path, other)
            assert edge is not None
            left = dict(zip(edge.left, left_ranks, strict=True))
            right = dict(zip(edge.right, right_ranks, strict=True))
            for join, depths, opposite in edge.joins:
                nodes = (*(left[d] for d in depths), *(right[d] for d in opposite))
                pairs.setdefault(join, []).append((0, *nodes, number))
        relations = Relations(pair=pairs)
        return tuple(
            [
                Hit(program, at, tuple([binding[1:] for binding in bindings]))
                for program in programs_of(self._registry, pairs)
                for at, bindings in program.begin(self._registry.rows_of(program.plan), relations)
            ]
        )


def _translated(
    hit: Hit, lefts: list[int], rights: list[int], positions: list[LeafPosition]
) -> Hit:
    """A hit with nodes instead of ranks, and positions instead of a signature's entries."""
    program = hit.program
    of_side: dict[int | None, Sequence[object]] = {0: lefts, 1: rights, None: positions}
    values = [of_side[side] for side in program.sides]
    bindings: list[Binding] = [
        tuple([of[cast(int, rank)] for of, rank in zip(values, binding, strict=True)])
        for binding in hit.bindings
    ]
    final = not program.rest and None not in program.sides and not any(program.plan.composite)
    if final:
        bindings = [program.head(binding) for binding in bindings]
    return Hit(program, hit.at, tuple(bindings), final)


def _weight(key: Key, hits: Hits) -> int:
    return len(key) + sum(1 + len(hit.bindings) for hit in hits)
