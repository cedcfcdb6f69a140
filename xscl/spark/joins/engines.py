"""The engines of a process: a worker of Spark has one task after another, and queries are loaded
once for all of them."""

from __future__ import annotations

from itertools import count
from weakref import WeakKeyDictionary

from xscl.engine.engine import Engine
from xscl.errors import QueryStopped
from xscl.garbage import collect_rarely
from xscl.spark.joins.plan import Group, Queries

__all__ = ["dismiss", "engine_for", "new_engine", "stops_of"]

_ENGINES: dict[tuple[str, frozenset[str] | None], Engine] = {}
_MOST = 8
"""So many engines stay."""
_MADE = count()
_ROUND = 32
"""After so many new engines all objects of the process are visited."""
_STOPS: WeakKeyDictionary[Engine, list[QueryStopped]] = WeakKeyDictionary()


def engine_for(queries: Queries, group: Group | None = None) -> Engine:
    """This process' engine with the queries of a group, or with all, for documents in order of
    time; the caller who gives it documents clears it."""
    key = queries.digest, None if group is None else group.queries
    engine = _ENGINES.get(key)
    if engine is None:
        while len(_ENGINES) >= _MOST:
            _ENGINES.pop(next(iter(_ENGINES))).close()
        engine = _ENGINES[key] = new_engine(queries, group, 0)
    return engine


def new_engine(queries: Queries, group: Group | None, lateness: float | str | None) -> Engine:
    """An engine with the queries of a group, or with all."""
    # Engines that are closed are garbage at some time: all that is there is looked at now and then.
    collect_rarely(again=next(_MADE) % _ROUND == 0)
    stops: list[QueryStopped] = []
    engine = queries.engine(lateness, stops.append)
    _STOPS[engine] = stops
    if group is not None:
        group.keep_to(engine)
    return engine


def stops_of(engine: Engine) -> list[QueryStopped]:
    """The queries of an engine that have been stopped since it was last asked."""
    stops = _STOPS[engine]
    found = [*stops]
    stops.clear()
    return found


def dismiss(engine: Engine) -> None:
    """Closes an engine that lacks queries which were stopped: the next cell gets another."""
    for key, one in [*_ENGINES.items()]:
        if one is engine:
            del _ENGINES[key]
    engine.close()
