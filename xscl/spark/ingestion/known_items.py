"""The items that are known, of each feed, from one batch to the next: a DuckDB file next to the
spool.

An item is known by its key, 40 bytes: a digest of its identity (16), the hash of its content (8)
and a digest of its link and title (16; zeros without both).  Which items of a body are new is said
by the rules of polling (`xscl.polling.news`).  What is remembered of a feed is bounded: the keys
of the items that it shows, and of the thousand that it showed before.  Dates take no part, and no
watermark: an item that is dated 2099 drops no other, and one that is shown for years stays known.

Of each feed the file has what it had shown after the last batch that had bodies of it, and after
the one before: the last batch may be repeated, and gets the answer that it got the first time.  A
batch reads and writes the feeds that it has bodies of, in one transaction, and only their keys
come to the driver.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from hashlib import blake2b
from pathlib import Path

import duckdb
import pyarrow as pa

from xscl.errors import StateError
from xscl.polling.news import FeedItem, Seen, SeenItem

__all__ = ["KnownItems", "count_of", "feed_news", "packed", "packed_keys", "unpacked"]

_SCHEMA = """
    CREATE TABLE IF NOT EXISTS shown (feed VARCHAR, batch BIGINT, keys BLOB);
    CREATE TABLE IF NOT EXISTS progress (batch BIGINT)
"""
_SHOWN = pa.schema([("feed", pa.string()), ("batch", pa.int64()), ("keys", pa.binary())])
_COLUMNS = ("sequence", "feed", "keys")
_SIZE = 40
_NOTHING = "\0" * 16


class KnownItems:
    """The file, which is opened for each batch; making one has no effect on it."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def news(self, batch: int, bodies: pa.Table, *, updates: bool) -> dict[int, list[int]]:
        """The places of the items to publish, by the sequence number of their body.

        `bodies` has the columns sequence, feed and keys (packed), in any order; of each feed they
        are taken in the order of their numbers.  Raises StateError where the file is not the one
        that answered the batches before.
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
        """Goes back to before a batch, which may have been answered already."""
        (last,) = connection.execute("SELECT max(batch) FROM progress").fetchall()[0]
        if (-1 if last is None else last) < batch - 1:
            raise StateError(
                f"{self._path}, the items that are known, is older than the batches that were "
                "made: restore it together with the checkpoints, or move items, dead and "
                "checkpoints/items away to make all items again"
            )
        connection.execute("DELETE FROM shown WHERE batch >= ?", [batch])
        connection.execute("DELETE FROM progress")
        connection.execute("INSERT INTO progress VALUES (?)", [batch])

    def _remember(
        self, connection: duckdb.DuckDBPyConnection, batch: int, shown: dict[str, bytes]
    ) -> None:
        """Adds what is shown now, and drops all but the last before."""
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


def feed_news(shown: bytes, keys: bytes, *, updates: bool) -> tuple[list[int], bytes]:
    """The places of the items that are new, with `updates` of those that are edited, too, and what
    is shown from now on.  `shown` and `keys`, those of the body's items, are packed."""
    items = list(unpacked(keys))
    place = {item.identity: number for number, item in enumerate(items)}
    seen = Seen(unpacked(shown))
    news = seen.take(items)
    published = [*news.new, *news.edited] if updates else news.new
    return sorted(place[item.identity] for item in published), packed(seen)


def packed_keys(items: Iterable[FeedItem]) -> bytes:
    """The keys of items."""
    return b"".join(_key(item) for item in items)


def count_of(keys: bytes) -> int:
    """How many items packed keys are of."""
    return len(keys) // _SIZE


def unpacked(keys: bytes) -> Iterator[SeenItem]:
    """The items of packed keys, as far as they are distinguished; texts are the bytes as
    Latin-1."""
    texts = keys.decode("latin-1")
    for start in range(0, len(texts), _SIZE):
        likeness = texts[start + 24 : start + _SIZE]
        yield SeenItem(
            texts[start : start + 16],
            texts[start + 16 : start + 24],
            None if likeness == _NOTHING else likeness,
        )


def packed(items: Iterable[SeenItem]) -> bytes:
    """Items that were unpacked, packed again."""
    texts = (
        text
        for item in items
        for text in (item.identity, item.content_hash, item.likeness or _NOTHING)
    )
    return "".join(texts).encode("latin-1")


def _key(item: FeedItem) -> bytes:
    likeness = item.likeness
    identity = blake2b(item.identity.encode("utf-8", "surrogatepass"), digest_size=16).digest()
    alike = bytes(16) if likeness is None else bytes.fromhex(likeness)
    return identity + bytes.fromhex(item.content_hash) + alike
