"""Files that are there whole or as they were: drafted next to the file, synced, then renamed.

Whatever ends the process, a reader of such a file gets the old one or the new one.  That holds
after a power cut, too: the bytes are on the disk before they get the name, and the name is on the
disk before anything continues.  A kill may leave a draft, `.NAME.` with eight digits and `.draft`.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TextIO

__all__ = ["DRAFT", "drafted", "in_place", "put", "replace_file", "sync_folder", "written_whole"]

DRAFT = ".draft"
"""The ending of a draft's name."""

_DEVICES = ("/dev", "/proc")


@contextlib.contextmanager
def drafted(
    path: str | Path, *, new: bool = False, dropped: Callable[[], bool] = lambda: False
) -> Iterator[Path]:
    """A name next to a file.  What is written there replaces the file at the end of the block,
    unless that raises, or it is to be `dropped`.

    With `new` the file must not exist yet: FileExistsError means that another process was faster.
    """
    # Where the name is a link, the file that it leads to is replaced, not the link.
    target = Path(os.path.realpath(path))
    draft = target.with_name(f".{target.name}.{os.urandom(4).hex()}{DRAFT}")
    try:
        yield draft
        if not dropped():
            with contextlib.suppress(FileNotFoundError):
                shutil.copymode(target, draft)
            put(draft, target, new=new)
    except OSError as error:
        # The name of the draft is not the one that the user has asked for.
        if error.filename in (None, str(draft), draft):
            error.filename, error.filename2 = os.fspath(path), None
        raise
    finally:
        # With the files that a database had next to it.
        for left in (draft, draft.with_name(f"{draft.name}.wal")):
            with contextlib.suppress(OSError):
                left.unlink()


def put(draft: Path, target: Path, *, new: bool = False) -> None:
    """Gives a file the name `target`, in the same file system, once its bytes are on the disk."""
    with open(draft, "rb") as file:
        os.fsync(file.fileno())
    if new:
        os.link(draft, target)
    else:
        os.replace(draft, target)
    sync_folder(target.parent)


def replace_file(path: str | Path, content: str | bytes | memoryview, *, new: bool = False) -> None:
    """Replaces a file by a text (as UTF-8) or bytes in one step; `new` as for `drafted`."""
    with drafted(path, new=new) as draft:
        draft.write_bytes(content.encode() if isinstance(content, str) else content)


@contextlib.contextmanager
def written_whole(
    path: str | Path, dropped: Callable[[], bool] = lambda: False
) -> Iterator[TextIO]:
    """A file to write a text to, which replaces another at the end of the block, unless that
    raises, or it is to be `dropped`; a target that is `in_place` is written directly."""
    if in_place(path):
        with open(path, "a", encoding="utf-8") as file:
            yield file
    else:
        with drafted(path, dropped=dropped) as draft, open(draft, "x", encoding="utf-8") as file:
            yield file


def in_place(path: str | Path) -> bool:
    """Whether a path cannot be replaced by another file: a pipe, a terminal, or a name of an open
    file, as `/dev/stdout` is, wherever that leads.

    >>> in_place("/dev/stdout"), in_place("matches.jsonl")
    (True, False)
    """
    name = os.path.abspath(path)
    for _ in range(40):  # links, as many as the system follows
        if name.startswith(tuple(f"{device}/" for device in _DEVICES)):
            return True
        if not os.path.islink(name):
            break
        name = os.path.abspath(os.path.join(os.path.dirname(name), os.readlink(name)))
    return os.path.exists(name) and not stat.S_ISREG(os.stat(name).st_mode)


def sync_folder(folder: str | Path) -> None:
    """Makes sure that the names in a folder are on the disk."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
