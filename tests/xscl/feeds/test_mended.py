"""What is wrong with many feeds, and costs nothing but itself: characters that were cut, ampersands
that begin nothing, labels that cannot be true, addresses of namespaces like those of pages."""

from __future__ import annotations

import pytest

from xscl.feeds.dates import iso, seconds_of
from xscl.feeds.items import Item
from xscl.feeds.opml import is_opml, read_opml
from xscl.feeds.parsing import NotAFeed, parse_feed
from xscl.web.decoding import BodyError, decoded

UTF_8 = '<?xml version="1.0" encoding="UTF-8"?>'


def rss(items: str, declaration: str = UTF_8, attributes: str = "") -> bytes:
    return (
        f'{declaration}<rss version="2.0"{attributes}><channel><title>T</title>{items}'
        "</channel></rss>"
    ).encode()


def parsed(body: bytes) -> tuple[Item, ...]:
    return parse_feed(body, "https://e.example/feed").items


@pytest.mark.parametrize("declaration", [UTF_8, '<?xml version="1.0"?>', ""])
def test_a_cut_character_costs_no_other(declaration: str) -> None:
    body = rss("<item><title>Привет</title><description>ü#</description></item>", declaration)
    (item,) = parsed(body.replace(b"\xbc#", b""))
    assert (item.title, item.summary) == ("Привет", "\ufffd")


@pytest.mark.parametrize("declaration", [UTF_8, ""])
def test_another_encoding_that_is_called_utf_8_is_read_as_it_is(declaration: str) -> None:
    text = "<item><title>Über Käse, Öl und Brühe</title></item>"
    body = rss(text, declaration).decode().encode("windows-1252")
    assert [one.title for one in parsed(body)] == ["Über Käse, Öl und Brühe"]


def test_a_bare_ampersand_is_one() -> None:
    (item,) = parsed(
        rss(
            "<item><title>AT&T and Q&A</title><category>M&A</category><author>B&O</author>"
            "<description><![CDATA[x & y]]></description>"
            "<guid>https://q.example/?id=1&page=2</guid></item>"
        )
    )
    assert (item.title, item.categories, item.authors) == ("AT&T and Q&A", ("M&A",), ("B&O",))
    assert (item.id, item.link, item.summary) == (*["https://q.example/?id=1&page=2"] * 2, "x & y")


def test_what_is_escaped_is_read_alike_where_something_else_is_wrong() -> None:
    text = (
        "<item><title>x{}y</title><author>Smith &amp; Sons</author><category>M&amp;A</category>"
        '<guid isPermaLink="false">https://e/?post_type=p&amp;p=1</guid></item>'
    )
    (good,), (bad,) = (parsed(rss(text.format(one))) for one in ("", "&nbsp;"))
    assert (good.id, good.authors, good.categories) == (bad.id, bad.authors, bad.categories)


@pytest.mark.parametrize("label", ["utf-16", "UTF-16LE", "ucs-2", "utf-32"])
def test_a_label_that_cannot_be_true_is_none(label: str) -> None:
    body = rss("<item><title>é</title></item>", f'<?xml version="1.0" encoding="{label}"?>')
    assert [one.title for one in parsed(body)] == ["é"]
    wide = body.decode().replace(label, "utf-16").encode("utf-16")
    assert [one.title for one in parsed(wide)] == ["é"]


def test_addresses_of_namespaces_may_be_those_of_pages() -> None:
    spaces = (
        ' xmlns:dc="https://purl.org/dc/elements/1.1/"'
        ' xmlns:content="https://purl.org/rss/1.0/modules/content/"'
        ' xmlns:media="https://search.yahoo.com/mrss/"'
    )
    items = (
        "<item><dc:creator>Ann</dc:creator><dc:date>2026-06-01</dc:date>"
        '<content:encoded>c</content:encoded><media:content url="https://e.example/m.mp3"/></item>'
    )
    (item,) = parsed(rss(items, attributes=spaces))
    assert (item.authors, item.content, len(item.enclosures)) == (("Ann",), "c", 1)
    assert iso(item.published or item.updated) == "2026-06-01T00:00:00Z"


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("Mon, 01 Jun 2026 10:00:00 +0200 (CEST)", "08:00"),
        ("Mon Jun 01 2026 10:00:00 GMT+0200 (Central European Summer Time)", "08:00"),
        ("Mon, 01 Jun 2026 10:00:00 +0000 UTC", "10:00"),
        ("Mon, 1 June, 2026 10:00:00 GMT", "10:00"),
        ("Mon, 01 Jun 2026 10:00:00 PM", "22:00"),
        ("Mon, 01 Jun 2026 12:30 am EST", "05:30"),
        ("Mon, 01 Jun 2026 10:00:00 AMT", "10:00"),
    ],
)
def test_dates(text: str, time: str) -> None:
    assert iso(seconds_of(text)) == f"2026-06-01T{time}:00Z"


@pytest.mark.parametrize("coding", ["utf-8", "none", "aws-chunked", "UTF-8, identity"])
def test_a_coding_that_is_none_is_none(coding: str) -> None:
    assert decoded([b"feed"], coding, 100) == b"feed"
    with pytest.raises(BodyError, match="which nobody asked for"):
        decoded([b"feed"], "zstd", 100)


def test_a_list_in_utf_16_has_its_addresses() -> None:
    text = (
        '<?xml version="1.0" encoding="utf-16"?><opml version="2.0"><body>'
        '<outline type="rss" xmlUrl="https://a.example/f?x=1&amp;y=2"/></body></opml>'
    )
    for body in (text.encode("utf-16"), text.replace("utf-16", "utf-8").encode()):
        assert is_opml(body)
        assert [one.address for one in read_opml(body)] == ["https://a.example/f?x=1&y=2"]


def test_pages_are_no_feeds_still() -> None:
    with pytest.raises(NotAFeed, match="HTML page"):
        parse_feed(b"<html><body>AT&T</body></html>", "https://e.example/")
