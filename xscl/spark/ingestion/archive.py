"""Where an ingestion keeps what: the folders below the one that the user names.

spool/        bodies that were fetched and have not landed; `feeds.duckdb`, what is known of
              each feed.  On a disk of the driver's.
landing/      raw bodies, Parquet, as Spark's own sink commits them
items/        item documents, Parquet, a folder for each batch
dead/         dead letters likewise
checkpoints/  how far the two queries are
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from xscl.errors import XSCLError
from xscl.spark.folders import check_writable, is_remote, place_of

__all__ = ["Archive"]


@dataclass(frozen=True, slots=True)
class Archive:
    """The folders of an ingestion.  `root` is a path or an address that Spark can write to;
    `local`, where the spool lies, is a path, the root unless given."""

    root: str
    local: Path

    @classmethod
    def at(cls, root: str, local: str | None = None) -> Archive:
        """Raises XSCLError for a root that is no local folder where no `local` is given."""
        root = place_of(root)
        if local is None:
            if is_remote(root):
                raise XSCLError(
                    f"{root} is not on this machine's disks, where fetched feeds wait to land: "
                    "name a folder for them, too (--spool)"
                )
            local = f"{root}/spool"
        return cls(root, Path(local).absolute())

    def check(self) -> None:
        """Raises OSError where a folder on this machine cannot be written to, or made."""
        check_writable([self.local, self.root, *self.folders])

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
