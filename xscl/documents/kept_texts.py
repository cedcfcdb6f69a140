"""Texts that were made of documents and can be made again: so many bytes of them stay."""

from __future__ import annotations

import threading
from collections import deque
from typing import Protocol
from weakref import ref

__all__ = ["KeptTexts"]


class _Owner(Protocol):
    """Who has texts."""

    __slots__ = ("__weakref__",)

    def let_go(self) -> None:
        """Lets go of the texts."""


class KeptTexts:
    """The owners of texts, the latest of them, whose texts have `share` characters in all, about.

    They are held weakly: an owner that is gone counts until those that came before it are let go.
    """

    def __init__(self, share: int) -> None:
        self._share = share
        self._size = 0
        self._owners: deque[tuple[ref[_Owner], int]] = deque()
        self._lock = threading.Lock()

    def keep(self, owner: _Owner, size: int) -> None:
        """Counts texts of an owner that has just made them, and lets others go for them."""
        with self._lock:
            self._size += size
            self._owners.append((ref(owner), size))
            while self._size > self._share:
                oldest, size = self._owners.popleft()
                self._size -= size
                if (one := oldest()) is not None:
                    one.let_go()
