"""The path table: every root-to-node path that documents show, interned (law 1).

The automaton runs once per new path, not once per element.  Two label paths that no registered
pattern tells apart are one path: a path is its parent path and the set of states active at its
node, which also says which filters of the patterns the node satisfies.  With a path is stored
what it accepts: for each spine whose leaf it can be, the depths of the marked ancestors.  The
structure of a document thereby costs one lookup per element, whatever the number of queries
(lazy determinisation: Green et al., the thesis' [40, 41]).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xpath_stage.automaton import Automaton
from xpath_stage.patterns import Filter, Spine
from xpath_stage.work import ExcessiveDocument

__all__ = ["Accept", "Choice", "LeafPath", "PathTable"]

_DERIVATIONS = 10_000
_NAMES = 100_000

DEAD = 0
"""The path of all nodes at and below which no pattern can match."""

SKIP = -1
"""Instead of a path: the node is no element (a comment, a processing instruction)."""


@dataclass(frozen=True, slots=True)
class Accept:
    """A leaf path can be the leaf of a spine, its marked nodes at these depths (root: 0)."""

    path: int
    spine: int
    depths: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class LeafPath:
    """What a node of a path leaves a row for.

    `number`, and the `functions` under which the node's string value is asked for (None: not at
    all); a path has one for each such list of functions.  Rows of one string that agree at the
    `depths` mean the same to every spine.
    """

    number: int
    functions: tuple[str, ...] | None
    depths: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """A name below a path that reaches states with filters: the node itself decides."""

    free: frozenset[int]
    filtered: tuple[tuple[int, tuple[Filter, ...]], ...]


class _Transitions(dict[object, int]):
    """From the name of a child to its path, filled on demand.

    A negative number is no path: `SKIP`, or `-2 - i` for the i-th choice of the table.
    """

    __slots__ = ("path", "table")

    def __init__(self, table: PathTable, path: int) -> None:
        super().__init__()
        self.table = table
        self.path = path

    def __missing__(self, name: object) -> int:
        return self.table._transition(self, name)


class PathTable:
    """Paths of all documents seen since the last pattern was added.

    Attributes, each a list indexed by path: `transitions` (by the Clark name of an element, or
    `@` and that of an attribute), `attributes` (whether any attribute matters here), `leaves`
    (the leaf paths of spines that have their leaf here).
    """

    def __init__(self, automaton: Automaton) -> None:
        self._automaton = automaton
        self._spines: dict[int, list[tuple[int, Spine, tuple[int, ...]]]] = {}
        self.transitions: list[_Transitions] = []
        self.attributes: list[bool] = []
        self.leaves: list[tuple[LeafPath, ...]] = []
        self.choices: list[Choice] = []
        self._accepts: list[Accept] = []
        self._leaf_paths = 0
        self._parents: list[int] = []
        self._depths: list[int] = []
        self._active: list[frozenset[int]] = []
        self._waiting: list[frozenset[int]] = []
        self._interned: dict[tuple[int, frozenset[int]], int] = {}
        self._choice_ids: dict[Choice, int] = {}
        self._roots: dict[str, int] = {}
        self._new(DEAD, -1, frozenset(), frozenset())

    def __len__(self) -> int:
        return len(self.transitions)

    def add_spine(self, number: int, spine: Spine) -> None:
        """Registers a spine under a number.  Paths interned before know nothing of it: they are
        forgotten, and the documents to come get paths of new numbers."""
        states = self._automaton.add(spine.stream, spine.steps)
        self._spines.setdefault(states[-1], []).append((number, spine, states))
        self._interned.clear()
        self._choice_ids.clear()
        self._roots.clear()

    def take_accepts(self) -> list[Accept]:
        """What the paths interned since the last call accept."""
        accepts, self._accepts = self._accepts, []
        return accepts

    def root(self, stream: str) -> int:
        """The path of a stream's document nodes (depth -1)."""
        path = self._roots.get(stream)
        if path is None:
            state = self._automaton.root(stream)
            path = DEAD
            if state is not None:
                active = frozenset((state,))
                waiting = active if self._automaton.waits(state) else frozenset()
                path = self._new(-1, -1, active, waiting)
            self._roots[stream] = path
        return path

    def intern(self, parent: int, active: frozenset[int]) -> int:
        """The path of a node below `parent` at which these states are active."""
        waiting = self._waiting[parent]
        if not active and not waiting:
            return DEAD
        key = (parent, active)
        path = self._interned.get(key)
        if path is None:
            opened = [state for state in active if self._automaton.waits(state)]
            path = self._new(
                parent,
                self._depths[parent] + 1,
                active,
                waiting.union(opened) if opened else waiting,
            )
            self._accept(path)
            self._interned[key] = path
        return path

    def _transition(self, transitions: _Transitions, name: object) -> int:
        if not isinstance(name, str):
            return SKIP
        parent = transitions.path
        if parent == DEAD:
            return DEAD
        free, filtered = self._automaton.reached(self._active[parent], self._waiting[parent], name)
        if filtered:
            choice = Choice(free, filtered)
            number = self._choice_ids.get(choice)
            if number is None:
                number = self._choice_ids[choice] = len(self.choices)
                self.choices.append(choice)
            target = -2 - number
        elif name.startswith("@") and not free:
            target = DEAD
        else:
            target = self.intern(parent, free)
        if len(transitions) >= _NAMES:
            # Names that never come again (generated ones) must not pile up.
            transitions.clear()
        transitions[name] = target
        return target

    def _new(self, parent: int, depth: int, active: frozenset[int], waiting: frozenset[int]) -> int:
        path = len(self.transitions)
        self.transitions.append(_Transitions(self, path))
        self.attributes.append(self._automaton.reads_attributes(active, waiting))
        self.leaves.append(())
        self._parents.append(parent)
        self._depths.append(depth)
        self._active.append(active)
        self._waiting.append(waiting)
        return path

    def _accept(self, path: int) -> None:
        ending = [entry for state in self._active[path] for entry in self._spines.get(state, ())]
        numbers: dict[tuple[str, ...] | None, int] = {}
        marked: dict[tuple[str, ...] | None, set[int]] = {}
        # A spine that asks for no value is content with a leaf that has one.
        for number, spine, states in sorted(ending, key=lambda entry: entry[1].value is None):
            functions = spine.value
            if functions is None and numbers:
                functions = next(iter(numbers))
            if functions not in numbers:
                numbers[functions] = self._leaf_paths
                self._leaf_paths += 1
            depths_marked = marked.setdefault(functions, set())
            for depths in sorted(self._derivations(path, spine, states)):
                self._accepts.append(Accept(numbers[functions], number, depths))
                depths_marked.update(depths if spine.apart else depths[:-1])
        self.leaves[path] = tuple(
            LeafPath(number, functions, tuple(sorted(marked[functions])))
            for functions, number in numbers.items()
        )

    def _derivations(
        self, path: int, spine: Spine, states: tuple[int, ...]
    ) -> set[tuple[int, ...]]:
        """The depths at which the marked steps can stand if the last step stands at `path`.

        Backwards over the steps; `partial` holds, for each path where the current step can
        stand, the depths of the marks from there on.
        """
        partial: dict[int, set[tuple[int, ...]]] = {path: {()}}
        for index in range(len(states) - 1, -1, -1):
            if marked := spine.marks.count(index):
                partial = {
                    at: {(*(self._depths[at],) * marked, *depths) for depths in tails}
                    for at, tails in partial.items()
                }
            before: dict[int, set[tuple[int, ...]]] = {}
            for at, tails in partial.items():
                for ancestor in self._above(at, spine.steps[index].axis):
                    wanted = self._depths[ancestor] == -1
                    if index:
                        wanted = states[index - 1] in self._active[ancestor]
                    if wanted:
                        before.setdefault(ancestor, set()).update(tails)
            partial = before
            if sum(map(len, partial.values())) > _DERIVATIONS:
                raise ExcessiveDocument(
                    f"one of its nodes matches a pattern in more than {_DERIVATIONS:,} ways; "
                    "use fewer `//` in a row"
                )
        return set().union(*partial.values())

    def _above(self, path: int, axis: str) -> Iterator[int]:
        parent = self._parents[path]
        while parent >= 0:
            yield parent
            if axis == "child":
                return
            parent = self._parents[parent]
