"""What tells the items of a feed apart, in 40 bytes each: the state that is kept of a feed.

A key is a digest of the item's identity (16 bytes), the hash of its content (8) and a digest of
its link and title (16; zeros without both).  Keys stand one after the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from hashlib import blake2b

from xscl.polling.news import FeedItem, SeenItem

__all__ = ["count_of", "packed", "packed_keys", "unpacked"]

_SIZE = 40
_NOTHING = "\0" * 16


def packed_keys(items: Iterable[FeedItem]) -> bytes:
    """The keys of items."""
    return b"".join(_key(item) for item in items)


def count_of(keys: bytes) -> int:
    """How many items packed keys are of."""
    return len(keys) // _SIZE


def unpacked(keys: bytes) -> Iterator[SeenItem]:
    """The items of packed keys, as far as they are told apart; texts are the bytes as Latin-1."""
    texts = keys.decode("latin-1")
    for start in range(0, len(texts), _SIZE):
        likeness = texts[start + 24 : start + _SIZE]
        yield SeenItem(
            texts[start : start + 16],
            texts[start + 16 : start + 24],
            None if likeness == _NOTHING else likeness,
        )


def packed(items: Iterable[SeenItem]) -> bytes:
    """Items that were unpacked, packed again."""
    texts = (
        text
        for item in items
        for text in (item.identity, item.content_hash, item.likeness or _NOTHING)
    )
    return "".join(texts).encode("latin-1")


def _key(item: FeedItem) -> bytes:
    likeness = item.likeness
    identity = blake2b(item.identity.encode("utf-8", "surrogatepass"), digest_size=16).digest()
    alike = bytes(16) if likeness is None else bytes.fromhex(likeness)
    return identity + bytes.fromhex(item.content_hash) + alike
