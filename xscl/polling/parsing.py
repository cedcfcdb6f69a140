"""What polling asks of a reader of feeds: one body in, the feed with its items out."""

from __future__ import annotations

from typing import Protocol

from xscl.feeds.items import ParsedFeed

__all__ = ["Parser"]


class Parser(Protocol):
    """Reads the body of a feed; raises NotAFeed.  Called from several threads.

    `address` is the one that the feed is known by, `base` the one that its relative links start
    from.
    """

    def __call__(
        self, body: bytes, address: str, *, content_type: str | None, base: str | None
    ) -> ParsedFeed: ...
