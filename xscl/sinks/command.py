"""Matches to a command: a process for each, which reads the match as JSON on its standard input.

The command is split into words as a shell does, but no shell runs it: nothing that a feed says
becomes part of a command.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import signal
import subprocess
import tempfile
from dataclasses import dataclass
from typing import IO

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
        # A pipe would be waited for until all that it has begun has ended, too.
        try:
            errors = tempfile.TemporaryFile()  # noqa: SIM115 - it is closed below
        except OSError as error:
            raise NotDelivered(f"there is no temporary file: {error.strerror}") from error
        with errors:
            code = self._run(body, errors)
            errors.seek(0)
            if not code:
                # The match is taken, whoever hears what was said of it.
                with (
                    contextlib.suppress(OSError),
                    open(_STANDARD_ERROR, "wb", closefd=False) as to,
                ):
                    shutil.copyfileobj(errors, to)
                return
            said = errors.read().decode("utf-8", "replace").strip()[-_TOLD:]
        ended = f"{self.words[0]} ended with {code}"
        raise NotDelivered(f"{ended}: {said}" if said else ended)

    def _run(self, body: bytes, errors: IO[bytes]) -> int:
        """How it ends; after its seconds, it is ended with all that it has begun."""
        try:
            process = subprocess.Popen(
                self.words,
                stdin=subprocess.PIPE,
                stdout=_STANDARD_ERROR,
                stderr=errors,
                process_group=0,
            )
        except OSError as error:
            raise NotDelivered(f"{self.words[0]} cannot be run: {error.strerror}") from error
        with process:
            try:
                process.communicate(body, timeout=self.seconds)
            except BaseException as error:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                if not isinstance(error, subprocess.TimeoutExpired):
                    raise
                problem = f"{self.words[0]} ran for more than {self.seconds:g} s"
                raise NotDelivered(problem) from error
            return process.returncode
