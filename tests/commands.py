"""Commands in processes of their own, as a shell starts them, but for the start of Python: each is
forked from a process that has imported everything.  What it takes beyond that is what it costs, in
time and in memory.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import tempfile
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from subprocess import CompletedProcess

__all__ = ["xscl"]

_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload(["tests.warm"])

_PATIENCE = 60

Around = Callable[[], AbstractContextManager[object]]


def xscl(
    *arguments: str,
    at: Path,
    stdin: str = "",
    environment: Mapping[str, str] = os.environ,
    around: Around = nullcontext,
) -> CompletedProcess[str]:
    """Runs `xscl` in a folder, for a minute at most; `around` makes what it runs within."""
    with tempfile.TemporaryDirectory() as place:
        streams = [Path(place) / name for name in ("in", "out", "err")]
        streams[0].write_text(stdin, encoding="utf-8")
        process = _FORKS.Process(
            target=_run, args=(arguments, at, streams, dict(environment), around)
        )
        process.start()
        process.join(_PATIENCE)
        if process.is_alive():
            process.kill()
            process.join()
        assert process.exitcode is not None
        told = (stream.read_text(encoding="utf-8", errors="replace") for stream in streams[1:])
        return CompletedProcess(["xscl", *arguments], process.exitcode, *told)


def _run(
    arguments: tuple[str, ...],
    at: Path,
    streams: list[Path],
    environment: dict[str, str],
    around: Around,
) -> None:
    """In the new process: the command, with the streams and signals that it would have."""
    from xscl.cli import main

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
