"""The command line in a process of its own, whose memory is bounded and measured.

The process is forked from one that has imported everything already: what it takes beyond what
that took is what the case cost.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import resource
import sys
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Outcome", "xscl_alone"]

_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload(["xscl.cli", "tests.hostile.alone"])

_ADDRESSES = 8 << 30
_PATIENCE = 60


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a command ended; `grown` is by how many MiB its memory grew at its peak."""

    code: int | None
    out: str
    err: str
    grown: int

    @property
    def matches(self) -> list[tuple[str, list[str]]]:
        """The query and the documents of each match."""
        lines = [json.loads(line) for line in self.out.splitlines()]
        return sorted((line["query"], line["documents"]) for line in lines)


def xscl_alone(folder: Path, *arguments: str) -> Outcome:
    """Runs `xscl` in a folder, for a minute at most."""
    process = _FORKS.Process(target=_run, args=(str(folder), arguments))
    process.start()
    process.join(_PATIENCE)
    if process.is_alive():
        process.kill()
        process.join()
    texts = [(folder / name).read_text(errors="replace") for name in (".out", ".err")]
    grown = folder / ".grown"
    return Outcome(process.exitcode, *texts, int(grown.read_text()) if grown.exists() else -1)


def _run(folder: str, arguments: tuple[str, ...]) -> None:
    from xscl.cli import main

    os.chdir(folder)
    for number, name in ((1, ".out"), (2, ".err")):
        os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT, 0o600), number)
    sys.stdout = os.fdopen(1, "w", encoding="utf-8")
    sys.stderr = os.fdopen(2, "w", encoding="utf-8")
    # Far above what is measured: only what grows without end meets it.
    resource.setrlimit(resource.RLIMIT_AS, (_ADDRESSES, _ADDRESSES))
    before = _peak()
    sys.argv = ["xscl", *arguments]
    try:
        main()
    finally:
        sys.stdout.flush()
        Path(".grown").write_text(str(_peak() - before))


def _peak() -> int:
    """The greatest memory so far, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
