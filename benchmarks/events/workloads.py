"""The workloads of the figures of chapters 4 and 5: query texts with rows of parameters, as
`subscribe_many` takes them, and events as envelopes."""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from random import Random
from typing import Any

from datasets import (
    STEPPED,
    cayuga_benchmark,
    cayuga_events,
    cpu_readings,
    feed_stream,
    rumor_benchmark,
    rumor_events,
)

__all__ = [
    "DECLARED",
    "FEED",
    "POSTS",
    "WORKLOADS",
    "Queries",
    "feed_queries",
    "hybrid_queries",
    "posts",
]

Queries = Iterable[tuple[str, Sequence[Mapping[str, Any]]]]
Events = Iterable[Mapping[str, Any]]

SITES = 415
POPULARITY = 100
POSTS = 26_623
CHANNELS = 3
"""Of a site."""

DECLARED = "DECLARE STREAM Feed (website, channel, popularity, title, link);\n"
_POPULAR = "FILTER{website = :site AND popularity > :above}(Feed)"
_OF_SITE = "FILTER{website = :site}(Feed)"
_FIRST = f"(SELECT popularity AS p0 FROM {_POPULAR})"
_SECOND = f"(SELECT popularity AS p1 FROM {_POPULAR})"
_THIRD = f"(SELECT popularity AS p2 FROM {_POPULAR})"

FEED = {
    "Stateless": _POPULAR,
    "Concatenation": f"{_FIRST} NEXT{{DUR <= 100}} {_SECOND} NEXT{{DUR <= 100}} {_THIRD}",
    "Parameterization": (
        "SELECT ch, p0, p1, popularity AS p2 FROM FILTER{popularity > p1}(FILTER{p1 > p0}(\n"
        f"(SELECT channel AS ch, popularity AS p0 FROM {_OF_SITE})\n"
        f"NEXT{{DUR <= 100 AND $2.channel = $1.ch}} (SELECT channel, popularity AS p1 FROM "
        f"{_OF_SITE}))\nNEXT{{DUR <= 100 AND $2.last = $1.ch}} "
        f"(SELECT channel AS last, popularity FROM {_OF_SITE}))"
    ),
    "Iteration": (
        f"SELECT channel, popularity_1 AS p0, popularity AS pn FROM {_OF_SITE}\n"
        f"FOLD{{DUR <= 100 AND $2.channel = $.channel, $2.popularity > $.popularity}} {_OF_SITE}"
    ),
}
"""The templates of the thesis' table 4.3."""


def feed_queries(template: str, count: int, *, seed: int = 16) -> Queries:
    """Queries of a template of table 4.3, for sites and popularities drawn uniformly."""
    random = Random(seed)
    drawn = [(random.randrange(SITES), random.randrange(POPULARITY)) for _ in range(count)]
    named = ":above" in FEED[template]
    yield (
        DECLARED + FEED[template],
        [{"site": f"w{site}"} | ({"above": least} if named else {}) for site, least in drawn],
    )


def posts(count: int = POSTS, *, seed: int = 17) -> Iterator[dict[str, Any]]:
    """The items of `feed_stream` as posts of 415 sites, one a second, each in a channel of its site
    and with a popularity below 100."""
    random = Random(seed)
    leaf = re.compile(r"<(item_url|channel_url|title)>([^<]*)<")
    for place, item in enumerate(feed_stream(count, channels=SITES)):
        values = dict(leaf.findall(item["xml"]))
        site = f"w{int(re.sub('[^0-9]', '', values['channel_url']))}"
        post = {
            "website": site,
            "channel": f"{site}.{random.randrange(CHANNELS)}",
            "popularity": random.randrange(POPULARITY),
            "title": values["title"],
            "link": values["item_url"],
        }
        yield {"stream": "Feed", "id": f"post{place}", "timestamp": place, "json": post}


SMOOTHED = "SELECT pid, AVG(load) AS load FROM WINDOW{60 s}(CPU) GROUP BY pid PUBLISH SMOOTHED"
RAMP = (
    "SELECT pid, load_1 AS low, load AS high FROM FILTER{load > 10}("
    "FILTER{(load - :least) * (load - :most) <= 0}(SMOOTHED)\n"
    "FOLD{$2.pid = $.pid, $2.load > $.load} SMOOTHED)"
)
"""A ramp that begins within a range (Query 2): a product, so that no index has it."""


def hybrid_queries(count: int, admitted: float, readings: Events, *, seed: int = 18) -> Queries:
    """The query that smooths readings, and so many that begin at a share of the smoothed loads,
    each at its own."""
    loads, random = sorted(smoothed(readings)), Random(seed)
    rows = []
    for _ in range(count):
        first = random.uniform(0, 1 - admitted)
        places = (int(len(loads) * share) for share in (first, first + admitted))
        least, most = (loads[min(place, len(loads) - 1)] for place in places)
        # Where nothing is admitted, a range that no load is in.  No two ranges are the same.
        least, most = (least, most) if admitted else (101, 102)
        rows.append({"least": least - 1e-4 * random.random(), "most": most + 1e-4})
    yield SMOOTHED, [{}]
    yield RAMP, rows


def smoothed(readings: Events, window: float = 60) -> Iterator[float]:
    """The mean load of each process over the seconds up to each reading."""
    retained: defaultdict[int, deque[tuple[float, float]]] = defaultdict(deque)
    for reading in readings:
        of_process = retained[reading["json"]["pid"]]
        of_process.append((reading["timestamp"], reading["json"]["load"]))
        while of_process[0][0] < reading["timestamp"] - window:
            of_process.popleft()
        yield sum(load for _, load in of_process) / len(of_process)


def _stepped(template: Any) -> Callable[[int], Queries]:
    return lambda count: cayuga_benchmark(template, count)


def _of_feeds(template: str) -> Callable[[int], Queries]:
    return lambda count: feed_queries(template, count)


def _rumor(workload: Any, capacity: int = 0) -> Callable[[int], Queries]:
    return lambda count: rumor_benchmark(workload, count, capacity=capacity)


WORKLOADS: dict[str, tuple[Callable[[int], Queries], Callable[[int], Events]]] = {
    **{template: (_stepped(template), cayuga_events) for template in STEPPED},
    **{template: (_of_feeds(template), posts) for template in FEED},
    "W1": (_rumor(1), rumor_events),
    "W2": (_rumor(2), rumor_events),
    "W2µ": (_rumor(3), rumor_events),
    "W3": (_rumor(2, 10), lambda count: rumor_events(count, capacity=10)),
    "hybrid": (
        lambda count: hybrid_queries(count, 0.5, cpu_readings(300)),
        lambda count: cpu_readings(max(1, count // 104)),
    ),
}
"""Each workload by name: its queries and its events, so many of either."""
