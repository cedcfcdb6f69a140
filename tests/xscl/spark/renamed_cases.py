"""Conformance cases made one: each gets streams and documents of its own, so that the queries of
all of them are joined over one table of documents."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import xscl
from tests.conformance.runner import Case
from xscl.language.syntax import Block, Name, Query, Source, SubQuery

__all__ = ["RenamedCase", "renamed"]


def renamed(cases: Iterable[Case]) -> list[RenamedCase]:
    """Cases side by side."""
    some = [RenamedCase(number, case) for number, case in enumerate(cases)]
    with xscl.Engine() as engine:
        for one in some:
            # Queries without a name are named by their number among all.
            names = [query.name for query in engine.load(one.queries)]
            originals = [query.name for query in one.parsed]
            one.names.update(zip(names, originals, strict=True))
    return some


@dataclass(frozen=True)
class RenamedCase:
    """A case whose streams, queries and documents have its number before their names."""

    number: int
    case: Case
    names: dict[str, str] = field(default_factory=dict)

    @property
    def queries(self) -> str:
        """The text of its queries."""
        text: str = self.case["queries"]
        at: dict[int, str] = {}
        for query in self.parsed:
            at.update((name.at, self._mark) for name in _streams(query))
            if query.named_at is not None:
                at[query.named_at] = self._mark
        for place in sorted(at, reverse=True):
            # A name may be quoted.
            place += text[place] in "\"'"
            text = text[:place] + self._mark + text[place:]
        return text

    @property
    def documents(self) -> list[dict[str, Any]]:
        """Its events as rows of a table."""
        return [
            {
                "stream": self._mark + event["stream"],
                "id": event["id"],
                "timestamp": float(event["timestamp"]),
                "xml": event.get("xml"),
                "json": json.dumps(event["json"]) if "json" in event else None,
            }
            for event in self.case["events"]
        ]

    @property
    def blocks(self) -> int:
        """The blocks of its widest query."""
        return max(len([*_streams(query)]) for query in self.parsed)

    def own(self, matches: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Its own of some matches, as it says them; `*` is the document that a match is."""
        results = {match["id"] for match in matches}
        return [
            {
                **match,
                "query": self.names[match["query"]],
                "documents": ["*" if one in results else one for one in match["documents"]],
                "result": _value(match["result"]),
            }
            for match in matches
            if match["query"] in self.names
        ]

    @property
    def _mark(self) -> str:
        return f"c{self.number}_"

    @property
    def parsed(self) -> list[Query]:
        with xscl.Engine(query_sharing=False) as engine:
            return [one.query for one in engine.load(self.case["queries"])]


def _streams(query: Query) -> Iterator[Name]:
    if query.publish is not None:
        yield query.publish
    yield from _read(query.source)


def _read(source: Source) -> Iterator[Name]:
    match source:
        case Block():
            yield source.stream
        case SubQuery():
            yield from _streams(source.query)
        case _:
            yield from _read(source.left)
            yield from _read(source.right)


def _value(result: str) -> object:
    return result if result.startswith("<") else json.loads(result)
