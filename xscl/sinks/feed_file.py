"""A feed as a file that readers fetch at any time: replaced whole, never half written.

What the file holds stays until newer entries push it out; an entry whose id it holds is not
written again, so nothing is announced twice.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import TypeVar

__all__ = ["NEWEST", "merged", "read_if_there", "replace_file"]

NEWEST = 100
"""How many entries a feed keeps, unless said otherwise."""

_Body = TypeVar("_Body")


def merged(
    kept: Iterable[tuple[float, str, _Body]], new: Iterable[tuple[float, str, _Body]], newest: int
) -> list[_Body]:
    """The newest entries of both, the newest first; each is its time, its id and its body.

    >>> merged([(1.0, "a", "kept"), (2.0, "b", "b")], [(1.0, "a", "again"), (3.0, "c", "c")], 9)
    ['c', 'b', 'kept']
    """
    by_id: dict[str, tuple[float, str, _Body]] = {}
    for entry in (*kept, *new):
        by_id.setdefault(entry[1], entry)
    in_order = sorted(by_id.values(), key=lambda entry: entry[:2], reverse=True)
    return [body for _, _, body in in_order[:newest]]


def read_if_there(path: str | Path) -> bytes:
    """The bytes of a file; none where there is no such file."""
    try:
        return Path(path).read_bytes()
    except FileNotFoundError:
        return b""


def replace_file(path: str | Path, text: str) -> None:
    """Puts a text in a file's place at once: whoever reads it has the old one or the new one."""
    target = Path(path).resolve()
    draft = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    try:
        with open(draft, "x", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        with contextlib.suppress(FileNotFoundError):
            shutil.copymode(target, draft)
        os.replace(draft, target)
    finally:
        draft.unlink(missing_ok=True)
