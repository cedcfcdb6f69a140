"""Where `xscl spark run --to DIR` keeps what.

matches/      Parquet or JSON Lines, a folder for each batch that found something; a batch counts
              when it has `_SUCCESS`
dead/         the documents that cannot be read, likewise, Parquet
batches/      what each batch brought, in numbers: a file of JSON each
queries/      the revisions of the queries, and what stays as it was when the join began
checkpoint/   how far Spark is, and its state
state.json    how large the state was when last looked at
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from xscl.errors import XSCLError
from xscl.spark.folders import check_writable, is_remote, place_of

__all__ = ["FORMATS", "JoinFolder"]

FORMATS = ("parquet", "jsonl")
"""How matches are written."""


@dataclass(frozen=True, slots=True)
class JoinFolder:
    """The folders of a join; `root` is a path or an address that Spark can write to."""

    root: str

    @classmethod
    def at(cls, name: str) -> JoinFolder:
        """That of the folder a user names."""
        return cls(place_of(name))

    def check(self) -> None:
        """Raises OSError where it cannot be written to, XSCLError where it is another's."""
        check_writable([self.root, self.matches, self.dead, self.queries, self.checkpoint])
        place = Path(self.root)
        if is_remote(self.root) or not place.is_dir() or Path(self.queries).is_dir():
            return
        if any(place.iterdir()):
            raise XSCLError(
                f"--to {self.root}: the folder is not empty, and no `xscl spark run` has filled "
                "it: name another"
            )

    @property
    def matches(self) -> str:
        """What was found."""
        return f"{self.root}/matches"

    @property
    def dead(self) -> str:
        """Dead letters."""
        return f"{self.root}/dead"

    @property
    def batches(self) -> str:
        """What each batch brought."""
        return f"{self.root}/batches"

    @property
    def queries(self) -> str:
        """The revisions of the queries."""
        return f"{self.root}/queries"

    @property
    def checkpoint(self) -> str:
        """How far Spark is."""
        return f"{self.root}/checkpoint"

    @property
    def state(self) -> str:
        """How large the state is."""
        return f"{self.root}/state.json"
