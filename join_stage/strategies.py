"""Options of the join stage: they change its speed, never its matches."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Strategies"]


@dataclass(frozen=True, slots=True)
class Strategies:
    """Options of an engine's joins, which never change its matches; each can be switched off alone.

    Batches of up to `in_process` documents and composites are joined in process, larger ones in
    DuckDB; 0 joins all in DuckDB.  (Measured: in process a document costs the same in a batch of
    any size; DuckDB is for batches that do not fit in memory.) The view cache of the former may
    have `memory` bytes; with less, the memo of signatures is smaller, too.  Evicted slices are
    filled again from DuckDB.  With `signatures` the conjunctive queries are run once for each set
    of equal positions that pairs of documents have in common, else for each pair.  With `ranges`,
    documents that all have just one string in common with another are not visited one by one.  With
    `templates` queries of one template are one conjunctive query (s_⋈ of RUMOR's rules), with
    `channels` queries that join the same have one row and its matches in common (c_⋈), else each
    has its own.
    """

    in_process: int = 100_000
    memory: int = 2**30
    signatures: bool = True
    ranges: bool = True
    templates: bool = True
    channels: bool = True
