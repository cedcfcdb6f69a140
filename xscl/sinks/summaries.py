"""A match, as its line of JSON has it -> what people call it: a part for its result where the query
has a SELECT, else one for each of the items that the result is a copy of.

A part has a title and a link by the rules of `entries`, and the values of its leaves.  All of it
comes from the result alone: the documents need not be retained, and no id is shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from lxml import etree
from msgspec import Struct

from xscl.matches.result_forms import dumps
from xscl.printable import one_line
from xscl.sinks.entries import in_json, in_xml, named
from xscl.xpath_stage import MalformedDocument, parse

__all__ = ["Part", "Summary", "part", "summary"]

_PARTS = 8
"""Items that are shown of many: the first ones, and the last."""

_VALUES = 8
_LONGEST = 80
_NAMED = 500


class Part(Struct, omit_defaults=True):
    """A result or an item: the `variable` of a pattern that it is bound to, its title and link, and
    the names and values of its leaves."""

    title: str = ""
    link: str | None = None
    values: list[tuple[str, str]] = []
    variable: str | None = None


class Summary(Struct):
    """The parts of a match: its result (`selects`), or its items, of which `more` are left out
    before the last."""

    selects: bool
    parts: list[Part]
    more: int = 0


def summary(match: Mapping[str, Any], *, selects: bool) -> Summary:
    """What a match is called, whose query has a SELECT or not.

    >>> pair = {"documents": ["d1", "d2"], "result": [{"name": "A", "n": 1}, {"n": 2}]}
    >>> [(one.title, one.values) for one in summary(pair, selects=False).parts]
    [('A', [('n', '1')]), ('', [('n', '2')])]
    >>> summary({"documents": [], "result": {"n": 1}}, selects=True).parts
    [Part(title='', link=None, values=[('n', '1')], variable=None)]
    """
    result = _read(match["result"])
    if selects:
        return Summary(True, [part(result)])
    items = _items(result, len(match["documents"]))
    variables = match.get("variables") or [None] * len(items)
    pairs = list(zip(items, variables, strict=False))
    more = max(len(pairs) - _PARTS, 0)
    shown = [*pairs[: _PARTS - 1], pairs[-1]] if more else pairs
    return Summary(False, [part(item, variable) for item, variable in shown], more)


def _read(result: object) -> object:
    """A result: XML as its root, else as it is."""
    if isinstance(result, str):
        try:
            return parse(result)
        except (MalformedDocument, ValueError):
            pass
    return result


def _items(result: object, documents: int) -> Sequence[object]:
    """The copies of items of which a result without a SELECT consists."""
    if isinstance(result, etree._Element):
        children = list(result.iterchildren("*"))
        return children if result.tag == "result" and len(children) == documents else [result]
    return result if isinstance(result, list) and len(result) == documents else [result]


def part(value: object, variable: str | None = None) -> Part:
    """What an element or a JSON value is called."""
    if isinstance(value, etree._Element):
        title, link = named(islice(in_xml(value), _NAMED))
        leaves = _leaves_of_xml(value)
    else:
        title, link = named(islice(in_json("", value), _NAMED))
        leaves = _leaves_of_json("", value)
    return Part(one_line(title, 2 * _LONGEST), link, _shown(leaves, {title, link}), variable)


def _shown(leaves: Iterable[tuple[str, str]], passed: set[str | None]) -> list[tuple[str, str]]:
    """The first leaves with a value, each value of a name once."""
    shown: dict[tuple[str, str], None] = {}
    for name, value in islice(leaves, _NAMED):
        if value not in passed and (text := one_line(value, _LONGEST)):
            shown[one_line(name, _LONGEST), text] = None
        if len(shown) == _VALUES:
            break
    return list(shown)


def _leaves_of_xml(root: etree._Element) -> Iterator[tuple[str, str]]:
    for element in root.iter("*"):
        name = etree.QName(element).localname
        for key, value in element.items():
            yield etree.QName(str(key)).localname, str(value)
        # Text alongside elements is a leaf, too.
        texts = (element.text, *(child.tail for child in element))
        if text := " ".join(filter(None, (str(one or "").strip() for one in texts))):
            yield name, text


def _leaves_of_json(name: str, value: object) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for key, member in value.items():
            yield from _leaves_of_json(key, member)
    elif isinstance(value, list):
        for member in value:
            yield from _leaves_of_json(name, member)
    elif value is not None:
        yield name, value if isinstance(value, str) else dumps(value)
