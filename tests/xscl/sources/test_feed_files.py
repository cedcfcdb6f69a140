"""Feed files as document envelopes."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Any

import pytest
from lxml import etree

from xscl.errors import DocumentError, XSCLError
from xscl.feeds import RAW
from xscl.sources.feed_files import read_feeds

ARRIVAL = 1780315200.0  # 2026-06-01T12:00:00Z
DAY = 86_400

RSS = """<?xml version="1.0" encoding="UTF-8"?>
<rss version="2.0" xmlns:dc="http://purl.org/dc/elements/1.1/"
     xmlns:content="http://purl.org/rss/1.0/modules/content/">
  <channel>
    <title>News &amp; Views</title>
    <link>https://news.example/</link>
    {items}
  </channel>
</rss>
"""

FULL_ITEM = """
<item>
  <title>Salt   &amp; smoke</title>
  <link>https://news.example/salt?utm_source=feed</link>
  <guid isPermaLink="false">n-1</guid>
  <pubDate>Mon, 01 Jun 2026 10:00:00 +0200</pubDate>
  <dc:creator>Ann Archer</dc:creator>
  <dc:creator>Bo Bell</dc:creator>
  <category>food</category>
  <category>sea</category>
  <description>A short word.</description>
  <content:encoded><![CDATA[<h2>Salt</h2><p>See <a href="https://a.example/x">this</a>,
    <a href="/local">that</a>, <a href="https://a.example/x">this again</a>,
    <a href="mailto:m@a.example">us</a> and <a href="#note">a note</a>.</p><p>E<b>nd</b>.</p>
    <script>alert(1)</script>]]></content:encoded>
  <enclosure url="https://news.example/salt.mp3" length="9" type="audio/mpeg"/>
</item>
"""

ATOM = """<?xml version="1.0" encoding="UTF-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
  <title>Notes</title>
  <link href="https://notes.example/"/>
  <id>https://notes.example/</id>
  <updated>2026-06-01T09:00:00Z</updated>
  <author><name>Cy Cole</name></author>
  <entry>
    <title type="html">Rain &amp;lt; snow &lt;em&gt;again&lt;/em&gt;</title>
    <link href="https://notes.example/rain"/>
    <link rel="enclosure" href="https://notes.example/rain.png" type="image/png"/>
    <id>tag:notes.example,2026:rain</id>
    <published>2026-06-01T08:00:00Z</published>
    <updated>2026-06-01T08:30:00Z</updated>
    <author><name>Dee Dunn</name></author>
    <category term="weather"/>
    <content type="xhtml" xml:base="https://notes.example/rain/">
      <div xmlns="http://www.w3.org/1999/xhtml"><p>Wet <a href="map">map</a></p></div>
    </content>
  </entry>
  <entry>
    <title>Plain</title>
    <id>tag:notes.example,2026:plain</id>
    <updated>2026-06-01T07:00:00Z</updated>
    <summary type="text">a &lt;b> c</summary>
  </entry>
</feed>
"""

RDF = """<?xml version="1.0" encoding="ISO-8859-1"?>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"
         xmlns:dc="http://purl.org/dc/elements/1.1/">
  <channel rdf:about="https://old.example/"><title>Old</title><link>https://old.example/</link>
  </channel>
  <item rdf:about="https://old.example/1">
    <title>Caf\xe9</title><link>https://old.example/1</link>
    <dc:date>2026-06-01T06:00:00Z</dc:date><dc:creator>Eve</dc:creator><dc:subject>past</dc:subject>
  </item>
