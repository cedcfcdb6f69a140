"""What a server answered becomes a feed: the answer itself, or the one feed that it names, if it is
a web page.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

from xscl.feeds import NotAFeed
from xscl.feeds.items import ParsedFeed
from xscl.feeds.page_links import is_page, linked_feeds
from xscl.web.exchange import Response
from xscl.web.retrieval import RetrievalError
from xscl.web.targets import BadAddress, split_credentials

__all__ = ["Found", "Parser", "find_feed"]

_SHOWN = 10


class Parser(Protocol):
    """Reads the body of a feed; raises NotAFeed.  Called from several threads.

    `address` is the one that the feed is known by, `base` the one that its relative links start
    from.
    """

    def __call__(
        self, body: bytes, address: str, *, content_type: str | None, base: str | None
    ) -> ParsedFeed: ...


@dataclass(frozen=True, slots=True)
class Found:
    """A feed with the response that it was read from; `led_to` is its address, where a web page
    named it."""

    response: Response
    feed: ParsedFeed
    led_to: str | None = None


def find_feed(
    response: Response,
    address: str,
    parser: Parser,
    retrieve: Callable[[str], Response],
    *,
    follow: bool = True,
) -> Found:
    """The feed of an answer; with `follow`, that of a page is retrieved, and the answer says that
    it has moved there.  Only one page leads to a feed, not one page to another.

    Raises NotAFeed, and RetrievalError for the feed of a page.
    """
    try:
        return Found(response, _parse(response, address, parser))
    except NotAFeed as error:
        if not is_page(response.body, _content_type(response)):
            raise
        feed = _named(response, error)
    if not follow:
        raise NotAFeed(f"is no feed any more but a web page, whose feed is {feed}")
    try:
        answer = retrieve(feed)
    except RetrievalError as error:
        raise type(error)(f"a web page, whose feed is {feed}: {error}") from error
    if answer.status != 200:
        raise NotAFeed(f"is a web page, whose feed is {feed}: the server answered {answer.status}")
    try:
        parsed = _parse(answer, address, parser)
    except NotAFeed as error:
        raise NotAFeed(f"is a web page, and what it names as its feed, {feed}, {error}") from error
    return Found(replace(answer, moved_to=answer.moved_to or feed), parsed, feed)


def _named(page: Response, problem: NotAFeed) -> str:
    """The address of the one feed that a page names."""
    feeds = linked_feeds(page.body, page.url)
    if not feeds:
        raise NotAFeed(f"{problem}, and names none") from problem
    if feeds[1:]:
        shown = ", ".join(map(str, feeds[:_SHOWN]))
        more = f" and {len(feeds) - _SHOWN} more" if feeds[_SHOWN:] else ""
        raise NotAFeed(f"is a web page that names several feeds; give one of them: {shown}{more}")
    try:
        return split_credentials(feeds[0].address)[0]
    except BadAddress as error:
        raise NotAFeed(f"is a web page that names no feed that can be read: {error}") from error


def _parse(response: Response, address: str, parser: Parser) -> ParsedFeed:
    content_type = _content_type(response)
    return parser(response.body, address, content_type=content_type, base=response.url)


def _content_type(response: Response) -> str | None:
    value = response.headers.get("content-type")
    return None if value is None else value.decode("latin-1")
