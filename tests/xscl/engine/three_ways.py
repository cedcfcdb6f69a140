"""What an engine finds, one by one, in groups and as counts: three ways to one answer.

Matches one by one are distinguished, counted ones are not: only their comparison shows that a match
was counted twice, or not at all.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import xscl

__all__ = ["WAYS", "in_three_ways", "published"]

Envelopes = Sequence[Mapping[str, Any]]
Published = tuple[Counter[str], list[xscl.Match] | None]
"""How many matches each query has, and these; None where they were only counted."""

WAYS = ("matches", "groups", "counts")


def published(engine: xscl.Engine, envelopes: Envelopes, way: str) -> Published:
    """A batch, in one of the ways."""
    if way == "counts":
        return +engine.count(envelopes, flush=False), None
    if way == "groups":
        return _ungrouped(engine.publish_many(envelopes, grouped=True))
    return _counted(engine.publish_many(envelopes))


def in_three_ways(
    make: Callable[[], xscl.Engine], batches: Iterable[Envelopes], *, skipping: bool = True
) -> list[xscl.Match]:
    """The matches that one engine finds in some batches and at their end, after engines of which
    groups and counts were asked have found the same; `skipping` if documents may be skipped."""
    fed = list(batches)
    counts, reported = dict[str, list[Counter[str]]](), dict[str, list[str]]()
    matches = list[xscl.Match]()
    for way in WAYS:
        with make() as engine:
            answers = [published(engine, batch, way) for batch in fed]
            answers.append(_ended(engine, way))
            assert skipping or not engine.skipped.total
            counts[way] = [count for count, _ in answers]
            if way != "counts":
                found = [one for _, some in answers for one in some or ()]
                reported[way] = sorted(json.dumps(one.to_dict(), default=str) for one in found)
                matches = found if way == "matches" else matches
    assert reported["groups"] == reported["matches"]
    assert counts["groups"] == counts["matches"]
    assert counts["counts"] == counts["matches"]
    return matches


def _ended(engine: xscl.Engine, way: str) -> Published:
    """What is known once the input has ended."""
    if way == "counts":
        return +engine.count([]), None
    return _ungrouped(engine.run([], grouped=True)) if way == "groups" else _counted(engine.flush())


def _counted(matches: Iterable[xscl.Match]) -> Published:
    found = list(matches)
    return Counter(one.query for one in found), found


def _ungrouped(groups: Iterable[xscl.MatchGroup]) -> Published:
    """The matches of groups, each of which has as many as it says."""
    found = list[xscl.Match]()
    for group in groups:
        matches = list(group.matches())
        assert group.count == len(matches), group
        assert {one.query for one in matches} <= {*group.queries}, group
        found += matches
    return _counted(found)
