"""How far `xscl spark run` is, read from its folder; it may be running."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from xscl.errors import StateError
from xscl.spark.folders import is_remote
from xscl.spark.joins.folder import JoinFolder
from xscl.times import moment

__all__ = ["JoinStatus", "read_join_status"]

_SHOWN = 20


@dataclass(frozen=True, slots=True)
class JoinStatus:
    """How far a join is: all that its `batches` brought; `problems` are reasons for which documents
    are dead letters, the most frequent first, each with a number, `stopped` the queries that needed
    too much, each once, and why.  `state_rows` is what Spark's state store had when the last run
    looked, None where none has."""

    batches: int
    last_batch: str | None
    documents: int
    matches: int
    duplicate: int
    late: int
    dead: int
    problems: dict[str, int]
    stopped: list[str]
    revisions: int
    state_rows: int | None
    state_bytes: int | None


def read_join_status(folder: JoinFolder) -> JoinStatus:
    """How far the join of a local folder is; raises StateError if there is none."""
    revisions = len([*Path(folder.queries).glob("revision-*.json")])
    if is_remote(folder.root) or not revisions:
        raise StateError(
            f"{folder.root} is not what `xscl spark run --to` fills, on a disk or a mount"
        )
    batches = [*_read(Path(folder.batches))]
    last = max((batch["time"] for batch in batches), default=None)
    problems = Counter[str]()
    stopped: dict[str, None] = {}
    for batch in batches:
        problems.update(batch["problems"])
        # Earlier versions noted none.
        stopped.update(dict.fromkeys(batch.get("stopped", ())))
    state = next(_read(Path(folder.root), "state.json"), {})
    return JoinStatus(
        batches=len(batches),
        last_batch=None if last is None else moment(int(last) * 1_000_000),
        **{
            name: sum(batch[name] for batch in batches)
            for name in ("documents", "matches", "duplicate", "late", "dead")
        },
        problems=dict(problems.most_common(_SHOWN)),
        stopped=[*stopped],
        revisions=revisions,
        state_rows=state.get("rows"),
        state_bytes=state.get("bytes"),
    )


def _read(folder: Path, pattern: str = "*.json") -> Iterator[dict[str, Any]]:
    for file in folder.glob(pattern):
        # It may just be replaced.
        with suppress(FileNotFoundError, json.JSONDecodeError):
            yield json.loads(file.read_text(encoding="utf-8"))
