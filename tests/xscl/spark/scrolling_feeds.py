"""Short feeds that items scroll through, on loopback servers: each feed shows the latest few of its
items, so what was not fetched in time is gone for good.

A response has an ETag of its own, which identifies it: it names the item that the feed ends with,
which makes a later request 304 while no other has appeared, and the number of the response.  The
time of the feeds stops until they are read, and may be given a bound: how long a machine takes to
start what reads them, or to get on, changes little of what is seen.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

__all__ = ["Response", "ScrollingFeeds", "scrolling"]

_ETAG = re.compile(r'"(\d+)-\d+"')


@dataclass(frozen=True, slots=True)
class Response:
    """A response that was sent whole: the feed, its ETag and the items in it; `run` counts how
    often the feeds had been halted."""

    run: int
    feed: str
    etag: str
    items: frozenset[str]


@dataclass
class ScrollingFeeds:
    """Items 0 to `total` - 1 that appear one after the other, `rate` a second, in each of `count`
    feeds by turns; a feed shows its latest `shown`, and has as many when it is first read."""

    total: int
    rate: float
    count: int = 10
    shown: int = 15
    addresses: list[str] = field(default_factory=list)
    responses: list[Response] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _passed: int = 0
    _bound: int = 0
    _since: float | None = None
    _halts: int = 0
    _serial: int = 0

    def __post_init__(self) -> None:
        self._passed, self._bound = self.count * self.shown, self.total

    @property
    def appeared(self) -> int:
        """How many items there are by now."""
        since = self._since
        passed = 0.0 if since is None else self.rate * (time.monotonic() - since)
        return min(self._bound, self._passed + int(passed))

    def halt(self, lapse: int) -> None:
        """So many items appear together, and no more until a feed is requested again."""
        with self._lock:
            self._passed = min(self.total, self.appeared + lapse)
            self._since = None
            self._halts += 1

    def continue_(self, upto: int) -> None:
        """From when a feed is requested next, items appear until there are so many."""
        with self._lock:
            self._bound = max(upto, self._passed)

    def items(self) -> list[tuple[str, str]]:
        """All items: the feed's address and the guid."""
        return [(self.addresses[n % self.count], _guid(n)) for n in range(self.total)]

    def showing(self) -> set[tuple[str, str]]:
        """Those that the feeds show now."""
        return {
            (self.addresses[number], _guid(item))
            for number in range(self.count)
            for item in self._shown(number)
        }

    def response(self, number: int, condition: str) -> Response | None:
        """What a request for a feed gets, None for 304; `condition` is its If-None-Match."""
        with self._lock:
            if self._since is None:
                self._since = time.monotonic()
            items = self._shown(number)
            latest = items[-1] if items else -1
            known = _ETAG.fullmatch(condition)
            if known and int(known[1]) == latest + 1:
                return None
            self._serial += 1
            etag = f'"{latest + 1}-{self._serial}"'
            guids = frozenset(map(_guid, items))
            return Response(self._halts, self.addresses[number], etag, guids)

    def _shown(self, number: int) -> range:
        return range(number, self.appeared, self.count)[-self.shown :]

    def sent(self, response: Response) -> None:
        """Keeps a response that was sent whole."""
        with self._lock:
            self.responses.append(response)


@contextmanager
def scrolling(feeds: ScrollingFeeds) -> Iterator[ScrollingFeeds]:
    """Serves the feeds, each at an address of its own: one feed of a host is fetched at a time.  At
    the end all responses under way have been kept."""
    with ExitStack() as stack:
        for number in range(feeds.count):
            server = _Server((f"127.0.0.{number + 1}", 0), feeds, number)
            stack.callback(server.server_close)
            feeds.addresses.append("http://{}:{}/feed".format(*server.server_address))
            threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
            stack.callback(server.shutdown)
        yield feeds


class _Server(ThreadingHTTPServer):
    daemon_threads = False
    request_queue_size = 64

    def __init__(self, address: tuple[str, int], feeds: ScrollingFeeds, number: int) -> None:
        self.feeds = feeds
        self.number = number
        super().__init__(address, _Handler)

    def handle_error(self, request: object, client_address: object) -> None:
        """The client is gone, and the error has been reported at its end."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    timeout = 10.0

    def do_GET(self) -> None:
        feeds = self.server.feeds
        response = feeds.response(self.server.number, self.headers.get("If-None-Match", ""))
        if response is None:
            self.send_response(304)
            self.end_headers()
            return
        body = _rss(response)
        self.send_response(200)
        self.send_header("Content-Type", "application/rss+xml")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("ETag", response.etag)
        self.end_headers()
        self.wfile.write(body)
        feeds.sent(response)

    def log_message(self, format: str, *arguments: object) -> None:
        """What was sent is kept elsewhere."""


def _guid(number: int) -> str:
    return f"item-{number:05}"


def _rss(response: Response) -> bytes:
    """The latest item comes first, as in most feeds."""
    shown = "".join(
        f'<item><guid isPermaLink="false">{guid}</guid><title>About {guid}</title>'
        f"<link>{response.feed}/{guid}</link></item>\n"
        for guid in sorted(response.items, reverse=True)
    )
    return (
        '<?xml version="1.0"?><rss version="2.0"><channel><title>Scrolling</title>\n'
        f"<link>{response.feed}</link><description/>{shown}</channel></rss>"
    ).encode()
