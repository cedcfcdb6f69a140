"""Commands in processes of their own, as a shell starts them, but for the start of Python: each is
forked from a process that has imported everything.  What it takes beyond that is what it costs, in
time and in memory.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, chdir, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from multiprocessing.context import ForkServerProcess
from multiprocessing.forkserver import ensure_running
from pathlib import Path
from subprocess import CompletedProcess

__all__ = ["Around", "Started", "started", "xscl"]

_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload(["tests.warm"])

_PATIENCE = 600

ROOT = Path(__file__).parents[1]

Around = Callable[[], AbstractContextManager[object]]


@dataclass(frozen=True, slots=True)
class Started:
    """A command that continues, unless it has ended."""

    arguments: tuple[str, ...]
    process: ForkServerProcess
    streams: list[Path]

    def send(self, signal: int) -> None:
        """Sends it a signal, unless it has ended."""
        assert self.process.pid is not None
        with suppress(ProcessLookupError):
            os.kill(self.process.pid, signal)

    @property
    def processor(self) -> float:
        """The processor seconds that it has taken."""
        try:
            stat = Path(f"/proc/{self.process.pid}/stat").read_text()
        except OSError:
            return 0.0
        user, system = stat.rpartition(")")[2].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

    def ended(self, seconds: float) -> bool:
        """Whether it has ended, now or within some seconds."""
        self.process.join(seconds)
        return not self.process.is_alive()

    def done(self) -> CompletedProcess[str]:
        """Waits for its end, at most ten minutes."""
        if not self.ended(_PATIENCE):
            self.process.kill()
            self.process.join()
        assert self.process.exitcode is not None
        reported = (one.read_text(encoding="utf-8", errors="replace") for one in self.streams[1:])
        return CompletedProcess(["xscl", *self.arguments], self.process.exitcode, *reported)


@contextmanager
def started(
    *arguments: str,
    at: Path,
    stdin: str = "",
    environment: Mapping[str, str] = os.environ,
    around: Around = nullcontext,
) -> Iterator[Started]:
    """Starts `xscl` in a folder, and ends it; `around` makes what it runs within."""
    with tempfile.TemporaryDirectory() as place:
        streams = [Path(place) / name for name in ("in", "out", "err")]
        streams[0].write_text(stdin, encoding="utf-8")
        process = _FORKS.Process(
            target=_run, args=(arguments, at, streams, dict(environment), around)
        )
        with chdir(ROOT):  # Where the process that they fork from finds `tests.warm`.
            ensure_running()
        process.start()
        try:
            yield Started(arguments, process, streams)
        finally:
            process.kill()
            process.join()


def xscl(
    *arguments: str,
    at: Path,
    stdin: str = "",
    environment: Mapping[str, str] = os.environ,
    around: Around = nullcontext,
) -> CompletedProcess[str]:
    """Runs `xscl` as it is started, for ten minutes at most."""
    with started(*arguments, at=at, stdin=stdin, environment=environment, around=around) as one:
        return one.done()


def _run(
    arguments: tuple[str, ...],
    at: Path,
    streams: list[Path],
    environment: dict[str, str],
    around: Around,
) -> None:
    """In the new process: the command, with the streams and signals that it would have."""
    from xscl.cli.main import main

    for number, stream in enumerate(streams):
        os.dup2(os.open(stream, os.O_RDWR | os.O_CREAT), number)
    sys.stdin = os.fdopen(0, encoding="utf-8")
    sys.stdout = os.fdopen(1, "w", encoding="utf-8")
    sys.stderr = os.fdopen(2, "w", 1, encoding="utf-8", errors="backslashreplace")
    os.chdir(at)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["xscl", *arguments]
    with around():
        main()
