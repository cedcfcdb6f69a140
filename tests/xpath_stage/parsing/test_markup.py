"""Documents that are written as they came, judged by lxml's own writing."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st
from lxml import etree

from xscl.xpath_stage import MalformedDocument, parse, written_as_it_is

_NAMES = st.sampled_from(["a", "b", "c-d", "é", "item"])
_TEXTS = st.text(st.sampled_from("x é\n\t'\"]=/?!-\x85\u2028\U0001f600"), max_size=4)
_ODD = st.sampled_from(
    ["&amp;", "&lt;", "&#65;", "<!-- c -->", "<?p i?>", "<![CDATA[<]]>", ">", "\r", "\r\n", "\x7f"]
)
_ATTRIBUTES = st.sampled_from(["", "", "", " ", ' k="v"', " k='v'", ' xmlns="u"', ' xmlns:p="u"'])


@st.composite
def elements(draw: st.DrawFn, depth: int = 3) -> str:
    name, attributes = draw(_NAMES), draw(_ATTRIBUTES)
    if draw(st.integers(0, 5)) == 0:
        return f"<{name}{attributes}/>"
    inner = elements(depth - 1) if depth else _TEXTS
    content = draw(st.lists(st.one_of(_TEXTS, _TEXTS, inner, inner, _ODD), max_size=3))
    return f"<{name}{attributes}>{''.join(content)}</{name}{draw(st.sampled_from(['', '', ' ']))}>"


@given(
    elements(),
    st.sampled_from(["", "", "", "\n", "<?xml version='1.0'?>", "<!-- c -->", "<!DOCTYPE a>"]),
    st.sampled_from(["", "", "", " \n", "<!-- c -->"]),
)
@example("<a>\u0085</a>", "", "")
@example("<p:a xmlns:p='u'>x</p:a>", "", "")
@example("<a>x<b/>y<b></b></a>", "", "")
def test_what_is_written_as_it_came_is_what_lxml_writes(
    element: str, before: str, after: str
) -> None:
    document = f"{before}{element}{after}"
    try:
        root = parse(document)
    except MalformedDocument:
        return
    written = written_as_it_is(document)
    root.tail = None
    assert written in (None, etree.tostring(root, encoding="unicode"))


def test_a_plain_document_is_written_as_it_came() -> None:
    plain = "<item><title>x 'y' é</title>\n <link>http://a/?b=c</link><e/></item>"
    assert written_as_it_is(f"{plain}\n") == plain
    for other in ("<a></a>", "<a k='v'>x</a>", "<a>&amp;</a>", "<a >x</a>", "<a>x</a ><!-- c -->"):
        assert written_as_it_is(other) is None
