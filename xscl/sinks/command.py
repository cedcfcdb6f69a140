"""Matches to a command: a process for each, which reads the match as JSON on its standard input.

The command is split into words as a shell does, but no shell runs it: nothing that a feed says
becomes part of a command.
"""

from __future__ import annotations

import shlex
import shutil
import subprocess
from dataclasses import dataclass

from xscl.errors import XSCLError
from xscl.sinks.deliveries import NotDelivered

__all__ = ["Command"]

_STANDARD_ERROR = 2
_TOLD = 500


@dataclass(frozen=True, slots=True)
class Command:
    """A command and its arguments; each process has `seconds`."""

    words: tuple[str, ...]
    seconds: float = 300.0

    @classmethod
    def of(cls, text: str) -> Command:
        """The command of a line; raises XSCLError for one that cannot be run."""
        try:
            words = tuple(shlex.split(text))
        except ValueError as error:
            raise XSCLError(f"{text!r} is no command: {error}") from error
        if not words or shutil.which(words[0]) is None:
            raise XSCLError(f"{text!r} is no command: there is no such program")
        return cls(words)

    def __call__(self, match: str, body: bytes) -> None:
        """Runs it for one match.  What it writes goes to standard error: matches alone are on
        standard output.  An interrupt from the terminal is not for it: it may end its work."""
        try:
            done = subprocess.run(
                self.words,
                input=body,
                stdout=_STANDARD_ERROR,
                stderr=subprocess.PIPE,
                timeout=self.seconds,
                process_group=0,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise NotDelivered(f"{self.words[0]} ran for more than {self.seconds:g} s") from error
        except OSError as error:
            raise NotDelivered(f"{self.words[0]} cannot be run: {error.strerror}") from error
        if done.returncode:
            said = done.stderr.decode("utf-8", "replace").strip()[-_TOLD:]
            ended = f"{self.words[0]} ended with {done.returncode}"
            raise NotDelivered(f"{ended}: {said}" if said else ended)
