"""How the join stage goes about its work: what changes its speed, never its matches."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Strategies"]


@dataclass(frozen=True, slots=True)
class Strategies:
    """How an engine goes about its joins, never what it finds; each way can be switched off alone.

    Batches of up to `in_process` documents and composites are joined in process, larger ones in
    DuckDB; 0 joins all in DuckDB.  (Measured: in process a document costs the same in a batch of
    any size; DuckDB is for batches that memory has no room for.)  The view cache of the former may
    have `memory` bytes, and the memo of signatures is the smaller the less that is; slices that
    went are filled again from DuckDB.  With
    `signatures` the conjunctive queries are run once for each way in which two documents are
    alike, else for each pair.  With `ranges` the documents that have one common string alike are
    not looked at one by one.  With `templates` queries of one template are one conjunctive query
    (s_⋈ of RUMOR's rules), with `channels` queries that join the same have one row and its matches
    in common (c_⋈), else each has its own.
    """

    in_process: int = 100_000
    memory: int = 2**30
    signatures: bool = True
    ranges: bool = True
    templates: bool = True
    channels: bool = True
