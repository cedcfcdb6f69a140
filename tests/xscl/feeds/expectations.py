"""What other libraries' test files say of an item, in terms of the item shape.

feedparser's files open with a comment that holds a Python expression (`Expect: not bozo and
entries[0]['title'] == 'x'`); gofeed's have a JSON file beside them.  Either becomes a list of
claims: which field of which item, and what it must be.  Each claim's field comes from the tables
here; what they do not name (languages, ratings, copyright, …) has no place in the shape.

Both sides are brought to one form.  A text is compared without white space, which is where
libraries differ most, and the expected one may be the text itself or its HTML read by the standard
library's parser; addresses are compared in canonical form, dates in UTC; an author is a name, else
a mail address.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from xscl.feeds import Item, ParsedFeed, canonical

Fits = Callable[[ParsedFeed, Item, Any], bool]


@dataclass(frozen=True)
class Claim:
    """That a field of an item (of the feed, if the item is None) fits a value."""

    field: str
    item: int | None
    value: Any
    fits: Fits

    def holds(self, feed: ParsedFeed) -> bool:
        if self.item is None:
            return self.fits(feed, Item(feed.feed), self.value)
        return self.item < len(feed.items) and self.fits(feed, feed.items[self.item], self.value)


class _Words(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.words: list[str] = []
        self._silent = False

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self._silent = tag in ("script", "style")

    def handle_endtag(self, tag: str) -> None:
        self._silent = False

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self.words.append(data)


def squeezed(text: str) -> str:
    return "".join(re.sub("[\x00-\x1f\ufffe\uffff]", "", text).split())


def is_text(ours: str, expected: str) -> bool:
    parser = _Words()
    parser.feed(expected)
    parser.close()
    return squeezed(ours) in (squeezed(expected), squeezed("".join(parser.words)))


def is_link(ours: str, expected: str) -> bool:
    return ours == canonical(expected) or (not ours and not expected.startswith("http"))


def is_date(ours: float | None, expected: str) -> bool:
    moment = datetime.fromisoformat(expected)
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return moment.year < 1990 if ours is None else abs(ours - moment.timestamp()) < 1


def is_tuple(ours: float | None, expected: tuple[int, ...]) -> bool:
    if ours is None:
        return expected[0] < 1990
    return datetime.fromtimestamp(ours, UTC).timetuple()[:6] == tuple(expected[:6])


def is_author(ours: str, expected: str | dict[str, str]) -> bool:
    if isinstance(expected, dict):
        return is_text(ours, person(expected))
    name = re.sub(r"\s*\(\S+@\S+\)$", "", expected)
    return is_text(ours, name)


def person(value: dict[str, str]) -> str:
    return value.get("name") or value.get("email") or ""


def text_or(*names: str) -> Fits:
    """A text in the first of these fields that has one."""

    def fits(feed: ParsedFeed, item: Item, expected: Any) -> bool:
        ours = next((value for name in names if (value := getattr(item, name))), "")
        return is_text(ours, expected)

    return fits


def at(items: tuple[Any, ...], number: int) -> Any:
    return items[number] if number < len(items) else ""


FEEDPARSER: dict[str, tuple[str, Fits]] = {
    "title": ("title", text_or("title")),
    "title_detail.value": ("title", text_or("title")),
    # feedparser copies a lone content to the summary.
    "summary": ("summary", text_or("summary", "content")),
    "summary_detail.value": ("summary", text_or("summary", "content")),
    "description": ("summary", text_or("summary", "content")),
    "content.0.value": ("content", text_or("content", "summary")),
    "link": ("link", lambda feed, item, value: is_link(item.link, value)),
    "id": ("id", lambda feed, item, value: is_text(item.id, value)),
    "guid": ("id", lambda feed, item, value: is_text(item.id, value)),
    "author": ("author", lambda feed, item, value: is_author(at(item.authors, 0), value)),
    "author_detail.name": (
        "author",
        lambda feed, item, value: is_text(at(item.authors, 0), value),
    ),
    "authors.0.name": ("author", lambda feed, item, value: is_text(at(item.authors, 0), value)),
    "authors.1.name": ("author", lambda feed, item, value: is_text(at(item.authors, 1), value)),
    "category": ("category", lambda feed, item, value: is_text(at(item.categories, 0), value)),
    "tags.0.term": ("category", lambda feed, item, value: is_text(at(item.categories, 0), value)),
    "tags.1.term": ("category", lambda feed, item, value: is_text(at(item.categories, 1), value)),
    "published_parsed": (
        "published",
        lambda feed, item, value: is_tuple(item.published, value),
    ),
    "updated_parsed": ("updated", lambda feed, item, value: is_tuple(item.updated, value)),
    **{
        f"enclosures.{number}.{name}": (
            "enclosure",
            lambda feed, item, value, n=number: at(item.enclosures, n).url == value,
        )
        for number in (0, 1)
        for name in ("href", "url")
    },
    **{
        f"enclosures.{number}.type": (
            "enclosure",
            lambda feed, item, value, n=number: at(item.enclosures, n).type == value,
        )
        for number in (0, 1)
    },
}
FEEDPARSER_FEED: dict[str, tuple[str, Fits]] = {
    "title": ("source", lambda feed, item, value: is_text(feed.feed.title, value)),
    "title_detail.value": ("source", lambda feed, item, value: is_text(feed.feed.title, value)),
    "link": ("site", lambda feed, item, value: is_link(canonical(feed.feed.site), value)),
}


def feedparser_claims(body: bytes) -> Iterator[Claim]:
    """The claims of a file of feedparser's, by the comment that it opens with."""
    text = body.decode("utf-8", "replace")
    found = re.search(r"Expect:\s*(.*?)\s*-->", text, re.DOTALL)
    if found is None:
        return
    try:
        tree = ast.parse(found[1].strip(), mode="eval").body
    except SyntaxError:
        return
    for part in tree.values if isinstance(tree, ast.BoolOp) else [tree]:
        if not (isinstance(part, ast.Compare) and isinstance(part.ops[0], ast.Eq)):
            continue
        try:
            value = ast.literal_eval(part.comparators[-1])
        except ValueError:
            continue
        for left in [part.left, *part.comparators[:-1]]:
            path = _path(left)
            if path[:1] == ["entries"] and len(path) > 2:
                number, name = int(path[1]), ".".join(path[2:])
                if name in FEEDPARSER:
                    field, fits = FEEDPARSER[name]
                    yield Claim(field, number, value, fits)
            elif path[:1] == ["feed"] and ".".join(path[1:]) in FEEDPARSER_FEED:
                field, fits = FEEDPARSER_FEED[".".join(path[1:])]
                yield Claim(field, None, value, fits)


