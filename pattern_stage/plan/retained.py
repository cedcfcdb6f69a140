"""The state of an m-op between batches, separate from its program: here none."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

__all__ = ["Retained"]


class Retained:
    """No state."""

    def evict(self, watermark: int) -> None:
        """Evicts what no event from the watermark on can meet."""

    def size(self) -> int:
        """The number of instances, or of events of a buffer."""
        return 0

    def states(self) -> int:
        """The number of states with instances."""
        return 0

    def snapshot(self) -> object:
        """A copy, independent of later changes."""
        return None

    def restore(self, snapshot: Any) -> None:
        """Restores a snapshot, which must not be used again."""

    def dump(self, name: Callable[[int], object]) -> object:
        """The state as plain data, members by their names; None for nothing."""
        return None

    def load(self, dumped: Any, members: Callable[[Iterable[object]], list[int]]) -> None:
        """Adds a dump; members whose name is unknown are left out."""
