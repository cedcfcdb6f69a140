"""Result documents, as a query's SELECT defines them (docs/semantics.md#result-documents): SELECT
-> pieces of text.

The nodes of one document determine a piece, so that it is made once for all matches of this
document; a result is a row of pieces.  The constructor determines whether results are XML or JSON;
without one, they are JSON where all documents of the match are
(docs/semantics.md#result-documents), else XML.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import Any

from lxml import etree

from xscl.language.syntax import (
    Element,
    Insert,
    Item,
    JSONArray,
    JSONConstant,
    JSONObject,
    JSONValue,
    Parameter,
    Select,
    Selected,
    VariablePath,
)
from xscl.matches.nodes import BoundNode
from xscl.matches.result_forms import Find, JSONForm, Path, Pieces, Place, XMLForm, dumps

__all__ = ["in_blocks", "json_form", "xml_form"]

_MARK = f"xscl-{os.urandom(8).hex()}-"
_PLACE = re.compile(rf"{_MARK}(\d+)-")
"""Marks a place in a serialised constructor where each match has a text of its own."""

Blocks = Mapping[str, int]
"""The block of each variable."""

Member = tuple[str, str]
"""A name with its colon, and a value, as JSON."""


def xml_form(select: Select, blocks: int, find: Find) -> XMLForm | None:
    """The form of results that are XML; None for a JSON constructor."""
    if isinstance(select, JSONObject):
        return None
    if isinstance(select, Element):
        return _in_pieces("", _constructed(select, find), "", blocks)
    if select is not None:
        parts = [_item(item, find) for item in select]
    else:
        parts = [Place(block, None, BoundNode.markup) for block in range(blocks)]
        if blocks == 1:
            return _in_pieces("", parts, "", blocks)
    return _in_pieces("<result>", parts, "</result>", blocks, empty="<result/>")


def json_form(select: Select, blocks: int, find: Find) -> JSONForm | None:
    """The form of results that are JSON; None for an XML constructor."""
    if isinstance(select, Element):
        return None
    places: list[list[Place]] = [[] for _ in range(blocks)]

    def add(
        block: int, variable: str | None, fill: Callable[[Any], Any]
    ) -> Callable[[Pieces], Any]:
        number = len(places[block])
        places[block].append(Place(block, variable, fill))
        return lambda pieces: pieces[block][number]

    def add_path(path: Path, fill: _Fill) -> Callable[[Pieces], Any]:
        block, variable, reach = find(path)
        return add(block, variable, lambda node: fill(reach(node)))

    if isinstance(select, JSONObject):
        text = _json(select, add_path)
    elif select is None:
        listed = _listed([add(block, None, _value) for block in range(blocks)])
        text = listed if blocks == 1 else (lambda pieces: f"[{listed(pieces)}]")
    else:
        text = _grouped([add_path(item.path, _members_of(item.written)) for item in select])
    return JSONForm(tuple(map(tuple, places)), text)


def in_blocks(block_of: Blocks) -> Find:
    """Finds paths from the variables of blocks."""

    def find(path: Path) -> tuple[int, str | None, Callable[[Any], Sequence[Any]]]:
        assert isinstance(path, VariablePath)
        name, steps = path.variable.text, path.steps
        return block_of[name], name, lambda node: node.along(steps)

    return find


# XML


def _in_pieces(
    before: str, parts: Sequence[str | Place], after: str, blocks: int, empty: str = ""
) -> XMLForm:
    """A form whose adjacent parts of one block are merged."""
    block = next((part.block for part in parts if isinstance(part, Place)), 0)
    owned = []
    for part in parts:
        block = part.block if isinstance(part, Place) else block
        owned.append((block, part))
    pieces, of_blocks = [], [[] for _ in range(blocks)]  # type: ignore[var-annotated]
    for block, some in groupby(owned, lambda one: one[0]):
        pieces.append((block, len(of_blocks[block])))
        of_blocks[block].append(tuple(part for _, part in some))
    return XMLForm(before, tuple(pieces), after, empty, tuple(map(tuple, of_blocks)))


def _item(item: Item, find: Find) -> Place:
    block, variable, reach = find(item.path)
    alias = item.alias

    def fill(node: Any) -> str:
        nodes = reach(node)
        if alias is None:
            return "".join([one.markup() for one in nodes])
        return "".join([_named(alias.text, one.string()) for one in nodes])

    return Place(block, variable, fill)


def _named(name: str, text: str) -> str:
    element = etree.Element(name)
    element.text = text
    return etree.tostring(element, encoding="unicode")


def _constructed(constructor: Element, find: Find) -> list[str | Place]:
    """A constructed element.  It is built as a tree once, in which marks represent the places that
    each match fills."""
    places: list[Place] = []

    def mark(insert: Insert, fill: Callable[[Sequence[BoundNode]], str]) -> str:
        block, variable, reach = find(insert.path)
        places.append(Place(block, variable, lambda node: fill(reach(node))))
        return f"{_MARK}{len(places) - 1}-"

    namespaces = dict(constructor.namespaces)
    root = etree.Element(constructor.tag, nsmap=namespaces or None)  # type: ignore[arg-type]
    _fill(root, constructor, mark)
    parts = _PLACE.split(etree.tostring(root, encoding="unicode"))
    return [places[int(part)] if odd % 2 else part for odd, part in enumerate(parts)]


_Mark = Callable[[Insert, Callable[[Sequence[BoundNode]], str]], str]


def _fill(element: etree._Element, constructor: Element, mark: _Mark) -> None:
    for name, parts in constructor.attributes:
        texts = [part if isinstance(part, str) else mark(part, _in_attribute) for part in parts]
        element.set(name, "".join(texts))
    for part in constructor.content:
        match part:
            case str():
                _add_text(element, part)
            case Insert(string=True):
                _add_text(element, mark(part, _in_content))
            case Insert():
                in_default = bool(element.nsmap.get(None))
                _add_text(element, mark(part, _copies_in_default if in_default else _copies))
            case Element():
                namespaces = dict(part.namespaces)
                child = etree.SubElement(element, part.tag, nsmap=namespaces or None)  # type: ignore[arg-type]
                _fill(child, part, mark)
            case ("comment", text):
                element.append(etree.Comment(text))
            case (_, target, text):
                element.append(etree.ProcessingInstruction(target, text))


def _add_text(element: etree._Element, text: str) -> None:
    if len(element):
        element[-1].tail = (element[-1].tail or "") + text
    else:
        element.text = (element.text or "") + text


def _copies(nodes: Sequence[BoundNode]) -> str:
    return "".join([node.markup() for node in nodes])


def _copies_in_default(nodes: Sequence[BoundNode]) -> str:
    return "".join([node.markup(in_default=True) for node in nodes])


def _string(nodes: Sequence[BoundNode]) -> str:
    return " ".join([node.string() for node in nodes])


def _in_content(nodes: Sequence[BoundNode]) -> str:
    """The string of some nodes as it is written in an element."""
    return _named("a", _string(nodes))[len("<a>") : -len("</a>")]


def _in_attribute(nodes: Sequence[BoundNode]) -> str:
    """The string of some nodes as it is written in an attribute."""
    element = etree.Element("a", {"a": _string(nodes)})
    return etree.tostring(element, encoding="unicode")[len('<a a="') : -len('"/>')]


# JSON

_Text = Callable[[Pieces], str]
_Fill = Callable[[Sequence[BoundNode]], Any]


def _value(node: BoundNode) -> str:
    return dumps(node.value())


def _values(nodes: Sequence[BoundNode]) -> str:
    return ", ".join(map(_value, nodes))


def _one_or_all(nodes: Sequence[BoundNode]) -> str:
    """A path as the member of an object: a value, or an array where there are several."""
    if not nodes:
        return "null"
    return _value(nodes[0]) if len(nodes) == 1 else f"[{_values(nodes)}]"


def _listed(texts: Sequence[_Text]) -> _Text:
    return lambda pieces: ", ".join([text for of in texts if (text := of(pieces))])


def _json(
    value: JSONValue,
    add: Callable[[Path, _Fill], _Text],
    *,
    in_array: bool = False,
) -> _Text:
    match value:
        case JSONConstant():
            constant = dumps(value.value)
            return lambda pieces: constant
        case JSONObject():
            members = [
                (f"{dumps(key)}: ", _json(one, add)) for key, one in dict(value.members).items()
            ]
            return lambda pieces: f"{{{', '.join([key + of(pieces) for key, of in members])}}}"
        case JSONArray():
            listed = _listed([_json(item, add, in_array=True) for item in value.items])
            return lambda pieces: f"[{listed(pieces)}]"
        case VariablePath() | Selected():
            # In an array, a path is all of its nodes.
            return add(value, _values if in_array else _one_or_all)
        case Parameter():
            raise ValueError(f"the parameter `:{value.name}` is not bound")


def _members_of(written: str | None) -> Callable[[Sequence[BoundNode]], list[Member]]:
    """Some nodes as members of an object, under a name or each under its own."""
    return lambda nodes: [(f"{dumps(written or node.name)}: ", _value(node)) for node in nodes]


def _grouped(items: Sequence[Callable[[Pieces], list[Member]]]) -> _Text:
    """An object: under each name its value, or an array where there are several."""

    def text(pieces: Pieces) -> str:
        groups: dict[str, list[str]] = {}
        for members in items:
            for name, value in members(pieces):
                groups.setdefault(name, []).append(value)
        shown = [
            name + (values[0] if len(values) == 1 else f"[{', '.join(values)}]")
            for name, values in groups.items()
        ]
        return f"{{{', '.join(shown)}}}"

    return text
