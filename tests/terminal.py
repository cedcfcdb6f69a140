"""A terminal for commands: what a person would see there is kept."""

from __future__ import annotations

import os
import pty
import sys
import threading
import tty
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial

from tests.commands import Around

__all__ = ["Screen", "terminal"]

_KEPT: list[object] = []


@dataclass(frozen=True, slots=True)
class Screen:
    """A terminal by its name, and the bytes that came to it so far."""

    name: str
    shown: bytearray = field(default_factory=bytearray)

    def around(self, *streams: int) -> Around:
        """Makes these streams of a command the terminal (1: output, 2: errors)."""
        return partial(_attached, self.name, streams)

    @property
    def text(self) -> str:
        """All that was shown, with the sequences that move the cursor."""
        return self.shown.decode("utf-8", "replace")


@contextmanager
def terminal() -> Iterator[Screen]:
    """A terminal, as long as it is needed."""
    ours, theirs = pty.openpty()
    tty.setraw(theirs)
    screen = Screen(os.ttyname(theirs))

    def read() -> None:
        while True:
            try:
                screen.shown.extend(os.read(ours, 1 << 16))
            except OSError:
                return

    reading = threading.Thread(target=read, daemon=True)
    reading.start()
    try:
        yield screen
    finally:
        # Once nobody has it open, reading ends.
        os.close(theirs)
        reading.join(10)
        os.close(ours)


@contextmanager
def _attached(name: str, streams: tuple[int, ...]) -> Iterator[None]:
    opened = os.open(name, os.O_RDWR | os.O_NOCTTY)
    for stream in streams:
        os.dup2(opened, stream)
        # What was opened as a file would seek; dropped, it would close what is open now.
        place = "stdout" if stream == 1 else "stderr"
        _KEPT.append(getattr(sys, place))
        setattr(sys, place, open(stream, "w", 1, encoding="utf-8", closefd=False))  # noqa: SIM115
    yield
