"""The end of a process without a word, as the tests bring it about in their own."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

from xscl.durable import points

__all__ = ["Ended", "as_after_a_kill", "ended_at"]


class Ended(BaseException):
    """Here the process would have been killed."""


@contextmanager
def ended_at(point: str) -> Iterator[None]:
    """The first time that a named point is come to, Ended is raised."""
    with mock.patch.object(points, "_end", _raise):
        points._times.clear()
        try:
            with mock.patch.dict(os.environ, {"XSCL_CRASH_AT": point}):
                points.look()
                yield
        finally:
            points.look()


def as_after_a_kill(path: Path, to: Path) -> None:
    """Copies a state file as it is while an engine has it, with what is not checkpointed."""
    for suffix in ("", ".wal"):
        source = path.with_name(path.name + suffix)
        if source.exists():
            to.with_name(to.name + suffix).write_bytes(source.read_bytes())


def _raise() -> None:
    raise Ended
