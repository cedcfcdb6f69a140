"""Counts, per query, the matches of flat joins over feed items, with dictionaries of values.

Documents are `<item>`s with each leaf at most once, all of one stream; queries pair leaves:

    -- name: q00001
    S//item->a0[./title->a1][./link->a2] FOLLOWED BY {a1=b1 AND a2=b2, 7 days} S//item->b0[…]…;

Each value has its postings.  For a pair of documents the equal pairs of leaves make a bit mask,
and a query matches the pair where the mask covers the query's own and the window reaches.  The
output nodes are the items, so a pair of documents matches a query at most once.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree

QUERY = re.compile(
    r"--\s*name:\s*(?P<name>\S+)\s*"
    r"S//item->\w+(?P<left>[^{}]*?)\s*FOLLOWED\s+BY\s*"
    r"\{(?P<pairs>[^{},]*),\s*(?P<window>[\d.]+|INF)\s*(?P<unit>[a-z]*)\s*\}\s*"
    r"S//item->\w+(?P<right>[^{};]*);"
)
LEAF = re.compile(r"\[\s*(?:\./)?(\w+)\s*->\s*(\w+)\s*\]")
EQUALITY = re.compile(r"(\w+)\s*=\s*(\w+)")
UNITS = {"": 1, "s": 1, "min": 60, "h": 3600, "hours": 3600, "day": 86400, "days": 86400}


@dataclass(frozen=True)
class FlatQuery:
    """Pairs of (left leaf, right leaf) that must be equal, and the window in seconds."""

    name: str
    pairs: frozenset[tuple[str, str]]
    window: float


def read_queries(text: str) -> list[FlatQuery]:
    """The queries of a file; text of another form is refused."""
    found = list(QUERY.finditer(text))
    left_over = QUERY.sub("", text).strip()
    if left_over:
        raise ValueError(f"no query of flat feed items: {left_over[:200]!r}")
    return [_query(match) for match in found]


def _query(match: re.Match[str]) -> FlatQuery:
    leaves = {side: _leaves(match[side]) for side in ("left", "right")}
    pairs = set()
    for a, b in EQUALITY.findall(match["pairs"]):
        if a not in leaves["left"]:
            a, b = b, a
        pairs.add((leaves["left"][a], leaves["right"][b]))
    if len(EQUALITY.findall(match["pairs"])) != len(match["pairs"].split("AND")):
        raise ValueError(f"query {match['name']}: {match['pairs']!r} is no chain of equalities")
    window = float("inf") if match["window"] == "INF" else float(match["window"])
    return FlatQuery(match["name"], frozenset(pairs), window * UNITS[match["unit"]])


def _leaves(filters: str) -> dict[str, str]:
    if LEAF.sub("", filters).strip():
        raise ValueError(f"no list of leaves: {filters!r}")
    return {variable: leaf for leaf, variable in LEAF.findall(filters)}


def count_matches(
    queries: Iterable[FlatQuery], envelopes: Iterable[Mapping[str, Any]]
) -> dict[str, int]:
    """Matches per query name; a document id seen before is skipped."""
    queries = list(queries)
    windows = sorted({query.window for query in queries})
    names = sorted({leaf for query in queries for pair in query.pairs for leaf in pair})
    numbers = {name: number for number, name in enumerate(names)}
    own = [(query, _mask(query.pairs, numbers)) for query in queries]
    totals = dict.fromkeys((query.name for query in queries), 0)
    for (mask, reach), pairs in _pairs(envelopes, numbers, windows).items():
        for query, needed in own:
            if mask & needed == needed and query.window >= windows[reach]:
                totals[query.name] += pairs
    return totals


def _mask(pairs: Iterable[tuple[str, str]], numbers: Mapping[str, int]) -> int:
    mask = 0
    for left, right in pairs:
        mask |= 1 << (numbers[left] * len(numbers) + numbers[right])
    return mask


def _pairs(
    envelopes: Iterable[Mapping[str, Any]], numbers: Mapping[str, int], windows: list[float]
) -> Counter[tuple[int, int]]:
    """Pairs of documents by (mask of their equal leaves, smallest window that reaches)."""
    counts: Counter[tuple[int, int]] = Counter()
    postings: defaultdict[str, deque[tuple[float, int, int]]] = defaultdict(deque)
    width = len(numbers)
    for place, (time, leaves) in enumerate(_items(envelopes, numbers)):
        masks: defaultdict[tuple[float, int], int] = defaultdict(int)
        for right, value in leaves:
            earlier = postings[value]
            while earlier and time - earlier[0][0] > windows[-1]:
                earlier.popleft()
            for then, other, left in earlier:
                if then < time:
                    masks[then, other] |= 1 << (left * width + right)
        for (then, _), mask in masks.items():
            counts[mask, bisect_left(windows, time - then)] += 1
        for leaf, value in leaves:
            postings[value].append((time, place, leaf))
    return counts


def _items(
    envelopes: Iterable[Mapping[str, Any]], numbers: Mapping[str, int]
) -> list[tuple[float, list[tuple[int, str]]]]:
    """(time, [(leaf number, value)]) of each document, in order of time."""
    items: dict[str, tuple[float, list[tuple[int, str]]]] = {}
    for envelope in envelopes:
        if envelope["id"] not in items:
            root = ElementTree.fromstring(envelope["xml"])
            leaves = [(numbers[e.tag], "".join(e.itertext())) for e in root if e.tag in numbers]
            if root.tag != "item" or len({leaf for leaf, _ in leaves}) != len(leaves):
                raise ValueError(f"document {envelope['id']!r} is no flat item")
            items[envelope["id"]] = float(envelope["timestamp"]), leaves
    return sorted(items.values(), key=lambda item: item[0])
