"""Synthetic feeds of any number, as files: RSS 2.0, Atom and JSON Feed, with what real feeds do.

Some leave out guids or dates, or give dates that cannot be; texts are plain or HTML with links,
in several scripts and encodings; items carry authors, categories and enclosures, and now and then
a feed shows one twice, the earlier version, too.  The bytes are the same for the same seed.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from html import escape
from random import Random

from .feed_stream import WORDS

__all__ = ["feed_archive"]

START = datetime(2026, 6, 1, tzinfo=UTC)
DAYS = 60

GUIDLESS = 0.1
LINKLESS = 0.05
DATELESS = 0.1
ODD_DATES = 0.03
SHOWN_TWICE = 0.002

ODD = (
    "soon",
    "2099-01-01T00:00:00Z",
    "Thu, 01 Jan 1970 00:00:00 GMT",
    "Tue, 31 Jun 2026 25:00:00 +0000",
    "2026-06-05",
    "Fri Jun  5 10:00:00 2026",
)
ACCENTED = ("café", "Zürich", "naïve", "señor", "Ærø", "façade", "Škoda", "œuvre")
FAR = ("новости", "日本語", "ελληνικά", "🚲", "עברית", "हिन्दी")
HOSTS = tuple(f"https://site{number:02}.example" for number in range(40))


@dataclass(frozen=True, slots=True)
class _Entry:
    """An item as its feed shows it; texts that the feed does not have are empty."""

    guid: str
    link: str
    title: str
    author: str
    categories: tuple[str, ...]
    published: str
    updated: str
    summary: str
    content: str
    enclosure: str


@dataclass(frozen=True, slots=True)
class _Channel:
    """A feed, its items the latest first."""

    site: str
    title: str
    encoding: str
    entries: tuple[_Entry, ...]


def feed_archive(
    feeds: int = 3_000, items: int = 60_000, *, seed: int = 11
) -> Iterator[tuple[str, bytes]]:
    """Names of files and their bytes, `feeds` of them with `items` different items in all.

    >>> [name for name, _ in feed_archive(3, 60)]
    ['feed00000.rss', 'feed00001.json', 'feed00002.json']
    """
    random = Random(seed)
    sizes = Counter(random.randrange(feeds) for _ in range(items))
    for number in range(feeds):
        suffix = random.choices(tuple(WRITERS), (5, 3, 2))[0]
        channel = _channel(random, number, sizes[number], suffix)
        yield f"feed{number:05}.{suffix}", WRITERS[suffix](channel)


def _channel(random: Random, number: int, size: int, suffix: str) -> _Channel:
    site = f"{random.choice(HOSTS)}/channel{number}"
    words = (*WORDS, *ACCENTED)
    encoding = "utf-8"
    if suffix != "json" and random.random() < 0.1:
        encoding = random.choice(("utf-16", "windows-1252"))
    if encoding != "windows-1252":
        words += FAR
    dated, known = random.random() >= DATELESS, random.random() >= GUIDLESS
    full = random.random() < 0.4
    times = sorted((random.randrange(DAYS * 86_400) for _ in range(size)), reverse=True)
    entries = []
    for place, offset in enumerate(times):
        time = START + timedelta(seconds=offset)
        written = _dates(random, time, suffix) if dated else ("", "")
        link = "" if random.random() < LINKLESS else f"{site}/{place}-{random.choice(WORDS)}"
        entries.append(
            _Entry(
                guid=f"tag:site.example,2026:{number}/{place}" if known else "",
                link=f"{link}?utm_source=feed" if link and random.random() < 0.2 else link,
                title=f"{_words(random, words, 4, 10)} {number}.{place}",
                author=_words(random, words, 2, 2).title() if random.random() < 0.7 else "",
                categories=tuple(random.sample(WORDS, random.randrange(4))),
                published=written[0],
                updated=written[1],
                summary=_words(random, words, 15, 40) + " & more",
                content=_html(random, words) if full else "",
                enclosure=f"{site}/{place}.mp3" if random.random() < 0.1 else "",
            )
        )
        if (known or link) and random.random() < SHOWN_TWICE:
            earlier = _dates(random, time - timedelta(days=1), suffix) if dated else ("", "")
            again = replace(entries[-1], published=earlier[0], updated=earlier[1])
            entries.append(replace(again, summary=f"Draft of: {again.summary}"))
    return _Channel(site, _words(random, words, 2, 4), encoding, tuple(entries))


def _dates(random: Random, time: datetime, suffix: str) -> tuple[str, str]:
    """When an item was published, and updated if it was."""
    if random.random() < ODD_DATES:
        return random.choice(ODD), ""
    if suffix == "rss":
        return format_datetime(time, usegmt=random.random() < 0.5), ""
    updated = time + timedelta(minutes=random.randrange(600))
    return time.isoformat(), updated.isoformat() if random.random() < 0.5 else ""


def _html(random: Random, words: tuple[str, ...]) -> str:
    paragraphs = []
    for _ in range(random.randint(1, 4)):
        text = escape(_words(random, words, 20, 50))
        for _ in range(random.randrange(3)):
            page = f"{random.choice(HOSTS)}/page{random.randrange(5_000)}"
            text += f' <a href="{page}?a=1&amp;b=2">{random.choice(words)}</a>'
        paragraphs.append(f"<p>{text} <em>&mdash; {random.choice(words)}</em></p>")
    return "\n".join(paragraphs)


def _rss(channel: _Channel) -> bytes:
    items = "".join(
        "<item>"
        + (f'<guid isPermaLink="false">{escape(each.guid)}</guid>' if each.guid else "")
        + _element("link", each.link)
        + _element("title", each.title)
        + _element("dc:creator", each.author)
        + "".join(_element("category", category) for category in each.categories)
        + _element("pubDate", each.published)
        + _element("description", each.summary)
        + (f"<content:encoded><![CDATA[{each.content}]]></content:encoded>" if each.content else "")
        + (
            f'<enclosure url="{escape(each.enclosure)}" type="audio/mpeg" length="1"/>'
            if each.enclosure
            else ""
        )
        + "</item>\n"
        for each in channel.entries
    )
    return _encoded(
        '<rss version="2.0" xmlns:dc="http://purl.org/dc/elements/1.1/" '
        'xmlns:content="http://purl.org/rss/1.0/modules/content/"><channel>'
        f"{_element('title', channel.title)}{_element('link', channel.site)}\n{items}"
        "</channel></rss>",
        channel.encoding,
    )


def _atom(channel: _Channel) -> bytes:
    entries = "".join(
        "<entry>"
        + _element("id", each.guid)
        + (f'<link href="{escape(each.link)}"/>' if each.link else "")
        + _element("title", each.title)
        + (f"<author>{_element('name', each.author)}</author>" if each.author else "")
        + "".join(f'<category term="{escape(category)}"/>' for category in each.categories)
        + _element("published", each.published)
        + _element("updated", each.updated)
        + _element("summary", each.summary)
        + (f'<content type="html">{escape(each.content)}</content>' if each.content else "")
        + (
            f'<link rel="enclosure" type="audio/mpeg" href="{escape(each.enclosure)}"/>'
            if each.enclosure
            else ""
        )
        + "</entry>\n"
        for each in channel.entries
    )
    return _encoded(
        f'<feed xmlns="http://www.w3.org/2005/Atom">{_element("title", channel.title)}'
        f'<link href="{escape(channel.site)}"/>\n{entries}</feed>',
        channel.encoding,
    )


def _json(channel: _Channel) -> bytes:
    items = [
        {
            "id": each.guid,
            "url": each.link,
            "title": each.title,
            "authors": [{"name": each.author}] if each.author else [],
            "tags": each.categories,
            "date_published": each.published,
            "date_modified": each.updated,
            "summary": each.summary,
            "content_html": each.content,
            "attachments": (
                [{"url": each.enclosure, "mime_type": "audio/mpeg"}] if each.enclosure else []
            ),
        }
        for each in channel.entries
    ]
    feed = {
        "version": "https://jsonfeed.org/version/1.1",
        "title": channel.title,
        "home_page_url": channel.site,
        "items": [{name: value for name, value in item.items() if value} for item in items],
    }
    return json.dumps(feed, ensure_ascii=False).encode()


WRITERS: dict[str, Callable[[_Channel], bytes]] = {"rss": _rss, "atom": _atom, "json": _json}


def _element(name: str, text: str) -> str:
    return f"<{name}>{escape(text, quote=False)}</{name}>" if text else ""


def _encoded(document: str, encoding: str) -> bytes:
    return f'<?xml version="1.0" encoding="{encoding}"?>\n{document}'.encode(encoding)


def _words(random: Random, words: tuple[str, ...], least: int, most: int) -> str:
    return " ".join(random.choices(words, k=random.randint(least, most))).capitalize()