def _path(node: ast.expr) -> list[str]:
    match node:
        case ast.Subscript(value=inner, slice=ast.Constant(value=key)):
            return [*_path(inner), str(key)]
        case ast.Attribute(value=inner, attr=name):
            return [*_path(inner), name]
        case ast.Name(id=name):
            return [name]
    return ["?"]


def headers(body: bytes) -> dict[str, str]:
    """The HTTP headers that a file of feedparser's is to be served with, names in lower case."""
    found = re.findall(r"Header:\s*([\w-]+):\s*(.*?)\s*\n", body.decode("utf-8", "replace"))
    return {name.lower(): value for name, value in found}


def _authors(feed: ParsedFeed, item: Item, value: Any) -> bool:
    return [squeezed(a) for a in item.authors] == [
        squeezed(name) for name in dict.fromkeys(map(person, value)) if name
    ]


def _categories(feed: ParsedFeed, item: Item, value: Any) -> bool:
    return all(any(is_text(ours, term) for ours in item.categories) for term in value)


GOFEED: dict[str, tuple[str, Fits]] = {
    "title": ("title", text_or("title")),
    "description": ("summary", text_or("summary")),
    "content": ("content", text_or("content")),
    "link": ("link", lambda feed, item, value: is_link(item.link, value)),
    "guid": ("id", lambda feed, item, value: is_text(item.id, value)),
    "publishedParsed": (
        "published",  # gofeed also takes dc:date for it
        lambda feed, item, value: is_date(item.published or item.updated, value),
    ),
    "updatedParsed": ("updated", lambda feed, item, value: is_date(item.updated, value)),
    "authors": ("author", _authors),
    "categories": ("category", _categories),
    "enclosures": (
        "enclosure",
        lambda feed, item, value: (
            [(e.url, e.type) for e in item.enclosures]
            == [(e.get("url", ""), e.get("type", "")) for e in value if e.get("url")]
        ),
    ),
}
"""gofeed's universal feed (`translator`)."""

