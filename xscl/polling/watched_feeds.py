"""`STREAM=SOURCE`, several times, into the feeds that are polled.

A feed that is named several times is fetched once; a stream gets its items once, with all the
folders that it lies in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from xscl.errors import XSCLError
from xscl.polling.named_feeds import feeds_of
from xscl.web.targets import Credentials

__all__ = ["WatchedFeed", "watched_feeds"]


@dataclass(slots=True)
class WatchedFeed:
    """A feed that is polled: the folders (OPML categories) that it lies in, by stream."""

    address: str
    credentials: Credentials | None = None
    folders: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def lies_in(self, stream: str, folders: Iterable[str]) -> None:
        """Adds a stream that gets its items, and folders of it; what reads `folders` in another
        thread goes on with those of before."""
        known = self.folders.get(stream, ())
        self.folders = self.folders | {stream: tuple(dict.fromkeys([*known, *folders]))}


def watched_feeds(
    sources: Iterable[tuple[str, str]], on_error: Callable[[str], object]
) -> list[WatchedFeed]:
    """The feeds of some sources (stream, source), in their order.

    A feed of an OPML file that cannot be polled goes to `on_error`.  Raises XSCLError for a source
    that is neither an address nor an OPML file of addresses.
    """
    found: dict[str, WatchedFeed] = {}
    for stream, source in sources:
        named = feeds_of(source)
        if named.files and not named.addresses:
            raise XSCLError(
                f"feed source {source!r}: expected an http(s) address or an OPML file of them; "
                "`xscl run` reads feed files"
            )
        for file in named.files:
            on_error(f"{source}: {file} is a file: `xscl run` reads those")
        for name, problem in named.problems.items():
            on_error(f"{name}: {problem}")
        for address, folders in named.addresses.items():
            feed = found.setdefault(address, WatchedFeed(address))
            feed.credentials = feed.credentials or named.credentials.get(address)
            feed.lies_in(stream, folders)
    return list(found.values())
