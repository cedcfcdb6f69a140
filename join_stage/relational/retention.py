"""Retention: witnesses are retained while a query can still reach them (docs/laws.md#time).

A row of `node` can be reached through the spines that its leaf path accepts, for as long as the
widest window in which one of them can match.  So a query without a window does not retain what only
others read.  DuckDB reuses the space of deleted rows as new ones come; under a sliding window its
memory is flat.  The caller decides which documents are retained and passes those that are dropped;
this module drops the rows of the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from xscl.join_stage.registry import Registry
from xscl.join_stage.relational.relations import numbers, recreate
from xscl.join_stage.relational.state import JoinState

if TYPE_CHECKING:
    import duckdb

__all__ = ["Retention"]

_LEAST = 5_000
"""So many rows must have come before the state is searched for expired ones."""


class Retention:
    """Drops what the watermark has passed; each kind only when enough has changed for a search of
    all that is retained to pay."""

    def __init__(
        self, connection: duckdb.DuckDBPyConnection, registry: Registry, state: JoinState
    ) -> None:
        self._connection = connection
        self._registry = registry
        self._state = state
        self._came = 0
        self._loosened = 0
        self._version = -1

    def evict(self, watermark: int | None, documents: Sequence[int], *, exact: bool) -> None:
        """Drops documents and composites; and of all others the rows that can no longer be reached
        from the watermark (microseconds)."""
        state = self._state
        if documents:
            state.drop(documents)
        if exact:
            state.write()
        if watermark is None:
            return
        if exact or state.came - self._came > max(_LEAST, state.rows // 8):
            self._came = state.came
            self._note_reaches()
            state.drop_before(watermark, "path_reach")

    def unstored_strings(self, *, exact: bool) -> dict[int, str]:
        """The strings that no row has, by number; none unless the search pays or is to be
        `exact`."""
        state = self._state
        if not exact and state.loosened - self._loosened <= state.rows // 4:
            return {}
        self._loosened = state.loosened
        return state.unstored_strings()

    def _note_reaches(self) -> None:
        """`path_reach`: the reach of each leaf path, the longest of the spines it accepts.

        A path for which some of these are still to come is left out: its rows stay until they are
        known.  So is a composite's column (its path is negative): a composite is dropped as a
        whole, since it may pass on strings of columns that its own readers do not join.
        """
        registry, state = self._registry, self._state
        if registry.version == self._version and not state.accepts_changed:
            return
        if registry.version != self._version:
            self._version = registry.version
            reaches = registry.reaches()
            columns = {
                "spine": numbers([*reaches]),
                "reach": numbers([*reaches.values()]),
            }
            recreate(self._connection, "spine_reach", columns)
        state.accepts_changed = False
        self._connection.execute(
            "CREATE OR REPLACE TEMP TABLE path_reach AS "
            "SELECT path, max(coalesce(reach, 0)) AS reach "
            "FROM accept LEFT JOIN spine_reach USING (spine) "
            "WHERE path >= 0 AND NOT list_contains(?::INTEGER[], path) GROUP BY path",
            [list(state.unsettled)],
        )
