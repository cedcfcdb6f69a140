"""Leaf paths: which rows a node of a path leaves, and how these change as spines come and go.

A path has a leaf path for each list of functions under which spines have their leaf there.  A spine
that needs no value uses the row of the plain string value, which is NULL where no other spine needs
it.  So the rows of a path depend on the spines only, never on the order in which they came, and
paths that are merged agree in it (docs/laws.md#path-rows: rows are of paths, never of variables).
The rows are stored elsewhere; their updates are returned as `Changes`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from xscl.xpath_stage.patterns import Spine

__all__ = ["Accept", "Changes", "Ending", "Functions", "Leaf", "LeafPath", "LeafPaths"]

Functions = tuple[str, ...]

Depths = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Accept:
    """The spine has its leaf at this leaf path, and its marked nodes at these depths (root: 0)."""

    path: int
    spine: int
    depths: Depths


@dataclass(frozen=True, slots=True)
class Changes:
    """Net changes of leaf paths and spines between two moments.

    `accepts` are new.  `gone` are the numbers of released spines: their accepts are removed.
    `moved` are removed leaf paths, and their accepts with them: rows with the first number have the
    second from now on, or are of no use where it is None.  Then, rows of the leaf paths in
    `unvalued` no longer need their strings: no spine uses them.
    """

    accepts: tuple[Accept, ...]
    gone: tuple[int, ...]
    moved: tuple[tuple[int, int | None], ...]
    unvalued: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class LeafPath:
    """The description of a row that each node of a path leaves.

    `number`, and the `functions` to apply to the node's string value (None: no spine needs the
    value).  Rows of one string that agree at the `depths` are equivalent to every spine.
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

    def distinguishing(self, depths: Depths) -> Depths:
        """The depths of the nodes by which the spine distinguishes rows of one string."""
        return depths if self.spine.distinct else depths[:-1]


class Leaf:
    """A leaf path with all that it accepts: for each spine the depths of its marked nodes, each way
    to them once; the number of spines that need the string; and by depth the number of ways that
    distinguish rows there."""

    __slots__ = ("accepts", "distinguishing", "number", "valued")

    def __init__(self, number: int) -> None:
        self.number = number
        self.accepts: dict[int, tuple[Depths, ...]] = {}
        self.valued = 0
        self.distinguishing: Counter[int] = Counter()

    def row(self, functions: Functions) -> LeafPath:
        """The description of the row that the walk needs."""
        return LeafPath(
            self.number, functions if self.valued else None, tuple(sorted(self.distinguishing))
        )


class LeafPaths:
    """The leaf paths of all paths, by number; no number is reused.

    `changed` is whether `take` may return any changes other than released spines.
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
        """The spines that a leaf path accepts; none if the leaf path was removed."""
        leaf = self._leaves.get(number)
        return () if leaf is None else tuple(leaf.accepts)

    def accept(self, leaves: dict[Functions, Leaf], ending: Ending, ways: Iterable[Depths]) -> None:
        """Adds a spine whose leaf is at the path of these leaf paths, in these ways."""
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
            leaf.distinguishing.update(ending.distinguishing(depths))
            self._accepts.append(Accept(leaf.number, ending.number, depths))

    def withdraw(self, leaves: dict[Functions, Leaf], ending: Ending) -> None:
        """Removes a spine whose leaf was at the path of these leaf paths."""
        self.changed = True
        leaf = leaves[ending.functions]
        for depths in leaf.accepts.pop(ending.number):
            leaf.distinguishing.subtract(ending.distinguishing(depths))
        leaf.distinguishing = +leaf.distinguishing
        if not leaf.accepts:
            del leaves[ending.functions]
            self.move(leaf, None)
        elif ending.spine.value is not None:
            leaf.valued -= 1
            if not leaf.valued:
                self._unvalued.add(leaf.number)

    def move(self, leaf: Leaf, to: Leaf | None) -> None:
        """Removes a leaf path; its rows belong to another one from now on, or to none."""
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
        """Notes that the current leaf paths may have rows from now on, or were reported."""
        self._unseen.clear()

    def take(self, gone: tuple[int, ...]) -> Changes:
        """The changes of leaf paths since the last call, given the spines that were released."""
        accepts = tuple(
            accept
            for accept in self._accepts
            if accept.path in self._leaves and accept.spine in self._leaves[accept.path].accepts
        )
        # The target of a move can only have moved itself later.
        moved: dict[int, int | None] = {}
        for number, to in reversed(self._moved.items()):
            moved[number] = to if to is None else moved.get(to, to)
        unvalued = tuple(sorted(self._unvalued))
        self._accepts, self._moved, self._unvalued = [], {}, set()
        self.changed = False
        return Changes(accepts, gone, tuple(moved.items()), unvalued)
