"""Some nodes of a document -> the content that all matches with these nodes share.

A match joins the texts of its *sides*, one for each block; these are made once, and cached while
there is space.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from xscl.documents.document import Document
from xscl.matches.nodes import BoundNode, read_in_order
from xscl.matches.result_forms import Place, dumps
from xscl.xpath_stage import ATTRIBUTE

__all__ = ["AttributeName", "Block", "Codes", "Kind", "LineKind", "LineParts", "Side"]

_LONGEST = 1_000
"""The maximal number of characters of a value; the last one of a longer value is `…`."""

_OVERHEAD = 500
"""The estimated overhead of a text of a side, in bytes."""

AttributeName = Callable[[int], str | None]
Codes = tuple[int, ...]

Kind = tuple[str, bool, Codes]
"""A document's stream, whether it is JSON, and nodes of it."""


@dataclass(frozen=True, slots=True, eq=False)
class LineKind:
    """A side's kind, and which of its texts in a line are not empty (`full`).

    Sides of equal kinds have the same object, so that no line has to compare or hash their codes.
    """

    kind: Kind
    full: tuple[bool, ...]


@lru_cache(maxsize=10_000)
def _line_kind(kind: Kind, full: tuple[bool, ...]) -> LineKind:
    return LineKind(kind, full)


class LineParts(NamedTuple):
    """The part of a side in the lines of its matches: its document as in the input of ids, and its
    time; and as UTF-8 its document's id, the values of variables as members of JSON and, where
    results are certainly XML, the pieces of the result, escaped as in a string."""

    kind: LineKind
    named: bytes
    time: int
    texts: tuple[bytes, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """The common part of the sides of a block: the names of its variables, and the indices of their
    codes; whether there is a SELECT; the pieces of results, where they may be XML or JSON; and
    which variables are consecutive."""

    names: tuple[str, ...]
    place: Mapping[str | None, int]
    selects: bool
    xml: tuple[tuple[str | Place, ...], ...] | None
    json: tuple[Place, ...] | None
    runs: tuple[tuple[str, ...], ...]


class Side:
    """Some nodes of a document: the output node of a block, and its variables'.

    The slots that end in `_pieces`, and `names`, cache the properties: None before first use.
    """

    __slots__ = (
        "__weakref__",
        "_attribute_name",
        "_block",
        "_codes",
        "document",
        "json_pieces",
        "line_parts",
        "names",
        "value_pieces",
        "xml_pieces",
    )

    def __init__(
        self, block: Block, document: Document, codes: Codes, attribute_name: AttributeName
    ) -> None:
        self.document = document
        self._block = block
        self._codes = codes
        self._attribute_name = attribute_name
        self.names: tuple[str, bytes, Kind] | None = None
        self.xml_pieces: tuple[str, ...] | None = None
        self.json_pieces: tuple[Any, ...] | None = None
        self.line_parts: LineParts | None = None
        self.value_pieces: tuple[str, ...] | None = None

    @property
    def output(self) -> BoundNode:
        """The output node."""
        return self._bound(self._codes[0])

    @property
    def variables(self) -> dict[str, BoundNode]:
        """The nodes of variables."""
        return dict(zip(self._block.names, map(self._bound, self._codes[1:]), strict=True))

    @property
    def said(self) -> tuple[str, bytes, Kind]:
        """Its document as JSON, in a match and in the input of its id; and its kind: sides of equal
        kinds agree in all that does not depend on the document."""
        if self.names is None:
            document = self.document
            named = dumps([document.stream, document.id]).encode("utf-8", "surrogatepass")
            self.names = dumps(document.id), named, (document.stream, document.json, self._codes)
        return self.names

    @property
    def xml(self) -> tuple[str, ...]:
        """The pieces of an XML result."""
        return self._kept("xml_pieces", self._xml)

    @property
    def parts(self) -> LineParts:
        """Its part in lines."""
        name, named, kind = self.said
        texts = [name, *self._values()]
        if self._block.json is None or (self._block.xml is not None and not self.document.json):
            texts += [dumps(piece)[1:-1] for piece in self._xml()]
        encoded = tuple([text.encode() for text in texts])
        line_kind = _line_kind(kind, tuple(map(bool, encoded)))
        self.line_parts = made = LineParts(line_kind, named, self.document.time, encoded)
        self._keep(sum(map(len, encoded)))
        return made

    @property
    def json(self) -> tuple[Any, ...]:
        """The pieces of a JSON result."""
        return self._kept("json_pieces", self._json)

    @property
    def values(self) -> tuple[str, ...]:
        """The values of variables as members of JSON, joined where they are consecutive."""
        return self._kept("value_pieces", self._values)

    def evict(self) -> None:
        """Drops the texts."""
        self.xml_pieces = self.json_pieces = self.value_pieces = self.line_parts = None

    def text(self, variable: str) -> str | None:
        """The value of a variable, None for an element with child elements."""
        return self._node(variable).text(_LONGEST)

    def _kept(self, name: str, make: Callable[[], Sequence[Any]]) -> tuple[Any, ...]:
        """The texts of a slot, cached while there is space."""
        texts: tuple[Any, ...] | None = getattr(self, name)
        if texts is None:
            texts = tuple(make())
            setattr(self, name, texts)
            self._keep(sum(map(_length, texts)))
        return texts

    def _keep(self, size: int) -> None:
        if (trees := self.document.trees) is not None:
            trees.texts.keep(self, _OVERHEAD + size)

    def _node(self, variable: str | None) -> BoundNode:
        return self._bound(self._codes[self._block.place[variable]])

    def _bound(self, code: int) -> BoundNode:
        return BoundNode(self.document, code % ATTRIBUTE, self._attribute_name(code))

    def _read(self) -> None:
        nodes = self.variables.values() if self._block.selects else (self.output,)
        read_in_order(nodes)

    def _xml(self) -> list[str]:
        self._read()
        return [
            "".join(
                [
                    part if isinstance(part, str) else part.fill(self._node(part.variable))
                    for part in parts
                ]
            )
            for parts in self._block.xml or ()
        ]

    def _json(self) -> list[Any]:
        self._read()
        return [place.fill(self._node(place.variable)) for place in self._block.json or ()]

    def _values(self) -> list[str]:
        read_in_order(self.variables.values())
        runs = []
        for names in self._block.runs:
            texts = [(name, self.text(name)) for name in names]
            members = [f"{dumps(name)}: {dumps(text)}" for name, text in texts if text is not None]
            runs.append(", ".join(members))
        return runs


def _length(piece: str | list[tuple[str, str]]) -> int:
    if isinstance(piece, str):
        return len(piece)
    return sum(len(name) + len(value) for name, value in piece)
