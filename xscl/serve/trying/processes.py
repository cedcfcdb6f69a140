"""Processes that do dry runs (`trial`): each does one at a time, and is ended when it has gone too
far; one is kept for the next dry run, as it takes a second to start.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from multiprocessing.connection import Connection

from xscl.serve.engine_thread import Busy
from xscl.serve.trying.trial import Frame

__all__ = ["Ended", "Process", "Processes"]

_START = 60.0
"""Seconds in which a process starts, on a machine that has much to do."""

_MAIN = """
import json, sys
sys.path[:] = json.loads(sys.argv[1])
from xscl.serve.trying.trial import main
main()
"""


class Ended(Exception):
    """A process has ended before its answer was whole; `late` where it was ended as it took too
    long."""

    def __init__(self, *, late: bool) -> None:
        super().__init__(late)
        self.late = late


class Process:
    """A process, within so many bytes of memory."""

    def __init__(self, memory: int) -> None:
        ours, theirs = socket.socketpair()
        path = [os.path.abspath(one) for one in sys.path]
        with theirs:
            end = theirs.fileno()
            try:
                self._popen = subprocess.Popen(
                    [sys.executable, "-P", "-c", _MAIN, json.dumps(path), str(end), str(memory)],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    pass_fds=[end],
                )
            except OSError as error:
                ours.close()
                raise Busy(f"no process can be started: {error.strerror}") from error
        self._connection = Connection(ours.detach())
        self._ready = False

    def send(self, what: object) -> None:
        """Sends something; raises Ended, or Busy where it does not start."""
        if not self._ready:
            try:
                self._ready = bool(self.receive(_START).get("ready"))
            except Ended as error:
                raise Busy("the process of a dry run does not start") from error
        try:
            self._connection.send(what)
        except OSError as error:
            raise self._ended() from error

    def receive(self, seconds: float) -> Frame:
        """What it says, within some time; raises Ended, also where that has passed."""
        try:
            if not self._connection.poll(seconds):
                raise Ended(late=True)
            frame: Frame = json.loads(self._connection.recv_bytes())
        except (EOFError, OSError) as error:
            raise self._ended() from error
        return frame

    def _ended(self) -> Ended:
        """By the alarm that it has set itself, or by what it did."""
        return Ended(late=self._popen.wait() == -signal.SIGALRM)

    @property
    def lives(self) -> bool:
        """Whether it is there: it may have been ended from elsewhere."""
        return self._popen.poll() is None

    def end(self) -> None:
        """Ends it."""
        self._connection.close()
        self._popen.kill()
        self._popen.wait()


class Processes:
    """Those of a server: `most` at one time, each within so many bytes of memory."""

    def __init__(self, most: int, memory: int) -> None:
        self._most, self.memory = most, memory
        self._lock = threading.Lock()
        self._busy = 0
        self._closed = False
        self._spare: Process | None = None

    @contextlib.contextmanager
    def one(self) -> Iterator[Process]:
        """A process for a dry run, which is used again if that comes to its end; raises Busy where
        others are under way."""
        with self._lock:
            if self._closed or self._busy >= self._most:
                raise Busy(f"{self._most} dry runs are under way already")
            self._busy += 1
            process, self._spare = self._spare, None
        whole = False
        try:
            if process is not None and not process.lives:
                process.end()
                process = None
            process = process or Process(self.memory)
            yield process
            whole = True
        finally:
            with self._lock:
                self._busy -= 1
                if whole and self._spare is None and not self._closed:
                    self._spare, process = process, None
            if process is not None:
                process.end()

    def close(self) -> None:
        """Ends the one that is kept; there is no other dry run from now on."""
        with self._lock:
            self._closed = True
            process, self._spare = self._spare, None
        if process is not None:
            process.end()
