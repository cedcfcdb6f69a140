"""The join state: Algorithm 2, and its reverse.

A batch leaves its witnesses, its documents and composites, and the new strings.  Those that are
joined in process are `pending`: they are written on demand, or when memory is full.  As queries
come and go, stage 1's leaf paths change, and with them the rows that have them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from xscl.join_stage.batch import Accepted, Batch, DoubleOf
from xscl.join_stage.relational.columns import (
    accept_columns,
    composite_columns,
    document_columns,
    string_columns,
    witness_columns,
)
from xscl.join_stage.relational.pending import PendingRows
from xscl.join_stage.relational.relations import delete, insert, numbers, recreate

if TYPE_CHECKING:
    import duckdb

__all__ = ["JoinState"]

_LEAST_PENDING = 5_000
_PER_ROW = 1_024
"""The number of nodes, documents and composites that may be pending: one for so many bytes of
memory, but at least the former number."""

_TAKEN = 1_000
"""Batches are gathered once they have so many nodes, documents and composites."""

_WRITTEN_TOGETHER = 5_000
"""The number of documents and composites that are written together when memory is full, and that
may be pending for deletion."""


class JoinState:
    """The documents' rows in the relations; other batches are pending until `write`.

    `rows` counts the rows of `node`, written or pending; `came` how many were ever written, and
    `loosened` how many were ever dropped or lost their string.  `accepts_changed` is set when
    accepts change, and `paths_changed` when they do in the relation; `unsettled` are leaf paths
    that have taken over rows of others, and whose other accepts come with the next batch.
    """

    def __init__(
        self, connection: duckdb.DuckDBPyConnection, double_of: DoubleOf, memory: int = 0
    ) -> None:
        self._connection = connection
        self.double_of = double_of
        self._most_pending = max(memory // _PER_ROW, _LEAST_PENDING)
        self.rows = 0
        self.came = 0
        self.loosened = 0
        self.accepts_changed = False
        self.paths_changed = False
        self.unsettled: set[int] = set()
        # In the relations.
        self._documents = 0
        self._composites = 0
        self._strings = False
        self._gathered = PendingRows()
        # Batches that are not gathered yet, and their size.
        self._taken: list[Batch] = []
        self._size_taken = 0
        self._pending_accepts: list[Accepted] = []
        self._dropped: list[int] = []

    def begin(self, batch: Batch) -> None:
        """Makes a batch the current one and adds it to the state."""
        self.write()
        self.rows += batch.rows
        self._add(batch)
        recreate(self._connection, "node_w", witness_columns(batch.witnesses, batch.times))
        if batch.witnesses:
            self._connection.execute("INSERT INTO node BY NAME FROM node_w")

    def take(self, batch: Batch) -> None:
        """Adds a batch to the state; it is written later."""
        self.rows += batch.rows
        self._taken.append(batch)
        self._size_taken += batch.rows + len(batch.times)
        if self._size_taken > _TAKEN and len(self._pending) > self._most_pending:
            self._count_dropped(self._pending.settle())
            while len(self._pending) > self._most_pending:
                self._write(self._pending.take(_WRITTEN_TOGETHER))

    def write(self) -> None:
        """Writes what is pending."""
        if self._pending_accepts:
            insert(self._connection, "accept", accept_columns(self._pending_accepts))
            self._pending_accepts = []
            self.accepts_changed = self.paths_changed = True
        self._count_dropped(self._pending.settle())
        pending, self._gathered = self._pending, PendingRows()
        self._write(pending)
        self._delete_dropped()

    def make_current(self, batch: Batch) -> None:
        """Makes a batch that was taken the current one."""
        self.write()
        recreate(self._connection, "node_w", witness_columns(batch.witnesses, batch.times))

    def make_all_current(self) -> None:
        """Makes all that is in the state the current batch."""
        self.write()
        self._connection.execute("CREATE OR REPLACE TEMP TABLE node_w AS FROM node")

    def begin_again(self, batch: Batch) -> None:
        """Makes documents and composites that are in the state the current batch: its witnesses
        replace the documents' rows, the composites keep theirs."""
        self.write()
        if batch.strings:
            self._strings = True
            insert(self._connection, "strings", string_columns(batch.strings, self.double_of))
        recreate(self._connection, "node_w", witness_columns(batch.witnesses, batch.times))
        if batch.documents:
            self._delete_rows("doc", [number for number, *_ in batch.documents])
        if batch.rows:
            self._connection.execute("INSERT INTO node BY NAME FROM node_w")
            self.rows += batch.rows
            self.came += batch.rows
        if batch.composites:
            composites = numbers([number for number, *_ in batch.composites])
            recreate(self._connection, "reviewed", {"doc": composites})
            self._connection.execute(
                "INSERT INTO node_w BY NAME SELECT node.* FROM node JOIN reviewed USING (doc)"
            )

    def change(
        self,
        gone: Sequence[int],
        moved: Sequence[tuple[int, int | None]],
        unvalued: Sequence[int],
    ) -> None:
        """Applies changes of leaf paths.

        `gone` are released spines, `moved` removed leaf paths, each with the one that takes over
        its rows, or None where no query reads them; `unvalued` are leaf paths, numbered as after
        the move, whose strings no query reads.
        """
        self.write()
        self.paths_changed = True
        connection = self._connection
        if gone:
            delete(connection, "accept", "spine", gone)
        if moved:
            delete(connection, "accept", "path", [path for path, _ in moved])
            if dropped := [path for path, target in moved if target is None]:
                self._delete_rows("path", dropped)
            if renamed := [(path, target) for path, target in moved if target is not None]:
                paths, targets = zip(*renamed, strict=True)
                renames = {"old": numbers(paths), "new": numbers(targets)}
                recreate(connection, "renamed", renames)
                connection.execute("UPDATE node SET path = new FROM renamed WHERE path = old")
                self.unsettled.update(targets)
        if unvalued:
            recreate(connection, "unvalued", {"path": numbers(unvalued)})
            (loosened,) = connection.execute(
                "UPDATE node SET s = NULL "
                "WHERE s IS NOT NULL AND path IN (SELECT path FROM unvalued)"
            ).fetchall()[0]
            self.loosened += loosened
        self.accepts_changed = True

    def add_accepts(self, accepts: Sequence[Accepted]) -> None:
        """Adds the new accepts of leaf paths; this settles those that have taken over rows."""
        if self.unsettled:
            self.unsettled.clear()
            self.accepts_changed = True
        if accepts:
            self._pending_accepts += accepts
            self.accepts_changed = True

    def drop(self, documents: Sequence[int]) -> None:
        """Drops documents and composites with all their rows; they are deleted later."""
        pending = self._pending
        self._dropped += pending.drop(documents)
        if 4 * len(pending.gone) > len(pending.times):
            self._count_dropped(pending.settle())
        if len(self._dropped) > _WRITTEN_TOGETHER or len(self._dropped) == self._documents:
            self._delete_dropped()

    def drop_before(self, watermark: int, reaches: str) -> None:
        """Drops the written rows that are older than the watermark by more than their leaf path's
        reach, which is a row of the relation `reaches` (path, reach)."""
        (dropped,) = self._connection.execute(
            f"DELETE FROM node USING {reaches} p "
            f"WHERE node.path = p.path AND node.ts < {watermark} - p.reach"
        ).fetchall()[0]
        self._count_dropped(dropped)

    def leaves_with(self, strings: Collection[int]) -> list[tuple[int, int, int, int, list[int]]]:
        """The written leaves with some strings: string, document, time, path, chain."""
        return self._connection.execute(
            "SELECT s, doc, ts, path, chain FROM node WHERE s IN (SELECT unnest(?::BIGINT[]))",
            [list(strings)],
        ).fetchall()

    def leaves_of(
        self, documents: Collection[int]
    ) -> list[tuple[int, int, int, list[int], int | None]]:
        """The written leaves of some documents: document, time, path, chain, string."""
        return self._connection.execute(
            "SELECT doc, ts, path, chain, s FROM node WHERE doc IN (SELECT unnest(?::BIGINT[]))",
            [list(documents)],
        ).fetchall()

    def documents_with(self, spines: Collection[int]) -> list[tuple[int, int]]:
        """The documents and composites with a node for any of some spines, and their times."""
        if not self.rows:
            return []
        self.write()
        return self._connection.execute(
            "SELECT DISTINCT doc, ts FROM node JOIN accept USING (path) "
            "WHERE spine IN (SELECT unnest(?::INTEGER[]))",
            [list(spines)],
        ).fetchall()

    def strings_with(self, spines: Collection[int]) -> list[tuple[int, int, int]]:
        """The strings that any of some spines has: document, time, string."""
        if not self.rows:
            return []
        self.write()
        return self._connection.execute(
            "SELECT DISTINCT doc, ts, s FROM node JOIN accept USING (path) "
            "WHERE s >= 0 AND spine IN (SELECT unnest(?::INTEGER[]))",
            [list(spines)],
        ).fetchall()

    def values(self, strings: Collection[int]) -> dict[int, tuple[str, float | None]]:
        """The values and doubles of some strings, by number; none of what equals nothing."""
        self.write()
        found = self._connection.execute(
            "SELECT id, value, double FROM strings WHERE id IN (SELECT unnest(?::BIGINT[]))",
            [list(strings)],
        ).fetchall()
        return {number: (value, double) for number, value, double in found}

    def strings_stored(self, strings: Collection[int]) -> set[int]:
        """Those of some strings that rows have."""
        self.write()
        kept = self._connection.execute(
            "SELECT DISTINCT s FROM node WHERE s IN (SELECT unnest(?::BIGINT[]))", [list(strings)]
        ).fetchall()
        return {number for (number,) in kept}

    def unstored_strings(self) -> dict[int, str]:
        """The strings that no row has, by number."""
        pending = self._pending
        self._count_dropped(pending.settle())
        self._delete_dropped()
        unstored = pending.unstored()
        if self._strings:
            kept = pending.strings_of_witnesses()
            rows: list[tuple[int, str]] = self._connection.execute(
                "SELECT id, value FROM strings "
                "WHERE id NOT IN (SELECT s FROM node WHERE s IS NOT NULL)"
            ).fetchall()
            unstored.update((number, value) for number, value in rows if number not in kept)
        return unstored

    def drop_strings(self, strings: Sequence[int]) -> None:
        """Drops strings that nothing stores any more."""
        if written := self._pending.drop_strings(strings):
            delete(self._connection, "strings", "id", [*written])

    def witnesses_by_stream(self) -> dict[str, int]:
        """The number of rows of `node` that the documents of each stream have, including pending
        ones."""
        query = "SELECT stream, count(*) FROM node JOIN document USING (doc) GROUP BY stream"
        rows = Counter(dict(self._connection.execute(query).fetchall()))
        streams = {number: stream for number, _, stream, _ in self._pending.documents}
        for number, layout, _ in self._pending.witnesses:
            if number in streams:
                rows[streams[number]] += len(layout.paths)
        return rows

    @property
    def _pending(self) -> PendingRows:
        """All that is pending."""
        if self._taken:
            self._gathered.add(self._taken)
            self._taken, self._size_taken = [], 0
        return self._gathered

    def _write(self, pending: PendingRows) -> None:
        self._add(pending)
        if pending.witnesses:
            insert(self._connection, "node", witness_columns(pending.witnesses, pending.times))

    def _add(self, some: Batch | PendingRows) -> None:
        """Adds all rows but witnesses."""
        self._documents += len(some.times)
        self._composites += len(some.composites)
        self.came += some.rows
        if some.strings:
            self._strings = True
            insert(self._connection, "strings", string_columns(some.strings, self.double_of))
        if some.documents:
            insert(self._connection, "document", document_columns(some.documents))
        if some.composites:
            insert(self._connection, "composite", composite_columns(some.composites))

    def _delete_dropped(self) -> None:
        dropped, self._dropped = self._dropped, []
        if not dropped:
            return
        self._documents -= len(dropped)
        self._delete_rows("doc", dropped)
        delete(self._connection, "document", "doc", dropped)
        if self._composites:
            self._composites -= delete(self._connection, "composite", "doc", dropped)

    def _delete_rows(self, column: str, values: Sequence[int]) -> None:
        self._count_dropped(delete(self._connection, "node", column, values))

    def _count_dropped(self, rows: int) -> None:
        self.rows -= rows
        self.loosened += rows
