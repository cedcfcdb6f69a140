"""The command line in a process of its own, whose memory is bounded and measured: what it takes
beyond what the process took that it is forked from is what the case cost.
"""

from __future__ import annotations

import json
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.commands import xscl

__all__ = ["Outcome", "xscl_alone"]

_ADDRESSES = 8 << 30


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a command ended; `grown` is by how many MiB its memory grew at its peak."""

    code: int
    out: str
    err: str
    grown: int

    @property
    def matches(self) -> list[tuple[str, list[str]]]:
        """The query and the documents of each match."""
        lines = [json.loads(line) for line in self.out.splitlines()]
        return sorted((line["query"], line["documents"]) for line in lines)


def xscl_alone(folder: Path, *arguments: str) -> Outcome:
    """Runs `xscl` in a folder."""
    done = xscl(*arguments, at=folder, around=_bounded)
    grown = folder / ".grown"
    reported = int(grown.read_text()) if grown.exists() else -1
    return Outcome(done.returncode, done.stdout, done.stderr, reported)


@contextmanager
def _bounded() -> Iterator[None]:
    # Far above what is measured: only what grows without end meets it.
    resource.setrlimit(resource.RLIMIT_AS, (_ADDRESSES, _ADDRESSES))
    before = _peak()
    try:
        yield
    finally:
        Path(".grown").write_text(str(_peak() - before))


def _peak() -> int:
    """The greatest memory so far, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
