"""A pattern and the events of a match -> the content of the match: the id, a result."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import TYPE_CHECKING, Any, cast

from xscl.documents.composites import OperatorRow
from xscl.documents.document import Document
from xscl.matches.nodes import BoundNode
from xscl.matches.result_forms import JSONForm, Path, XMLForm, dumps
from xscl.matches.sides import AttributeName
from xscl.times import to_seconds
from xscl.xpath_stage import ATTRIBUTE

if TYPE_CHECKING:
    from xscl.language.syntax import Query, Value
    from xscl.matches.pattern_values import Values
    from xscl.patterns.compile import CompiledPattern

__all__ = ["PatternForm", "Taken", "TakenEvent"]


@dataclass(frozen=True, slots=True)
class TakenEvent:
    """An event of a match: the variable of its component, its output node, and those of its block's
    variables."""

    variable: str
    output: BoundNode
    bound: Mapping[str, BoundNode]

    @property
    def document(self) -> Document:
        """The document that it is in."""
        return self.output.document


class Taken(Sequence[TakenEvent]):
    """The events of a match, in order of time, made on demand."""

    __slots__ = ("_attribute_name", "documents", "row")

    def __init__(
        self, row: OperatorRow, documents: Sequence[Document], attribute_name: AttributeName
    ) -> None:
        self.row = row
        self.documents = documents
        self._attribute_name = attribute_name

    def __len__(self) -> int:
        return len(self.documents)

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return [self[one] for one in range(*place.indices(len(self)))]
        computed, document = self.row.computed, self.documents[place]
        assert computed is not None
        bound = {name: self._node(document, code) for name, code in computed.bound[place]}
        output = self._node(document, self.row.codes[place])
        return TakenEvent(computed.variables[place], output, bound)

    def __iter__(self) -> Iterator[TakenEvent]:
        return map(self.__getitem__, range(len(self)))

    def _node(self, document: Document, code: int) -> BoundNode:
        return BoundNode(document, code % ATTRIBUTE, self._attribute_name(code))


class PatternForm:
    """The common part of the matches of a pattern, or of patterns that are the same up to name and
    constants."""

    def __init__(self, query: Query, pattern: CompiledPattern) -> None:
        self.stream = None if query.publish is None else query.publish.text
        self._query = query
        self._pattern = pattern

    def time(self, taken: Taken) -> float:
        """When the match is reported, in seconds."""
        assert taken.row.computed is not None
        return to_seconds(taken.row.computed.time)

    def start(self, taken: Taken) -> float:
        """The time of its first event, in seconds."""
        assert taken.row.computed is not None
        return to_seconds(taken.row.computed.start)

    def variables(self, taken: Taken) -> tuple[str, ...]:
        """The variable of each event."""
        assert taken.row.computed is not None
        return taken.row.computed.variables

    def bindings(self, taken: Taken) -> dict[str, BoundNode]:
        """None: its events have variables of their own."""
        return {}

    def values(self, taken: Taken) -> str:
        """None, as there are no bindings."""
        return ""

    def id(self, query: str, taken: Taken) -> str:
        """The stable id of a match: a hash of query, variables, documents (stream, id), nodes and
        the nodes of the blocks' variables."""
        said = [
            [
                one.variable,
                [one.document.stream, one.document.id],
                [one.output.number, one.output.attribute],
                [(name, node.number, node.attribute) for name, node in one.bound.items()],
            ]
            for one in taken
        ]
        text = dumps([query, said]).encode("utf-8", "surrogatepass")
        return sha256(text).hexdigest()[:32]

    def is_json(self, taken: Taken) -> bool:
        """Whether the result is a JSON value."""
        if self._query.select is None or (self._xml is not None and self._json is not None):
            return all(document.json for document in taken.documents)
        return self._xml is None

    def xml(self, taken: Taken) -> str:
        """The result as XML; raises TypeError where the SELECT is a JSON constructor."""
        if self._query.select is None:
            return f"<result>{''.join([one.output.markup() for one in taken])}</result>"
        if self._xml is None:
            raise TypeError("the result of a JSON constructor is no XML")
        (parts,) = self._xml.parts
        pieces = [
            "".join([one if isinstance(one, str) else one.fill(taken) for one in some])
            for some in parts
        ]
        return self._xml.text([pieces])

    def json(self, taken: Taken) -> str:
        """The result, which is JSON, as text."""
        if self._query.select is None:
            return dumps([one.output.value() for one in taken])
        assert self._json is not None
        (places,) = self._json.places
        return self._json.text([[place.fill(taken) for place in places]])

    @cached_property
    def _xml(self) -> XMLForm | None:
        from xscl.matches.results import xml_form

        return xml_form(self._query.select, 1, self._find)

    @cached_property
    def _json(self) -> JSONForm | None:
        from xscl.matches.results import json_form

        return json_form(self._query.select, 1, self._find)

    @cached_property
    def _values(self) -> Values:
        from xscl.matches.pattern_values import Values

        return Values.of(self._pattern)

    def _find(self, path: Path) -> tuple[int, None, Any]:
        from xscl.language.syntax import Selected

        assert isinstance(path, Selected)
        return 0, None, self._values.reader(cast("Value", path.value))
