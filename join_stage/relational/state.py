"""The join state: Algorithm 2, and its reverse.

A batch leaves its witnesses, its documents and composites, and the strings that are new.  Those
that are joined in process wait in `waiting` to be written: until they are asked for here, or
memory has no room for more.
As queries come and go, stage 1's leaf paths change, and with them the rows that bear them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from join_stage.batch import Accepted, Batch, DoubleOf
from join_stage.relational.columns import (
    accept_columns,
    composite_columns,
    document_columns,
    string_columns,
    witness_columns,
)
from join_stage.relational.relations import delete, insert, numbers, recreate
from join_stage.relational.waiting import Waiting

if TYPE_CHECKING:
    import duckdb

__all__ = ["JoinState"]

_LEAST_WAITING = 5_000
_PER_ROW = 1_024
"""So many nodes, documents and composites may wait to be written: of as many bytes of memory one,
but these at least."""

_TAKEN = 1_000
"""Of so many nodes, documents and composites the batches are gathered."""

_AT_ONCE = 5_000
"""So many documents and composites are written at once where memory has no room for more; and so
many may wait to be deleted."""


class JoinState:
    """The documents' rows in the relations; batches that are not there yet wait for `write`.

    `rows` counts the rows of `node`, written or waiting; `came` how many were ever written, and
    `loosened` how many have ever gone or lost their string.  `accepts_changed` is set when accepts
    change, and `paths_changed` when they do in the relation; `unsettled` are leaf paths that have
    taken over rows of others, and whose other accepts come with the next batch.
    """

    def __init__(
        self, connection: duckdb.DuckDBPyConnection, double_of: DoubleOf, memory: int = 0
    ) -> None:
        self._connection = connection
        self.double_of = double_of
        self._most_waiting = max(memory // _PER_ROW, _LEAST_WAITING)
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
        self._gathered = Waiting()
        # Batches that are not gathered yet, and how much there is in them.
        self._taken: list[Batch] = []
        self._size_taken = 0
        self._accepts_waiting: list[Accepted] = []
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
        if self._size_taken > _TAKEN and len(self._waiting) > self._most_waiting:
            self._count_dropped(self._waiting.settle())
            while len(self._waiting) > self._most_waiting:
                self._write(self._waiting.take(_AT_ONCE))

    def write(self) -> None:
        """Writes what has waited for it."""
        if self._accepts_waiting:
            insert(self._connection, "accept", accept_columns(self._accepts_waiting))
            self._accepts_waiting = []
            self.accepts_changed = self.paths_changed = True
        self._count_dropped(self._waiting.settle())
        waiting, self._gathered = self._waiting, Waiting()
        self._write(waiting)
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
        take the place of the documents' rows, the composites keep theirs."""
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
        """Follows what became of leaf paths.

        `gone` are spines that are no more, `moved` leaf paths that are no more, with those that
        take over their rows, or None where no query reads them; `unvalued` are leaf paths,
        numbered as after the move, whose strings no query reads.
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
        """Adds what paths accept anew; with it, all is known of those that have taken over rows."""
        if self.unsettled:
            self.unsettled.clear()
            self.accepts_changed = True
        if accepts:
            self._accepts_waiting += accepts
            self.accepts_changed = True

    def drop(self, documents: Sequence[int]) -> None:
        """Drops documents and composites with all that they left; they are deleted later."""
        waiting = self._waiting
        self._dropped += waiting.drop(documents)
        if 4 * len(waiting.gone) > len(waiting.times):
            self._count_dropped(waiting.settle())
        if len(self._dropped) > _AT_ONCE or len(self._dropped) == self._documents:
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
            "SELECT doc, ts, path, chain, s FROM node WHERE doc IN (SELECT unnest(?::INTEGER[]))",
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

    def values(self, strings: Collection[int]) -> dict[int, tuple[str, float | None]]:
        """The values and doubles of some strings, by number; none of what equals nothing."""
        self.write()
        found = self._connection.execute(
            "SELECT id, value, double FROM strings WHERE id IN (SELECT unnest(?::BIGINT[]))",
            [list(strings)],
        ).fetchall()
        return {number: (value, double) for number, value, double in found}

    def strings_held(self, strings: Collection[int]) -> set[int]:
        """The strings of some that rows hold."""
        self.write()
        held = self._connection.execute(
            "SELECT DISTINCT s FROM node WHERE s IN (SELECT unnest(?::BIGINT[]))", [list(strings)]
        ).fetchall()
        return {number for (number,) in held}

    def unheld_strings(self) -> dict[int, str]:
        """The strings that no row holds, by number."""
        waiting = self._waiting
        self._count_dropped(waiting.settle())
        self._delete_dropped()
        unheld = waiting.unheld()
        if self._strings:
            held = waiting.held()
            rows: list[tuple[int, str]] = self._connection.execute(
                "SELECT id, value FROM strings "
                "WHERE id NOT IN (SELECT s FROM node WHERE s IS NOT NULL)"
            ).fetchall()
            unheld.update((number, value) for number, value in rows if number not in held)
        return unheld

    def drop_strings(self, strings: Sequence[int]) -> None:
        """Drops strings that nothing holds any more."""
        if written := self._waiting.drop_strings(strings):
            delete(self._connection, "strings", "id", [*written])

    def witnesses_by_stream(self) -> dict[str, int]:
        """The number of rows of `node` that the documents of each stream have, with what waits to
        be written."""
        query = "SELECT stream, count(*) FROM node JOIN document USING (doc) GROUP BY stream"
        rows = Counter(dict(self._connection.execute(query).fetchall()))
        streams = {number: stream for number, _, stream, _ in self._waiting.documents}
        for number, layout, _ in self._waiting.witnesses:
            if number in streams:
                rows[streams[number]] += len(layout.paths)
        return rows

    @property
    def _waiting(self) -> Waiting:
        """All that waits to be written."""
        if self._taken:
            self._gathered.add(self._taken)
            self._taken, self._size_taken = [], 0
        return self._gathered

    def _write(self, waiting: Waiting) -> None:
        self._add(waiting)
        if waiting.witnesses:
            insert(self._connection, "node", witness_columns(waiting.witnesses, waiting.times))

    def _add(self, some: Batch | Waiting) -> None:
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
