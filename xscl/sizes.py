"""Sizes as text become bytes, wherever a user writes one: an option, an argument of Python's."""

from __future__ import annotations

import re
from decimal import Decimal

__all__ = ["size_of_text"]

_SIZE = re.compile(r"(\d{1,30}(?:\.\d{1,30})?)\s*(?:([KMGT])i?B?|B)?", re.IGNORECASE | re.ASCII)
_UNITS = {"": 0, "K": 10, "M": 20, "G": 30, "T": 40}
_MOST = 2**63 - 1


def size_of_text(text: str) -> int:
    """The bytes of a size such as `65536`, `16 MiB` or `64MB`; raises ValueError for anything else.

    A unit is a power of 1024 with `i` or without, as PostgreSQL, Java and Spark have it for memory.

    >>> size_of_text("16 MiB") == size_of_text("16mb") == 2**24, size_of_text("1.5k")
    (True, 1536)
    """
    found = _SIZE.fullmatch(text.strip())
    if found is not None:
        size = int(Decimal(found[1]) * 2 ** _UNITS[(found[2] or "").upper()])
        if 1 <= size <= _MOST:
            return size
    raise ValueError(f"{text!r} is no size; write for example 16 MiB, 64MB or 65536 (bytes)")
