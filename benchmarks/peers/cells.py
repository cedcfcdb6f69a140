"""A command into what it cost: processor seconds and memory of it and all that it started, within a
limit of time."""

from __future__ import annotations

import ctypes
import os
import re
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Cost", "cost"]

SUBREAPER = 36
"""PR_SET_CHILD_SUBREAPER of Linux: what a child leaves behind becomes ours, so that a Java that
outlives the Python that began it is counted, too."""
REASON = 110


@dataclass(frozen=True, slots=True)
class Cost:
    """Processor seconds, seconds of the clock, the memory of the largest process in bytes, and what
    was printed; or why it failed."""

    processor: float
    clock: float
    memory: int
    printed: str
    failed: str = ""


def cost(command: Sequence[str], limit: float, more: Mapping[str, str] = {}) -> Cost:
    """Runs a command in a folder of its own; after so many seconds it is ended."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"} | dict(more)
    with tempfile.TemporaryDirectory() as place, adopting():
        printed, said = Path(place) / "printed", Path(place) / "said"
        started = time.perf_counter()
        with printed.open("wb") as output, said.open("wb") as errors:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=errors,
                cwd=place,
                env=environment,
                start_new_session=True,
            )
        processor, memory, status = _ended(process.pid, started + limit)
        process.returncode = 0 if status is None else status
        clock = time.perf_counter() - started
        if status is None:
            reason = f"> {limit:g} s"
        else:
            reason = _reason(said.read_text(errors="replace")) if status else ""
        return Cost(processor, clock, memory, printed.read_text(errors="replace"), reason)


@contextmanager
def adopting() -> Iterator[None]:
    """In the meantime this process is the parent of those whose own has ended."""
    prctl = getattr(ctypes.CDLL(None), "prctl", lambda *_: None)
    prctl(SUBREAPER, 1)
    try:
        yield
    finally:
        prctl(SUBREAPER, 0)


def _ended(leader: int, deadline: float) -> tuple[float, int, int | None]:
    """Waits for a process, ends all of its group; seconds and memory of all, and the status of the
    process (None: the deadline has come)."""
    processor, memory = 0.0, 0
    status: int | None = None
    ended = False
    while True:
        try:
            child, result, usage = os.wait4(-leader, 0 if ended else os.WNOHANG)
        except ChildProcessError:
            return processor, memory, status
        if child:
            processor += usage.ru_utime + usage.ru_stime
            memory = max(memory, usage.ru_maxrss * 1024)
            if child == leader and not ended:
                status = result
        late = time.perf_counter() > deadline
        if not ended and (child == leader or late):
            ended = True
            with suppress(ProcessLookupError):
                os.killpg(leader, signal.SIGKILL)
        elif not child:
            time.sleep(0.02)


def _reason(said: str) -> str:
    """The most informative line of the output."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    telling = [line for line in lines if "Error" in line or "Exception" in line]
    reason = (telling or lines or ["no reason given"])[-1]
    return re.sub(r"^(Caused by: )?([\w$]+\.)*", "", reason)[:REASON]