</rdf:RDF>
"""


def rss(*items: str) -> str:
    return RSS.format(items="".join(items))


def write(path: Path, text: str | bytes, *, modified: float = ARRIVAL) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    os.utime(path, (modified, modified))
    return str(path)


def read_one(tmp_path: Path, item: str) -> tuple[dict[str, Any], etree._Element]:
    """The only item of an RSS feed that arrives at ARRIVAL."""
    (envelope,) = read_feeds(write(tmp_path / "feed.xml", rss(item)), "S")
    return envelope, etree.fromstring(envelope["xml"])


def texts(document: etree._Element, name: str) -> list[str | None]:
    return [element.text for element in document.iter(name)]


def test_an_rss_item_with_everything(tmp_path: Path) -> None:
    envelope, document = read_one(tmp_path, FULL_ITEM)
    file = str(tmp_path / "feed.xml")
    assert envelope["stream"] == "S"
    assert envelope["id"] == f"{file}#n-1"
    assert envelope["timestamp"] == ARRIVAL - 4 * 3600
    assert isinstance(envelope["timestamp"], float)
    assert document.tag == "item"
    assert [(child.tag, child.text) for child in document] == [
        ("feed", file),
        ("site", "https://news.example/"),
        ("source", "News & Views"),
        ("id", "n-1"),
        ("link", "https://news.example/salt"),
        ("rawlink", "https://news.example/salt?utm_source=feed"),
        ("title", "Salt & smoke"),
        ("author", "Ann Archer"),
        ("author", "Bo Bell"),
        ("category", "food"),
        ("category", "sea"),
        ("published", "2026-06-01T08:00:00Z"),
        ("summary", "A short word."),
        ("content", "Salt See this, that, this again, us and a note. End."),
        ("linked", "https://a.example/x"),
        ("linked", "https://news.example/local"),
        ("enclosure", None),
    ]
    assert document[-1].items() == [
        ("url", "https://news.example/salt.mp3"),
        ("type", "audio/mpeg"),
    ]


def test_elements_with_nothing_to_say_are_absent(tmp_path: Path) -> None:
    _, document = read_one(tmp_path, "<item><title>Bare</title><category> </category></item>")
    assert [child.tag for child in document] == ["feed", "site", "source", "title"]


def test_atom(tmp_path: Path) -> None:
    file = write(tmp_path / "notes.atom", ATOM)
    plain, rain = read_feeds(file, "notes")
    document = etree.fromstring(rain["xml"])
    assert rain["stream"] == "notes"
    assert rain["id"] == f"{file}#tag:notes.example,2026:rain"
    assert rain["timestamp"] == ARRIVAL - 4 * 3600
    assert [(child.tag, child.text) for child in document][3:] == [
        ("id", "tag:notes.example,2026:rain"),
        ("link", "https://notes.example/rain"),
        ("title", "Rain < snow again"),
        ("author", "Dee Dunn"),
        ("category", "weather"),
        ("published", "2026-06-01T08:00:00Z"),
        ("updated", "2026-06-01T08:30:00Z"),
        ("content", "Wet map"),
        ("linked", "https://notes.example/rain/map"),
        ("enclosure", None),
    ]
    bare = etree.fromstring(plain["xml"])
    assert texts(bare, "summary") == ["a <b> c"]
    assert texts(bare, "author") == ["Cy Cole"], "an entry inherits its feed's author"
    assert texts(bare, "link") == [], "an id that is no address is no link"
    assert texts(bare, "published") == []
    assert plain["timestamp"] == ARRIVAL - 5 * 3600


def test_rss_1(tmp_path: Path) -> None:
    file = write(tmp_path / "old.rdf", RDF.encode("latin-1"))
    (envelope,) = read_feeds(file, "S")
    assert envelope["id"] == f"{file}#https://old.example/1"
    assert envelope["timestamp"] == ARRIVAL - 6 * 3600
    document = etree.fromstring(envelope["xml"])
    assert texts(document, "title") == ["Café"]
    assert texts(document, "author") == ["Eve"]
    assert texts(document, "category") == ["past"]
    assert texts(document, "updated") == ["2026-06-01T06:00:00Z"]


@pytest.mark.parametrize(
    ("parts", "identity"),
    [
        ("<guid>g</guid><link>https://a.example/1</link>", "g"),
        ("<link>https://a.example/1</link>", "https://a.example/1"),
        ("<link>/1</link>", "https://news.example/1"),
        ("<guid> </guid><link>https://a.example/1</link>", "https://a.example/1"),
    ],
)
def test_the_id_is_the_guid_else_the_link(tmp_path: Path, parts: str, identity: str) -> None:
    envelope, _ = read_one(tmp_path, f"<item>{parts}<title>t</title></item>")
    assert envelope["id"] == f"{tmp_path / 'feed.xml'}#{identity}"


def test_an_item_without_either_has_a_stable_id_of_its_own(tmp_path: Path) -> None:
    file = write(
        tmp_path / "feed.xml", rss("<item><title>a</title></item><item><title>b</title></item>")
    )
    ids = [envelope["id"] for envelope in read_feeds(file, "S")]
    assert len(set(ids)) == 2
    assert all(id_.startswith(f"{file}#") for id_ in ids)
    assert [envelope["id"] for envelope in read_feeds(file, "S", arrival=5e9)] == ids


@pytest.mark.parametrize(
    ("dates", "timestamp"),
    [
        ("<pubDate>Mon, 01 Jun 2026 00:00:00 GMT</pubDate>", ARRIVAL - DAY / 2),
        ("<dc:date>2026-05-31T12:00:00Z</dc:date>", ARRIVAL - DAY),
        ("", ARRIVAL),
        ("<pubDate>yesterday, more or less</pubDate>", ARRIVAL),
        ("<pubDate>Thu, 01 Jan 1970 00:00:00 GMT</pubDate>", ARRIVAL),
        (
            "<pubDate>Sun, 31 Dec 1989 23:59:59 GMT</pubDate>"
            "<dc:date>2026-05-31T12:00:00Z</dc:date>",
            ARRIVAL - DAY,
        ),
        ("<pubDate>Mon, 01 Jan 1990 00:00:00 GMT</pubDate>", 631152000),
        ("<pubDate>Tue, 02 Jun 2026 12:00:00 GMT</pubDate>", ARRIVAL + DAY),
        ("<pubDate>Tue, 02 Jun 2026 12:00:01 GMT</pubDate>", ARRIVAL),
        ("<pubDate>Fri, 01 Jan 2038 00:00:00 GMT</pubDate>", ARRIVAL),
    ],
)
def test_dates_that_lie(tmp_path: Path, dates: str, timestamp: float) -> None:
    envelope, _ = read_one(tmp_path, f"<item><title>t</title>{dates}</item>")
    assert envelope["timestamp"] == timestamp


def test_a_placeholder_date_is_not_written(tmp_path: Path) -> None:
    _, document = read_one(
        tmp_path,
        "<item><title>t</title><pubDate>Thu, 01 Jan 1970 00:00:00 GMT</pubDate></item>",
    )
    assert texts(document, "published") == []


def test_an_arrival_that_is_given_takes_the_place_of_the_files_time(tmp_path: Path) -> None:
    file = write(tmp_path / "feed.xml", rss("<item><title>t</title></item>"))
    assert [e["timestamp"] for e in read_feeds(file, "S", arrival=1e9)] == [1e9]


@pytest.mark.parametrize(
    ("markup", "author"),
    [
        ("<author>ann@news.example (Ann Archer)</author>", "Ann Archer"),
        ("<author>Ann Archer (ann@news.example)</author>", "Ann Archer"),
        ("<author>ann@news.example</author>", "ann@news.example"),
        ("<author>Ann Archer</author>", "Ann Archer"),
        ("<dc:creator>Ann Archer</dc:creator>", "Ann Archer"),
    ],
)
def test_authors(tmp_path: Path, markup: str, author: str) -> None:
    _, document = read_one(tmp_path, f"<item><title>t</title>{markup}</item>")
    assert texts(document, "author") == [author]


def test_a_description_after_the_content_is_the_summary(tmp_path: Path) -> None:
    _, document = read_one(
        tmp_path,
        "<item><content:encoded>long</content:encoded><description>short</description></item>",
    )
    assert texts(document, "summary") == ["short"]
    assert texts(document, "content") == ["long"]


def test_characters_that_xml_forbids_are_dropped(tmp_path: Path) -> None:
    _, document = read_one(
        tmp_path,
        "<item><title>a\x0bb</title><description>c&amp;#1;&amp;#xFFFE;d</description></item>",
    )
    assert texts(document, "title") == ["ab"]
    assert texts(document, "summary") == ["cd"]


def test_broken_addresses_are_no_links(tmp_path: Path) -> None:
    _, document = read_one(
        tmp_path,
        "<item><title>t</title><link>http://[</link><description>&lt;a href='http://[x'>x&lt;/a>"
        "&lt;a href='https://ok.example/'>y&lt;/a></description><enclosure url='nowhere:'/></item>",
    )
    assert [child.tag for child in document][3:] == ["title", "summary", "linked"]
    assert texts(document, "linked") == ["https://ok.example/"]


def test_a_folder_is_read_recursively_and_in_order_of_time(tmp_path: Path) -> None:
    def item(name: str, hour: int) -> str:
        date = f"Mon, 01 Jun 2026 {hour:02}:00:00 GMT"
        return f"<item><guid>{name}</guid><title>t</title><pubDate>{date}</pubDate></item>"

    write(tmp_path / "b.xml", rss(item("four", 9), item("two", 5)))
    write(tmp_path / "a" / "deep.rss", rss(item("three", 7), item("one", 3), item("five", 9)))
    write(tmp_path / "queries.xscl", "S//item;")
    envelopes = list(read_feeds(tmp_path, "S"))
    assert [envelope["id"] for envelope in envelopes] == [
        f"{tmp_path}/a/deep.rss#one",
        f"{tmp_path}/b.xml#two",
        f"{tmp_path}/a/deep.rss#three",
        f"{tmp_path}/a/deep.rss#five",
        f"{tmp_path}/b.xml#four",
    ], "by time; at the same time by path"


def test_the_feed_is_the_path_as_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "in" / "feed.xml", rss("<item><guid>g</guid></item>"))
    monkeypatch.chdir(tmp_path)
    sources: list[tuple[str | Path, str]] = [
        ("in/feed.xml", "in/feed.xml"),
        ("./in/feed.xml", "./in/feed.xml"),
        ("in", "in/feed.xml"),
        ("./in/", "./in/feed.xml"),
        (Path("in"), "in/feed.xml"),
    ]
    for source, feed in sources:
        (envelope,) = read_feeds(source, "S")
        assert envelope["id"] == f"{feed}#g"
        assert etree.fromstring(envelope["xml"]).findtext("feed") == feed


NO_FEEDS = {
    "empty": b"",
    "blank": b" \n ",
    "html": b"<html><body><p>Not here</p></body></html>",
    "text": b"Dear diary, an <item> of news.",
    "opml": b"<opml version='2.0'><body><outline xmlUrl='https://a.example/'/></body></opml>",
    "image": b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR",
    "impossible": b"<rss version='2.0'><channel><title>&#x110000;</title></channel></rss>",
    "tangled": b"<rss version='2.0'><channel><item><category>x</item></category></channel></rss>",
}


@pytest.mark.parametrize("data", NO_FEEDS.values(), ids=NO_FEEDS)
def test_a_file_that_is_no_feed_is_reported_and_the_others_are_read(
    tmp_path: Path, data: bytes
) -> None:
    bad = write(tmp_path / "bad", data)
    write(tmp_path / "good", rss("<item><guid>g</guid></item>"))
    errors: list[DocumentError] = []
    envelopes = list(read_feeds(tmp_path, "S", on_error=errors.append))
    assert [envelope["id"] for envelope in envelopes] == [f"{tmp_path / 'good'}#g"]
    (error,) = errors
    assert (error.stream, error.document) == ("S", bad)
    assert "feed" in error.problem


def test_a_bad_file_is_raised_where_nobody_takes_the_report(tmp_path: Path) -> None:
    with pytest.raises(DocumentError, match="is empty"):
        list(read_feeds(write(tmp_path / "bad", ""), "S"))


def test_a_feed_without_items_is_a_feed(tmp_path: Path) -> None:
    assert list(read_feeds(write(tmp_path / "feed.xml", rss()), "S")) == []


def test_a_feed_that_breaks_off_gives_what_it_has(tmp_path: Path) -> None:
    whole = rss("<item><guid>one</guid></item><item><guid>two</guid></item>")
    file = write(tmp_path / "feed.xml", whole[: whole.index("<guid>two")])
    assert next(read_feeds(file, "S"))["id"] == f"{file}#one"


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("https://news.example/feed.xml", "xscl watch"),
        ("HTTP://news.example/feed.xml", "download it"),
    ],
)
def test_sources_that_cannot_be_read_are_refused_immediately(source: str, words: str) -> None:
    with pytest.raises(XSCLError, match=words):
        read_feeds(source, "S")


def test_a_pipe_is_read_as_a_file(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    body = rss("<item><guid>g</guid></item>").encode()
    writer = threading.Thread(target=pipe.write_bytes, args=(body,))
    writer.start()
    assert [envelope["id"] for envelope in read_feeds(pipe, "S")] == [f"{pipe}#g"]
    writer.join()


def test_a_missing_source_is_refused_immediately(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="nowhere"):
        read_feeds(tmp_path / "nowhere", "S")


OPML = """<opml version="2.0"><body>
  <outline text="News"><outline text="Local &amp; near">
    <outline text="One" type="rss" xmlUrl="in/one.xml" category="/daily,/b"/></outline></outline>
  {more}
  <outline text="Again"><outline text="One" xmlUrl="in/one.xml"/></outline>
