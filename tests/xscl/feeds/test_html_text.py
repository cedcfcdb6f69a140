"""HTML as words and links."""

from __future__ import annotations

import html

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xscl.feeds.html_text import clean, guessed, marked_up


@pytest.mark.parametrize(
    ("markup", "words"),
    [
        ("<p>a</p><p>b</p>", "a b"),
        ("a<br>b<br/>c", "a b c"),
        ("E<b>nd</b>.", "End."),
        ("<ul><li>a<li>b</ul>", "a b"),
        ("a<script>b</script><style>c</style>d", "ad"),
        ("a<!-- b -->c", "ac"),
        ("<table><tr><td>a</td><td>b</td></tr></table>", "a b"),
        ("1 &lt; 2 &amp;&amp; 3 > 2", "1 < 2 && 3 > 2"),
        ("caf&eacute;&nbsp;au&#32;lait", "café au lait"),
        ("a < b", "a < b"),
        ("<a href='x>y'>t</a>", "t"),
        ("a\x00b\x0bc\ud800d", "abcd"),
        ("<p>a&#1;b\x0bc&#xb;d</p>", "abcd"),
        ('<meta charset="utf-7"><p>é +AGE-', "é +AGE-"),
    ],
)
def test_words(markup: str, words: str) -> None:
    assert clean(marked_up(markup).words) == words


def test_links_in_order_and_as_written() -> None:
    text = marked_up('<a href="/a?x=1&amp;y=2">1</a><a name="b">2</a><A HREF=c>3</A><a href>4</a>')
    assert text.links == ("/a?x=1&y=2", "c")


@pytest.mark.parametrize("tag", ["div", "ul><li", "b", "table><tr><td", "a href='x'", "p", "font"])
def test_depth_loses_nothing(tag: str) -> None:
    depth = 20_000
    text = marked_up(f"<{tag}>x" * depth)
    assert text.words.replace(" ", "") == "x" * depth
    assert len(text.links) == (depth if "href" in tag else 0)


def test_length_loses_nothing() -> None:
    text = marked_up(f"<p>{'x' * 12_000_000}</p><a href='/y'>y</a>")
    assert len("".join(text.words.split())) == 12_000_001
    assert text.links == ("/y",)


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"])))
def test_escaped_text_comes_back(text: str) -> None:
    assert clean(marked_up(f"<p>{html.escape(text)}</p>").words) == clean(text)


@given(st.lists(st.text("ab<>/&;=\"' \n!-"), max_size=3))
def test_one_text_leaves_nothing_to_the_next(texts: list[str]) -> None:
    for text in texts:
        marked_up(f"<{text}")
    assert marked_up("<p>x").words.strip() == "x"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Tom & Jerry", "Tom & Jerry"),
        ("Tom &amp; Jerry", "Tom & Jerry"),
        ("<em>Now</em>", "Now"),
        ("a<br>b", "a b"),
        ("List<String> of <T>", "List<String> of <T>"),
        ("if a < b && c > d", "if a < b && c > d"),
        ("&unknown;", "&unknown;"),
    ],
)
def test_titles_are_guessed(text: str, words: str) -> None:
    assert clean(guessed(text).words) == words


@pytest.mark.parametrize(
    ("text", "fixed"),
    [
        ("itâ\x80\x99s", "it’s"),
        ("it\x92s", "it’s"),
        ("CafÃ©", "Café"),
        ("Café", "Café"),
        ("Ärger – und ‚so‘", "Ärger – und ‚so‘"),
        (" a\u00a0\u2003b\n", "a b"),
    ],
)
def test_mistaken_encodings_are_fixed(text: str, fixed: str) -> None:
    assert clean(text) == fixed
