"""Commands on a terminal: what they write there, and what is there in the end."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import signal
import struct
import termios
from collections.abc import Mapping
from pathlib import Path
from subprocess import CompletedProcess

from tests.commands import started

__all__ = ["errors_on_terminal", "on_terminal", "screen"]

_TOKEN = re.compile(r"\x1b\[(?P<number>\d*)(?P<move>[AK])|\x1b\[\?\d+[hl]|[\r\n]|[^\r\n\x1b]+|\x1b")


def on_terminal(
    folder: Path,
    *arguments: str,
    columns: int = 200,
    errors: bool = False,
    until: str | None = None,
    **environment: str,
) -> str:
    """The output of a command to a terminal, which is its standard output and, on request, its
    standard error; `until` a pattern is there, where it is interrupted."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    os.set_blocking(ours, False)
    streams = (1, 2) if errors else (1,)
    around = _Terminal(os.ttyname(theirs), streams)
    given: Mapping[str, str] = {"PATH": os.defpath, **environment}
    written = b""
    with started(*arguments, at=folder, environment=given, around=around) as one:
        while not one.ended(0.02):
            written += _available(ours)
            if until is not None and re.search(until, written.decode(errors="replace")):
                break
        written += _available(ours)
        if until is not None:
            one.send(signal.SIGINT)
        while not one.ended(0.02):
            _available(ours)
        assert one.process.exitcode == (0 if until is None else 130), written
    os.close(ours)
    os.close(theirs)
    return written.decode().replace("\r\n", "\n")


def errors_on_terminal(folder: Path, *arguments: str) -> tuple[CompletedProcess[str], str]:
    """A command whose standard error alone is a terminal, as with `>FILE`, and what it wrote
    there."""
    ours, theirs = pty.openpty()
    os.set_blocking(ours, False)
    around = _Terminal(os.ttyname(theirs), (2,))
    given = {"PATH": os.defpath, "TERM": "xterm"}
    with started(*arguments, at=folder, environment=given, around=around) as one:
        done = one.done()
    written = _available(ours).decode()
    os.close(ours)
    os.close(theirs)
    return done, written


def screen(written: str) -> list[str]:
    """The final lines on a terminal, with their colours and links; sequences that move the cursor
    up and wipe lines, as a progress does, are followed."""
    lines, at, begin = [""], 0, False
    for token in _TOKEN.finditer(written):
        text = token[0]
        if text == "\n":
            at += 1
            lines += [""] * (at == len(lines))
            begin = False
        elif text == "\r":
            begin = True
        elif token["move"] == "A":
            at = max(0, at - int(token["number"] or 1))
        elif token["move"] == "K":
            lines[at] = ""
        elif not text.startswith("\x1b[?"):
            lines[at] = text if begin else lines[at] + text
            begin = False
    return lines


def _available(terminal: int) -> bytes:
    read = b""
    while True:
        try:
            read += os.read(terminal, 65_536)
        except BlockingIOError:
            return read


class _Terminal:
    """Makes a terminal of the streams of the process that runs in it."""

    def __init__(self, name: str, streams: tuple[int, ...]) -> None:
        self.name = name
        self.streams = streams

    def __call__(self) -> _Terminal:
        return self

    def __enter__(self) -> None:
        for stream in self.streams:
            os.dup2(os.open(self.name, os.O_RDWR | os.O_NOCTTY), stream)

    def __exit__(self, *exception: object) -> None:
        pass
