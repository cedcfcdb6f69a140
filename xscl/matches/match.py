"""A match: which documents, at which nodes, satisfy which query; its result when it is read."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from json import dumps

from lxml import etree

from xpath_stage import parse
from xscl.language.syntax import Select
from xscl.matches.nodes import BoundNode, read_in_order
from xscl.matches.results import as_json, as_xml, is_json
from xscl.notebook import short, table
from xscl.times import rfc3339

__all__ = ["Match", "Told", "match_id", "recipe"]

_LONGEST = 1_000

_BLOCKS = 10
"""Documents and variables that are shown of many."""

Recipe = tuple[Select, Sequence[BoundNode], Mapping[str, BoundNode]]
"""What a result is built from: the SELECT, the output nodes, the variables."""


@dataclass(frozen=True, slots=True)
class Told:
    """A result that was built before, of a match that is told again: XML as text or a JSON value,
    and its form as XML, None where it has none; the values of its variables."""

    result: object
    json: bool
    markup: str | None
    values: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, repr=False)
class Match:
    """One match: documents that together satisfy a query.

    `documents`, `streams` and `nodes` have an entry for each block, in block order: the
    document's id, its stream and the number of the block's output node.  `bindings` are the node
    numbers of the variables that the SELECT names, `time` is the latest document's timestamp in
    seconds, `stream` the published stream or None.  A match holds its documents; `result` is
    built from them when it is read.
    """

    id: str
    query: str
    stream: str | None
    time: float
    documents: tuple[str, ...]
    streams: tuple[str, ...]
    nodes: tuple[int, ...]
    bindings: dict[str, int]
    _made_of: Recipe | Told = field(repr=False, compare=False)

    def __hash__(self) -> int:
        return hash(self.id)

    def __repr__(self) -> str:
        return f"<Match {short([self.query])}: {short(self.documents)} at {rfc3339(self.time)}>"

    def _repr_html_(self) -> str:
        try:
            result = self.result
            text = result if isinstance(result, str) else dumps(result, ensure_ascii=False)
        except (ValueError, TypeError) as error:
            text = str(error)
        published = [("published to", self.stream)] if self.stream is not None else []
        blocks = list(zip(self.documents, self.streams, strict=True))
        named = (f"{document} of stream {stream}" for document, stream in blocks[:_BLOCKS])
        more = [f"… {len(blocks) - _BLOCKS:,} more"] if len(blocks) > _BLOCKS else []
        rows = [
            ("time", rfc3339(self.time)),
            *published,
            ("documents", "; ".join([*named, *more])),
            *islice(self.values.items(), _BLOCKS),
            ("result", text),
        ]
        return table(f"match of query {self.query}", rows)

    def xml(self) -> etree._Element:
        """The result document as XML, a new element at each call.

        Raises TypeError where the SELECT is a JSON constructor, and ValueError for a result that
        is deeper than 256 elements.
        """
        return parse(self.markup)

    @property
    def markup(self) -> str:
        """The text of `xml`."""
        if not isinstance(self._made_of, Told):
            return as_xml(*self._made_of)
        if self._made_of.markup is None:
            raise TypeError("the result of a JSON constructor is no XML")
        return self._made_of.markup

    @property
    def json(self) -> bool:
        """Whether the result document is a JSON value; else it is XML."""
        if isinstance(self._made_of, Told):
            return self._made_of.json
        select, outputs, _ = self._made_of
        return is_json(select, outputs)

    @property
    def result(self) -> object:
        """The result document: XML as text, JSON as a value."""
        if isinstance(self._made_of, Told):
            return self._made_of.result
        return as_json(*self._made_of) if self.json else as_xml(*self._made_of)

    @property
    def values(self) -> dict[str, str]:
        """The string values of the variables in `bindings`, but for elements with others in them;
        of one of more than 1,000 characters, the first ones and `…`."""
        if isinstance(self._made_of, Told):
            return dict(self._made_of.values)
        variables = self._made_of[2]
        read_in_order(variables.values())
        texts = ((name, node.text(_LONGEST)) for name, node in variables.items())
        return {name: text for name, text in texts if text is not None}

    def to_dict(self) -> dict[str, object]:
        """The members of a line of JSON Lines."""
        return {
            "id": self.id,
            "query": self.query,
            "stream": self.stream,
            "time": self.time,
            "documents": list(self.documents),
            "streams": list(self.streams),
            "nodes": list(self.nodes),
            "bindings": dict(self.bindings),
            "values": self.values,
            "result": self.result,
        }


def recipe(match: Match) -> Recipe | None:
    """What the result of a match is built from, None of one that is told again."""
    return None if isinstance(match._made_of, Told) else match._made_of


def match_id(
    query: str,
    documents: list[tuple[str, str]],
    nodes: list[tuple[int, str | None]],
    bindings: list[tuple[str, int, str | None]],
) -> str:
    """The stable id of a match: a hash of the query's name, its documents (stream, id), nodes
    and bindings (node number and, for an attribute, its name)."""
    content = dumps([query, documents, nodes, bindings], ensure_ascii=False)
    return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:32]
