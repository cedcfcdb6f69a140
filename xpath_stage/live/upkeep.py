"""Updates the path table when the states of its automaton change.

Nothing is rebuilt.  A path keeps its place and its leaf paths while its identity follows the
states.  A path that loses states becomes the path with the remaining states; if that one exists
already, the two are merged.  A path whose names now reach new states gains these.  It may do so
although it has rows of older documents: a row concerns only the spines that were registered when
its document came, and the new states belong to younger ones.

    active after = active before − dead states + born states that the same names reach

Only the transitions of paths with changed outgoing tests are stale: of those where such a state is
active, and, where a `//` is among the tests, of those below.
"""

from __future__ import annotations

from collections import defaultdict

from xscl.xpath_stage.automaton import Turnover
from xscl.xpath_stage.paths import NOTHING, PathTable
from xscl.xpath_stage.transitions import DEAD, SKIP

__all__ = ["follow"]

_NAMES_ASKED = 1_000
"""Below a path with more names than that, generated ones, nothing grows: they are only dropped."""


def follow(table: PathTable, turnover: Turnover) -> None:
    """Updates the paths to the automaton's states.

    The spines that end at dead states must be withdrawn before; those that end at born ones are
    accepted afterwards.
    """
    stale = _shed(table, turnover.dead)
    for state in turnover.touched:
        for number in table.at.get(state, ()):
            stale.setdefault(number, False)
    visited: set[int] = set()
    for number in table.downwards(stale):
        to_visit = [(number, False)]
        while to_visit:
            number, deep = to_visit.pop()
            if number in visited or number not in table.paths:
                continue
            visited.add(number)
            path = table.paths[number]
            touched = path.active & turnover.touched.keys()
            deep = deep or stale.get(number, False) or any(map(turnover.touched.get, touched))
            grown = _refresh(table, number, turnover)
            to_visit += [(child, deep) for child in (path.below.values() if deep else grown)]


def _shed(table: PathTable, dead: set[int]) -> dict[int, bool]:
    """Removes dead states from all paths; returns the paths that had any, or the paths with which
    those were merged, each with whether a dead state was pending there."""
    stale: dict[int, bool] = {}
    for number in table.downwards({n for state in dead for n in table.at.get(state, ())}):
        path = table.paths.get(number)
        if path is None:
            continue
        was_pending = not dead.isdisjoint(path.pending)
        active = path.active - dead
        if not active and (path.attribute or path.depth < 0):
            table.discard(number)
            continue
        twin = table.paths[path.parent].below.get(active)
        if twin is None:
            table.rename(number, active)
        else:
            table.merge(number, twin)
            number = twin
        stale[number] = was_pending or stale.get(number, False)
    for state in dead:
        table.at.pop(state, None)
    return stale


def _refresh(table: PathTable, number: int, turnover: Turnover) -> list[int]:
    """Updates what a path derives from its states and from its parent; returns the paths below it
    that have grown."""
    path = table.paths[number]
    above = table.paths[path.parent].pending if path.parent >= 0 else NOTHING
    path.pending = table.pending_below(path.active, above)
    table.show_attributes(number)
    if not path.pending and NOTHING in path.below:
        table.discard(path.below[NOTHING])
    if len(table.transitions[number]) > _NAMES_ASKED:
        table.transitions[number].keep({})
        return []
    return _grow(table, number, turnover)


def _grow(table: PathTable, number: int, turnover: Turnover) -> list[int]:
    """Adds the born states to the paths below a path, where all names known to lead to such a path
    reach the same states; keeps the transitions that are right then."""
    path, transitions = table.paths[number], table.transitions[number]
    active = path.active & turnover.touched.keys()
    pending = path.pending & turnover.touched.keys()
    gains: dict[object, frozenset[int]] = {}
    gained: defaultdict[int, set[frozenset[int]]] = defaultdict(set)
    for name, target in transitions.items():
        if target in (DEAD, SKIP):
            continue
        free, filtered = table.automaton.reached(active, pending, str(name))
        gain = free & turnover.born
        for child in _led_to(table, number, target, turnover.dead):
            gained[child].add(gain)
            if target == child and turnover.born.isdisjoint(state for state, _ in filtered):
                gains[name] = gain
    grown: dict[int, frozenset[int]] = {}
    for child, several in gained.items():
        gain = next(iter(several))
        if gain and len(several) == 1:
            table.rename(child, table.paths[child].active | gain)
            grown[child] = gain
    transitions.keep(
        {
            name: transitions[name]
            for name, gain in gains.items()
            if gain == grown.get(transitions[name], NOTHING)
        }
    )
    return list(grown)


def _led_to(table: PathTable, number: int, target: int, dead: set[int]) -> list[int]:
    """The paths below a path to which a transition leads, directly or through a choice."""
    if target > DEAD:
        return [target] if target in table.paths and table.paths[target].parent == number else []
    choice = table.choices[target]
    free = choice.free - dead
    filtered = {state for state, _ in choice.filtered}
    below = table.paths[number].below.items()
    return [child for active, child in below if active - filtered == free]
