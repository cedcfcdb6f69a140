"""The forms that matches take as a feed, by the names that `--format` has for them, and the title
of such a feed."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from xscl.sinks.atom import update_atom, write_atom
from xscl.sinks.json_feed import update_json_feed, write_json_feed

__all__ = ["FEED_FORMS", "title_of"]

FEED_FORMS = {
    "atom": (write_atom, update_atom),
    "jsonfeed": (write_json_feed, update_json_feed),
}
"""How matches become a feed: at once, or kept in a file."""


def title_of(queries: Iterable[str]) -> str:
    """The title of the feed of what the queries of some files find.

    >>> title_of(["news.xscl", "queries/follow-up.xscl"])
    'news, follow-up'
    """
    return ", ".join(Path(query).stem for query in queries)
