"""Interned strings: the string values of joining nodes as integers (law 3).

Value joins compare integers.  A number is never used twice, so that a number which is still
held somewhere never comes to mean another string.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from itertools import count, islice

__all__ = ["Strings"]


class Strings:
    """A growing and shrinking dictionary of strings: `numbers` gives a string that it has not a
    new number."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = defaultdict(count(1).__next__)
        # So many of them were taken, the first ones.
        self._taken = 0
        self._next_unequal = -1

    def __len__(self) -> int:
        return len(self.numbers)

    def intern(self, value: str) -> int:
        """The number of a string, a new one where it has none."""
        return self.numbers[value]

    def unequal(self) -> int:
        """A number below 0, that no string has: of a value that equals nothing, not itself."""
        self._next_unequal -= 1
        return self._next_unequal + 1

    def take(self) -> list[tuple[int, str]]:
        """The strings added since the last call, with their numbers."""
        new = len(self.numbers) - self._taken
        if not new:
            return []
        self._taken += new
        added = [(number, value) for value, number in islice(reversed(self.numbers.items()), new)]
        added.reverse()
        return added

    def forget(self, values: Iterable[str]) -> None:
        """Drops strings that were taken and that nothing holds any more."""
        for value in values:
            del self.numbers[value]
            self._taken -= 1
