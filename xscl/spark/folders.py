"""The folder that a user names -> a place that Spark can write to: on this machine an absolute
path, else its address as it is."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterable
from pathlib import Path

__all__ = ["check_writable", "is_remote", "place_of"]

_SCHEME = re.compile(r"(?!file:)[A-Za-z][A-Za-z0-9+.-]+:")


def is_remote(name: str) -> bool:
    """Whether it is not on this machine's disks."""
    return _SCHEME.match(name) is not None


def place_of(name: str) -> str:
    """Where a folder is.

    >>> place_of("file:///data/archive"), place_of("s3a://bucket/archive")
    ('/data/archive', 's3a://bucket/archive')
    """
    if is_remote(name):
        return name
    return str(Path(name.removeprefix("file://").removeprefix("file:")).absolute())


def check_writable(folders: Iterable[str | Path]) -> None:
    """Raises OSError where a folder on this machine cannot be written to, or made."""
    for folder in folders:
        if is_remote(str(folder)):
            continue
        way = (Path(folder), *Path(folder).parents)
        up = next(n for n, one in enumerate(way) if one.exists())
        there, first = way[up], way[max(up - 1, 0)]
        code = 0 if there.is_dir() else errno.ENOTDIR
        if not code and not os.access(there, os.R_OK | os.W_OK | os.X_OK):
            code = errno.EACCES
        if code:
            raise OSError(code, os.strerror(code), str(first))
