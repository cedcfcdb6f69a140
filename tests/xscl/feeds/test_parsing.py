"""The bytes of a feed as items: formats, modules, encodings, bases, and traps."""

from __future__ import annotations

import json
from html import escape

import pytest
from lxml import etree

from xscl.feeds import Enclosure, Item, NotAFeed, parse_feed

NAMESPACES = (
    'xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:media="http://search.yahoo.com/mrss/" '
    'xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd" '
    'xmlns:content="http://purl.org/rss/1.0/modules/content/" '
    'xmlns:atom="http://www.w3.org/2005/Atom" '
    'xmlns:xhtml="http://www.w3.org/1999/xhtml"'
)


def rss(inside: str) -> str:
    return f'<rss version="2.0" {NAMESPACES}><channel>{inside}</channel></rss>'


def one(inside: str, **settings: str) -> Item:
    (item,) = parse_feed(rss(f"<item>{inside}</item>").encode(), "f", **settings).items
    return item


def test_json_feed() -> None:
    feed = {
        "version": "https://jsonfeed.org/version/1.1",
        "title": "Notes & more",
        "home_page_url": "https://notes.example/",
        "authors": [{"name": "Cy Cole"}],
        "items": [
            {
                "id": 7,
                "url": "/rain",
                "external_url": "http://far.example/?utm_source=x",
                "title": "Rain < snow",
                "content_html": "<p>Wet <a href='map'>map</a></p>",
                "content_text": "not this",
                "summary": "a <b> c",
                "date_published": "2026-06-01T10:00:00+02:00",
                "date_modified": "2026-06-01T09:00:00Z",
                "tags": ["weather", 3, "sea"],
                "attachments": [{"url": "rain.mp3", "mime_type": "audio/mpeg"}, "no"],
            },
            {"id": "b", "author": {"name": "Dee"}, "title": None, "content_html": "<p>\0\ud800x"},
            "no item",
        ],
    }
    parsed = parse_feed(json.dumps(feed).encode(), "https://notes.example/feed.json")
    rain, bare = parsed.items
    assert (parsed.title, parsed.site) == ("Notes & more", "https://notes.example/")
    assert (rain.id, rain.link, rain.title) == ("7", "https://notes.example/rain", "Rain < snow")
    assert (rain.content, rain.summary) == ("Wet map", "a <b> c")
    assert rain.linked == ("https://notes.example/map", "https://far.example/")
    assert rain.raw_links == ("http://far.example/?utm_source=x",)
    assert rain.published == rain.updated - 3600 if rain.updated else False
    assert (rain.authors, rain.categories) == (("Cy Cole",), ("weather", "sea"))
    assert rain.enclosures == (Enclosure("https://notes.example/rain.mp3", "audio/mpeg"),)
    assert (bare.id, bare.authors, bare.content) == ("b", ("Dee",), "x")


@pytest.mark.parametrize(
    "body", [b"{", b'{"items": []}', b'{"version": "1.0"}', b'{"items":' + b"[" * 100_000]
)
def test_json_that_is_no_feed(body: bytes) -> None:
    with pytest.raises(NotAFeed, match=r"^is (no )?JSON"):
        parse_feed(body, "f")


def test_media_rss_fills_what_the_item_leaves_open() -> None:
    item = one(
        '<media:group><media:title>T</media:title><media:description type="plain">D'
        '</media:description><media:content url="https://a.example/v.mp4" type="video/mp4"/>'
        "<media:keywords>a, b</media:keywords></media:group>"
    )
    assert (item.title, item.summary, item.categories) == ("T", "D", ("a", "b"))
    assert item.enclosures == (Enclosure("https://a.example/v.mp4", "video/mp4"),)
    assert one("<media:title>M</media:title><title>T</title>").title == "T"
    summary = "<media:description>M</media:description><description>D</description>"
    assert one(summary).summary == "D"


