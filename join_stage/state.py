"""The join state: Algorithm 2, and its reverse.

A batch leaves its witnesses, its documents and composites, and the strings that are new.  What
the queries' coming and going changes in stage 1's leaf paths changes the rows that bear them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import duckdb

from join_stage.relations import Columns, delete, insert, numbers, recreate

__all__ = ["Batch", "JoinState"]


@dataclass(frozen=True, slots=True)
class Batch:
    """A batch of documents and composites with their witnesses, as Arrow columns.

    `documents`: doc, ts, stream, id; `witnesses`: doc, node, path, s, ts, chain; `accepts`: path,
    spine, depths, of the paths that are new; `strings`: id, value and double of the new ones;
    `composites`: doc, ts, start, first, parts, or no columns where there are none.  The numbers
    of documents and composites ascend together and begin after those of all batches before.
    """

    documents: Columns
    witnesses: Columns
    accepts: Columns
    strings: Columns
    composites: Columns = field(default_factory=dict)

    @property
    def numbers(self) -> list[int]:
        """The numbers of its documents, then those of its composites."""
        return self._of_both("doc")

    @property
    def times(self) -> list[int]:
        """The times at which its documents, then those at which its composites end."""
        return self._of_both("ts")

    def _of_both(self, column: str) -> list[int]:
        values: list[int] = self.documents[column].to_pylist()
        return values + self.composites[column].to_pylist() if self.composites else values


class JoinState:
    """What documents have left behind.

    `rows` are those of `node`; `came` says how many have ever come, and `loosened` how many have
    ever gone or lost their string.  `accepts_changed` tells that `accept` has changed since it
    was last set to False; `unsettled` are leaf paths that have taken over rows of others, and of
    which the next batch says what else they accept.
    """

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection
        self.rows = 0
        self.came = 0
        self.loosened = 0
        self.accepts_changed = False
        self.unsettled: set[int] = set()
        self._composites = 0

    def begin(self, batch: Batch) -> None:
        """Makes a batch the current one and adds it to the state."""
        recreate(self._connection, "node_w", batch.witnesses)
        self._add_strings(batch)
        if len(batch.documents["doc"]):
            insert(self._connection, "document", batch.documents)
        if batch.composites and len(batch.composites["doc"]):
            insert(self._connection, "composite", batch.composites)
            self._composites += len(batch.composites["doc"])
        self._keep(len(batch.witnesses["doc"]))

    def begin_again(self, batch: Batch) -> None:
        """Makes documents and composites that are in the state the current batch: its witnesses
        take the place of the documents' rows, the composites keep theirs."""
        self._add_strings(batch)
        recreate(self._connection, "node_w", batch.witnesses)
        if len(batch.documents["doc"]):
            self._delete_rows("doc", batch.documents["doc"].to_pylist())
        self._keep(len(batch.witnesses["doc"]))
        if batch.composites:
            recreate(self._connection, "reviewed", {"doc": batch.composites["doc"]})
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
        take over their rows, or None where nobody asks for them; `unvalued` are leaf paths,
        numbered as after the move, whose strings nobody asks for.
        """
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

    def add_accepts(self, accepts: Columns) -> bool:
        """Adds what paths accept anew; returns whether there is anything."""
        if self.unsettled:
            self.unsettled.clear()
            self.accepts_changed = True
        if not len(accepts["path"]):
            return False
        insert(self._connection, "accept", accepts)
        self.accepts_changed = True
        return True

    def drop(self, documents: Sequence[int]) -> None:
        """Drops documents and composites with all that they left."""
        self._delete_rows("doc", documents)
        delete(self._connection, "document", "doc", documents)
        if self._composites:
            self._composites -= delete(self._connection, "composite", "doc", documents)

    def drop_before(self, watermark: int, reaches: str) -> None:
        """Drops the rows that are older than the watermark by more than their leaf path's reach,
        which is a row of the relation `reaches` (path, reach)."""
        (dropped,) = self._connection.execute(
            f"DELETE FROM node USING {reaches} p "
            f"WHERE node.path = p.path AND node.ts < {watermark} - p.reach"
        ).fetchall()[0]
        self._count_dropped(dropped)

    def sizes(self) -> dict[str, int]:
        """The number of rows of `node`, `strings`, `accept`, `document` and `composite`."""
        relations = ("node", "strings", "accept", "document", "composite")
        counts = ", ".join(f"(SELECT count(*) FROM {relation})" for relation in relations)
        (row,) = self._connection.execute(f"SELECT {counts}").fetchall()
        return dict(zip(relations, row, strict=True))

    def _add_strings(self, batch: Batch) -> None:
        if len(batch.strings["id"]):
            insert(self._connection, "strings", batch.strings)

    def _keep(self, witnesses: int) -> None:
        if witnesses:
            self._connection.execute("INSERT INTO node BY NAME FROM node_w")
            self.rows += witnesses
            self.came += witnesses

    def _delete_rows(self, column: str, values: Sequence[int]) -> None:
        self._count_dropped(delete(self._connection, "node", column, values))

    def _count_dropped(self, rows: int) -> None:
        self.rows -= rows
        self.loosened += rows
