"""Compressed event files that mean harm: what they hold between two good lines."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from gzip import compress

__all__ = ["ARCHIVES", "Archive"]

MANY = 300_000_000


@dataclass(frozen=True, slots=True)
class Archive:
    """`make` gets the good lines before and after; `whole` is whether both can be read.  `says` is
    a pattern of the error."""

    name: str
    make: Callable[[bytes, bytes], bytes]
    says: str
    whole: bool


def bomb(before: bytes, after: bytes, piece: bytes, times: int) -> bytes:
    """Good lines around a piece that is repeated; never in memory expanded."""
    packer = zlib.compressobj(1, wbits=31)
    packed = [packer.compress(before)]
    packed += [packer.compress(piece * 10_000) for _ in range(times // 10_000)]
    return b"".join([*packed, packer.compress(b"\n" + after), packer.flush()])


def damaged(before: bytes, after: bytes) -> bytes:
    start, rest = compress(before), bytearray(compress(after * 1000))
    rest[40:60] = b"\xff" * 20
    return start + bytes(rest)


LARGE = "it has more than 16,777,216 bytes"

ARCHIVES = [
    Archive("300 MB of zeros", lambda b, a: bomb(b, a, b"\x00", MANY), LARGE, True),
    Archive("300 MB of a text", lambda b, a: bomb(b + b'{"xml": "', a, b"x", MANY), LARGE, True),
    Archive("300 MB of brackets", lambda b, a: bomb(b, a, b"[", MANY), LARGE, True),
    Archive("3,000,000 empty lines", lambda b, a: bomb(b, a, b"\n", 3_000_000), "", True),
    Archive(
        "a bomb within a bomb", lambda b, a: b + compress(bomb(b, a, b"\x00", MANY)), "", False
    ),
    Archive("an end too early", lambda b, a: compress(b) + compress(a)[:-12], "ends early", False),
    Archive("damage", damaged, "is damaged", False),
    Archive("noise after it", lambda b, a: compress(b + a) + b"noise", "is damaged", True),
    Archive(
        "a wrong checksum", lambda b, a: compress(b + a)[:-8] + b"\x00" * 8, "is damaged", True
    ),
    Archive("nothing compressed", lambda b, a: b + a, "", True),
]