def test_podcasts() -> None:
    item = one(
        "<itunes:summary>S</itunes:summary><itunes:author>Ann</itunes:author>"
        "<itunes:keywords>a,b</itunes:keywords>"
        '<itunes:category text="Arts"><itunes:category text="Food"/></itunes:category>'
        "<content:encoded>&lt;p&gt;C</content:encoded>"
        '<enclosure url="https://a.example/1.mp3" type="audio/mpeg" length="1"/>'
    )
    assert (item.summary, item.content, item.authors) == ("S", "C", ("Ann",))
    assert item.categories == ("a", "b", "Arts", "Food")
    assert item.enclosures == (Enclosure("https://a.example/1.mp3", "audio/mpeg"),)


def test_where_relative_addresses_start() -> None:
    site = "<link>https://site.example/s/</link><item><link>x</link></item>"
    in_file = parse_feed(rss(site).encode(), "feeds/f.xml")
    fetched = parse_feed(rss(site).encode(), "https://feeds.example/f/feed.xml")
    located = parse_feed(rss(site).encode(), "https://b.example/", base="https://c.example/d/")
    links = [feed.items[0].link for feed in (in_file, fetched, located)]
    assert links == [
        "https://site.example/s/x",
        "https://feeds.example/f/x",
        "https://c.example/d/x",
    ]


def test_xml_base_at_each_level() -> None:
    body = """
    <feed xmlns="http://www.w3.org/2005/Atom" xml:base="https://a.example/1/">
      <entry xml:base="2/"><link href="x"/><id>urn:x</id>
        <content type="xhtml" xml:base="3/"><div xmlns="http://www.w3.org/1999/xhtml">
          <a href="y">y</a><p xml:base="/4/"><a href="z">z</a></p></div></content>
        <summary type="html" xml:base="http://[">&lt;a href="w">w&lt;/a></summary>
      </entry>
    </feed>"""
    (item,) = parse_feed(body.encode(), "f").items
    assert item.link == "https://a.example/1/2/x"
    assert item.linked == (
        "https://a.example/1/2/3/y",
        "https://a.example/4/z",
        "https://a.example/1/2/w",
    )


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be", "iso-8859-1"])
@pytest.mark.parametrize("declared", [True, False])
def test_encodings(encoding: str, declared: bool) -> None:
    if encoding == "iso-8859-1" and not declared:
        pytest.skip("nothing says so")
    name = {"utf-8-sig": "utf-8", "utf-16-be": "utf-16"}.get(encoding, encoding)
    head = f'<?xml version="1.0" encoding="{name}"?>' if declared else '<?xml version="1.0"?>'
    text = head + rss("<item><title>Café</title></item>")
    (item,) = parse_feed(text.encode(encoding), "f").items
    assert item.title == "Café"


def test_the_charset_of_http_counts_before_the_declaration() -> None:
    text = '<?xml version="1.0" encoding="utf-8"?>' + rss("<item><title>Café</title></item>")
    body = text.encode("iso-8859-1")
    for content_type in ("text/xml; charset=ISO-8859-1", 'text/xml;charset="latin1"'):
        assert parse_feed(body, "f", content_type=content_type).items[0].title == "Café"
    known = parse_feed(text.encode(), "f", content_type="text/xml; charset=x-unknown")
    assert known.items[0].title == "Café"


def test_a_feed_that_is_not_well_formed() -> None:
    body = rss("<title>A & B</title><item><title>one</title><link>https://a.example/?a&b</link>")
    feed = parse_feed(body.encode(), "f")
    assert feed.title == "A & B"
    assert [(item.title, item.link) for item in feed.items] == [("one", "https://a.example/?a&b")]


def test_space_before_the_declaration_is_forgiven() -> None:
    body = b'\n  <?xml version="1.0"?>' + rss("<item><title>t</title></item>").encode()
    assert parse_feed(body, "f").items[0].title == "t"


def test_when_to_come_again() -> None:
    feed = parse_feed(
        rss(
            "<ttl>90</ttl><skipHours><hour>0</hour><hour>24</hour><hour>x</hour><hour>7</hour>"
            "</skipHours><skipDays><day>Sunday</day><day>Monday</day><day/></skipDays>"
        ).encode(),
        "f",
    )
    assert (feed.ttl, feed.skip_hours, feed.skip_days) == (5400, {0, 7}, {0, 6})
    assert parse_feed(rss("<ttl>soon</ttl>").encode(), "f").ttl is None


