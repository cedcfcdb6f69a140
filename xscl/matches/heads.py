"""The beginning of ids and lines of matches: the query's name, and the stream."""

from __future__ import annotations

from binascii import hexlify
from functools import lru_cache
from hashlib import sha256

from xscl.matches.result_forms import dumps

__all__ = ["hexed", "named"]


@lru_cache(maxsize=10_000)
def named(query: str, stream: str | None) -> tuple[bytes, bytes]:
    """The input of an id up to the documents, and a query and a stream as members of JSON."""
    head = f"[{dumps(query)}, [".encode("utf-8", "surrogatepass")
    return head, dumps({"query": query, "stream": stream})[1:-1].encode("utf-8", "surrogatepass")


def hexed(head: bytes, rest: bytes) -> bytes:
    """The id from this input."""
    return hexlify(sha256(head + rest).digest()[:16])
