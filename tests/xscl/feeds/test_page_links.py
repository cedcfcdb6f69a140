"""Which feeds a web page names, whatever it looks like, and within which bounds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xscl.feeds.page_links import is_page, linked_feeds

BASE = "http://a.example/blog/post.html"


def found(page: str) -> list[str]:
    return [feed.address for feed in linked_feeds(page.encode(), BASE)]


@pytest.mark.parametrize(
    ("page", "feeds"),
    [
        ('<link rel="alternate" type="application/rss+xml" href="/f">', ["http://a.example/f"]),
        ("<LINK REL=ALTERNATE TYPE=Application/Atom+XML HREF=f>", ["http://a.example/blog/f"]),
        ('<link href="f" type=" application/feed+json ; charset=utf-8" rel="x alternate">', ["f"]),
        ('<base href="//b.example/x/"><link rel=alternate type=application/rdf+xml href=f>', None),
        ('<link rel=alternate type=application/rss+xml href="f?a=1&amp;b=2#x">', ["f?a=1&b=2"]),
        ('<body><p>late<link rel=alternate type=application/rss+xml href="f">', ["f"]),
        ("<link rel=alternate type=application/rss+xml href=f>" * 3, ["f"]),
        ('<link rel="stylesheet" type="application/rss+xml" href="f">', []),
        ('<link rel="alternate" type="text/html" hreflang="de" href="f">', []),
        ('<link rel="alternate" type="application/json" href="/wp-json/1">', []),
        ('<link rel="alternate" type="application/rss+xml">', []),
        ('<link rel="alternate" type="application/rss+xml" href="javascript:alert(1)">', []),
        ('<link rel="alternate" type="application/rss+xml" href="file:///etc/passwd">', []),
        ('<link rel="alternate" type="application/rss+xml" href="http://[b/">', []),
        ("<!-- <link rel=alternate type=application/rss+xml href=f> -->", []),
        ("<script>'<link rel=alternate type=application/rss+xml href=f>'</script>", []),
        ("", []),
    ],
)
def test_the_feeds_of_a_page(page: str, feeds: list[str] | None) -> None:
    expected = ["http://b.example/x/f"] if feeds is None else feeds
    relative = [one if ":" in one else f"http://a.example/blog/{one}" for one in expected]
    for whole in (page, f"<!doctype html><html><head><title>x</title>{page}"):
        assert found(whole) == relative


def test_titles_distinguish_feeds() -> None:
    page = '<link rel="alternate" type="application/rss+xml" title=" News \n&amp; more" href="/f">'
    (feed,) = linked_feeds(page.encode(), BASE)
    assert str(feed) == "http://a.example/f (News & more)"


@given(st.binary(max_size=200))
def test_no_page_is_too_broken(page: bytes) -> None:
    assert linked_feeds(page, BASE) == []
    whole = page.replace(b"<", b"") + b'<link rel=alternate type=application/rss+xml href="/f">'
    assert len(linked_feeds(whole, BASE)) <= 1


@pytest.mark.parametrize(
    "filling", ["<div>", "<a b=c ", "<", "&", "<!--", "x", "<link rel=alternate "], ids=str
)
def test_a_page_without_end_takes_no_time(filling: str) -> None:
    page = filling * (16_000_000 // len(filling))
    # Were the time not linear, this would not end.
    linked_feeds(page.encode(), BASE)


def test_a_page_of_feeds_gives_some() -> None:
    page = "".join(
        f'<link rel="alternate" type="application/rss+xml" href="/{number}">'
        for number in range(1000)
    )
    assert found(page) == [f"http://a.example/{number}" for number in range(50)]


def test_what_is_a_page() -> None:
    assert is_page(b"<!doctype html>\n<!-- x --><html lang=en>", None)
    assert is_page(b"<p>x", "text/html; charset=utf-8")
    assert not is_page(b"<rss/>", "application/rss+xml")
    assert not is_page(b"plain", None)
