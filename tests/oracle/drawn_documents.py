"""Random small documents, XML and JSON, from alphabets so small that they often agree.

They are of a kind: `xml`, `json`, `mixed`, or `plain`, which is XML of two or three levels without
namespaces, comments and mixed content.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from hypothesis import strategies as st

from tests.oracle.terms import Document

__all__ = ["NAMESPACES", "documents", "plain_documents"]

NAMES = ("a",) * 8 + ("b",) * 6 + ("c", "item", "or", "div", "not", "from", "text")
KEYS = ("a",) * 6 + ("b",) * 4 + ("c", "item", "or", "div", "text", "b c", "dc:creator", "1st", "é")
VALUES = ("1", "1", "1", "2", "2", "10", "1.0", " 1 ", "x", "x", "X", "x y", "", "1e1", "-1", "é")
NAMESPACES = {"p": "urn:p"}
"""What a query file declares; `dc` and `atom` are declared beforehand."""

_DECLARED = ' xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:q="urn:p"'
_PREFIXED = ("dc:a", "q:a", "q:b")
_ATTRIBUTES = ("k", "k", "m", "dc:k", "xml:lang")
_ESCAPED = {"&": "&amp;", "<": "&lt;", '"': "&quot;"}
_BETWEEN = ("", "", "", "", "", "", "1", "x", " ", "<!--x-->", "<?x y?>", "\n  ")
_SCALARS = (1, 1, 2, 10, 1.0, 1.5, 1e21, 1e-7, 0.5, -1, True, False, None, "", "1", "x", "x", "x y")

_values = st.sampled_from(VALUES)


def _text(value: str) -> str:
    return "".join(_ESCAPED.get(sign, sign) for sign in value)


@st.composite
def _content(draw: st.DrawFn, levels: int, prefixed: bool) -> str:
    if levels == 0 or draw(st.integers(0, 4 * levels)) == 0:
        value = _text(draw(_values))
        match draw(st.integers(0, 15)):
            case 0:
                return f"<![CDATA[{value}]]>"
            case 1:
                return f"{value}<!--c-->{value}"
            case 2:
                return f"<?p?>{value}"
            case 3:
                return f"{value}&#x31;"
        return value
    children = draw(st.lists(_element(levels - 1, prefixed), min_size=1, max_size=3))
    between = st.sampled_from(_BETWEEN)
    return "".join(draw(between) + child for child in children) + draw(between)


@st.composite
def _element(draw: st.DrawFn, levels: int, prefixed: bool) -> str:
    names = st.sampled_from(NAMES + _PREFIXED if prefixed else NAMES)
    name = draw(names)
    attributes = ""
    if draw(st.integers(0, 2)) == 0:
        kinds = st.sampled_from(_ATTRIBUTES if prefixed else _ATTRIBUTES[:3])
        for attribute in draw(st.lists(kinds, min_size=1, max_size=2, unique=True)):
            attributes += f' {attribute}="{_text(draw(_values))}"'
    if prefixed and draw(st.integers(0, 7)) == 0:
        default = draw(st.sampled_from(["", "urn:p", "http://www.w3.org/2005/Atom"]))
        attributes += f' xmlns="{default}"'
    return f"<{name}{attributes}>{draw(_content(levels, prefixed))}</{name}>"


@st.composite
def xml_documents(draw: st.DrawFn) -> str:
    """Documents of up to four levels; in one of four, names have prefixes."""
    prefixed = draw(st.integers(0, 3)) == 0
    root = draw(_element(3, prefixed))
    if prefixed:
        head, sign, rest = _after_name(root)
        root = head + _DECLARED + sign + rest
    return root


def _after_name(element: str) -> tuple[str, str, str]:
    place = min(element.index(sign) for sign in " >" if sign in element)
    return element[:place], element[place], element[place + 1 :]


_json_values = st.recursive(
    st.sampled_from(_SCALARS),
    lambda values: (
        st.dictionaries(st.sampled_from(KEYS), values, max_size=3) | st.lists(values, max_size=3)
    ),
    max_leaves=8,
)
json_documents = (
    st.dictionaries(st.sampled_from(KEYS), _json_values, min_size=2, max_size=5) | _json_values
)


_PLAIN_NAMES = ("a", "a", "b", "b", "c")
_PLAIN_VALUES = ("1", "1", "1", "2", "2", "10", "x", "X", "1.0", " 1", "")


@st.composite
def plain_documents(draw: st.DrawFn, levels: int = 2) -> str:
    """Text in the leaves only."""
    name = draw(st.sampled_from(_PLAIN_NAMES))
    value = draw(st.none() | st.none() | st.sampled_from(_PLAIN_VALUES))
    attribute = "" if value is None else f' k="{value}"'
    if levels == 0 or (levels == 1 and draw(st.booleans())):
        return f"<{name}{attribute}>{draw(st.sampled_from(_PLAIN_VALUES))}</{name}>"
    within = draw(st.lists(plain_documents(levels - 1), min_size=levels, max_size=3))
    return f"<{name}{attribute}>{''.join(within)}</{name}>"


_TIMES = (0, 1, 2, 2, 3, 4, 5, 5.5, 60, 4000)


@st.composite
def documents(
    draw: st.DrawFn, kinds: str, *, times: Sequence[float] = _TIMES, most: int = 6
) -> list[Document]:
    """Four or more of two streams, some at the same time, some that say the same."""
    some: list[tuple[Any, bool]] = []
    for _ in range(draw(st.sampled_from([1, 2, 2, 3]))):
        json = kinds == "json" or (kinds == "mixed" and draw(st.booleans()))
        xml = plain_documents() if kinds == "plain" else xml_documents()
        some.append((draw(json_documents if json else xml), json))
    streams = st.sampled_from(["S"] * 7 + ["R"])
    each = st.tuples(streams, st.sampled_from(times), st.sampled_from(some))
    drawn = draw(st.lists(each, min_size=4, max_size=most))
    return [
        Document(stream, f"d{number}", time, content, json, _timestamp(time, draw(st.booleans())))
        for number, (stream, time, (content, json)) in enumerate(drawn)
    ]


def _timestamp(seconds: float, iso: bool) -> object:
    return datetime.fromtimestamp(seconds, UTC).isoformat() if iso else seconds
