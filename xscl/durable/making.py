"""A new state file: it has its name once it is whole, so that no crash leaves half of one.

It is made as a draft beside it, forced to the disk and then linked to its name, which fails where
another process was faster: whose file it is then, opening it tells.
"""

from __future__ import annotations

import contextlib
import os
import secrets
from pathlib import Path

import duckdb

from xscl.durable.points import at
from xscl.durable.schema import create
from xscl.errors import StateError
from xscl.polling.store import create_feeds

__all__ = ["make"]


def make(path: Path, made_by: str) -> None:
    """Makes a state without queries; raises StateError if it cannot be."""
    if not path.resolve().parent.is_dir():
        raise StateError(f"{path} cannot be made: there is no such folder")
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        with contextlib.closing(duckdb.connect(draft, config={"threads": 1})) as connection:
            create(connection, made_by)
            create_feeds(connection)
            # At the end of a connection a failure would not be told.
            connection.execute("CHECKPOINT")
        with open(draft, "rb") as file:
            os.fsync(file.fileno())
        at("making")
        with contextlib.suppress(FileExistsError):
            os.link(draft, path)
    except (duckdb.Error, OSError) as error:
        reason = str(error).splitlines()[0]
        raise StateError(f"{path} cannot be made ({reason})") from error
    finally:
        for left in (draft, draft.with_name(f"{draft.name}.wal")):
            left.unlink(missing_ok=True)
