"""A state file of an earlier version -> one of the present version, in one transaction.

Each change of the relations in schema.py comes with a step that makes it in a file: `STEPS` has the
step from each version to the next.  If one fails the file is as it was.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import duckdb

from xscl.durable.schema import VERSION, refused_version
from xscl.errors import StateError

__all__ = ["STEPS", "migrate", "oldest"]


def _patterns(connection: duckdb.DuckDBPyConnection) -> None:
    """Version 2 has patterns, documents that have an interval, and a time that was advanced."""
    connection.execute("ALTER TABLE counters ADD advanced BIGINT")
    connection.execute("ALTER TABLE counters ADD flushed BIGINT")
    connection.execute("UPDATE counters SET flushed = 0")
    connection.execute("ALTER TABLE documents ADD start BIGINT")
    connection.execute("CREATE TABLE patterns (template VARCHAR, part VARCHAR, snapshot VARCHAR)")


def _event_queries(connection: duckdb.DuckDBPyConnection) -> None:
    """Version 3 has event queries: the relations are the same, but programs of before do not know
    what event queries keep in `patterns` and in the parameters of subscriptions."""


def _serving(connection: duckdb.DuckDBPyConnection) -> None:
    """Version 4 has how many matches each query of a server has found, and streams whose recent
    documents are retained whether or not a query reads them."""
    connection.execute(
        "CREATE TABLE tallies "
        "(query VARCHAR, matches BIGINT, since DOUBLE, rate DOUBLE, measured DOUBLE)"
    )
    connection.execute("CREATE TABLE floors (stream VARCHAR, length BIGINT, most BIGINT)")


def _one_layout(connection: duckdb.DuckDBPyConnection) -> None:
    """Version 5 has one layout of events.  Before, those of event queries had all attributes of a
    document, or nothing, in front of their slots: now that is a slot, and gone of computed ones."""
    rows = connection.execute("SELECT template, snapshot FROM patterns").fetchall()
    for template, snapshot in rows:
        if template.startswith("\nevents\n"):
            types, events = json.loads(snapshot)
            types = [[number, name, [["VALUE"], *slots]] for number, name, slots in types]
            written = json.dumps([types, events])
        elif template.startswith("\nstate\n"):
            mark, names, state = json.loads(snapshot)
            state["operators"] = [
                (of, [[["VALUE"], *slots] for slots in sources], _without_gaps(held))
                if sources
                else (of, sources, held)
                for of, sources, held in state["operators"]
            ]
            written = json.dumps([mark, names, state])
        else:
            continue
        connection.execute(
            "UPDATE patterns SET snapshot = ? WHERE template = ?", [written, template]
        )


def _without_gaps(value: Any) -> Any:
    """Instances, as they were written, with events as version 5 has them: a computed one has no
    number, and had nothing behind that."""
    if isinstance(value, list):
        return [*map(_without_gaps, value)]
    if isinstance(value, dict) and "t" in value:
        items = value["t"]
        gap = len(items) > 3 and items[2] is items[3] is None
        return {"t": _without_gaps([*items[:3], *items[4:]] if gap else items)}
    return value


def _retractions(connection: duckdb.DuckDBPyConnection) -> None:
    """Version 6 has documents that may be retracted, and how many retractions were of unknown
    ones."""
    connection.execute("ALTER TABLE counters ADD unknown BIGINT")
    connection.execute("UPDATE counters SET unknown = 0")


STEPS: Mapping[int, Callable[[duckdb.DuckDBPyConnection], object]] = {
    1: _patterns,
    2: _event_queries,
    3: _serving,
    4: _one_layout,
    5: _retractions,
}
"""By the version that a step starts from."""


def oldest() -> int:
    """The oldest version from which steps lead to the present one."""
    version = VERSION
    while version - 1 in STEPS:
        version -= 1
    return version


def migrate(connection: duckdb.DuckDBPyConnection, path: Path, version: int, made_by: str) -> None:
    """Brings a file that is open for writing to the present version; raises StateError if that
    cannot be, and it is as it was."""
    if version == VERSION:
        return
    if version < oldest():
        raise refused_version(path, version, made_by)
    connection.execute("BEGIN")
    try:
        for step in range(version, VERSION):
            STEPS[step](connection)
        connection.execute("UPDATE xscl_state SET version = ?", [VERSION])
        connection.execute("COMMIT")
    except duckdb.Error as error:
        with contextlib.suppress(duckdb.Error):
            connection.execute("ROLLBACK")
        reason = str(error).splitlines()[0]
        raise StateError(
            f"{path}, a state of version {version}, cannot be brought to version {VERSION} "
            f"({reason}); it is as it was: continue with {made_by}"
        ) from error
