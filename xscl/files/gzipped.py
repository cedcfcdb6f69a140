"""A file becomes its bytes, decompressed where its first bytes are those of a gzipped file."""

from __future__ import annotations

import contextlib
import errno
import gzip
import io
import os
import sys
import zlib
from collections.abc import Iterator
from typing import Any, BinaryIO, cast

from xscl.files.named import named

__all__ = ["is_gzipped", "opened", "read_whole"]

_MAGIC = b"\x1f\x8b"

Source = str | os.PathLike[str]


@contextlib.contextmanager
def opened(source: Source) -> Iterator[BinaryIO]:
    """A file, or standard input for `-`, to be read from its beginning.

    Compressed data that are damaged or end early are an OSError, as is a file that cannot be
    opened.
    """
    name = "standard input" if source == "-" else os.fspath(source)
    with contextlib.ExitStack() as stack, named(name):
        try:
            file = _buffered(source, stack)
            if _begins_compressed(file):
                yield cast(BinaryIO, stack.enter_context(gzip.GzipFile(fileobj=file)))
            else:
                yield file
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            problem = "ends early" if isinstance(error, EOFError) else f"is damaged: {error}"
            raise OSError(errno.EIO, f"the compressed file {problem}", name) from error


def read_whole(source: Source, most: int = -1) -> bytes:
    """The bytes of a file, or of standard input for `-`; `most` of them, if that is not negative.
    Raises OSError."""
    with opened(source) as file:
        return file.read(most)


def is_gzipped(path: Source) -> bool:
    """Whether a file is gzipped; raises OSError where it cannot be read."""
    with open(path, "rb") as file:
        return _begins_compressed(file)


def _buffered(source: Source, stack: contextlib.ExitStack) -> io.BufferedReader[Any]:
    if source != "-":
        return stack.enter_context(open(source, "rb"))
    standard: Any = sys.stdin.buffer
    # Another program's object, such as a test's, may be unable to look ahead.
    return standard if hasattr(standard, "peek") else io.BufferedReader(standard)


def _begins_compressed(file: io.BufferedReader[Any]) -> bool:
    # A pipe may have one byte so far; no text begins with that.
    begin = file.peek(2)[:2]
    return begin != b"" and _MAGIC.startswith(begin)
