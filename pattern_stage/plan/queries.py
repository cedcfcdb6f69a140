"""The root and the member of each query: a few bytes for each of hundreds of thousands."""

from __future__ import annotations

from array import array
from collections.abc import Iterator

__all__ = ["Queries"]

_PAGE = 64
_ROOTS = 1 << 24
_NONE = -1


class Queries:
    """(Root's place, member) by the query's number; numbers come nearly in order."""

    def __init__(self) -> None:
        self._pages: dict[int, array[int]] = {}
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def __contains__(self, number: int) -> bool:
        page = self._pages.get(number // _PAGE)
        return page is not None and page[number % _PAGE] != _NONE

    def __getitem__(self, number: int) -> tuple[int, int]:
        if number not in self:
            raise KeyError(number)
        member, root = divmod(self._pages[number // _PAGE][number % _PAGE], _ROOTS)
        return root, member

    def add(self, number: int, root: int, member: int) -> None:
        """Adds a query."""
        page = self._pages.get(number // _PAGE)
        if page is None:
            page = self._pages[number // _PAGE] = array("q", [_NONE]) * _PAGE
        page[number % _PAGE] = member * _ROOTS + root
        self._count += 1

    def pop(self, number: int) -> tuple[int, int]:
        """Removes a query."""
        at = self[number]
        page = self._pages[number // _PAGE]
        page[number % _PAGE] = _NONE
        if not any(one != _NONE for one in page):
            del self._pages[number // _PAGE]
        self._count -= 1
        return at

    def __iter__(self) -> Iterator[int]:
        for start, page in self._pages.items():
            for place, at in enumerate(page):
                if at != _NONE:
                    yield start * _PAGE + place
