"""Interned strings: the string values of joining nodes as integers (docs/laws.md#interned-strings).

Value joins compare integers.  A number is never reused, so that a number that is still stored
somewhere never changes its meaning.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from itertools import count, islice

__all__ = ["Strings"]


class Strings:
    """A growing and shrinking dictionary of strings: `numbers` assigns a new number to a new
    string."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = defaultdict(count(1).__next__)
        # The number of strings that were taken: the first ones.
        self._taken = 0
        self._next_unequal = -1

    def __len__(self) -> int:
        return len(self.numbers)

    def intern(self, value: str) -> int:
        """The number of a string; a new string gets a new number."""
        return self.numbers[value]

    def unequal(self) -> int:
        """A number below 0, that no string has: for a value that does not even equal itself."""
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

    def drop(self, values: Iterable[str]) -> None:
        """Drops strings that were taken and that nothing stores any more."""
        for value in values:
            del self.numbers[value]
            self._taken -= 1