</body></opml>
"""


def test_the_files_that_an_opml_file_lists_are_read_and_its_categories_are_folders(
    tmp_path: Path,
) -> None:
    write(tmp_path / "in" / "one.xml", rss("<item><guid>g</guid></item>"))
    for name in ("mine.opml", "export.xml"):
        (envelope,) = read_feeds(write(tmp_path / name, OPML.format(more="")), "S")
        document = etree.fromstring(envelope["xml"])
        assert texts(document, "folder") == ["News", "Local & near", "daily", "b", "Again"]
        assert envelope["id"] == f"{tmp_path}/in/one.xml#g"


def test_addresses_in_an_opml_file_are_reported_and_its_files_are_read(tmp_path: Path) -> None:
    write(tmp_path / "in" / "one.xml", rss("<item><guid>g</guid></item>"))
    remote = '<outline text="Far" xmlUrl="https://far.example/?a=1&b=2"/>'  # not well-formed
    source = write(tmp_path / "mine.opml", OPML.format(more=remote))
    errors: list[DocumentError] = []
    assert len(list(read_feeds(source, "S", on_error=errors.append))) == 1
    (error,) = errors
    assert error.document == "https://far.example/?a=1&b=2"
    assert "xscl watch" in error.problem


def test_an_opml_file_of_addresses_only_is_refused_immediately(tmp_path: Path) -> None:
    body = '<opml><body><outline xmlUrl="https://far.example/"/></body></opml>'
    with pytest.raises(XSCLError, match="xscl watch"):
        read_feeds(write(tmp_path / "mine.opml", body), "S")
    with pytest.raises(XSCLError, match="no OPML"):
        read_feeds(write(tmp_path / "mine.opml", "<html/>"), "S")


def test_raw_links_are_those_of_the_feed(tmp_path: Path) -> None:
    file = write(tmp_path / "feed.xml", rss(FULL_ITEM))
    (envelope,) = read_feeds(file, "S", links=RAW)
    document = etree.fromstring(envelope["xml"])
    assert texts(document, "link") == ["https://news.example/salt?utm_source=feed"]
    assert texts(document, "rawlink") == []
