"""Leaf paths: for what a node of a path leaves rows, and what became of them as spines came and
went.

A path has a leaf path for each list of functions under which spines have their leaf there; one
that asks for no value is content with the row of the plain string value, which is NULL where no
other spine asks for it.  So what a path leaves rows for depends on the spines alone, never on
the order in which they came, and paths that become one agree in it (law 2: rows are of paths,
never of variables).  The rows are kept elsewhere; what they must learn is told as `Changes`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from xpath_stage.patterns import Spine

__all__ = ["Accept", "Changes", "Ending", "Functions", "Leaf", "LeafPath", "LeafPaths"]

Functions = tuple[str, ...]

Depths = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Accept:
    """A leaf path can be the leaf of a spine, its marked nodes at these depths (root: 0)."""

    path: int
    spine: int
    depths: Depths


@dataclass(frozen=True, slots=True)
class Changes:
    """What became of leaf paths and spines between two moments, net.

    `accepts` are new.  `gone` are the numbers of spines released: their accepts are no more.
    `moved` are leaf paths that are no more, and their accepts with them: rows that carry the
    first number are of the second from now on, or of no use where it is None.  Then, rows of the
    leaf paths in `unvalued` need their strings no longer: no spine asks for them.
    """

    accepts: tuple[Accept, ...]
    gone: tuple[int, ...]
    moved: tuple[tuple[int, int | None], ...]
    unvalued: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class LeafPath:
    """What a node of a path leaves a row for.

    `number`, and the `functions` under which the node's string value is asked for (None: not at
    all).  Rows of one string that agree at the `depths` mean the same to every spine.
    """

    number: int
    functions: Functions | None
    depths: Depths


class Ending(NamedTuple):
    """A registered spine, its number, and the automaton's states of its steps."""

    number: int
    spine: Spine
    states: tuple[int, ...]

    @property
    def functions(self) -> Functions:
        """The functions of the rows that the spine reads."""
        return self.spine.value or ()

    def told_apart(self, depths: Depths) -> Depths:
        """The depths of the nodes by which the spine tells rows of one string apart."""
        return depths if self.spine.apart else depths[:-1]


class Leaf:
    """A leaf path with all that it accepts: for each spine the depths of its marked nodes, each
    way to them once; how many of the spines ask for the string, and how many ways tell rows apart
    at each depth."""

    __slots__ = ("accepts", "apart", "number", "valued")

    def __init__(self, number: int) -> None:
        self.number = number
        self.accepts: dict[int, tuple[Depths, ...]] = {}
        self.valued = 0
        self.apart: Counter[int] = Counter()

    def row(self, functions: Functions) -> LeafPath:
        """What the walk needs to know."""
        return LeafPath(self.number, functions if self.valued else None, tuple(sorted(self.apart)))


class LeafPaths:
    """The leaf paths of all paths, by number; no number is used twice.

    `changed` says whether `take` may have anything to tell, but for spines that have gone.
    """

    def __init__(self) -> None:
        self.changed = False
        self._leaves: dict[int, Leaf] = {}
        self._next = 0
        self._unseen: set[int] = set()
        self._accepts: list[Accept] = []
        self._moved: dict[int, int | None] = {}
        self._unvalued: set[int] = set()

    def __len__(self) -> int:
        return len(self._leaves)

    def spines(self, number: int) -> tuple[int, ...]:
        """The spines that a leaf path accepts; none if it is no more."""
        leaf = self._leaves.get(number)
        return () if leaf is None else tuple(leaf.accepts)

    def accept(self, leaves: dict[Functions, Leaf], ending: Ending, ways: Iterable[Depths]) -> None:
        """A spine has its leaf at the path of these leaf paths, in these ways."""
        leaf = leaves.get(ending.functions)
        if leaf is None:
            leaf = leaves[ending.functions] = self._leaves[self._next] = Leaf(self._next)
            self._unseen.add(self._next)
            self._next += 1
        self.changed = True
        leaf.accepts[ending.number] = in_order = tuple(sorted(ways))
        if ending.spine.value is not None:
            leaf.valued += 1
            self._unvalued.discard(leaf.number)
        for depths in in_order:
            leaf.apart.update(ending.told_apart(depths))
            self._accepts.append(Accept(leaf.number, ending.number, depths))

    def withdraw(self, leaves: dict[Functions, Leaf], ending: Ending) -> None:
        """A spine is no more that had its leaf at the path of these leaf paths."""
        self.changed = True
        leaf = leaves[ending.functions]
        for depths in leaf.accepts.pop(ending.number):
            leaf.apart.subtract(ending.told_apart(depths))
        leaf.apart = +leaf.apart
        if not leaf.accepts:
            del leaves[ending.functions]
            self.move(leaf, None)
        elif ending.spine.value is not None:
            leaf.valued -= 1
            if not leaf.valued:
                self._unvalued.add(leaf.number)

    def move(self, leaf: Leaf, to: Leaf | None) -> None:
        """A leaf path is no more; its rows are of another one from now on, or of none."""
        self.changed = True
        del self._leaves[leaf.number]
        unvalued = leaf.number in self._unvalued
        self._unvalued.discard(leaf.number)
        if leaf.number in self._unseen:
            self._unseen.discard(leaf.number)
            return
        self._moved[leaf.number] = None if to is None else to.number
        if to is not None:
            self._unseen.discard(to.number)
            if unvalued:
                self._unvalued.add(to.number)

    def seen(self) -> None:
        """The leaf paths that there are may have rows from now on, or have been told of."""
        self._unseen.clear()

    def take(self, gone: tuple[int, ...]) -> Changes:
        """What became of leaf paths since the last call, when these spines have gone."""
        accepts = tuple(
            accept
            for accept in self._accepts
            if accept.path in self._leaves and accept.spine in self._leaves[accept.path].accepts
        )
        # What something moved to can itself have moved only later.
        moved: dict[int, int | None] = {}
        for number, to in reversed(self._moved.items()):
            moved[number] = to if to is None else moved.get(to, to)
        unvalued = tuple(sorted(self._unvalued))
        self._accepts, self._moved, self._unvalued = [], {}, set()
        self.changed = False
        return Changes(accepts, gone, tuple(moved.items()), unvalued)
