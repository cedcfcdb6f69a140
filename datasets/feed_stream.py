"""A synthetic feed stream and random queries over it, after the thesis' section 6.6.3.

The thesis recorded the items of 418 feed channels over five months and joined them with
random queries.  The recording is not public; this is a stream of its shape: items of five
leaves, spread evenly over channels and time, where now and then a channel posts an item
again, a title comes back ("Weekly links"), or a description merely repeats the title.
The queries are those of section 6.6.1: an item followed by an item, joined by `k` pairs of
leaves, `k` drawn from a Zipfian distribution.  Both are the same for the same seed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from random import Random
from typing import Any

from .technical_benchmark import Schema

__all__ = ["ITEM", "LEAVES", "feed_stream", "random_queries"]

LEAVES = ("item_url", "channel_url", "title", "timestamp", "description")
"""The leaves of an item, in document order."""

ITEM = Schema("item", tuple((leaf,) for leaf in LEAVES))
"""The schema of an item."""

START = datetime(2006, 6, 1, tzinfo=UTC)

REPOSTS = 0.04
RECENT = 40
RECURRING_TITLES = 0.08
TITLE_POOL = 3_000
TITLE_SKEW = 1.5
TITLE_IS_DESCRIPTION = 0.01

VOCABULARY = """
    about after again air album all and another answer arrives autumn back bank before begins
    behind better board book border bridge brings budget build call camera case change city
    claims close cloud coast code company council court cut day deal debate delay design draft
    drops early election end energy engine evening exchange fails fall farm festival field film
    final finds first flight for forecast free from future game garden gives goal grows guide
    half harbour heat high hope hospital house in island joins keeps lake late launch law leads
    league letter library light list long looks loss maker map market match meeting minister
    month moon more morning museum music near new news next night notes of offers office on open
    opens order over paper park part phone photo plan player police port power price prize quiet
    race rail rain record release report review rise river road rules sales says school science
    sea season second sets share ship show signs site small software song south space spring
    stage star station step storm story strike study summer supply talks tax team test the third
    three time to tour town trade train travel trial two under union update video village visit
    vote wall warns water week west wins winter with without world writer year young
"""
WORDS = VOCABULARY.split()


def feed_stream(
    items: int = 50_000, *, channels: int = 418, days: int = 153, seed: int = 3
) -> Iterator[dict[str, Any]]:
    """The items as document envelopes of stream `S`, in order of time.

    They fall evenly on `days` days from June 1, 2006, and on `channels` channels.

    >>> next(feed_stream(1))["xml"][:50]
    '<item><item_url>http://channel203.example/items/0<'
    """
    random = Random(seed)
    recent: list[deque[tuple[str, str, str]]] = [deque(maxlen=RECENT) for _ in range(channels)]
    pool = [_words(random, 2, 6) for _ in range(TITLE_POOL)]
    popularity = list(accumulate(rank**-TITLE_SKEW for rank in range(1, TITLE_POOL + 1)))
    for number, offset in enumerate(sorted(random.randrange(days * 86_400) for _ in range(items))):
        channel = random.randrange(channels)
        site = f"http://channel{channel:03d}.example/"
        url = f"{site}items/{number}"
        if random.random() < RECURRING_TITLES:
            title = random.choices(pool, cum_weights=popularity)[0]
        else:
            title = _words(random, 5, 11)
        description = _words(random, 42, 54)
        if random.random() < REPOSTS and recent[channel]:
            url, old_title, old_description = random.choice(recent[channel])
            kept = random.randrange(4)  # the url alone, the title too, or (half the time) all
            if kept > 0:
                title = old_title
            if kept > 1:
                description = old_description
        if random.random() < TITLE_IS_DESCRIPTION:
            description = title
        recent[channel].append((url, title, description))
        time = START + timedelta(seconds=offset)
        yield {
            "stream": "S",
            "id": f"item{number:07d}",
            "timestamp": int(time.timestamp()),
            "xml": (
                f"<item><item_url>{url}</item_url><channel_url>{site}</channel_url>"
                f"<title>{title}</title><timestamp>{time:%Y-%m-%dT%H:%M:%SZ}</timestamp>"
                f"<description>{description}</description></item>"
            ),
        }


def random_queries(
    count: int = 1000, *, seed: int = 7, window: str = "7 days", zipf: float = 0.8
) -> str:
    """The text of a query file: `count` joins of an item with a later one.

    Each joins `k` different leaves of either side pairwise, in random order; `k` is drawn
    from 1 to 5 with a probability proportional to `k ** -zipf`.

    >>> print(random_queries(1))
    -- name: q00001
    S//item->a0[./channel_url->a1]
    FOLLOWED BY {a1=b1, 7 days}
    S//item->b0[./timestamp->b1];
    <BLANKLINE>
    """
    random = Random(seed)
    sizes = range(1, len(LEAVES) + 1)
    weights = [size**-zipf for size in sizes]
    queries = []
    for number in range(1, count + 1):
        size = random.choices(sizes, weights)[0]
        equalities = " AND ".join(f"a{pair}=b{pair}" for pair in range(1, size + 1))
        queries.append(
            f"-- name: q{number:05d}\n"
            f"S//item->a0{_filters(random, size, 'a')}\n"
            f"FOLLOWED BY {{{equalities}, {window}}}\n"
            f"S//item->b0{_filters(random, size, 'b')};\n"
        )
    return "\n".join(queries)


def _filters(random: Random, size: int, side: str) -> str:
    """Filters that bind `size` random leaves to the variables of one side, from 1."""
    leaves = random.sample(LEAVES, size)
    return "".join(f"[./{leaf}->{side}{number}]" for number, leaf in enumerate(leaves, start=1))


def _words(random: Random, least: int, most: int) -> str:
    """A sentence's worth of random words, with a capital."""
    return " ".join(random.choices(WORDS, k=random.randint(least, most))).capitalize()
