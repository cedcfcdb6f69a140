"""A failure to read or write that names no file -> one that does: a full disk reports no name."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

__all__ = ["named"]


@contextlib.contextmanager
def named(name: str | os.PathLike[str]) -> Iterator[None]:
    """Names the file in errors of reading or writing it."""
    try:
        yield
    except OSError as error:
        if error.filename is None:
            error.filename = os.fspath(name)
        raise
