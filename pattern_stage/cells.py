"""The shared buffer: the events of runs, as cells that point to earlier ones.

Runs that fork share their past, runs that merge join theirs, and unreachable cells are collected
(SASE+'s versioned buffer, section 4.3, without version numbers: an existing cell never gets another
past).  A chain is a path from a cell back to a beginning.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from xscl.pattern_stage.layouts import END, Event

__all__ = ["Cell", "Chain", "best", "bound", "chains", "counted", "joined", "pruned"]

Chain = tuple[tuple[int, Event], ...]
"""(component's place, event) in order of time."""


Starts = dict[int, int]
"""The number of chains by the time at which they begin."""


BestChain = tuple[int, int, Any, bool]
"""Of a chain: minus its start, its length, the chain itself back to front, linked, and whether it
is any of those that had expired."""


class Cell:
    """An event taken by a component, after the chains of the cells `before` and `further`.

    Without an event it only joins the cells before it.  `least` is when the first of its chains
    begins.
    """

    __slots__ = ("before", "best", "event", "further", "least", "place", "starts")

    def __init__(
        self,
        event: Event | None,
        place: int,
        before: Cell | None,
        further: tuple[Cell, ...] = (),
    ) -> None:
        self.event, self.place, self.before, self.further = event, place, before, further
        if before is None:
            assert event is not None
            self.least: int = event[END]
        elif further:
            self.least = min(before.least, *[past.least for past in further])
        else:
            self.least = before.least
        self.starts: Starts | None = None
        self.best: BestChain | None = None


def joined(left: Cell, right: Cell) -> Cell:
    """The chains of both."""
    if left.event is None:
        return Cell(None, 0, left.before, (*left.further, right))
    same = left.event is right.event and left.place == right.place
    if same and left.before is not None and right.before is not None:
        further = (*left.further, right.before, *right.further)
        return Cell(left.event, left.place, left.before, further)
    return Cell(None, 0, left, (right,))


def chains(cell: Cell, floor: int | None) -> Iterator[Chain]:
    """The chains of a cell whose first event is after `floor`, each once."""
    # The cell to continue from, and the chain after it, back to front.
    pending: list[tuple[Cell, list[tuple[int, Event]]]] = [(cell, [])]
    while pending:
        one, found = pending.pop()
        while True:
            event = one.event
            if event is not None:
                if floor is not None and event[END] <= floor:
                    break
                found.append((one.place, event))
            for other in one.further:
                pending.append((other, found.copy()))
            if one.before is None:
                found.reverse()
                yield tuple(found)
                break
            one = one.before


def counted(cell: Cell, floor: int | None) -> int:
    """The number of chains of a cell with a first event after `floor`, without enumerating them."""
    pending = [cell]
    while pending:
        one = pending[-1]
        if one.starts is not None:
            pending.pop()
        elif one.before is None:
            assert one.event is not None
            one.starts = {one.event[END]: 1}
        elif unknown := [past for past in (one.before, *one.further) if past.starts is None]:
            pending += unknown
        else:
            one.starts = one.before.starts
            for past in one.further:
                one.starts = {**(one.starts or {})}
                for start, count in (past.starts or {}).items():
                    one.starts[start] = one.starts.get(start, 0) + count
    starts = cell.starts or {}
    return sum(count for start, count in starts.items() if floor is None or start > floor)


def best(cell: Cell, floor: int | None, order: Callable[[Chain], Any]) -> Chain:
    """The chain of a cell that starts latest, and of these is shortest, and of these comes first in
    an order of chains; without enumerating the others.  Of those that start at a floor, or before
    it, any: their events may have gone."""
    pending = [cell]
    while pending:
        one = pending[-1]
        pasts = () if one.before is None else (one.before, *one.further)
        if _knows_best(one, floor):
            pending.pop()
        elif unknown := [past for past in pasts if not _knows_best(past, floor)]:
            pending += unknown
        elif one.event is not None and not pasts:
            one.best = (-one.event[END], 1, ((one.place, one.event), None), False)
        else:
            found = [past.best for past in pasts if past.best is not None]
            start, length = min(of[:2] for of in found)
            links = [link for *of, link, _ in found if of == [start, length]]
            expired = floor is not None and -start <= floor
            link = links[0]
            if len(links) > 1 and not expired:
                link = min(links, key=lambda of: order(_linked(of)))
            if one.event is not None:
                length, link = length + 1, ((one.place, one.event), link)
            one.best = start, length, link, expired
    assert cell.best is not None
    return _linked(cell.best[2])


def _knows_best(cell: Cell, floor: int | None) -> bool:
    """Whether it is known which chain is the best, or all start at the floor or before it: this
    goes back where time does."""
    best = cell.best
    return best is not None and (not best[3] or (floor is not None and -best[0] <= floor))


def _linked(link: Any) -> Chain:
    found = []
    while link is not None:
        one, link = link
        found.append(one)
    return tuple(reversed(found))


def pruned(cell: Cell, floor: int, done: dict[int, tuple[Cell, Cell | None]]) -> Cell | None:
    """A cell with only those of its chains whose first event is after `floor`; None if there is
    none.

    `done` has the cells pruned so far.  Cells do not change, since others may refer to them.
    """
    pending = [cell]
    while pending:
        one = pending[-1]
        if id(one) in done:
            pending.pop()
            continue
        pasts = () if one.before is None else (one.before, *one.further)
        if one.least > floor:
            done[id(one)] = one, one
        elif one.before is None or (one.event is not None and one.event[END] <= floor):
            done[id(one)] = one, None
        elif unknown := [past for past in pasts if id(past) not in done]:
            pending += unknown
        else:
            kept = [past for past in (done[id(past)][1] for past in pasts) if past is not None]
            if not kept:
                done[id(one)] = one, None
            elif one.event is None and len(kept) == 1:
                done[id(one)] = one, kept[0]
            else:
                done[id(one)] = one, Cell(one.event, one.place, kept[0], tuple(kept[1:]))
    return done[id(cell)][1]


def bound(chain: Chain, kleene: tuple[bool, ...]) -> list[Any]:
    """The events of a chain by component: one, or a list of a Kleene one."""
    places: list[Any] = [[] if many else None for many in kleene]
    for place, event in chain:
        if kleene[place]:
            places[place].append(event)
        else:
            places[place] = event
    return places
