"""The shared path automaton: all registered definitions as one NFA with common prefixes merged.

As in YFilter (Diao et al.), each state represents a step and is reached from the state of the step
before it.  Definitions with a common prefix share its states; a state is removed with the last
definition that has it.  A state is *active* at a node if the steps up to it lead from the
document's root to that node.  There are no separate states for `//`: a state with descendant
children stays *pending* below the nodes where it was active.  The automaton moves by a node's name,
then by the filters of the states that the name reaches.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from xscl.xpath_stage.patterns import Definition, Filter, Step, Test

__all__ = ["Automaton", "Turnover"]

Axis = Literal["child", "descendant"]

Tests = dict[str, dict[int, tuple[Test, ...]]]
"""By node test the states to which it leads, with their filters."""


@dataclass(slots=True)
class Turnover:
    """Net changes of an automaton's states: those that are `born`, those that are `dead`, and those
    whose outgoing tests have changed (`touched`), with whether any of these tests is a `//`."""

    born: set[int] = field(default_factory=set)
    dead: set[int] = field(default_factory=set)
    touched: dict[int, bool] = field(default_factory=dict)

    def touch(self, state: int, axis: Axis) -> None:
        """Notes that a test from a state was added or removed."""
        self.touched[state] = self.touched.get(state, False) or axis == "descendant"


_NO_STATES: dict[Step, int] = {}
_NO_TESTS: Tests = {}
"""Most states have none, since no steps follow them."""


class _State:
    """A step, the state before it, the states after it, and how many definitions have it."""

    __slots__ = ("before", "children", "descendants", "following", "step", "uses")

    def __init__(self, before: int, step: Step | None) -> None:
        self.before = before
        self.step = step
        self.uses = 0
        self.following = _NO_STATES
        self.children = self.descendants = _NO_TESTS

    def tests(self, axis: Axis) -> Tests:
        return self.children if axis == "child" else self.descendants

    def follow(self, step: Step, number: int) -> None:
        """Adds a state after it."""
        if not self.following:
            self.following = {}
        self.following[step] = number
        if step.axis == "child":
            tests = self.children = self.children or {}
        else:
            tests = self.descendants = self.descendants or {}
        tests.setdefault(step.test, {})[number] = step.filters


class Automaton:
    """A growing and shrinking NFA; states are numbered from 0 in order of creation, and no
    number is used twice.

    >>> automaton = Automaton()
    >>> automaton.add("S", (Step("child", "a"), Step("descendant", "b")))
    (1, 2)
    >>> automaton.remove("S", (1, 2))
    >>> len(automaton)
    0
    """

    def __init__(self) -> None:
        self._states: dict[int, _State] = {}
        self._roots: dict[str, int] = {}
        self._next = 0
        self._turnover = Turnover()
        # By state, the number of attribute tests that lead from it; states without any are missing.
        self._attribute_tests: dict[Axis, Counter[int]] = {
            "child": Counter(),
            "descendant": Counter(),
        }

    def __len__(self) -> int:
        return len(self._states)

    def root(self, stream: str) -> int | None:
        """The state of a stream's document nodes, None if no definition reads the stream."""
        return self._roots.get(stream)

    def find(self, stream: str, definition: Definition) -> int | None:
        """The state of a definition's variable; None if no definition has all of its steps."""
        state = self._roots.get(stream)
        for step in definition:
            if state is None:
                break
            state = self._states[state].following.get(step)
        return state

    def add(self, stream: str, definition: Definition) -> tuple[int, ...]:
        """Adds a definition; returns the states of its steps, the last one is the variable's."""
        number = self._roots.get(stream)
        if number is None:
            number = self._roots[stream] = self._new(-1, None)
        state = self._states[number]
        state.uses += 1
        numbers = []
        for step in definition:
            following = state.following.get(step)
            number = self._new(number, step) if following is None else following
            state = self._states[number]
            state.uses += 1
            numbers.append(number)
        return tuple(numbers)

    def remove(self, stream: str, states: Sequence[int]) -> None:
        """Takes a definition away, by the states that `add` returned for it."""
        root = self._roots[stream]
        for number in (*reversed(states), root):
            state = self._states[number]
            state.uses -= 1
            if not state.uses:
                self._delete(number, state)
        if root not in self._states:
            del self._roots[stream]

    def turnover(self) -> Turnover:
        """The net changes of the states since the last call."""
        turnover, self._turnover = self._turnover, Turnover()
        return turnover

    def has_descendants(self, state: int) -> bool:
        """Whether a state reaches states by `//`, so that it stays pending below its node."""
        return bool(self._states[state].descendants)

    def is_attribute(self, state: int) -> bool:
        """Whether a state's nodes are attributes."""
        step = self._states[state].step
        return step is not None and step.test.startswith("@")

    def reads_attributes(self, active: Iterable[int], pending: Iterable[int]) -> bool:
        """Whether any state is reached by an attribute of a node with these states."""
        of_children, below = self._attribute_tests["child"], self._attribute_tests["descendant"]
        return any(state in of_children for state in active) or any(
            state in below for state in pending
        )

    def counts_positions(self, active: Iterable[int], pending: Iterable[int]) -> bool:
        """Whether elements below a node with these states may be counted among their siblings."""
        return any(
            isinstance(filter, Filter) and filter.positional
            for tests in self._tests_from(active, pending)
            for test, states in tests.items()
            if not test.startswith("@")
            for filters in states.values()
            for filter in filters
        )

    def reached(
        self, active: Iterable[int], pending: Iterable[int], name: str
    ) -> tuple[frozenset[int], tuple[tuple[int, tuple[Test, ...]], ...]]:
        """The states that a node of this name reaches below a node with these states.

        Returns those without filters, and those with their filters.  `name` is a Clark name,
        after `@` for an attribute.
        """
        attribute, clark = ("@", name[1:]) if name.startswith("@") else ("", name)
        local = clark.rpartition("}")[2]
        accepted = (name, f"{attribute}*", f"{attribute}{{*}}{local}")
        free: set[int] = set()
        filtered: dict[int, tuple[Test, ...]] = {}
        for tests in self._tests_from(active, pending):
            for test in accepted:
                for state, filters in tests.get(test, {}).items():
                    if filters:
                        filtered[state] = filters
                    else:
                        free.add(state)
        return frozenset(free), tuple(filtered.items())

    def _tests_from(self, active: Iterable[int], pending: Iterable[int]) -> Iterable[Tests]:
        states = self._states
        yield from (states[state].children for state in active)
        yield from (states[state].descendants for state in pending)

    def _new(self, before: int, step: Step | None) -> int:
        number = self._next
        self._next += 1
        self._states[number] = _State(before, step)
        self._turnover.born.add(number)
        if step is not None:
            self._states[before].follow(step, number)
            if step.test.startswith("@"):
                self._attribute_tests[step.axis][before] += 1
            self._turnover.touch(before, step.axis)
        return number

    def _delete(self, number: int, state: _State) -> None:
        del self._states[number]
        if number in self._turnover.born:
            self._turnover.born.discard(number)
        else:
            self._turnover.dead.add(number)
        if state.step is not None:
            step, before = state.step, self._states[state.before]
            del before.following[step]
            tests = before.tests(step.axis)
            del tests[step.test][number]
            if not tests[step.test]:
                del tests[step.test]
            if step.test.startswith("@"):
                counts = self._attribute_tests[step.axis]
                counts[state.before] -= 1
                if not counts[state.before]:
                    del counts[state.before]
            self._turnover.touch(state.before, step.axis)
