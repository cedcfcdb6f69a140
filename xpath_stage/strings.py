"""Interned strings: the string values of joining nodes as integers (law 3).

Value joins compare integers.  A number is never used twice, so that a number which is still
held somewhere never comes to mean another string.
"""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["Strings"]


class _Numbers(dict[str, int]):
    """Strings with their numbers; one that is looked up has a number from then on."""

    __slots__ = ("added", "following")

    def __init__(self) -> None:
        super().__init__()
        self.added: list[tuple[int, str]] = []
        self.following = 1

    def __missing__(self, value: str) -> int:
        number = self[value] = self.following
        self.following += 1
        self.added.append((number, value))
        return number


class Strings:
    """A growing and shrinking dictionary of strings: `numbers` gives a string that it has not a
    new number."""

    def __init__(self) -> None:
        self.numbers = _Numbers()
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
        added, self.numbers.added = self.numbers.added, []
        return added

    def forget(self, values: Iterable[str]) -> None:
        """Drops strings that nothing holds any more."""
        for value in values:
            del self.numbers[value]
