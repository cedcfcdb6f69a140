"""The shared path automaton: all registered definitions as one NFA with common prefixes merged.

As in YFilter (Diao et al.), each state stands for a step and is reached from the state of the
step before it; definitions with a common prefix share its states.  A state is *active* at a
node if the steps up to it lead from the document's root to that node.  There are no separate
states for `//`: a state with descendant children stays *waiting* below the nodes where it was
active.  What moves the automaton is a node's name, then the filters of the states that the
name reaches.
"""

from __future__ import annotations

from collections.abc import Iterable

from xpath_stage.patterns import Definition, Filter, Step

__all__ = ["Automaton"]

Tests = dict[str, list[int]]


class Automaton:
    """A growing NFA; states are numbered from 0 in order of creation.

    >>> automaton = Automaton()
    >>> automaton.add("S", (Step("child", "a"), Step("descendant", "b")))
    (1, 2)
    """

    def __init__(self) -> None:
        self.steps: list[Step | None] = []
        self._by_step: list[dict[Step, int]] = []
        self._children: list[Tests] = []
        self._descendants: list[Tests] = []
        self._roots: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self.steps)

    def root(self, stream: str) -> int | None:
        """The state of a stream's document nodes, None if no definition reads the stream."""
        return self._roots.get(stream)

    def add(self, stream: str, definition: Definition) -> tuple[int, ...]:
        """Adds a definition; returns the states of its steps, the last one is the variable's."""
        state = self._roots.get(stream)
        if state is None:
            state = self._roots[stream] = self._new(None)
        states = []
        for step in definition:
            following = self._by_step[state].get(step)
            if following is None:
                following = self._by_step[state][step] = self._new(step)
                by_axis = self._children if step.axis == "child" else self._descendants
                by_axis[state].setdefault(step.test, []).append(following)
            state = following
            states.append(state)
        return tuple(states)

    def waits(self, state: int) -> bool:
        """Whether a state reaches states by `//`, so that it stays alive below its node."""
        return bool(self._descendants[state])

    def reads_attributes(self, active: Iterable[int], waiting: Iterable[int]) -> bool:
        """Whether any state is reached by an attribute of a node with these states."""
        return any(
            test.startswith("@") for tests in self._tests_from(active, waiting) for test in tests
        )

    def reached(
        self, active: Iterable[int], waiting: Iterable[int], name: str
    ) -> tuple[frozenset[int], tuple[tuple[int, tuple[Filter, ...]], ...]]:
        """The states that a node of this name reaches below a node with these states.

        Returns those without filters, and those with their filters.  `name` is a Clark name,
        after `@` for an attribute.
        """
        attribute, clark = ("@", name[1:]) if name.startswith("@") else ("", name)
        local = clark.rpartition("}")[2]
        accepted = (name, f"{attribute}*", f"{attribute}{{*}}{local}")
        free: set[int] = set()
        filtered: dict[int, tuple[Filter, ...]] = {}
        for tests in self._tests_from(active, waiting):
            for test in accepted:
                for state in tests.get(test, ()):
                    step = self.steps[state]
                    if step is not None and step.filters:
                        filtered[state] = step.filters
                    else:
                        free.add(state)
        return frozenset(free), tuple(filtered.items())

    def _tests_from(self, active: Iterable[int], waiting: Iterable[int]) -> Iterable[Tests]:
        yield from (self._children[state] for state in active)
        yield from (self._descendants[state] for state in waiting)

    def _new(self, step: Step | None) -> int:
        self.steps.append(step)
        self._by_step.append({})
        self._children.append({})
        self._descendants.append({})
        return len(self.steps) - 1
