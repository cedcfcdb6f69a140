"""Matches as Atom and JSON Feed: valid, the same for every reader, nothing announced twice."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import feedparser
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

import xscl
from xscl.durable.changes import Undelivered
from xscl.durable.outbox import match_of
from xscl.sinks.atom import update_atom, write_atom
from xscl.sinks.json_feed import update_json_feed, write_json_feed

ATOM = "{http://www.w3.org/2005/Atom}"
RFC3339 = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")


def found(query: str, *documents: Any, name: str = "promo", since: float = 0) -> list[xscl.Match]:
    """The matches of a query over documents at intervals of a second."""
    with xscl.Engine() as engine:
        engine.subscribe(query, name=name)
        return [
            match
            for number, document in enumerate(documents)
            for match in engine.publish(
                "S", document, id=f"d{since + number}", timestamp=since + number
            )
        ]


def pages(number: int, since: int = 0) -> list[xscl.Match]:
    documents = [f"<p><title>Page {i}</title></p>" for i in range(since, since + number)]
    return found("S//p", *documents, since=since)


def assert_atom(text: str) -> etree._Element:
    """The rules of RFC 4287 on the structure of a feed (sections 4.1.1, 4.1.2 and 3)."""
    feed = etree.fromstring(text.encode())
    assert feed.tag == f"{ATOM}feed"
    names = [child.tag for child in feed]
    for once in ("id", "title", "updated"):
        assert names.count(f"{ATOM}{once}") == 1, once
    ids = []
    has_author = feed.find(f"{ATOM}author/{ATOM}name") is not None
    for element in [feed, *feed.iterfind(f"{ATOM}entry")]:
        ids.append(element.findtext(f"{ATOM}id") or "")
        assert urlsplit(ids[-1]).scheme
        assert element.find(f"{ATOM}title") is not None
        assert RFC3339.fullmatch(element.findtext(f"{ATOM}updated") or "")
        assert has_author or element.find(f"{ATOM}author/{ATOM}name") is not None
        links = element.findall(f"{ATOM}link")
        assert all(link.get("href") for link in links)
        alternates = [link for link in links if link.get("rel", "alternate") == "alternate"]
        kinds = {(link.get("type"), link.get("hreflang")) for link in alternates}
        assert len(kinds) == len(alternates)
        for category in element.iterfind(f"{ATOM}category"):
            assert category.get("term")
        for content in element.iterfind(f"{ATOM}content"):
            if content.get("type") == "xhtml":
                assert [child.tag for child in content] == ["{http://www.w3.org/1999/xhtml}div"]
                assert not (content.text or "").strip()
            else:
                assert len(content) == 0
    assert len(set(ids)) == len(ids)
    times = [entry.findtext(f"{ATOM}updated") for entry in feed.iterfind(f"{ATOM}entry")]
    assert times == sorted(times, key=str, reverse=True)
    return feed


def assert_json_feed(text: str) -> dict[str, Any]:
    """The rules of JSON Feed 1.1."""
    feed = json.loads(text)
    assert feed["version"] == "https://jsonfeed.org/version/1.1"
    assert isinstance(feed["title"], str)
    ids = [item["id"] for item in feed["items"]]
    assert all(isinstance(id, str) for id in ids)
    assert len(set(ids)) == len(ids)
    for item in feed["items"]:
        assert isinstance(item.get("content_html") or item["content_text"], str)
        assert RFC3339.fullmatch(item["date_published"])
        assert urlsplit(item.get("url", "https://x")).scheme in ("http", "https")
        assert all(isinstance(tag, str) for tag in item["tags"])
    return feed  # type: ignore[no-any-return]


def atom_of(matches: list[xscl.Match]) -> list[dict[str, Any]]:
    """The entries that feedparser reads, in the members of JSON Feed."""
    to = io.StringIO()
    assert write_atom(iter(matches), to, title="All & sundry") == len(matches)
    assert_atom(to.getvalue())
    read = feedparser.parse(io.BytesIO(to.getvalue().encode()))
    assert read.version == "atom10"
    assert not read.bozo
    assert read.feed.title == "All & sundry"
    return [
        {
            "id": entry.id,
            "title": entry.title,
            **({"url": entry.links[0].href} if entry.get("links") else {}),
            "date_published": entry.updated,
            "tags": [tag.term for tag in entry.tags],
            "content_html": entry.content[0].value,
        }
        for entry in read.entries
    ]


def json_of(matches: list[xscl.Match]) -> list[dict[str, Any]]:
    to = io.StringIO()
    assert write_json_feed(iter(matches), to, title="All & sundry") == len(matches)
    items: list[dict[str, Any]] = assert_json_feed(to.getvalue())["items"]
    return items


READERS: list[Callable[[list[xscl.Match]], list[dict[str, Any]]]] = [atom_of, json_of]


@pytest.mark.parametrize("read", READERS)
def test_an_entry_says_what_the_match_says(read: Any) -> None:
    (match,) = found(
        "S//p", "<p><title>A  &lt;b&gt; story</title><link>http://x/1?a=1&amp;b=2</link></p>"
    )
    (entry,) = read([match])
    assert entry["id"] == f"urn:xscl:{match.id}"
    assert entry["url"] == "http://x/1?a=1&b=2"
    assert entry["date_published"] == "1970-01-01T00:00:00Z"
    assert entry["tags"] == ["promo"]
    assert "&lt;title&gt;A  &amp;lt;b&amp;gt; story&lt;/title&gt;" in entry["content_html"]
    if read is json_of:
        assert entry["title"] == "A <b> story"
        assert etree.fromstring(entry["content_text"]).findtext("link") == "http://x/1?a=1&b=2"


CALLED = [
    pytest.param("<p><title>A</title><name>B</name></p>", "A", None, id="title"),
    pytest.param("<p><name>B</name><title>A</title></p>", "A", None, id="title, not the first"),
    pytest.param("<p><title> </title><name>B</name></p>", "B", None, id="nothing in the title"),
    pytest.param("<p><a title='T'/><x/></p>", "T", None, id="attribute"),
    pytest.param("<p xmlns:d='u'><d:title>A <i>b</i></d:title></p>", "A b", None, id="namespace"),
    pytest.param("<p>only text</p>", "promo", None, id="neither"),
    pytest.param(f"<p><title>{'long ' * 99}</title></p>", "long " * 39 + "long…", None, id="long"),
    pytest.param("<p><link>http://x/</link></p>", "promo", "http://x/", id="link"),
    pytest.param("<p><url>http://u/</url><link>http://x/</link></p>", "promo", "http://x/", id="2"),
    pytest.param("<p><link href='https://x/'/></p>", "promo", "https://x/", id="Atom link"),
    pytest.param(
        "<p><link rel='self' href='http://s/'/><link href='http://x/'/></p>",
        "promo",
        "http://x/",
        id="the alternate link",
    ),
    pytest.param("<p><enclosure url='http://e/'/></p>", "promo", "http://e/", id="enclosure"),
    pytest.param("<p><a>seen at</a><b> http://b/ </b></p>", "promo", "http://b/", id="address"),
    pytest.param("<p><link>javascript:x()</link></p>", "promo", None, id="another scheme"),
    pytest.param("<p><link>http://x/ y</link></p>", "promo", None, id="no address"),
    pytest.param({"p": {"title": "A", "url": "http://x/"}}, "A", "http://x/", id="JSON"),
    pytest.param({"p": {"a": [{"name": "B"}], "n": 1}}, "B", None, id="JSON inside"),
]  # fmt: skip


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize(("document", "title", "link"), CALLED)
def test_titles_and_links(read: Any, document: Any, title: str, link: str | None) -> None:
    (entry,) = read(found("S//p", document))
    assert (entry["title"], entry.get("url")) == (title, link)


def tree(element: etree._Element) -> str:
    """What an element says, however it is indented."""
    for one in element.iter():
        one.text, one.tail = (one.text or "").strip(), (one.tail or "").strip()
    return etree.tostring(element, encoding="unicode")


TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=20)


@given(st.lists(st.tuples(TEXT, TEXT), max_size=5))
def test_any_result_can_be_read_back(pairs: list[tuple[str, str]]) -> None:
    """Atom read by feedparser and JSON Feed read as JSON say the same."""
    documents = []
    for title, body in pairs:
        page = etree.Element("p", k=re.sub("[\ufffe\uffff]", "", body))
        etree.SubElement(page, "title").text = re.sub("[\ufffe\uffff]", "", title)
        documents.append(etree.tostring(page, encoding="unicode"))
    matches = found("S//p", *documents)
    items = json_of(matches)
    assert [item["id"] for item in atom_of(matches)] == [item["id"] for item in items]
    for match, item in zip(reversed(matches), items, strict=True):
        assert tree(etree.fromstring(item["content_text"])) == tree(match.xml())


def test_what_xml_cannot_hold_is_replaced() -> None:
    # A state file may have one that was found before such keys were refused.
    (fine,) = found('SELECT {"title": x} FROM S//p->x', {"p": {"a key": "v"}})
    body = json.dumps({**fine.to_dict(), "json": True, "result": {"title": {"\ufffe key": "v"}}})
    match = match_of(Undelivered(1, "callback", fine.query, fine.id, body))
    assert "\ufffd key" in json_of([match])[0]["content_text"]
    assert atom_of([match])[0]["title"] == "promo"


@pytest.mark.parametrize(
    ("since", "first"),
    [
        (-1e10, "1653-02-10T06:13:20Z"),
        (-9e10, "0001-01-01T00:00:00Z"),
        (9e10, "4821-12-26T16:00:00Z"),
    ],
)
def test_times_far_away(since: float, first: str) -> None:
    (match,) = found("S//p", "<p/>", since=since)
    assert json_of([match])[0]["date_published"] == first
    assert atom_of([match])[0]["date_published"] == first


FILES: list[Any] = [
    pytest.param(update_atom, assert_atom, id="atom"),
    pytest.param(update_json_feed, assert_json_feed, id="jsonfeed"),
]


def titles(feed: Any) -> list[str]:
    if isinstance(feed, dict):
        return [item["title"] for item in feed["items"]]
    return [entry.findtext(f"{ATOM}title") or "" for entry in feed.iterfind(f"{ATOM}entry")]


@pytest.mark.parametrize(("update", "read"), FILES)
def test_a_file_grows_and_keeps_the_newest(update: Any, read: Any, tmp_path: Path) -> None:
    file = tmp_path / "feed"
    assert update(pages(3), file, title="T", newest=5) == 3
    assert titles(read(file.read_text())) == ["Page 2", "Page 1", "Page 0"]
    first = file.read_text()
    assert update(pages(3), file, title="T", newest=5) == 3
    assert file.read_text() == first, "the same matches again change nothing"
    assert update(pages(4, since=3), file, title="T", newest=5) == 4
    assert titles(read(file.read_text())) == [f"Page {i}" for i in (6, 5, 4, 3, 2)]
    second = file.read_text()
    assert update(pages(3), file, title="T", newest=5) == 3
    assert file.read_text() == second, "what was pushed out does not come back"
    assert [path.name for path in tmp_path.iterdir()] == ["feed"], "no draft is left"


@pytest.mark.parametrize(("update", "read"), FILES)
def test_an_entry_that_is_taken_back_goes(update: Any, read: Any, tmp_path: Path) -> None:
    """Also where a killed process had written it, and all comes again."""
    file, matches = tmp_path / "feed", pages(4)
    back = [xscl.Retraction.of(matches[1]), xscl.Retraction.of(matches[2])]

    def shown() -> list[str]:
        return titles(read(file.read_text()))

    update(matches, file, title="T", newest=3)
    assert shown() == ["Page 3", "Page 2", "Page 1"]
    assert update(back, file, title="T", newest=3) == 0, "they are no matches"
    assert shown() == ["Page 3"], "what was pushed out does not come back"
    update(matches[1:], file, title="T", newest=3)
    update(back, file, title="T", newest=3)
    assert shown() == ["Page 3"]
    update([*back, matches[2]], file, title="T", newest=3)
    assert shown() == ["Page 3", "Page 2"], "it holds again"


@pytest.mark.parametrize(("update", "read"), FILES)
def test_no_match_at_all(update: Any, read: Any, tmp_path: Path) -> None:
    assert update([], tmp_path / "feed", title="T") == 0
    assert titles(read((tmp_path / "feed").read_text())) == []


@pytest.mark.parametrize(("update", "read"), FILES)
def test_only_the_newest_are_retained(update: Any, read: Any, tmp_path: Path) -> None:
    """However many matches come, and in whatever order."""

    def many() -> Iterator[xscl.Match]:
        yield from pages(20)[::-1]
        yield from pages(20, since=20)

    assert update(many(), tmp_path / "feed", title="T", newest=3) == 40
    assert titles(read((tmp_path / "feed").read_text())) == ["Page 39", "Page 38", "Page 37"]


@pytest.mark.parametrize(("update", "read"), FILES)
def test_a_file_of_something_else_is_left_alone(update: Any, read: Any, tmp_path: Path) -> None:
    for other in ("<html/>", '{"version": "2"}', "[1]", "text", "<feed/>"):
        file = tmp_path / "feed"
        file.write_text(other)
        with pytest.raises(xscl.XSCLError, match="is there already and is no"):
            update(pages(1), file, title="T")
        assert file.read_text() == other


@pytest.mark.parametrize(("update", "read"), FILES)
def test_a_file_that_cannot_be_written(update: Any, read: Any, tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No such file or directory"):
        update(pages(1), tmp_path / "nowhere" / "feed", title="T")


@pytest.mark.parametrize(("update", "read"), FILES)
def test_a_linked_file_and_its_mode_are_kept(update: Any, read: Any, tmp_path: Path) -> None:
    (tmp_path / "public").mkdir()
    (tmp_path / "feed").symlink_to(tmp_path / "public" / "real")
    update(pages(1), tmp_path / "feed", title="T")
    (tmp_path / "public" / "real").chmod(0o640)
    update(pages(2), tmp_path / "feed", title="T")
    assert (tmp_path / "feed").is_symlink()
    assert (tmp_path / "public" / "real").stat().st_mode & 0o777 == 0o640
    assert len(titles(read((tmp_path / "feed").read_text()))) == 2


def test_what_someone_wrote_into_an_atom_file_stays(tmp_path: Path) -> None:
    file = tmp_path / "feed.atom"
    file.write_text(
        '<feed xmlns="http://www.w3.org/2005/Atom"><id>tag:me,2020:1</id><title>Mine</title>'
        '<link rel="self" href="http://me/feed.atom"/><updated>2000-01-01T00:00:00Z</updated>'
        "<author><name>Me</name></author><entry><id>tag:me,2020:2</id><title>Own</title>"
        '<updated>2000-01-01T00:00:00+02:00</updated><content type="html">&lt;b&gt;</content>'
        "</entry></feed>"
    )
    update_atom(pages(1), file, title="T")
    feed = assert_atom(file.read_text())
    assert feed.findtext(f"{ATOM}id") == "tag:me,2020:1"
    assert feed.find(f"{ATOM}link").get("href") == "http://me/feed.atom"  # type: ignore[union-attr]
    assert titles(feed) == ["Own", "Page 0"]
    assert feed.findtext(f"{ATOM}updated") == "2000-01-01T00:00:00+02:00"


def test_what_someone_wrote_into_a_json_feed_stays(tmp_path: Path) -> None:
    file = tmp_path / "feed.json"
    item = {"id": "1", "content_text": "\ud800", "date_modified": "2000-01-01T00:00:00Z", "_x": 1}
    feed = {"version": "https://jsonfeed.org/version/1.1", "title": "Mine", "items": [item]}
    file.write_text(json.dumps(feed))
    update_json_feed(pages(1), file, title="T")
    after = json.loads(file.read_text())
    assert after["title"] == "Mine"
    assert after["items"][0] == item
    assert after["items"][1]["title"] == "Page 0"


@pytest.mark.parametrize("update", [update_atom, update_json_feed])
def test_what_someone_wrote_into_an_entry_stays_when_its_match_comes_again(
    update: Callable[..., int], tmp_path: Path
) -> None:
    file = tmp_path / "feed"
    matches = pages(3)
    update(matches[:2], file, title="T")
    file.write_text(file.read_text().replace("Page 1", "Page one"))
    update(matches, file, title="T")
    text = file.read_text()
    assert [title in text for title in ("Page 0", "Page one", "Page 1", "Page 2")] == [
        True, True, False, True,
    ]  # fmt: skip
