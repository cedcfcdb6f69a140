"""Items as lines of JSON, and queries of the cookbook's kind over them, as data that each peer puts
into its own words."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random

from lxml import etree

from datasets import feed_stream

__all__ = ["PeerQuery", "queries", "write", "xscl_text"]

DAY = 86_400
KINDS = (
    ("same-title", ("title",), ("channel_url",)),
    ("re-post", ("item_url", "channel_url"), ()),
    ("retitled", ("item_url",), ("title",)),
    ("recurring", ("title", "channel_url"), ()),
)
"""The same title in another channel, a re-post, a re-post under another title, a title that the
channel has again."""
DAYS = (1, 3, 7, 14, 30, 60)
CHANNELS = 418


@dataclass(frozen=True, slots=True)
class PeerQuery:
    """A later item is as an earlier one in what is `equal`, unlike it in what may `differ`, and at
    most so many seconds later; the earlier one may have to be of a channel."""

    name: str
    equal: tuple[str, ...]
    differ: tuple[str, ...]
    channel: str | None
    seconds: int


def queries(count: int) -> list[PeerQuery]:
    """A query of each kind, then as many as readers would have, each about a channel of theirs."""
    random = Random(5)
    result = []
    for number in range(count):
        kind, equal, differ = KINDS[number % len(KINDS)]
        channel = f"http://channel{random.randrange(CHANNELS):03d}.example/"
        result.append(
            PeerQuery(
                f"{kind}_{number}",
                equal,
                differ,
                channel if number >= len(KINDS) else None,
                random.choice(DAYS) * DAY,
            )
        )
    return result


def write(folder: Path, items: int, some: Sequence[PeerQuery]) -> None:
    """The items, and the queries as data and in XSCL."""
    with (folder / "items.jsonl").open("w", encoding="utf-8") as file:
        for one in feed_stream(items):
            leaves = {leaf.tag: leaf.text or "" for leaf in etree.fromstring(one["xml"])}
            item = {"id": one["id"], "time": one["timestamp"], **leaves}
            file.write(json.dumps(item) + "\n")
    (folder / "queries.json").write_text(json.dumps([asdict(one) for one in some]))
    (folder / "queries.xscl").write_text(";\n".join(map(xscl_text, some)))


def xscl_text(query: PeerQuery) -> str:
    """A query in XSCL, over rows as documents.

    >>> print(xscl_text(queries(1)[0]))
    -- name: same-title_0
    S/json[title->a1][channel_url->a2]
    FOLLOWED BY {a1 = b1 AND a2 != b2, 60 days}
    S/json[title->b1][channel_url->b2]
    """
    leaves = (*query.equal, *query.differ)
    earlier, later = (
        "".join(f"[{leaf}->{side}{n}]" for n, leaf in enumerate(leaves, 1)) for side in "ab"
    )
    conditions = " AND ".join(
        f"a{n} {'=' if leaf in query.equal else '!='} b{n}" for n, leaf in enumerate(leaves, 1)
    )
    channel = f"[channel_url = '{query.channel}']" if query.channel else ""
    days = query.seconds // DAY
    return (
        f"-- name: {query.name}\n"
        f"S/json{channel}{earlier}\n"
        f"FOLLOWED BY {{{conditions}, {days} days}}\n"
        f"S/json{later}"
    )
