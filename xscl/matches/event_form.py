"""An output of an event query -> the content of its match: the id, a line, a result.

The parts that do not depend on the query are made once for all queries that have the output.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from json import loads
from typing import TYPE_CHECKING, Any

from lxml import etree

from xscl.matches.event_output import Output
from xscl.matches.heads import hexed, named
from xscl.matches.nodes import START_OF_TAG, BoundNode, name_keys
from xscl.matches.result_forms import JSONForm, Path, XMLForm, dumps
from xscl.times import to_seconds
from xscl.xpath_stage import json_tree

if TYPE_CHECKING:
    from xscl.language.syntax import Query

__all__ = ["EventForm"]


class EventForm:
    """The common part of the matches of an event query, or of event queries that are the same up to
    name and constants."""

    def __init__(self, query: Query) -> None:
        self.stream = None if query.publish is None else query.publish.text
        self._select = None if isinstance(query.select, tuple) else query.select
        self.constructs = self._select is not None
        """Whether a constructor defines the result."""
        # Without a constructor, the result is the same for all queries.
        self._key = self if self.constructs else "line"

    def time(self, output: Output) -> float:
        """When the output ends, in seconds."""
        return to_seconds(output.time)

    def start(self, output: Output) -> float:
        """When the output begins, in seconds."""
        return to_seconds(output.start)

    def variables(self, output: Output) -> tuple[str, ...]:
        """None."""
        return ()

    def bindings(self, output: Output) -> dict[str, BoundNode]:
        """None."""
        return {}

    def values(self, output: Output) -> str:
        """None, as there are no bindings."""
        return ""

    def id(self, query: str, output: Output) -> str:
        """The stable id: a hash of query, document and nodes where the output still is a document;
        else of query, start, time and attributes."""
        head, _ = named(query, self.stream)
        return hexed(head, output.once("said", _said, output)).decode()

    def line(self, query: str, output: Output) -> bytes:
        """A match as a line of JSON, in UTF-8."""
        head, query_and_stream = named(query, self.stream)
        return b'{"id": "%b", %b, %b' % (
            hexed(head, output.once("said", _said, output)),
            query_and_stream,
            output.once(self._key, self._rest, output),
        )

    def is_json(self, output: Output) -> bool:
        """Whether the result is a JSON value: always, except from an XML constructor."""
        return self._xml is None

    def xml(self, output: Output) -> str:
        """The result as XML; raises TypeError where the SELECT is a JSON constructor."""
        if self._xml is not None:
            (parts,) = self._xml.parts
            pieces = [
                "".join([one if isinstance(one, str) else one.fill(output) for one in some])
                for some in parts
            ]
            return self._xml.text([pieces])
        if self._select is not None:
            raise TypeError("the result of a JSON constructor is no XML")
        return output.once("markup", _markup, output.attributes, "result")

    def json(self, output: Output) -> str:
        """The result, which is JSON, as text."""
        if self._json is None:
            return output.once("json", dumps, output.attributes)
        (places,) = self._json.places
        return self._json.text([[place.fill(output) for place in places]])

    def result(self, output: Output) -> object:
        """The result, which is JSON, as a value that the caller may change."""
        attributes = output.attributes
        if self.constructs or not output.once("plain", _plain, attributes):
            return loads(self.json(output))
        return {**attributes}

    def _rest(self, output: Output) -> bytes:
        """The part of a line after id, query and stream."""
        if not self.is_json(output):
            result = dumps(self.xml(output))
        elif self.constructs:
            result = dumps(loads(self.json(output)))
        else:
            result = self.json(output)
        members = output.once("members", _members, output)
        return f'{members}, "result": {result}}}\n'.encode()

    @cached_property
    def _xml(self) -> XMLForm | None:
        from xscl.matches.results import xml_form

        return None if self._select is None else xml_form(self._select, 1, self._find)

    @cached_property
    def _json(self) -> JSONForm | None:
        from xscl.matches.results import json_form

        return None if self._select is None else json_form(self._select, 1, self._find)

    @cached_property
    def _places(self) -> Mapping[int, str]:
        """The names that a constructor inserts, which mark their places in the text."""
        from xscl.language.walk import selected_values

        leaves = selected_values(self._select)
        return {id(leaf): str(place) for place, leaf in enumerate(leaves)}

    def _find(self, path: Path) -> tuple[int, None, Any]:
        from xscl.language.syntax import Named, Selected

        assert isinstance(path, Selected)
        place, of = self._places[id(path)], path.value
        name = of.name if isinstance(of, Named) else "value"

        def inserted(output: Output) -> list[_Inserted]:
            attributes = output.attributes
            return [_Inserted(name, attributes[place])] if place in attributes else []

        return 0, None, inserted


def _plain(attributes: Mapping[str, object]) -> bool:
    """Whether all values are scalars."""
    return not any(isinstance(one, dict | list) for one in attributes.values())


def _said(output: Output) -> bytes:
    """The input of an id, after the query."""
    document = output.document
    said: list[object] = []
    if document is None:
        said = [output.start, output.time, _settled(output.attributes)]
    else:
        node = output.node(output.code)
        bound = [(name, one.number, one.attribute) for name, one in output.bound]
        said = [[document.stream, document.id], [node.number, node.attribute], bound]
    return f"{dumps(said)[1:]}]".encode("utf-8", "surrogatepass")


def _members(output: Output) -> str:
    """The members of a line between stream and result."""
    sides = [*output]
    members = {
        "time": to_seconds(output.time),
        "documents": [side.document.id for side in sides],
        "streams": [side.document.source for side in sides],
        "nodes": [side.output.number for side in sides],
        "start": to_seconds(output.start),
        "bindings": {},
        "values": {},
    }
    return dumps(members)[1:-1]


@dataclass(frozen=True, slots=True)
class _Inserted:
    """An attribute in a constructor, with the interface that constructors need of a node."""

    name: str
    of: object

    def string(self) -> str:
        """Its text."""
        from xscl.documents.attributes import text_of_member

        return text_of_member(self.of) or ""

    def value(self) -> object:
        """The JSON value."""
        return self.of

    def markup(self, *, in_default: bool = False) -> str:
        """The attribute as an element."""
        return _markup({self.name: self.of}, None, in_default=in_default)


def _settled(value: object) -> object:
    """A JSON value in the canonical form of all equal ones."""
    if isinstance(value, dict):
        return {name: _settled(value[name]) for name in sorted(value)}
    if isinstance(value, list):
        return [*map(_settled, value)]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _markup(attributes: Mapping[str, object], root: str | None, *, in_default: bool = False) -> str:
    """Attributes as elements, in a root if a name is given."""
    tree = json_tree(dict(attributes))
    name_keys(tree)
    if root is not None:
        tree.tag = root
    shown = [
        etree.tostring(one, encoding="unicode") for one in ([*tree] if root is None else [tree])
    ]
    if in_default:
        # An element without a namespace must not get the default one.
        shown = [START_OF_TAG.sub(r'\g<0> xmlns=""', one, count=1) for one in shown]
    return "".join(shown)
