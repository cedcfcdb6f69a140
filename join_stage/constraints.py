"""The time constraint of a query: its operator and its window (Algorithm 3)."""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = ["FOREVER", "TimeConstraint"]

FOREVER = 2**62
"""A window without end, in microseconds."""


@dataclass(frozen=True, slots=True)
class TimeConstraint:
    """`FOLLOWED BY` (after) or `JOIN`, and the window in microseconds, None without end.

    `bounds` are (lo, wl): start(right) - end(left) > lo and |end(right) - end(left)| <= wl.
    """

    after: bool
    window: int | None
    bounds: tuple[int, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        lo = 0 if self.after else -FOREVER
        wl = FOREVER if self.window is None else self.window
        object.__setattr__(self, "bounds", (lo, wl))
