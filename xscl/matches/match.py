"""A match: which documents, at which nodes, satisfy which query; its result when it is read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, ClassVar, cast

from lxml import etree
from msgspec import Struct

from xscl.matches.event_form import EventForm
from xscl.matches.forms import MatchForm
from xscl.matches.nodes import BoundNode
from xscl.matches.pattern_form import PatternForm
from xscl.matches.result_forms import dumps
from xscl.notebook import short, table
from xscl.times import rfc3339
from xscl.xpath_stage import parse

__all__ = [
    "Match",
    "ReportedMatch",
    "Retraction",
    "event_times",
    "json_form",
    "json_line",
    "recipe",
    "row_form",
]

JSON = None | bool | int | float | str | list["JSON"] | dict[str, "JSON"]
"""A value of JSON."""

_BLOCKS = 10
"""The maximal number of documents and variables shown."""


@dataclass(frozen=True, slots=True)
class ReportedMatch:
    """A match that was reported before, with all its content: its result as XML text or a JSON
    value, and its form as XML, None where it has none."""

    id: str
    stream: str | None
    time: float
    documents: tuple[str, ...]
    streams: tuple[str, ...]
    nodes: tuple[int, ...]
    bindings: Mapping[str, int]
    result: object
    json: bool
    markup: str | None
    values: Mapping[str, str] = field(default_factory=dict)
    variables: tuple[str, ...] = ()
    start: float | None = None


class Match(Struct, eq=False):
    """One match: documents that together satisfy a query.

    `documents`, `streams` and `nodes` have an entry for each block, in block order; for a pattern,
    for each event, in order of time, and `variables` the one that it is bound to.  A match retains
    its documents; its content is made of them when it is read.
    """

    # There are many matches, and most are only written: each refers to its query and to the sides
    # that the form makes: sides of blocks, the events of a pattern, or an output.

    _query: str
    _form: MatchForm | PatternForm | EventForm | ReportedMatch
    _sides: Any = ()

    retracts: ClassVar[bool] = False
    """Whether it takes a match back, as a `Retraction` does."""

    @property
    def id(self) -> str:
        """Its stable id: a hash of the query's name, its documents, nodes and bindings."""
        form = self._form
        return form.id if isinstance(form, ReportedMatch) else form.id(self._query, self._sides)

    @property
    def query(self) -> str:
        """The query's name."""
        return self._query

    @property
    def stream(self) -> str | None:
        """The stream that it is published to, None for none."""
        return self._form.stream

    @property
    def time(self) -> float:
        """The latest document's timestamp, in seconds; for a pattern that must wait for an absence,
        the end of its window."""
        form = self._form
        return form.time if isinstance(form, ReportedMatch) else form.time(self._sides)

    @property
    def start(self) -> float | None:
        """The time of the first event of a pattern, in seconds; for a query of one block the start
        of its document, if that has one; else None."""
        form = self._form
        return form.start if isinstance(form, ReportedMatch) else form.start(self._sides)

    @property
    def variables(self) -> tuple[str, ...]:
        """For a pattern, the variable that each document is bound to."""
        form = self._form
        if isinstance(form, PatternForm):
            return form.variables(self._sides)
        return form.variables if isinstance(form, ReportedMatch) else ()

    @property
    def documents(self) -> tuple[str, ...]:
        """The documents' ids."""
        if isinstance(self._form, ReportedMatch):
            return self._form.documents
        return tuple([side.document.id for side in self._sides])

    @property
    def streams(self) -> tuple[str, ...]:
        """The documents' streams."""
        if isinstance(self._form, ReportedMatch):
            return self._form.streams
        return tuple([side.document.source for side in self._sides])

    @property
    def nodes(self) -> tuple[int, ...]:
        """The numbers of the blocks' output nodes."""
        if isinstance(self._form, ReportedMatch):
            return self._form.nodes
        return tuple([side.output.number for side in self._sides])

    @property
    def bindings(self) -> dict[str, int]:
        """The node numbers of the variables that the SELECT names."""
        if isinstance(self._form, ReportedMatch):
            return dict(self._form.bindings)
        return {name: node.number for name, node in self._form.bindings(self._sides).items()}

    def __eq__(self, other: object) -> bool:
        return self._said() == other._said() if isinstance(other, Match) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.id)

    def __repr__(self) -> str:
        # A computed event has no document: its result is its only content.
        what = short(self.documents) if self.documents else short([self._text()])[1:-1]
        return f"<Match {short([self.query])}: {what} at {rfc3339(self.time)}>"

    def _repr_html_(self) -> str:
        try:
            text = self._text()
        except (ValueError, TypeError) as error:
            text = str(error)
        published = [("published to", self.stream)] if self.stream is not None else []
        blocks = list(zip(self.documents, self.streams, strict=True))
        named = (f"{document} of stream {stream}" for document, stream in blocks[:_BLOCKS])
        more = [f"… {len(blocks) - _BLOCKS:,} more"] if len(blocks) > _BLOCKS else []
        rows = [
            ("time", rfc3339(self.time)),
            *published,
            *([("documents", "; ".join([*named, *more]))] if blocks else []),
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
        if not isinstance(self._form, ReportedMatch):
            return self._form.xml(self._sides)
        if self._form.markup is None:
            raise TypeError("the result of a JSON constructor is no XML")
        return self._form.markup

    @property
    def json(self) -> bool:
        """Whether the result document is a JSON value; else it is XML."""
        form = self._form
        return form.json if isinstance(form, ReportedMatch) else form.is_json(self._sides)

    @property
    def result(self) -> JSON:
        """The result document: XML as text, JSON as a value."""
        if isinstance(self._form, ReportedMatch):
            return cast(JSON, self._form.result)
        if not self.json:
            return self.markup
        form = self._form
        if isinstance(form, EventForm):
            return cast(JSON, form.result(self._sides))
        return cast(JSON, json.loads(form.json(self._sides)))

    @property
    def values(self) -> dict[str, str]:
        """The string values of the variables in `bindings`, except for elements with child
        elements; for a value of more than 1,000 characters, the first ones and `…`."""
        if isinstance(self._form, ReportedMatch):
            return dict(self._form.values)
        values: dict[str, str] = json.loads(f"{{{self._form.values(self._sides)}}}")
        return values

    def _text(self) -> str:
        result = self.result
        return result if isinstance(result, str) else dumps(result)

    def _said(self) -> tuple[object, ...]:
        """The content by which equal matches agree."""
        return (
            *(self.id, self.query, self.stream, self.time),
            *(self.documents, self.streams, self.nodes, self.bindings),
            *(self.variables, self.start),
        )

    def to_dict(self) -> dict[str, object]:
        """The members of a line of JSON Lines."""
        variables, start = self.variables, self.start
        return {
            "id": self.id,
            "query": self.query,
            "stream": self.stream,
            "time": self.time,
            "documents": list(self.documents),
            "streams": list(self.streams),
            "nodes": list(self.nodes),
            **({"variables": list(variables)} if variables else {}),
            **({} if start is None else {"start": start}),
            "bindings": dict(self.bindings),
            "values": self.values,
            "result": self.result,
        }


class Retraction(Match, eq=False):
    """A match that is taken back: what was reported under its `id` no longer holds.

    It is among the matches that publishing returns, before the new ones of a step; `match` is what
    was reported.  Queries that are `strong` or `weak` have none.
    """

    retracts: ClassVar[bool] = True

    @classmethod
    def of(cls, match: Match) -> Retraction:
        """That of a match."""
        return cls(match._query, match._form, match._sides)

    @property
    def match(self) -> Match:
        """The match that is taken back."""
        return Match(self._query, self._form, self._sides)

    def __repr__(self) -> str:
        return f"<Retraction of {Match.__repr__(self).strip('<>')}>"

    def _said(self) -> tuple[object, ...]:
        return (self.retracts, *Match._said(self))

    def to_dict(self) -> dict[str, object]:
        """The members of a line of JSON Lines."""
        return {"retract": self.id, "query": self.query, "stream": self.stream}


def json_form(match: Match) -> str:
    """A match as JSON, its `to_dict`."""
    return json_line(match)[:-1].decode()


def json_line(match: Match) -> bytes:
    """A match as a line of JSON Lines, in UTF-8."""
    form = match._form
    if match.retracts:
        return f"{dumps(match.to_dict())}\n".encode()
    if isinstance(form, EventForm):
        return form.line(match._query, match._sides)
    if not isinstance(form, MatchForm) or form.start(match._sides) is not None:
        return f"{dumps(match.to_dict())}\n".encode()
    return form.line(match._query, match._sides)


def row_form(match: Match) -> tuple[MatchForm, str] | None:
    """The form that writes the line of a match, and its query; None where `json_line` has to."""
    form = match._form
    if isinstance(form, MatchForm) and len(match._sides) > 1 and not match.retracts:
        return form, match._query
    return None


def recipe(match: Match) -> tuple[list[BoundNode], dict[str, BoundNode]] | None:
    """The output nodes and the variables of a match, None for one that is reported again."""
    form = match._form
    if not isinstance(form, MatchForm):
        return None
    return [side.output for side in match._sides], form.bindings(match._sides)


def event_times(match: Match) -> list[int]:
    """The times of a match's documents, in microseconds; none of one that is reported again."""
    return (
        []
        if isinstance(match._form, ReportedMatch)
        else [one.document.time for one in match._sides]
    )
