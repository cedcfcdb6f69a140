"""Texts that were derived from documents and can be derived again: so many bytes of them are
cached."""

from __future__ import annotations

import threading
from collections import deque
from typing import Protocol
from weakref import ref

__all__ = ["KeptTexts"]


class _Owner(Protocol):
    """An owner of texts."""

    __slots__ = ("__weakref__",)

    def evict(self) -> None:
        """Drops the texts."""


class KeptTexts:
    """The latest owners of texts, whose texts have about `share` characters in all.

    The owners are referenced weakly: one that is gone counts until those before it are evicted.
    """

    def __init__(self, share: int) -> None:
        self._share = share
        self._size = 0
        self._owners: deque[tuple[ref[_Owner], int]] = deque()
        self._lock = threading.Lock()

    def keep(self, owner: _Owner, size: int) -> None:
        """Counts texts that an owner has just made, and evicts others for them."""
        with self._lock:
            self._size += size
            self._owners.append((ref(owner), size))
            while self._size > self._share:
                oldest, size = self._owners.popleft()
                self._size -= size
                if (one := oldest()) is not None:
                    one.evict()
