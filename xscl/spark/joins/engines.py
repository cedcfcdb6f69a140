"""The engines of a process: a worker of Spark has one task after another, and queries are loaded
once for all of them."""

from __future__ import annotations

from xscl.engine.engine import Engine
from xscl.garbage import collect_rarely
from xscl.spark.joins.plan import Group, Queries

__all__ = ["engine_for", "new_engine"]

_ENGINES: dict[tuple[str, str], Engine] = {}
_MOST = 8
"""So many engines stay."""


def engine_for(queries: Queries, group: Group | None = None) -> Engine:
    """This process' engine with the queries of a group, or with all, for documents in order of
    time; the caller who gives it documents clears it."""
    key = queries.digest, "" if group is None or group.queries is None else group.kind
    engine = _ENGINES.get(key)
    if engine is None:
        while len(_ENGINES) >= _MOST:
            _ENGINES.pop(next(iter(_ENGINES))).close()
        engine = _ENGINES[key] = new_engine(queries, group, 0)
    return engine


def new_engine(queries: Queries, group: Group | None, lateness: float | str | None) -> Engine:
    """An engine with the queries of a group, or with all."""
    collect_rarely()
    engine = queries.engine(lateness)
    if group is not None:
        group.keep_to(engine)
    return engine
