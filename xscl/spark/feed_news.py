"""Which items of a feed are new: the rules of polling (`xscl.sources.polling.news`), kept as state
of a streaming query by feed.

The state of a feed is bounded: the keys of the items that it shows, and of the thousand that it
showed before.  Dates take no part in it, and no watermark: an item that is dated 2099 drops no
other, and one that is shown for years stays known.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from xscl.sources.polling.news import Seen, SeenItem
from xscl.spark.item_keys import packed, unpacked
from xscl.spark.parsed_bodies import places

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql.streaming.state import GroupState

__all__ = ["DDL", "STATE", "FeedNews"]

DDL = "parsed BINARY, published BINARY, known INT"
"""A parsed body with the places of the items that are published, and how many are known; null for
what is no feed."""

STATE = "keys BINARY"


@dataclass(frozen=True, slots=True)
class FeedNews:
    """Marks what is new in the parsed bodies of one feed; a function for
    `applyInPandasWithState`.  With `updates`, what is edited, too."""

    updates: bool = False

    def __call__(
        self, key: tuple[Any, ...], bodies: Iterable[pd.DataFrame], state: GroupState
    ) -> Iterator[pd.DataFrame]:
        """The bodies, marked in the order in which they were fetched."""
        import pandas as pd

        rows = [row for frame in bodies for row in _rows(frame)]
        rows.sort(key=itemgetter(0))
        seen = Seen(unpacked(state.get[0]) if state.exists else ())
        marked: list[tuple[bytes, bytes | None, int | None]] = []
        for _, keys, parsed in rows:
            if keys is None:
                marked.append((parsed, None, None))
                continue
            items = list(unpacked(keys))
            published = self._published(seen, items)
            marked.append((parsed, places(published), len(items) - len(published)))
        if len(seen):
            state.update((packed(seen),))
        columns = zip(*marked, strict=True)
        yield pd.DataFrame(dict(zip(("parsed", "published", "known"), columns, strict=True)))

    def _published(self, seen: Seen, items: list[SeenItem]) -> list[int]:
        """The places of the items to publish."""
        place = {item.identity: number for number, item in enumerate(items)}
        news = seen.take(items)
        published = [*news.new, *news.edited] if self.updates else news.new
        return sorted(place[item.identity] for item in published)


def _rows(frame: pd.DataFrame) -> Iterator[tuple[int, bytes | None, bytes]]:
    columns = (frame[name].tolist() for name in ("sequence", "keys", "parsed"))
    return zip(*columns, strict=True)
