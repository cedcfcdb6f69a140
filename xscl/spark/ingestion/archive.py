"""Where an ingestion keeps what: the folders below the one that the user names.

spool/        bodies that were fetched and have not landed; `feeds.duckdb`, what is known of
              each feed.  On a disk of the driver's.
landing/      raw bodies, Parquet, as Spark's own sink commits them
items/        item documents, Parquet, a folder for each batch
dead/         dead letters likewise
checkpoints/  how far the two queries are
"""

from __future__ import annotations

import errno
import os
import re
from dataclasses import dataclass
from pathlib import Path

from xscl.errors import XSCLError

__all__ = ["Archive"]

_SCHEME = re.compile(r"(?!file:)[A-Za-z][A-Za-z0-9+.-]+:")


@dataclass(frozen=True, slots=True)
class Archive:
    """The folders of an ingestion.  `root` is a path or an address that Spark can write to;
    `local`, where the spool lies, is a path, the root unless given."""

    root: str
    local: Path

    @classmethod
    def at(cls, root: str, local: str | None = None) -> Archive:
        """Raises XSCLError for a root that is no local folder where no `local` is given."""
        if local is None:
            if _SCHEME.match(root):
                raise XSCLError(
                    f"{root} is not on this machine's disks, where fetched feeds wait to land: "
                    "name a folder for them, too (--spool)"
                )
            local = f"{root.removeprefix('file://').removeprefix('file:')}/spool"
        if not _SCHEME.match(root):
            root = str(Path(root.removeprefix("file://").removeprefix("file:")).absolute())
        return cls(root, Path(local).absolute())

    def check(self) -> None:
        """Raises OSError where a folder on this machine cannot be written to, or made."""
        folders = [self.local]
        if not _SCHEME.match(self.root):
            folders += map(Path, (self.root, *self.folders))
        for folder in folders:
            way = (folder, *folder.parents)
            up = next(n for n, one in enumerate(way) if one.exists())
            there, first = way[up], way[max(up - 1, 0)]
            code = 0 if there.is_dir() else errno.ENOTDIR
            if not code and not os.access(there, os.R_OK | os.W_OK | os.X_OK):
                code = errno.EACCES
            if code:
                raise OSError(code, os.strerror(code), str(first))

    @property
    def folders(self) -> tuple[str, ...]:
        """The folders of what the jobs write."""
        return self.landing, self.items, self.dead, self.checkpoint(".")

    @property
    def store(self) -> Path:
        """The file of what is known of each feed."""
        return self.local / "feeds.duckdb"

    @property
    def known(self) -> Path:
        """The file of the items that are known."""
        return self.local / "known.duckdb"

    @property
    def landing(self) -> str:
        """Raw bodies."""
        return f"{self.root}/landing"

    @property
    def items(self) -> str:
        """Item documents."""
        return f"{self.root}/items"

    @property
    def dead(self) -> str:
        """Dead letters."""
        return f"{self.root}/dead"

    def checkpoint(self, job: str) -> str:
        """How far a job is: `fetch` or `items`."""
        return f"{self.root}/checkpoints/{job}"
