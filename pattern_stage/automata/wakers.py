"""Which events can change an automaton, given the states that its runs are in.

An event does nothing to a run that ignores it for sure, and nothing that need be known immediately
to a run whose state ignores nothing: that one is dead with the next event, whatever it is.  So of
all events only those matter that some consuming arc may take, or that some ignorable arc may not
ignore; both are comparisons of a value with a constant, which indexes find for many automata.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from xscl.pattern_stage.automata.program import ALWAYS, Life, Program
from xscl.pattern_stage.automata.texts import Asked, CompiledArc
from xscl.pattern_stage.gates import Comparator

__all__ = ["Waker", "Wakers"]

_NEGATED: dict[Comparator, Comparator] = {
    "=": "!=",
    "!=": "=",
    "<": ">=",
    ">=": "<",
    ">": "<=",
    "<=": ">",
}


class Waker(NamedTuple):
    """Events of a type that have a value at a place for which a comparison with a constant holds,
    or that have none (`missing`), or all of the type (`any`)."""

    type: int
    place: int = 0
    operator: Comparator | Literal["any", "missing"] = "any"
    constant: str | float = ""


class _NoIndex(Exception):
    """No index finds the events that matter."""


class Wakers:
    """The events that matter to an automaton, given its arcs with their lives, the engine's `types`
    of its own, and the states in which runs begin."""

    def __init__(
        self,
        arcs: Iterable[tuple[Life, CompiledArc]],
        program: Program,
        types: Sequence[int],
        first: Iterable[int],
    ) -> None:
        self._by, self._types = bool(program.by), types
        self._arcs: dict[int, list[tuple[Life, CompiledArc]]] = {}
        for life, one in arcs:
            self._arcs.setdefault(one.arc.source, []).append((life, one))
        self._of_state: dict[int, tuple[frozenset[Waker], bool] | None] = {}
        self._of_states: dict[int, tuple[frozenset[Waker], int] | None] = {}
        self._begin: frozenset[Waker] | None
        try:
            begin = [one for state in first for one in self._taken(state)]
            self._begin = frozenset(begin)
        except _NoIndex:
            self._begin = None

    def of(self, states: int) -> tuple[frozenset[Waker], int] | None:
        """The events that matter where runs are in some states (a mask), and the states whose runs
        any other event ends; None where no index finds them."""
        known = self._of_states.get(states, False)
        if known is not False:
            return known  # type: ignore[return-value]
        found: tuple[frozenset[Waker], int] | None = None
        if self._begin is not None:
            wakers, dying, rest, state = self._begin, 0, states, 0
            while rest:
                if rest & 1:
                    of_state = self._state(state)
                    if of_state is None:
                        break
                    wakers |= of_state[0]
                    dying |= of_state[1] << state
                rest >>= 1
                state += 1
            else:
                found = wakers, dying
        self._of_states[states] = found
        return found

    def _state(self, state: int) -> tuple[frozenset[Waker], bool] | None:
        if state not in self._of_state:
            try:
                taken = self._taken(state)
                passed, dies = self._not_ignored(state)
                self._of_state[state] = frozenset(taken + passed), dies
            except _NoIndex:
                self._of_state[state] = None
        return self._of_state[state]

    def _taken(self, state: int) -> list[Waker]:
        """The events that runs in a state may take."""
        found: list[Waker] = []
        for _, one in self._arcs.get(state, ()):
            if one.arc.kind != "consume":
                continue
            asked = [each for each in one.asked if each is not None]
            if not asked:
                raise _NoIndex
            best = min(asked, key=_worth)
            found += [Waker(type_, *best) for type_ in self._types_of(one)]
        return found

    def _not_ignored(self, state: int) -> tuple[list[Waker], bool]:
        """The events that runs in a state may not ignore, or, where they ignore none, that it is
        so."""
        ignoring = dict[int, list[tuple[Asked | None, ...]]]()
        for life, one in self._arcs.get(state, ()):
            if one.arc.kind == "epsilon":
                raise _NoIndex
            if one.arc.kind == "ignore":
                if life != ALWAYS:
                    raise _NoIndex
                for type_ in self._types_of(one):
                    ignoring.setdefault(type_, [])
                    if one.delta is not None and None not in one.asked:
                        ignoring[type_].append(one.asked)
        if not ignoring:
            if self._by:
                raise _NoIndex
            return [], True
        found: list[Waker] = []
        for type_ in dict.fromkeys(self._types):
            of_type = ignoring.get(type_)
            if not of_type:
                if of_type is not None:
                    raise _NoIndex
                found.append(Waker(type_))
                continue
            for each in min(of_type, key=len):
                assert each is not None
                place, operator, constant = each
                found.append(Waker(type_, place, _NEGATED[operator], constant))
                found.append(Waker(type_, place, "missing"))
        return found, False

    def _types_of(self, one: CompiledArc) -> Sequence[int]:
        return self._types if one.arc.type is None else (self._types[one.arc.type],)


def _worth(asked: Asked) -> int:
    """How few events pass a comparison: the fewest first."""
    return {"=": 0, "!=": 2}.get(asked[1], 1)
