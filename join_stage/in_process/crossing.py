"""Joins without an equality, in process: a document with all others within the window.

Pairs of such a plan can be looked up by time only.  So for each of its sides, the documents with a
node for it are in order of time, and a new document meets those on the opposite side within the
widest window.  Further conditions on the pair are tested like those beyond a signature
(`residual`).  Large numbers of pairs are left to DuckDB, which compares them faster.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence

from xscl.join_stage.batch import Layout
from xscl.join_stage.compiler import program_of
from xscl.join_stage.in_process.edges import Accepts
from xscl.join_stage.in_process.residual import OpenPairs
from xscl.join_stage.in_process.signatures import Hit
from xscl.join_stage.in_process.slices import Posting
from xscl.join_stage.plan import Plan
from xscl.join_stage.registry import Registry
from xscl.join_stage.relational.state import JoinState

__all__ = ["Crossing"]

_MOST = 2_000
"""The maximal number of pairs of a batch that are compared one by one: it takes as long as one
query to DuckDB."""


class _Sides:
    """A plan, the hit that every pair of documents begins with, the bounds of its queries, and on
    either side its spines, by chain, and the documents with a node for them."""

    def __init__(self, plan: Plan, registry: Registry, state: JoinState) -> None:
        self.plan = plan
        self.hit = Hit(program_of(plan), registry.rows_of(plan), ((),))
        self.lo, self.wl = registry.bounds_of(plan)
        spines = registry.singles_of(plan)
        self.spines: list[list[set[int]]] = [
            [some for chain, some in zip(plan.singles, spines, strict=True) if chain.side == side]
            for side in (0, 1)
        ]
        self.postings = (Posting(), Posting())
        for posting, chains in zip(self.postings, self.spines, strict=True):
            for document, time in state.documents_with(set[int]().union(*chains)):
                posting.add(document, time)

    def met_by(self, time: int, side: int) -> Sequence[int]:
        """The documents on the opposite side that a document with this time meets."""
        posting = self.postings[1 - side]
        least, most = time - self.wl, time + self.wl
        if self.lo >= 0:
            # The right one is later.
            least, most = (least, time - 1) if side else (time + 1, most)
        begin = bisect_left(posting.times, least)
        return posting.documents[begin : bisect_right(posting.times, most, begin)]


class Crossing:
    """The plans without an equality, and the hits of the last batch for them, for `pairs`: None
    where DuckDB is to find them."""

    def __init__(self, registry: Registry, accepts: Accepts, state: JoinState) -> None:
        self._registry = registry
        self._accepts = accepts
        self._state = state
        self.pairs: list[OpenPairs] | None = []
        self._many = 0
        self._of_plans: list[_Sides] | None = None
        self._feeds: dict[Layout, list[tuple[_Sides, int]]] = {}

    def clear(self) -> None:
        """Drops everything: queries or leaf paths have changed, or documents came unseen."""
        self._of_plans = None
        self._feeds.clear()

    def begin(self) -> None:
        """Before a batch: drops the last hits, and notes the documents that came before it."""
        self.pairs, self._many = [], 0
        if self._of_plans is None:
            plans = self._registry.crossing.values()
            self._of_plans = [_Sides(plan, self._registry, self._state) for plan in plans]

    def add(self, document: int, time: int, layout: Layout) -> None:
        """Adds a document, with the pairs that it makes."""
        feeds = self._feeds.get(layout)
        if feeds is None:
            feeds = self._feeds[layout] = self._feeds_of(layout)
        for of_plan, side in feeds:
            if self.pairs is not None:
                others = of_plan.met_by(time, side)
                self._many += len(others)
                if self._many > _MOST:
                    self.pairs = None
                elif others:
                    self.pairs.append(OpenPairs(document, others, bool(side), (of_plan.hit,)))
        for of_plan, side in feeds:
            of_plan.postings[side].add(document, time)

    def drop(self, documents: Sequence[int], times: Mapping[int, int]) -> None:
        """Removes documents, which had these times."""
        for of_plan in self._of_plans or ():
            for posting in of_plan.postings:
                for document in documents:
                    if document in times:
                        posting.remove(document, times[document])

    def _feeds_of(self, layout: Layout) -> list[tuple[_Sides, int]]:
        here = {spine for path in layout.kinds for spine, _ in self._accepts[path]}
        return [
            (of_plan, side)
            for of_plan in self._of_plans or ()
            for side, chains in enumerate(of_plan.spines)
            if not any(here.isdisjoint(some) for some in chains)
        ]
