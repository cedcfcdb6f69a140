"""Who has a state file open: a note next to it, for the message to a second process.

DuckDB's own lock keeps the second one out.  The note only says who has it open; one that a killed
process has left says nothing, since it is read only where the lock is taken.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import socket
import sys
import threading
from contextlib import suppress
from pathlib import Path

from xscl.errors import StateError
from xscl.times import moment, now
from xscl.web.targets import without_user

__all__ = ["claim", "held_by_another", "held_here", "note", "release"]

_PID = re.compile(r"\(PID (\d+)\)")
_ours: set[Path] = set()
_lock = threading.Lock()


def claim(path: Path, name: str) -> None:
    """Claims a file, of a name for people, for one engine of this process, within which DuckDB
    locks nothing; raises StateError if another has it."""
    with _lock:
        if path.resolve() in _ours:
            raise held_here(name)
        _ours.add(path.resolve())


def note(path: Path) -> None:
    """Notes that this process holds a file."""
    note = {
        "pid": os.getpid(),
        "host": socket.gethostname(),
        # An address may have a password in it.
        "command": without_user(shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]])),
        "since": moment(now() // 1_000_000 * 1_000_000),
    }
    beside = _note_of(path)
    try:
        beside.write_text(json.dumps(note) + "\n", encoding="utf-8")
    except OSError as error:
        with suppress(OSError):
            beside.unlink(missing_ok=True)
        problem = f"{beside} cannot be written: {error.strerror}"
        raise StateError(f"{path} cannot be opened: {problem}") from error


def release(path: Path, *, noted: bool) -> None:
    """Gives a file back, with the note if there is one."""
    if noted:
        _note_of(path).unlink(missing_ok=True)
    with _lock:
        _ours.discard(path.resolve())


def held_here(path: Path | str) -> StateError:
    """The message where this process itself has open a file."""
    return StateError(f"{path} is in use by another engine of this process; close that one first")


def held_by_another(path: Path, error: Exception) -> StateError:
    """The message where DuckDB says that another process holds a file."""
    found = _PID.search(str(error))
    pid = None if found is None else int(found[1])
    who = "another process" if pid is None else f"process {pid}"
    try:
        note = json.loads(_note_of(path).read_text(encoding="utf-8"))
        if pid in (None, note["pid"]):
            who = f"process {note['pid']} on {note['host']} (`{note['command']}`)"
            who += f" since {note['since']}"
    except (OSError, ValueError, KeyError, TypeError):
        # Without the note there is the number that DuckDB reports.
        pass
    return StateError(f"{path} is in use by {who}; stop that one, or give this one its own file")


def _note_of(path: Path) -> Path:
    return path.with_name(f"{path.name}.holder")
