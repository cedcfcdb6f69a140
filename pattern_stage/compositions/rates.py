"""The rates of event types as they are measured: events a second of document time, as an
exponential mean.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import exp, log

from xscl.pattern_stage.layouts import END, TypedEvent

__all__ = ["HALF_LIFE", "MeasuredRates"]

HALF_LIFE = 60_000_000
"""Microseconds after which an event counts half."""

_DECAY = log(2) / HALF_LIFE
_SECOND = 1_000_000


class MeasuredRates:
    """Each batch counts as if its events had come evenly between its first and its last time."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[float, int, int]] = {}
        """By type the weight of its events at a time, that time, and the first one."""

    def take(self, events: Iterable[TypedEvent]) -> None:
        """Events with their types come."""
        some: dict[int, list[int]] = {}
        for type_, event in events:
            end = event[END]
            known = some.get(type_)
            if known is None:
                some[type_] = [1, end, end]
            else:
                known[0] += 1
                if end > known[2]:
                    known[2] = end
                elif end < known[1]:
                    known[1] = end
        for type_, (count, first, last) in some.items():
            weight, at, begun = self._known.get(type_, (0.0, first, first))
            last = max(at, last)
            length = last - max(first, at)
            added = count * (-_faded(length) / (_DECAY * length) if length else 1.0)
            self._known[type_] = weight * exp(_DECAY * (at - last)) + added, last, begun

    def of(self, type_: int) -> float | None:
        """Events a second; None where too few are known to say."""
        weight, at, begun = self._known.get(type_, (0.0, 0, 0))
        if at == begun:
            return None
        return weight * _DECAY * _SECOND / -_faded(at - begun)


def _faded(length: int) -> float:
    """How much less a unit of weight is after a time."""
    return exp(-_DECAY * length) - 1
