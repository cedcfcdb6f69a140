"""Matches of the brute force and of an engine, as both report them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from lxml import etree

from tests.oracle.event_algebra.model import Match
from tests.oracle.event_algebra.values import canonical

__all__ = ["RULES", "ReportedMatch", "reported_by_engine", "reported_by_model"]

RULES = frozenset(
    [
        *("s_cse", "s_σ", "s_π", "s_α", "s_w", "s_;", "s_µ"),
        *("c_σ", "c_π", "c_α", "c_∪", "c_;", "c_µ", "AN", "AI", "FR"),
    ]
)
"""What can be switched off beneath event queries."""


class ReportedMatch(NamedTuple):
    """Times in seconds; the result by its text, documents of queries as `*`."""

    query: str
    start: float
    time: float
    result: str
    documents: tuple[str, ...]


def reported_by_model(match: Match) -> ReportedMatch:
    return ReportedMatch(
        match.query, match.start / 10**6, match.time / 10**6, match.result, match.documents
    )


def reported_by_engine(match: Mapping[str, Any], ids: Collection[str]) -> ReportedMatch:
    """A match by its dict; `ids` are those of documents that no query published."""
    time, result = float(match["time"]), match["result"]
    documents = tuple(one if one in ids else "*" for one in match["documents"])
    start = float(match.get("start", time))
    return ReportedMatch(match["query"], start, time, _text(result), documents)


def _text(result: Any) -> str:
    if not isinstance(result, str) or not result.startswith("<"):
        return canonical(result)
    element = etree.fromstring(result)
    children = [(str(one.tag), "".join(map(str, one.itertext()))) for one in element]
    return f"<{element.tag}>{children}"
