"""An output of an event query -> what its match says: the id, a result."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from lxml import etree

from xpath_stage import ATTRIBUTE, json_tree
from xscl.documents.document import Document
from xscl.documents.events import EventNode
from xscl.matches.nodes import START_OF_TAG, BoundNode, name_keys
from xscl.matches.result_forms import JSONForm, Path, XMLForm, dumps
from xscl.matches.sides import AttributeName
from xscl.times import to_seconds

if TYPE_CHECKING:
    from pattern_stage.plan.outputs import EventFound
    from xscl.language.syntax import Query

__all__ = ["EventForm", "Output"]


class Output(Sequence[Any]):
    """An output: what was found, and the document that it still is, if it is one."""

    __slots__ = ("_attribute_name", "_node", "document", "found")

    def __init__(
        self,
        found: EventFound,
        document: Document | None = None,
        node: EventNode | None = None,
        attribute_name: AttributeName | None = None,
    ) -> None:
        self.found = found
        self.document = document
        self._node = node
        self._attribute_name = attribute_name

    def __len__(self) -> int:
        return int(self.document is not None)

    def __getitem__(self, place: Any) -> Any:
        return [*self][place]

    def __iter__(self) -> Iterator[Side]:
        if self.document is not None:
            yield Side(self.document, self.node(self.code))

    @property
    def code(self) -> int:
        """The code of the output node."""
        return 0 if self._node is None else self._node.code

    @property
    def bound(self) -> Iterator[tuple[str, BoundNode]]:
        """The nodes of the block's variables."""
        for name, code in () if self._node is None else self._node.bound:
            yield name, self.node(code)

    def node(self, code: int) -> BoundNode:
        """The node of a code."""
        assert self.document is not None
        name = None if self._attribute_name is None else self._attribute_name(code)
        return BoundNode(self.document, code % ATTRIBUTE, name)


class Side:
    """The document that an output is, and the node in it."""

    __slots__ = ("document", "output")

    def __init__(self, document: Document, output: BoundNode) -> None:
        self.document, self.output = document, output


class EventForm:
    """What the matches of an event query have in common, or of event queries alike but for name
    and constants."""

    def __init__(self, query: Query) -> None:
        self.stream = None if query.publish is None else query.publish.text
        self._select = None if isinstance(query.select, tuple) else query.select

    @property
    def constructs(self) -> bool:
        """Whether the result is what a constructor says."""
        return self._select is not None

    def time(self, output: Output) -> float:
        """When the output ends, in seconds."""
        return to_seconds(output.found.time)

    def start(self, output: Output) -> float:
        """When the output begins, in seconds."""
        return to_seconds(output.found.start)

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
        document, found = output.document, output.found
        said: list[object] = []
        if document is None:
            said = [found.start, found.time, found.attributes]
        else:
            node = output.node(output.code)
            bound = [(name, one.number, one.attribute) for name, one in output.bound]
            said = [[document.stream, document.id], [node.number, node.attribute], bound]
        text = dumps([query, said]).encode("utf-8", "surrogatepass")
        return sha256(text).hexdigest()[:32]

    def is_json(self, output: Output) -> bool:
        """Whether the result is a JSON value: all but what an XML constructor says."""
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
        return _markup(output.found.attributes, "result")

    def json(self, output: Output) -> str:
        """The result, which is JSON, as text."""
        if self._json is None:
            return dumps(output.found.attributes)
        (places,) = self._json.places
        return self._json.text([[place.fill(output) for place in places]])

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
        """The names of what a constructor inserts, which are its places in the text."""
        from xscl.language.walk import selected_values

        leaves = selected_values(self._select)
        return {id(leaf): str(place) for place, leaf in enumerate(leaves)}

    def _find(self, path: Path) -> tuple[int, None, Any]:
        from xscl.language.syntax import Named, Selected

        assert isinstance(path, Selected)
        place, of = self._places[id(path)], path.value
        name = of.name if isinstance(of, Named) else "value"

        def inserted(output: Output) -> list[_Inserted]:
            attributes = output.found.attributes
            return [_Inserted(name, attributes[place])] if place in attributes else []

        return 0, None, inserted


@dataclass(frozen=True, slots=True)
class _Inserted:
    """An attribute in a constructor, with what constructors ask a node for."""

    name: str
    of: object

    def string(self) -> str:
        """Its text."""
        from xscl.documents.attributes import text_of_member

        return text_of_member(self.of) or ""

    def value(self) -> object:
        """It as JSON."""
        return self.of

    def markup(self, *, in_default: bool = False) -> str:
        """It as an element."""
        return _markup({self.name: self.of}, None, in_default=in_default)


def _markup(attributes: Mapping[str, object], root: str | None, *, in_default: bool = False) -> str:
    """Attributes as elements, in a root of a name if they have one."""
    tree = json_tree(dict(attributes))
    name_keys(tree)
    if root is not None:
        tree.tag = root
    shown = [
        etree.tostring(one, encoding="unicode") for one in ([*tree] if root is None else [tree])
    ]
    if in_default:
        # What has no namespace must not fall into the default one.
        shown = [START_OF_TAG.sub(r'\g<0> xmlns=""', one, count=1) for one in shown]
    return "".join(shown)
