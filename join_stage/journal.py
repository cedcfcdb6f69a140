"""A journal: entries that were added, changed and removed since it was last taken.

Many changes are written together later; an entry that is added and removed in between is never
written.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Generic, TypeVar

__all__ = ["Journal"]

T = TypeVar("T")


@dataclass(slots=True, eq=False)
class Journal(Generic[T]):
    """Entries by number, each in at most one of the three.

    >>> journal = Journal()
    >>> journal.come(1, "a"), journal.come(2, "b"), journal.go(2, "b"), journal.go(0, "z")
    (None, None, None, None)
    >>> taken = journal.take()
    >>> taken.new, taken.changed, taken.gone, journal.new
    ({1: 'a'}, {}, {0: 'z'}, {})
    """

    new: dict[int, T] = field(default_factory=dict)
    changed: dict[int, T] = field(default_factory=dict)
    gone: dict[int, T] = field(default_factory=dict)

    def come(self, number: int, entry: T) -> None:
        """Records a new entry."""
        self.new[number] = entry

    def change(self, number: int, entry: T) -> None:
        """Records a change of an entry."""
        if number not in self.new:
            self.changed[number] = entry

    def go(self, number: int, entry: T) -> None:
        """Records that an entry was removed."""
        if self.new.pop(number, None) is None:
            self.changed.pop(number, None)
            self.gone[number] = entry

    def take(self) -> Journal[T]:
        """All that was recorded since the last call."""
        taken = Journal(self.new, self.changed, self.gone)
        self.new, self.changed, self.gone = {}, {}, {}
        return taken
