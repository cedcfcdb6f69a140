"""The items that are known, of each feed, from one batch to the next: a DuckDB file beside the
spool.

Of each feed there is what it had shown after the last batch that had bodies of it, and after the
one before: the last batch may be repeated, and is told then what it was told the first time.  A
batch reads and writes the feeds that it has bodies of, in one transaction, and only their keys
come to the driver: 40 bytes an item.
"""

from __future__ import annotations

from pathlib import Path

import duckdb
import pyarrow as pa

from xscl.errors import StateError
from xscl.spark.ingestion.feed_news import feed_news

__all__ = ["KnownItems"]

_SCHEMA = """
    CREATE TABLE IF NOT EXISTS shown (feed VARCHAR, batch BIGINT, keys BLOB);
    CREATE TABLE IF NOT EXISTS progress (batch BIGINT)
"""
_SHOWN = pa.schema([("feed", pa.string()), ("batch", pa.int64()), ("keys", pa.binary())])


class KnownItems:
    """The file, which is opened for each batch; making one has no effect on it."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def news(self, batch: int, bodies: pa.Table, *, updates: bool) -> dict[int, list[int]]:
        """The places of the items to publish, by the sequence number of their body.

        `bodies` has the columns sequence, feed and keys (packed), in any order; of each feed they
        are taken in the order of their numbers.  Raises StateError where the file is not the one
        that the batches before were told by.
        """
        with self._open() as connection:
            connection.execute("BEGIN")
            self._go_back(connection, batch)
            connection.register("bodies", bodies)
            shown: dict[str, bytes] = dict(
                connection.execute(
                    "SELECT feed, arg_max(keys, batch) FROM shown "
                    "SEMI JOIN bodies USING (feed) GROUP BY feed"
                ).fetchall()
            )
            published: dict[int, list[int]] = {}
            rows = bodies.sort_by("sequence").to_pydict()
            for sequence, feed, keys in zip(*(rows[n] for n in _COLUMNS), strict=True):
                published[sequence], shown[feed] = feed_news(
                    shown.get(feed, b""), keys, updates=updates
                )
            self._remember(connection, batch, shown)
            connection.execute("COMMIT")
        return published

    def _go_back(self, connection: duckdb.DuckDBPyConnection, batch: int) -> None:
        """To what it was before a batch, which may have been told of already."""
        (last,) = connection.execute("SELECT max(batch) FROM progress").fetchall()[0]
        if (-1 if last is None else last) < batch - 1:
            raise StateError(
                f"{self._path}, the items that are known, is older than the batches that were "
                "made: restore it together with the checkpoints, or move items, dead and "
                "checkpoints/items away to make all items anew"
            )
        connection.execute("DELETE FROM shown WHERE batch >= ?", [batch])
        connection.execute("DELETE FROM progress")
        connection.execute("INSERT INTO progress VALUES (?)", [batch])

    def _remember(
        self, connection: duckdb.DuckDBPyConnection, batch: int, shown: dict[str, bytes]
    ) -> None:
        """Adds what is shown now, and lets go of all but the last before."""
        columns = [list(shown), [batch] * len(shown), list(shown.values())]
        connection.register("now", pa.table(columns, schema=_SHOWN))
        connection.execute(
            "DELETE FROM shown USING (SELECT feed, max(batch) AS last FROM shown "
            "SEMI JOIN now USING (feed) GROUP BY feed) AS kept "
            "WHERE shown.feed = kept.feed AND shown.batch < kept.last"
        )
        connection.execute("INSERT INTO shown FROM now")

    def _open(self) -> duckdb.DuckDBPyConnection:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        try:
            connection = duckdb.connect(self._path)
            connection.execute(_SCHEMA)
        except duckdb.Error as error:
            raise StateError(f"{self._path} cannot be opened: {error}") from error
        return connection


_COLUMNS = ("sequence", "feed", "keys")
