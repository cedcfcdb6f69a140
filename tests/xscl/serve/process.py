"""`xscl serve` in a process of its own: at a port that is free, or at the one that it had before it
was killed."""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.commands import Started, started
from tests.xscl.serve.asking import PATIENCE

__all__ = ["Served", "served"]


@dataclass(frozen=True, slots=True)
class Served:
    """A server that runs, and the port that it listens at."""

    command: Started
    port: int

    @property
    def memory(self) -> int:
        """The MiB that it has in memory."""
        status = Path(f"/proc/{self.command.process.pid}/status").read_text()
        (line,) = (line for line in status.splitlines() if line.startswith("VmRSS"))
        return int(line.split()[1]) // 1024

    def kill(self) -> None:
        """Ends it immediately."""
        self.command.send(signal.SIGKILL)


@contextmanager
def served(
    folder: Path, *options: str, port: int = 0, environment: Mapping[str, str] = os.environ
) -> Iterator[Served]:
    """A server that runs in a folder, until it is killed at the end if it has not ended."""
    arguments = ("serve", *options, "--port", str(port))
    with started(*arguments, at=folder, environment=environment) as command:
        until = time.monotonic() + PATIENCE
        while not (found := re.search(r"serving at http://\S+:(\d+)/", _said(command))):
            assert time.monotonic() < until
            assert not command.ended(0.02), _said(command)
        yield Served(command, int(found[1]))


def _said(command: Started) -> str:
    said = command.streams[2]
    return said.read_text() if said.exists() else ""
