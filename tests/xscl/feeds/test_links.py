"""Links in canonical form."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xscl.feeds import CANONICAL, RAW, canonical, rules_of
from xscl.feeds.links import absolute
from xscl.xpath_stage.texts.urls import RULES

DOCS = Path(__file__).parents[3] / "docs" / "feeds.md"

SAME = [
    "https://a.example/Post/1",
    "http://a.example/Post/1",
    "HTTPS://A.Example/Post/1",
    "https://www.a.example/Post/1",
    "https://a.example:443/Post/1",
    "http://a.example:80/Post/1",
    "https://a.example./Post/1",
    "https://a.example/Post/1/",
    "https://a.example/Post/1#comments",
    "https://a.example/Post/1?",
    "https://a.example/x/../Post/./1",
    "https://a.example/%50ost/1",
    "https://a.example/Post/1?utm_source=rss&utm_medium=feed",
    "https://a.example/Post/1?fbclid=x#y",
    "https://a.example/Post/1?source=rss----1-2",
    "https://a.example/Post/1?at_medium=RSS&at_campaign=KARANGA",
]


@pytest.mark.parametrize("url", SAME)
def test_addresses_of_one_page_have_one_form(url: str) -> None:
    assert canonical(url) == "https://a.example/Post/1"


@pytest.mark.parametrize(
    ("url", "form"),
    [
        ("http://a.example", "https://a.example/"),
        ("http://a.example:8080/x", "http://a.example:8080/x"),
        ("https://a.example/?b=2&a=1&utm_id=3", "https://a.example/?a=1&b=2"),
        ("https://a.example/?a=2&a=1", "https://a.example/?a=2&a=1"),
        ("https://a.example/?source=print", "https://a.example/?source=print"),
        ("https://a.example/#!/page", "https://a.example/#!/page"),
        ("https://a.example/%e4%b8%ad/ü?q=é x", "https://a.example/%E4%B8%AD/%C3%BC?q=%C3%A9%20x"),
        ("https://bücher.example/a", "https://xn--bcher-kva.example/a"),
        ("https://www.com/", "https://www.com/"),
        ("https://u:p@a.example/", "https://u:p@a.example/"),
        ("http://[2001:DB8::1]/a", "https://[2001:db8::1]/a"),
        ("mailto:m@a.example", "mailto:m@a.example"),
        ("https://[broken", "https://[broken"),
        ("", ""),
    ],
)
def test_the_canonical_form(url: str, form: str) -> None:
    assert canonical(url) == form


segments = st.lists(st.text("ab.-~%é /", max_size=4), max_size=4)
urls = st.builds(
    "{}://{}{}/{}{}{}".format,
    st.sampled_from(["http", "https"]),
    st.sampled_from(["a.example", "www.a.example", "www.www.a.example", "B.example", "a"]),
    st.sampled_from(["", ":80", ":443", ":8080"]),
    segments.map("/".join),
    st.sampled_from(["", "?", "?b=1&a=2", "?utm_source=x&c=%2f", "?a=b?c/d"]),
    st.sampled_from(["", "#x", "#!/x", "#/"]),
)


@given(urls)
def test_the_canonical_form_is_its_own(url: str) -> None:
    assert canonical(canonical(url)) == canonical(url)


@given(urls)
def test_the_rules_one_by_one_are_the_rules_together(url: str) -> None:
    """The short cut that most addresses take gives what the rules give."""
    without_a_short_cut = canonical(f"{url}", CANONICAL - {"fragment"}).partition("#")[0]
    if "#!" not in url and "#/" not in url:
        assert canonical(url) == without_a_short_cut


@given(urls)
def test_no_rule_is_no_change(url: str) -> None:
    assert canonical(url, RAW) == url


@given(urls, st.sampled_from(sorted(CANONICAL)))
def test_a_query_keeps_what_does_not_track(url: str, rule: str) -> None:
    kept = [pair for pair in parse_qsl(urlsplit(url).query) if not pair[0].startswith("utm_")]
    form = canonical(url, CANONICAL - {rule})
    found = [pair for pair in parse_qsl(urlsplit(form).query) if not pair[0].startswith("utm_")]
    assert sorted(found) == sorted(kept)


def test_options_name_rules() -> None:
    assert rules_of("canonical") == CANONICAL
    assert rules_of("raw") == RAW
    assert rules_of("canonical, -www,-scheme") == CANONICAL - {"www", "scheme"}
    for text in ("", "raw,-www", "canonical,www", "canonical,-nothing"):
        with pytest.raises(ValueError, match="names no form"):
            rules_of(text)


def test_the_documentation_lists_the_rules_in_order() -> None:
    rows = [line.split("|")[1].strip(" `") for line in DOCS.read_text().splitlines() if "|" in line]
    assert [row for row in rows if row in RULES] == list(RULES)


@pytest.mark.parametrize(
    ("url", "base", "found"),
    [
        ("b", "https://a.example/x/y", "https://a.example/x/b"),
        ("//b.example/", "", "https://b.example/"),
        ("//b.example/", "http://a.example/", "http://b.example/"),
        (" https://a.example/\n x ", "", "https://a.example/ x"),
        ("https://a.example/?a&amp;b", "", "https://a.example/?a&b"),
        ("/x", "", None),
        ("#x", "https://a.example/", None),
        ("mailto:m@a.example", "https://a.example/", None),
        ("javascript:alert(1)", "https://a.example/", None),
        ("http://[x", "", None),
        (None, "https://a.example/", None),
    ],
)
def test_absolute(url: str | None, base: str, found: str | None) -> None:
    assert absolute(url, base) == found
