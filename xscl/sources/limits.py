"""Limits that all sources of documents share: the size of a document, and the error for one that
cannot be read.

The bound is on the bytes as they lie in the source (a line of an events file, a document file, a
feed's body, each decompressed), so that nothing larger is ever in memory.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from xscl.errors import DocumentError
from xscl.files.gzipped import read_whole
from xscl.xpath_stage import MalformedDocument

__all__ = ["MAX_DOCUMENT", "TOO_DEEP", "printable_path", "read_body", "too_large", "unreadable"]

MAX_DOCUMENT = 16 * 1024 * 1024
"""Bytes of a document, unless said otherwise."""

TOO_DEEP = "it is nested too deep; documents have at most 256 levels"


def printable_path(path: str) -> str:
    """The path of a file, what is no UTF-8 in it as escapes: it could be in no id."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def read_body(path: str, limit: int) -> bytes:
    """The bytes of a file, decompressed if it is gzipped, or of its beginning: one byte more than
    the limit.  Raises OSError."""
    return read_whole(path, limit + 1)


def too_large(limit: int) -> str:
    """The reason for which a document of more bytes than the limit is refused."""
    return f"it has more than {limit:,} bytes; --max-document sets how many one may have"


def unreadable(
    problem: str,
    *,
    stream: str,
    document: str,
    raw: bytes,
    position: Mapping[str, int] | None = None,
) -> DocumentError:
    """The error for a document that cannot be read; its cause holds the bytes and the place, as
    far as they are known."""
    error = DocumentError(problem, stream=stream, document=document)
    error.__cause__ = MalformedDocument(problem, raw=raw, position=position)
    return error
