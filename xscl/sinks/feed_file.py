"""A feed as a file that readers fetch at any time.

What the file holds stays until newer entries push it out, or its match is taken back; an entry
whose id it holds is not written again, so nothing is announced twice.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from pathlib import Path
from typing import TypeVar

from xscl.errors import XSCLError
from xscl.files.whole import in_place

__all__ = ["NEWEST", "merged", "read_if_there"]

NEWEST = 100
"""How many entries a feed keeps, unless said otherwise."""

_Body = TypeVar("_Body")


def merged(
    kept: Iterable[tuple[float, str, _Body]],
    new: Iterable[tuple[float, str, _Body]],
    newest: int,
    gone: Container[str] = (),
) -> list[_Body]:
    """The newest entries of both, the newest first, without those kept that are `gone`; each is its
    time, its id and its body.

    >>> merged([(1.0, "a", "kept"), (2.0, "b", "b")], [(1.0, "a", "again"), (3.0, "c", "c")], 9)
    ['c', 'b', 'kept']
    """
    by_id: dict[str, tuple[float, str, _Body]] = {}
    for entry in (*(one for one in kept if one[1] not in gone), *new):
        by_id.setdefault(entry[1], entry)
    in_order = sorted(by_id.values(), key=lambda entry: entry[:2], reverse=True)
    return [body for _, _, body in in_order[:newest]]


def read_if_there(path: str | Path) -> bytes:
    """The bytes of a file; none where there is no such file.  Raises XSCLError for what is no file,
    such as a device, which may have no end."""
    if in_place(path):
        raise XSCLError(f"{path} is no file that a feed could be kept in; name a file")
    try:
        return Path(path).read_bytes()
    except FileNotFoundError:
        return b""
