"""The time constraint of a query: its operator and its window (Algorithm 3)."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["FOREVER", "TimeConstraint"]

FOREVER = 2**62
"""A window without end, in microseconds."""


@dataclass(frozen=True, slots=True)
class TimeConstraint:
    """`FOLLOWED BY` (after) or `JOIN`, and the window in microseconds, None without end."""

    after: bool
    window: int | None

    @property
    def bounds(self) -> tuple[int, int]:
        """(lo, wl): start(right) - end(left) > lo and |end(right) - end(left)| <= wl."""
        return (0 if self.after else -FOREVER, FOREVER if self.window is None else self.window)
