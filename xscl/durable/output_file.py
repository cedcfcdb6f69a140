"""A file of matches that has each exactly once, whatever ends the process.

Batches are written and forced to the disk; then the transaction that has their documents says how
long the file is.  What is beyond that length when the file is opened again was written by
batches that are about to be evaluated once more, and is cut off.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO

from xscl.counts import counted
from xscl.durable.points import at
from xscl.errors import StateError

__all__ = ["OutputFile"]


class OutputFile:
    """A file of matches, a line each, `written` bytes of which a state file has said before;
    None is a file that it does not know, of which what is there stays if `add` is given."""

    def __init__(self, path: str, written: int | None, *, add: bool = False) -> None:
        self.path = str(Path(path).absolute())
        self._file: IO[bytes]
        self._forced = True
        if written is None:
            self._file = open(path, "ab" if add else "wb")  # noqa: SIM115 - closed by `close`
        else:
            there = Path(path).stat().st_size if Path(path).exists() else None
            if there is None or there < written:
                found = "is not there" if there is None else f"has {counted(there, 'byte')}"
                raise StateError(
                    f"{path} {found}, but {written:,} were written to it: put it back as it was, "
                    "or continue in another file (-o)"
                )
            self._file = open(path, "r+b")  # noqa: SIM115
            self._file.truncate(written)
            self._file.seek(0, os.SEEK_END)

    @property
    def length(self) -> int:
        """The bytes of the file."""
        return self._file.tell()

    def write(self, lines: Iterable[bytes]) -> None:
        """Writes lines, which `sync` forces to the disk; raises StateError if they cannot be
        written."""
        at("before output")
        with self._writing():
            for number, line in enumerate(lines):
                self._file.write(line)
                self._forced = False
                if not number:
                    self._file.flush()
                    at("within output")
            self._file.flush()
        at("after output")

    def sync(self) -> None:
        """Forces to the disk what was written; raises StateError if that cannot be."""
        if not self._forced:
            with self._writing():
                os.fsync(self._file.fileno())
            self._forced = True

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise StateError(
                f"{self.path} cannot be written ({error.strerror}); the state is as it was before "
                "this batch: make room and run again"
            ) from error

    def close(self) -> None:
        """Closes the file."""
        # What cannot be written now is of a batch that could not be.
        with contextlib.suppress(OSError):
            self._file.close()
