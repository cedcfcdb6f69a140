"""The state of an aggregate over the events in a window, which enter and leave in order of time.

Sums are exact: a double is a whole number over a power of two.  So removed values leave no trace,
and the order of the events does not matter.  MIN, MAX, ARGMIN and ARGMAX keep a monotonic queue: an
event that a later one beats is never again the best.  Values have the form that `exact`, `ordered`
and `arranged` return (pattern_stage/algebra/functions.py).
"""

from __future__ import annotations

from collections import deque
from math import inf, isinf, nan
from typing import Any

__all__ = ["Accumulator", "Best", "Count", "Total"]


class Count:
    """The number of events that have a value."""

    __slots__ = ("count",)

    def __init__(self, forever: bool) -> None:
        self.count = 0

    def add(self, place: int, value: object) -> None:
        """Adds an event, the `place`-th of its group; a value of None is missing."""
        self.count += value is not None

    def drop(self, place: int, value: object) -> None:
        """Removes the oldest event."""
        self.count -= value is not None

    def result(self) -> float:
        """The number."""
        return float(self.count)

    def dump(self) -> Any:
        """The state as plain data."""
        return self.count

    def fill(self, dumped: Any) -> None:
        """Restores a dump."""
        self.count = dumped


class Total:
    """The sum and the number of the values, each as `exact` has it."""

    __slots__ = ("count", "infinite", "shift", "sum")

    def __init__(self, forever: bool) -> None:
        self.sum = self.shift = self.count = 0
        self.infinite: tuple[int, int] = (0, 0)
        """How often inf and -inf are there."""

    def add(self, place: int, value: Any) -> None:
        """Adds an event."""
        self._change(value, 1)

    def drop(self, place: int, value: Any) -> None:
        """Removes the oldest event."""
        self._change(value, -1)

    def _change(self, value: Any, sign: int) -> None:
        if value is None:
            return
        self.count += sign
        if isinstance(value, float):
            above, below = self.infinite
            self.infinite = (above + sign, below) if value > 0 else (above, below + sign)
            return
        numerator, shift = value
        if shift > self.shift:
            self.sum <<= shift - self.shift
            self.shift = shift
        self.sum += sign * numerator << self.shift - shift

    def total(self) -> float | None:
        """The sum, rounded once; None for no values."""
        above, below = self.infinite
        if not self.count or above or below:
            return (nan if below else inf) if above else -inf if below else None
        try:
            return self.sum / (1 << self.shift)
        except OverflowError:
            return inf if self.sum > 0 else -inf

    def average(self) -> float | None:
        """The sum over the number of values, which is finite where they are."""
        total = self.total()
        if total is None:
            return None
        if isinf(total) and self.infinite == (0, 0):
            return self.sum / (self.count << self.shift)
        return total / self.count

    def dump(self) -> Any:
        """The state as plain data."""
        return self.sum, self.shift, self.count, self.infinite

    def fill(self, dumped: Any) -> None:
        """Restores a dump."""
        self.sum, self.shift, self.count, infinite = dumped
        self.infinite = (infinite[0], infinite[1])


class Best:
    """The result with the smallest key; a value is (key, result).  `forever`: no event is removed,
    so only the best is kept."""

    __slots__ = ("forever", "queue")

    def __init__(self, forever: bool) -> None:
        self.queue: deque[tuple[int, Any, Any]] = deque()
        self.forever = forever

    def add(self, place: int, value: Any) -> None:
        """Adds an event."""
        if value is None:
            return
        key, result = value
        queue = self.queue
        if self.forever and queue and queue[0][1] <= key:
            return
        while queue and queue[-1][1] >= key:
            queue.pop()
        queue.append((place, key, result))

    def drop(self, place: int, value: object) -> None:
        """Removes the oldest event."""
        if self.queue and self.queue[0][0] == place:
            self.queue.popleft()

    def result(self) -> Any:
        """The best result; None for no values."""
        return self.queue[0][2] if self.queue else None

    def dump(self) -> Any:
        """The state as plain data."""
        return list(self.queue)

    def fill(self, dumped: Any) -> None:
        """Restores a dump."""
        self.queue = deque((place, _tuples(key), result) for place, key, result in dumped)


def _tuples(key: Any) -> Any:
    return tuple(key) if isinstance(key, list) else key


Accumulator = Count | Total | Best