GOFEED_RSS = {
    **GOFEED,
    "author": ("author", lambda feed, item, value: is_author(at(item.authors, 0), value)),
    "guid": ("id", lambda feed, item, value: is_text(item.id, value.get("value", ""))),
    "pubDateParsed": GOFEED["publishedParsed"],
    "categories": (
        "category",
        lambda feed, item, value: _categories(
            feed, item, [c if isinstance(c, str) else c["value"] for c in value]
        ),
    ),
}
GOFEED_RSS.pop("authors")
GOFEED_ATOM = {
    **GOFEED,
    "summary": GOFEED["description"],
    "id": GOFEED["guid"],
    "content": ("content", lambda feed, item, value: is_text(item.content, value.get("value", ""))),
    "categories": (
        "category",
        lambda feed, item, value: _categories(
            feed, item, [c["term"] for c in value if "term" in c]
        ),
    ),
    "links": (
        "link",
        lambda feed, item, value: is_link(
            item.link,
            next((e["href"] for e in value if e.get("rel") == "alternate" and "href" in e), ""),
        ),
    ),
}
GOFEED_JSON = {
    **GOFEED,
    "id": GOFEED["guid"],
    "url": GOFEED["link"],
    "summary": GOFEED["description"],
    "content_html": GOFEED["content"],
    "date_published": GOFEED["publishedParsed"],
    "date_modified": GOFEED["updatedParsed"],
    "tags": GOFEED["categories"],
}
GOFEED_KINDS: dict[str, tuple[str, dict[str, tuple[str, Fits]]]] = {
    "parser/rss": ("items", GOFEED_RSS),
    "parser/atom": ("entries", GOFEED_ATOM),
    "parser/json": ("items", GOFEED_JSON),
    "translator": ("items", GOFEED),
    "extensions": ("items", GOFEED_RSS),
}


def gofeed_files(folder: Path) -> Iterator[tuple[Path, Path]]:
    """The feeds of gofeed's that have an expectation, each with it."""
    for file in sorted(folder.rglob("*")):
        beside = file.with_suffix(".json")
        if file.suffix == ".json":
            beside = file.with_name(f"{file.stem}_expected.json")
        if file.is_file() and beside != file and beside.exists():
            yield file, beside


def gofeed_claims(name: str, expectation: bytes) -> Iterator[Claim]:
    """The claims of the JSON next to a file of gofeed's, `name` its path in gofeed's folder."""
    kind = next((kind for kind in GOFEED_KINDS if name.startswith(kind)), None)
    if kind is None:
        return
    expected = json.loads(expectation)
    items, table = GOFEED_KINDS[kind]
    if expected.get("title"):
        yield Claim("source", None, expected["title"], FEEDPARSER_FEED["title"][1])
    for number, item in enumerate(expected.get(items) or []):
        for member, value in item.items():
            if member in table and value:
                field, fits = table[member]
                yield Claim(field, number, value, fits)
