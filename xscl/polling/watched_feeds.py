"""Which feeds are polled, for which streams: `STREAM=SOURCE` into addresses.

A source is an http(s) address or an OPML file of them.  A feed that is named several times is
fetched once; a stream gets its items once, with all the folders that it lies in.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from xscl.errors import XSCLError
from xscl.feeds import is_opml, read_opml
from xscl.web.targets import BadAddress, Credentials, feed_address

__all__ = ["Subscription", "subscriptions"]

_WEB = re.compile("https?:", re.IGNORECASE)


@dataclass(slots=True)
class Subscription:
    """A feed that is polled: the folders (OPML categories) that it lies in, by stream."""

    address: str
    credentials: Credentials | None = None
    folders: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def lies_in(self, stream: str, folders: Iterable[str]) -> None:
        """Adds a stream that gets its items, and folders of it."""
        known = self.folders.get(stream, ())
        self.folders[stream] = tuple(dict.fromkeys([*known, *folders]))


def subscriptions(
    sources: Iterable[tuple[str, str]], on_error: Callable[[str], object]
) -> list[Subscription]:
    """The feeds of some sources (stream, source), in their order.

    An address in an OPML file that nothing can be fetched from goes to `on_error`.  Raises
    XSCLError for a source that is neither an address nor an OPML file.
    """
    found: dict[str, Subscription] = {}

    def subscribe(stream: str, url: str, folders: Iterable[str]) -> None:
        address, credentials = feed_address(url)
        feed = found.setdefault(address, Subscription(address))
        feed.credentials = feed.credentials or credentials
        feed.lies_in(stream, folders)

    for stream, source in sources:
        if _WEB.match(source):
            try:
                subscribe(stream, source, ())
            except BadAddress as error:
                raise XSCLError(f"feed source: {error}") from error
            continue
        try:
            body = Path(source).read_bytes()
            if not is_opml(body):
                raise ValueError("is no OPML")
            listed = read_opml(body)
        except (OSError, ValueError) as error:
            reason = f"cannot be read ({error.strerror})" if isinstance(error, OSError) else error
            raise XSCLError(
                f"feed source {source!r}: expected an http(s) address or an OPML file, but it "
                f"{reason}; feed files are for `xscl run`"
            ) from error
        for feed in listed:
            try:
                subscribe(stream, feed.address, feed.folders)
            except BadAddress as error:
                on_error(f"{source}: {error}")
    return list(found.values())
