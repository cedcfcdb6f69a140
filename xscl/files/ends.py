"""The files that a command writes and those that it reads -> a refusal where one is both.

Two names mean one file by its device and inode: links of both kinds count.  A name without a file
yet means the place that it leads to.  Whatever is in a directory that is read, or matches a pattern
that is read, is read the next time, if not this time.
"""

from __future__ import annotations

import glob
import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch

from xscl.errors import XSCLError

__all__ = ["End", "key_of", "refuse_shared"]

Key = str | tuple[int, int]


@dataclass(frozen=True, slots=True)
class End:
    """A file or directory, and how its user has named it: the option with its value.  The path of a
    file that is read may be a `pattern` of many."""

    said: str
    path: str
    pattern: bool = False


def refuse_shared(outputs: Sequence[End], inputs: Sequence[End]) -> None:
    """Raises XSCLError where an output is an input, is among inputs, or is another output."""
    written: dict[Key, End] = {}
    for output in outputs:
        key = key_of(output.path)
        if key is not None and (other := written.setdefault(key, output)).said != output.said:
            raise _refused(output, "is the same file as", other)
    for read in inputs if written else ():
        for path in _paths(read):
            try:
                found = os.stat(path)
            except OSError:
                continue  # reading it reports the error
            if (same := written.get((found.st_dev, found.st_ino))) is not None:
                raise _refused(same, "is the same file as", read)
        for output in written.values():
            if _among(output.path, read):
                raise _refused(output, "is one of" if read.pattern else "lies in", read)
            if _below(read.path, output.path):
                raise _refused(read, "lies in", output)


def _refused(one: End, how: str, other: End) -> XSCLError:
    return XSCLError(
        f"{one.said} {how} {other.said}: what is read would be written over; name another "
        "(nothing was touched)"
    )


def key_of(path: str) -> Key | None:
    """A key that all names of a file share; None for a device, which has no content."""
    try:
        found = os.stat(path)
    except OSError:
        return os.path.realpath(path)
    if stat.S_ISCHR(found.st_mode) or stat.S_ISBLK(found.st_mode):
        return None
    return found.st_dev, found.st_ino


def _paths(read: End) -> Iterator[str]:
    """All files of an input, and directories."""
    for path in glob.iglob(read.path, recursive=True) if read.pattern else [read.path]:
        yield path
        for folder, _, names in os.walk(path) if not read.pattern else ():
            yield from (os.path.join(folder, name) for name in names)


def _among(path: str, read: End) -> bool:
    """Whether a file, which need not be there, is one of those that are read."""
    if not read.pattern:
        return os.path.isdir(read.path) and _below(path, read.path)
    folders, name = os.path.split(read.path)
    if name == "**":
        return any(_below(path, folder) for folder in glob.iglob(folders or ".", recursive=True))
    own = os.path.basename(os.path.realpath(path))
    hidden = own.startswith(".") and not name.startswith(".")
    return (
        not hidden
        and fnmatch(own, name)
        and any(
            os.path.realpath(folder) == os.path.dirname(os.path.realpath(path))
            for folder in glob.iglob(folders or ".", recursive=True)
        )
    )


def _below(path: str, folder: str) -> bool:
    """Whether a path leads into a directory, at any depth."""
    return os.path.realpath(path).startswith(os.path.join(os.path.realpath(folder), ""))
