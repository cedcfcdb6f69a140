"""Joins without an equality, in process: a document with all others within the window, or with
those that have a text like one of its own.

Pairs of such a plan can be looked up by time only, or by likeness.  So for each of its sides, the
documents with a node for it are in order of time, with a likeness by text; a new document meets
those on the opposite side within the widest window.  Further conditions on the pair are tested like
those beyond a signature (`residual`).  Large numbers of pairs by time are left to DuckDB, which
compares them faster.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Mapping, Sequence

from xscl.join_stage.batch import Layout, strings_of_rows
from xscl.join_stage.compiler import program_of
from xscl.join_stage.in_process.edges import Accepts
from xscl.join_stage.in_process.residual import OpenPairs
from xscl.join_stage.in_process.signatures import Hit
from xscl.join_stage.in_process.slices import Posting
from xscl.join_stage.likeness import AlikeTexts, Tokens
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

    def __init__(self, plan: Plan, registry: Registry) -> None:
        self.plan = plan
        self.hit = Hit(program_of(plan), registry.rows_of(plan), ((),))
        self.lo, self.wl = registry.bounds_of(plan)
        spines = registry.singles_of(plan)
        self.spines: list[list[set[int]]] = [
            [some for chain, some in zip(plan.singles, spines, strict=True) if chain.side == side]
            for side in (0, 1)
        ]

    def within(self, posting: Posting, time: int, side: int) -> Sequence[int]:
        """Those documents of the opposite side that a document with this time meets."""
        least, most = time - self.wl, time + self.wl
        if self.lo >= 0:
            # The right one is later.
            least, most = (least, time - 1) if side else (time + 1, most)
        begin = bisect_left(posting.times, least)
        return posting.documents[begin : bisect_right(posting.times, most, begin)]


class _AllSides(_Sides):
    """The documents of a plan that meets them by time alone."""

    compared: tuple[Collection[int], Collection[int]] = ((), ())
    by_time = True

    def __init__(self, plan: Plan, registry: Registry, state: JoinState) -> None:
        super().__init__(plan, registry)
        self.postings = (Posting(), Posting())
        for posting, chains in zip(self.postings, self.spines, strict=True):
            for document, time in state.documents_with(set[int]().union(*chains)):
                posting.add(document, time)

    def met_by(self, time: int, side: int, strings: Collection[int]) -> Sequence[int]:
        """The documents on the opposite side that a document with this time meets."""
        return self.within(self.postings[1 - side], time, side)

    def add(self, document: int, time: int, side: int, strings: Collection[int]) -> None:
        """Adds a document to a side."""
        self.postings[side].add(document, time)

    def drop(self, document: int, time: int) -> None:
        """Removes a document from both sides."""
        for posting in self.postings:
            posting.remove(document, time)


class _AlikeSides(_Sides):
    """The documents of a plan by the texts that one of its likenesses compares: `compared` are the
    spines of these on either side."""

    by_time = False

    def __init__(
        self,
        plan: Plan,
        registry: Registry,
        state: JoinState,
        tokens: Tokens,
        texts: Mapping[str, AlikeTexts],
    ) -> None:
        super().__init__(plan, registry)
        leading = plan.leading(registry.thresholds_of(plan))
        assert leading is not None
        edge, self._least = leading
        assert edge.measure is not None
        self._measure, self._tokens, self._texts = edge.measure, tokens, texts[edge.measure]
        spines = registry.singles_of(plan)
        left, right = (
            next(
                some
                for chain, some in zip(plan.singles, spines, strict=True)
                if chain.nodes[-1] == node
            )
            for node in (edge.left, edge.right)
        )
        self.compared = (left, right)
        self._postings: tuple[dict[int, Posting], dict[int, Posting]] = ({}, {})
        self._strings: tuple[dict[int, Collection[int]], dict[int, Collection[int]]] = ({}, {})
        for side, some in enumerate(self.compared):
            times: dict[int, int] = {}
            strings: dict[int, set[int]] = {}
            for document, time, string in state.strings_with(some):
                times[document] = time
                strings.setdefault(document, set()).add(string)
            for document, its in strings.items():
                self.add(document, times[document], side, its)

    def met_by(self, time: int, side: int, strings: Collection[int]) -> Sequence[int]:
        """The documents on the opposite side with a text like one of these that a document with
        this time meets, each once."""
        postings = self._postings[1 - side]
        found: dict[int, None] = {}
        for string in strings:
            for other, degree in self._texts.alike(string, self._tokens_of(string)):
                if degree >= self._least and (posting := postings.get(other)) is not None:
                    found.update(dict.fromkeys(self.within(posting, time, side)))
        return [*found]

    def add(self, document: int, time: int, side: int, strings: Collection[int]) -> None:
        """Adds a document to a side."""
        self._strings[side][document] = strings
        for string in strings:
            self._texts.add(string, self._tokens_of(string))
            self._postings[side].setdefault(string, Posting()).add(document, time)

    def drop(self, document: int, time: int) -> None:
        """Removes a document from both sides."""
        for postings, of in zip(self._postings, self._strings, strict=True):
            for string in of.pop(document, ()):
                self._texts.remove(string)
                postings[string].remove(document, time)
                if not postings[string].documents:
                    del postings[string]

    def _tokens_of(self, string: int) -> Callable[[], frozenset[str]]:
        return lambda: self._tokens.of(self._measure, string)


class Crossing:
    """The plans without an equality, and the hits of the last batch for them, for `pairs`: None
    where DuckDB is to find them."""

    def __init__(
        self, registry: Registry, accepts: Accepts, state: JoinState, tokens: Tokens
    ) -> None:
        self._registry = registry
        self._accepts = accepts
        self._state = state
        self._tokens = tokens
        self.pairs: list[OpenPairs] | None = []
        self._many = 0
        self._of_plans: list[_AllSides | _AlikeSides] | None = None
        self._feeds: dict[Layout, list[_Feed]] = {}

    def clear(self) -> None:
        """Drops everything: queries or leaf paths have changed, or documents came unseen."""
        self._of_plans = None
        self._feeds.clear()

    def begin(self) -> None:
        """Before a batch: drops the last hits, and notes the documents that came before it."""
        self.pairs, self._many = [], 0
        if self._of_plans is None:
            self._of_plans = self._sides()

    def add(
        self, document: int, time: int, layout: Layout, strings: tuple[int | None, ...]
    ) -> None:
        """Adds a document, with the pairs that it makes."""
        feeds = self._feeds.get(layout)
        if feeds is None:
            feeds = self._feeds[layout] = self._feeds_of(layout)
        if not feeds:
            return
        of_rows = strings_of_rows(layout, strings)
        compared = [
            {string for row in rows if (string := of_rows[row]) is not None and string >= 0}
            for _, _, rows in feeds
        ]
        for (of_plan, side, _), some in zip(feeds, compared, strict=True):
            if self.pairs is not None:
                others = of_plan.met_by(time, side, some)
                self._many += len(others) * of_plan.by_time
                if self._many > _MOST:
                    self.pairs = None
                elif others:
                    self.pairs.append(OpenPairs(document, others, bool(side), (of_plan.hit,)))
        for (of_plan, side, _), some in zip(feeds, compared, strict=True):
            of_plan.add(document, time, side, some)

    def drop(self, documents: Sequence[int], times: Mapping[int, int]) -> None:
        """Removes documents, which had these times."""
        for of_plan in self._of_plans or ():
            for document in documents:
                if document in times:
                    of_plan.drop(document, times[document])

    def _sides(self) -> list[_AllSides | _AlikeSides]:
        """The sides of all plans; those of likenesses by one measure share their texts."""
        least: dict[str, int] = {}
        leading = {}
        registry = self._registry
        for plan in registry.crossing.values():
            found = leading[plan.id] = plan.leading(registry.thresholds_of(plan))
            if found is not None:
                edge, threshold = found
                assert edge.measure is not None
                least[edge.measure] = min(threshold, least.get(edge.measure, threshold))
        texts = {one: AlikeTexts(self._tokens.measures, one, some) for one, some in least.items()}
        return [
            _AllSides(plan, registry, self._state)
            if leading[plan.id] is None
            else _AlikeSides(plan, registry, self._state, self._tokens, texts)
            for plan in registry.crossing.values()
        ]

    def _feeds_of(self, layout: Layout) -> list[_Feed]:
        here = {spine for path in layout.kinds for spine, _ in self._accepts[path]}
        return [
            (of_plan, side, self._rows_of(layout, of_plan.compared[side]))
            for of_plan in self._of_plans or ()
            for side, chains in enumerate(of_plan.spines)
            if not any(here.isdisjoint(some) for some in chains)
        ]

    def _rows_of(self, layout: Layout, spines: Collection[int]) -> Sequence[int]:
        """The rows of a layout that any of some spines has."""
        return [
            row
            for row, path in enumerate(layout.paths)
            if any(spine in spines for spine, _ in self._accepts[path])
        ]


_Feed = tuple[_AllSides | _AlikeSides, int, Sequence[int]]
"""A plan, one of its sides, and the rows of a layout whose texts are compared there."""
