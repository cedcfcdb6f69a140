"""The path table: every root-to-node path that documents show, interned (docs/laws.md#label-paths).

The automaton runs once per new path, not once per element.  Two label paths that no registered
pattern distinguishes are one path: a path is its parent path and the set of states active at its
node, which also determines the filters that the node satisfies.  With a path is stored what it
accepts: for each spine whose leaf it can be, the depths of the marked ancestors.  The structure of
a document thereby costs one lookup per element, whatever the number of queries (lazy
determinisation: Green et al., the thesis' [40, 41]).  `upkeep` updates the table when spines come
and go.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from xscl.xpath_stage.automaton import Automaton
from xscl.xpath_stage.layouts import Layout, Trace
from xscl.xpath_stage.leaf_paths import Ending, Functions, Leaf, LeafPath, LeafPaths
from xscl.xpath_stage.structures import Structures
from xscl.xpath_stage.transitions import DEAD, SKIP, Choice, Choices, Transitions
from xscl.xpath_stage.work import ExcessiveDocument

__all__ = ["MORE", "NOTHING", "TEXT", "UNREAD", "Path", "PathTable"]

_DERIVATIONS = 10_000
_NAMES = 100_000
_TRACED = 500_000
"""The maximal number of entries of cached traces."""

NOTHING: frozenset[int] = frozenset()
"""No state is active, or none is pending."""

UNREAD, TEXT, MORE = 0, 1, 2
"""What is read of the nodes of a path: only their names; for one leaf path, their plain string
value; or attributes, several values, or values to which functions are applied."""


@dataclass(slots=True)
class Path:
    """A path's identity is its `parent` (-1 for a document node's) and its `active` states.
    Further: `depth` (-1 for a document node's), the states `pending` below it, whether its nodes
    are attributes.

    `below` are the paths whose parent it is, by their active states; `leaves` its leaf paths.
    """

    parent: int
    depth: int
    active: frozenset[int]
    pending: frozenset[int]
    attribute: bool
    below: dict[frozenset[int], int] = field(default_factory=dict)
    leaves: dict[Functions, Leaf] = field(default_factory=dict)


class PathTable:
    """The paths of all documents seen, as far as the registered spines distinguish them.

    Attributes, each a list indexed by path: `transitions`, `attributes` (whether any attribute
    matters here), `leaves` (the rows of a node), `reads` (`UNREAD`, `TEXT` or `MORE`: what the walk
    has to read of a node).  Numbers of paths are reused; unlike those of leaf paths, they never
    leave the table.  `layouts` caches the layouts of traces and `structures` those of documents, as
    long as no path changes its meaning.  `at` has the paths where a state is active; `ends` the
    spines that end at a state, by number; `excessive` the spines that a path matches in too many
    ways: documents that show such a path are refused.
    """

    def __init__(self, automaton: Automaton) -> None:
        self.automaton = automaton
        self.transitions: list[Transitions] = []
        self.attributes: list[bool] = []
        self.leaves: list[tuple[LeafPath, ...]] = []
        self.reads: list[int] = []
        self.layouts: dict[Trace, Layout] = {}
        self.structures = Structures()
        self._traced = 0
        self.choices = Choices()
        self.leaf_paths = LeafPaths()
        self.paths: dict[int, Path] = {}
        self.at: dict[int, set[int]] = {}
        self.ends: dict[int, dict[int, Ending]] = {}
        self.excessive: dict[int, set[int]] = {}
        self._roots: dict[int, int] = {}
        self._unused: list[int] = []
        self._new(-1, -1, NOTHING, NOTHING)

    def __len__(self) -> int:
        return len(self.paths)

    def root(self, stream: str) -> int:
        """The path of a stream's document nodes (depth -1)."""
        state = self.automaton.root(stream)
        if state is None:
            return DEAD
        path = self._roots.get(state)
        if path is None:
            active = frozenset((state,))
            path = self._roots[state] = self._new(
                -1, -1, active, self.pending_below(active, NOTHING)
            )
        return path

    def names_below(self, paths: Iterable[int], *, deep: bool) -> dict[str, set[int]]:
        """The names that documents have shown below some paths, with `deep` at any depth, each with
        the paths of its nodes.  Filters are ignored, and below `DEAD` nothing is known."""
        found: dict[str, set[int]] = {}
        open_paths = [*paths]
        known = set(open_paths)
        while open_paths:
            path = open_paths.pop()
            for name, target in self.transitions[path].items():
                if target == SKIP:
                    continue
                assert isinstance(name, str)
                chosen = self.paths[path].below.values() if target < SKIP else ()
                reached = {target} if target >= 0 else {*chosen, DEAD}
                found.setdefault(name, set()).update(reached)
                if deep:
                    open_paths += reached - known
                    known |= reached
        return found

    def store(self, trace: Trace, layout: Layout) -> None:
        """Caches the layout of a trace."""
        if self._traced > _TRACED:
            self.layouts.clear()
            self._traced = 0
        self.layouts[trace] = layout
        self._traced += len(trace)

    def drop_layouts(self) -> None:
        """To be called when a path may have changed its meaning."""
        self.layouts.clear()
        self._traced = 0
        self.structures.drop_all()

    def downwards(self, numbers: Iterable[int]) -> list[int]:
        """Those of these paths that still exist, each before the paths below it."""
        live = [number for number in numbers if number in self.paths]
        return sorted(live, key=lambda number: self.paths[number].depth)

    def intern(self, parent: int, active: frozenset[int]) -> int:
        """The path of a node below `parent` at which these states are active.

        Raises ExcessiveDocument if the node would match a spine in too many ways.
        """
        above = self.paths[parent]
        path = above.below.get(active)
        if path is None:
            if not active and not above.pending:
                return DEAD
            pending = self.pending_below(active, above.pending)
            path = self._new(parent, above.depth + 1, active, pending)
            try:
                self._accept(path)
            except ExcessiveDocument:
                self.free(path)
                raise
            above.below[active] = path
        elif path in self.excessive:
            raise _too_many_ways()
        return path

    def pending_below(self, active: frozenset[int], above: frozenset[int]) -> frozenset[int]:
        """The states pending below a node, from those active at it and those pending above it."""
        opened = [state for state in active if self.automaton.has_descendants(state)]
        return above.union(opened) if opened else above

    def extend(self, number: int, ending: Ending) -> None:
        """Adds a spine that ends at a path, and at no path above it that does not have it yet;
        `show_leaves` makes it known to the walk."""
        path = self.paths[number]
        # Documents that show a path below a refused one are refused there.
        if ending.number not in self.excessive.get(path.parent, ()):
            try:
                ways = self._ways(number, ending)
            except ExcessiveDocument:
                above = self.transitions[path.parent]
                above.keep({name: to for name, to in above.items() if DEAD < to != number})
            else:
                self.leaf_paths.accept(path.leaves, ending, ways)
                return
        self.excessive.setdefault(number, set()).add(ending.number)

    def withdraw(self, number: int, ending: Ending) -> None:
        """Removes a spine that ended at a path; `show_leaves` makes it known to the walk."""
        refused = self.excessive.get(number, set())
        if ending.number not in refused:
            self.leaf_paths.withdraw(self.paths[number].leaves, ending)
        elif len(refused) > 1:
            refused.discard(ending.number)
        else:
            del self.excessive[number]

    def show_leaves(self, number: int) -> None:
        """Shows the walk the current leaf paths of a path."""
        leaves = self.paths[number].leaves.items()
        self.leaves[number] = tuple(leaf.row(functions) for functions, leaf in leaves)
        self._show_reads(number)

    def show_attributes(self, number: int) -> None:
        """Shows the walk whether attributes matter at a path."""
        path = self.paths[number]
        reads = self.automaton.reads_attributes(path.active, path.pending)
        self.attributes[number] = reads
        self._show_reads(number)

    def _show_reads(self, number: int) -> None:
        valued = [leaf for leaf in self.leaves[number] if leaf.functions is not None]
        if self.attributes[number] or len(valued) > 1 or (valued and valued[0].functions):
            self.reads[number] = MORE
        else:
            self.reads[number] = TEXT if valued else UNREAD

    def rename(self, number: int, active: frozenset[int]) -> None:
        """Replaces the states active at a path; no other path below its parent may have the new
        ones."""
        path = self.paths[number]
        below = self.paths[path.parent].below
        del below[path.active]
        below[active] = number
        for state in path.active - active:
            self.at[state].discard(number)
        for state in active - path.active:
            self.at.setdefault(state, set()).add(number)
        path.active = active

    def merge(self, number: int, into: int) -> None:
        """Merges a path into another one below the same parent, and likewise the paths below it."""
        path = self.paths[number]
        del self.paths[path.parent].below[path.active]
        both = [(number, into)]
        while both:
            number, into = both.pop()
            path, other = self.paths[number], self.paths[into]
            for functions, leaf in path.leaves.items():
                self.leaf_paths.move(leaf, other.leaves[functions])
            for active, child in path.below.items():
                if active in other.below:
                    both.append((child, other.below[active]))
                else:
                    other.below[active] = child
                    self.paths[child].parent = into
            self.free(number)

    def discard(self, number: int) -> None:
        """Removes a path and the paths below it: no pattern can match there."""
        path = self.paths[number]
        if path.depth < 0:
            for state in path.active:
                del self._roots[state]
        else:
            del self.paths[path.parent].below[path.active]
        open_paths = [number]
        while open_paths:
            number = open_paths.pop()
            path = self.paths[number]
            for leaf in path.leaves.values():
                self.leaf_paths.move(leaf, None)
            open_paths += path.below.values()
            self.free(number)

    def free(self, number: int) -> None:
        """Frees a path to which nothing leads; its number will be reused."""
        for state in self.paths.pop(number).active:
            self.at[state].discard(number)
        self.excessive.pop(number, None)
        self.transitions[number].keep({})
        self.leaves[number] = ()
        self.drop_layouts()
        self._unused.append(number)

    def _new(self, parent: int, depth: int, active: frozenset[int], pending: frozenset[int]) -> int:
        if self._unused:
            number = self._unused.pop()
        else:
            number = len(self.transitions)
            self.transitions.append(Transitions(number, self._transition, self.choices))
            self.attributes.append(False)
            self.leaves.append(())
            self.reads.append(UNREAD)
        attribute = bool(active) and self.automaton.is_attribute(next(iter(active)))
        self.paths[number] = Path(parent, depth, active, pending, attribute)
        self.show_attributes(number)
        for state in active:
            self.at.setdefault(state, set()).add(number)
        return number

    def _accept(self, number: int) -> None:
        path = self.paths[number]
        found = [
            (ending, self._ways(number, ending))
            for state in path.active
            for ending in self.ends.get(state, {}).values()
        ]
        for ending, ways in found:
            self.leaf_paths.accept(path.leaves, ending, ways)
        # A node of this path leaves rows.
        self.leaf_paths.seen()
        self.show_leaves(number)

    def _transition(self, transitions: Transitions, name: object) -> int:
        if not isinstance(name, str):
            return SKIP
        parent = transitions.path
        if parent == DEAD:
            return DEAD
        path = self.paths[parent]
        free, filtered = self.automaton.reached(path.active, path.pending, name)
        if filtered:
            target = self.choices.take(Choice.of(free, filtered))
        elif name.startswith("@") and not free:
            target = DEAD
        else:
            target = self.intern(parent, free)
        if len(transitions) >= _NAMES:
            # Generated names, which never come again, must not accumulate.
            transitions.keep({})
        transitions[name] = target
        return target

    def _ways(self, number: int, ending: Ending) -> set[tuple[int, ...]]:
        """The depths at which a spine's marked steps can be if its last step is at a path.

        Backwards over the steps; `partial` has, for each path where the current step can be, the
        depths of the marks from there on.
        """
        steps, marks, states = ending.spine.steps, ending.spine.marks, ending.states
        partial: dict[int, set[tuple[int, ...]]] = {number: {()}}
        for index in range(len(states) - 1, -1, -1):
            if marked := marks.count(index):
                partial = {
                    at: {(*(self.paths[at].depth,) * marked, *depths) for depths in tails}
                    for at, tails in partial.items()
                }
            before: dict[int, set[tuple[int, ...]]] = {}
            for at, tails in partial.items():
                for ancestor in self._above(at, steps[index].axis):
                    above = self.paths[ancestor]
                    if states[index - 1] in above.active if index else above.depth == -1:
                        before.setdefault(ancestor, set()).update(tails)
            partial = before
            if sum(map(len, partial.values())) > _DERIVATIONS:
                raise _too_many_ways()
        return set().union(*partial.values())

    def _above(self, number: int, axis: str) -> Iterator[int]:
        parent = self.paths[number].parent
        while parent >= 0:
            yield parent
            if axis == "child":
                return
            parent = self.paths[parent].parent


def _too_many_ways() -> ExcessiveDocument:
    return ExcessiveDocument(
        f"one of its nodes matches a pattern in more than {_DERIVATIONS:,} ways; "
        "use fewer `//` in a row"
    )
