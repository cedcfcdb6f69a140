"""What punctuations with a predicate close: runs that no event to come leads to a final state
(Algorithm 2 of the paper).

An arc is closed until events of its type may come, a path until all of its arcs are open, a state
until one of its paths is.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from xscl.pattern_stage.automata.program import Arc, Life

__all__ = ["closings"]

_FIRST, _LAST = float("-inf"), float("inf")


def closings(
    arcs: Iterable[tuple[Life, Arc]], states: int, final: Collection[int], types: Sequence[float]
) -> list[float]:
    """The time of each state before which no run in it comes to a final state, given those of the
    types before which no event of these comes any more.

    >>> one, two = Arc("consume", 0, 1, 0), Arc("consume", 1, 2, 1)
    >>> always = (float("-inf"), float("inf"))
    >>> closings([(always, one), (always, two)], 3, {2}, [5.0, 9.0])
    [9.0, 9.0, inf]
    """
    opening: list[tuple[int, int, float]] = []
    for (at, until), arc in arcs:
        match arc.kind:
            case "ignore":
                continue
            case "consume":
                opens = max(at, min(types) if arc.type is None else types[arc.type])
                if opens >= until:
                    continue
            case _:
                opens = _FIRST
        opening.append((arc.source, arc.target, opens))
    closed = [_LAST] * states
    changed = True
    while changed:
        changed = False
        for source, target, opens in opening:
            time = opens if target in final else max(opens, closed[target])
            if time < closed[source]:
                closed[source], changed = time, True
    return closed
