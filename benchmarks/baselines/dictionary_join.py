"""A hand-written join of feed items, as one would write it for a fixed set of queries in Python.

Each value has its postings.  For the pairs of a current document with earlier ones, the equal pairs
of leaves make a bit mask; the queries are asked once for each mask, not for each pair.  It knows
what the engine must find out: documents are flat, have each leaf once, come in order of time, and
all queries have the same window.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from lxml import etree

from datasets import LeafJoin, Schema


class DictionaryJoin:
    """Postings by value and leaf; `process` takes documents in order of time."""

    def __init__(self, schema: Schema, joins: Sequence[LeafJoin]) -> None:
        self._width = len(schema.leaves)
        self._leaves = {path[-1]: number for number, path in enumerate(schema.leaves)}
        windows = {join.window for join in joins}
        if len(windows) != 1 or any(len(path) > 1 for path in schema.leaves):
            raise ValueError("documents of two levels and one window for all")
        (window,) = windows
        self._window = float("inf") if window is None else window
        self._queries: Counter[int] = Counter(self._mask(join) for join in joins)
        self._masks: dict[int, int] = {}
        self._times: list[float] = []
        self._postings: defaultdict[str, dict[int, list[int]]] = defaultdict(dict)

    def process(self, documents: Iterable[Mapping[str, Any]]) -> int:
        """The number of matches that these documents complete."""
        return sum(map(self._one, documents))

    def _one(self, envelope: Mapping[str, Any]) -> int:
        time = envelope["timestamp"]
        first = bisect_left(self._times, time - self._window)
        last = bisect_left(self._times, time)
        number = len(self._times)
        self._times.append(time)
        masks: defaultdict[int, int] = defaultdict(int)
        values = self._values(envelope)
        for right, value in values:
            for left, earlier in self._postings[value].items():
                bit = 1 << (left * self._width + right)
                for other in earlier[bisect_left(earlier, first) : bisect_left(earlier, last)]:
                    masks[other] |= bit
        for leaf, value in values:
            self._postings[value].setdefault(leaf, []).append(number)
        found = Counter(masks.values())
        return sum(self._matching(mask) * pairs for mask, pairs in found.items())

    def _values(self, envelope: Mapping[str, Any]) -> list[tuple[int, str]]:
        """The leaves of a document and their values, from text of XML or JSON."""
        leaves = self._leaves
        if "xml" in envelope:
            item = etree.fromstring(envelope["xml"])
            return [(leaves[leaf.tag], leaf.text or "") for leaf in item]
        return [(leaves[name], value) for name, value in json.loads(envelope["json"]).items()]

    def _matching(self, mask: int) -> int:
        """How many queries a pair with this mask matches."""
        known = self._masks.get(mask)
        if known is None:
            known = self._masks[mask] = sum(
                queries for needed, queries in self._queries.items() if needed & mask == needed
            )
        return known

    def _mask(self, join: LeafJoin) -> int:
        return sum(1 << (left * self._width + right) for left, right in join.pairs)