TRAPS = {
    "laughs": '<!DOCTYPE r [<!ENTITY a "ha"><!ENTITY b "'
    + "&a;" * 100
    + '"><!ENTITY c "'
    + "&b;" * 100
    + '"><!ENTITY d "'
    + "&c;" * 100
    + '">]>',
    "quadratic": f'<!DOCTYPE r [<!ENTITY d "{"x" * 100_000}">]>',
    "file": '<!DOCTYPE r [<!ENTITY d SYSTEM "file:///etc/passwd">]>',
    "parameter": '<!DOCTYPE r [<!ENTITY % p SYSTEM "file:///etc/passwd"> %p;]>',
    "external": '<!DOCTYPE r SYSTEM "http://127.0.0.1:9/x.dtd">',
}


@pytest.mark.parametrize("declaration", TRAPS.values(), ids=TRAPS)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_entities_are_no_way_to_grow_or_to_reach_files(declaration: str, encoding: str) -> None:
    body = declaration + rss(f"<item><guid>g</guid><title>{'&d;' * 1000}</title></item>")
    try:
        (item,) = parse_feed(body.encode(encoding), "f").items
    except NotAFeed:
        return
    assert len(item.title) < 10_000
    assert "root:" not in item.title


@pytest.mark.parametrize("tail", ["<a ", "<![CDATA[", "<!--", "&", "<b>", "<author>", "<author>a."])
def test_feeds_that_break_off_take_linear_time(tail: str) -> None:
    body = '<rss version="2.0"><channel><item><title>x</title>' + tail * 20_000
    assert len(parse_feed(body.encode(), "f").items) == 1


def test_a_document_is_well_formed_whatever_the_feed_says() -> None:
    item = one(
        '<title>&lt;i&gt; "&amp;amp;" ]]&gt;</title><enclosure url="https://a.example/?&lt;&quot;"/>'
    )
    document = etree.fromstring(item.document())
    assert document.findtext("title") == item.title
    (enclosure,) = document.iter("enclosure")
    assert enclosure.get("url") == 'https://a.example/?<"'


HOSTILE = {
    "a base that joins with nothing": b"""<feed xmlns="http://www.w3.org/2005/Atom"><title>t</title>
<entry><id>1</id><title>a</title><content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"
xml:base="http://b.example/"><a href="http://[x">x</a><a href="y">y</a></div></content></entry>
</feed>""",
    "hours beyond counting": b"<rss version='2.0'><channel><title>t</title><skipHours><hour>"
    + b"9" * 5000
    + b"</hour><hour>3</hour></skipHours><ttl>"
    + b"9" * 5000
    + b"</ttl><item><guid>1</guid><title>a</title></item></channel></rss>",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_what_is_no_number_or_address_costs_no_item(name: str) -> None:
    feed = parse_feed(HOSTILE[name], "http://f.example/")
    assert [item.title for item in feed.items] == ["a"]
    assert [one for item in feed.items for one in item.linked] in ([], ["https://b.example/y"])


@pytest.mark.parametrize("words", ["", "seen: "])
@pytest.mark.parametrize("summary", ["", "words", "<a href='http://s.example/'>s</a>"])
def test_the_links_of_a_content_of_pictures_are_links(words: str, summary: str) -> None:
    content = f"{words}<a href='http://a.example/p'><img src='i.png'/></a>"
    body = (
        "<rss version='2.0' xmlns:c='http://purl.org/rss/1.0/modules/content/'><channel>"
        "<title>t</title><item><guid>1</guid><title>x</title>"
        f"<description>{escape(summary)}</description>"
        f"<c:encoded>{escape(content)}</c:encoded></item></channel></rss>"
    )
    (item,) = parse_feed(body.encode(), "f").items
    assert item.linked[0] == "https://a.example/p"
    assert ("https://s.example/" in item.linked) == ("href" in summary)
    assert (item.content == "") == (not words)
