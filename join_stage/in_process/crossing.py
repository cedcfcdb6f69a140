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
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from xscl.join_stage.batch import Layout, strings_of_rows
from xscl.join_stage.compiler import program_of
from xscl.join_stage.in_process.alike_leaves import AlikeLeaves, alike_leaves
from xscl.join_stage.in_process.edges import Accepts
from xscl.join_stage.in_process.residual import OpenPairs
from xscl.join_stage.in_process.signatures import Hit
from xscl.join_stage.in_process.slices import Posting
from xscl.join_stage.plan import Plan
from xscl.join_stage.registry import Registry
from xscl.join_stage.relational.state import JoinState
from xscl.join_stage.tokens import TokenNumbers, Tokens

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

    compared: tuple[Sequence[Collection[int]], Sequence[Collection[int]]] = ((), ())
    by_time = True

    def __init__(self, plan: Plan, registry: Registry, state: JoinState) -> None:
        super().__init__(plan, registry)
        self.postings = (Posting(), Posting())
        for posting, chains in zip(self.postings, self.spines, strict=True):
            for document, time in state.documents_with(set[int]().union(*chains)):
                posting.add(document, time)

    def met_by(self, time: int, side: int, strings: Sequence[Collection[int]]) -> Sequence[int]:
        """The documents on the opposite side that a document with this time meets."""
        return self.within(self.postings[1 - side], time, side)

    def add(self, document: int, time: int, side: int, strings: Sequence[Collection[int]]) -> None:
        """Adds a document to a side."""
        self.postings[side].add(document, time)

    def drop(self, document: int, time: int) -> None:
        """Removes a document from both sides."""
        for posting in self.postings:
            posting.remove(document, time)


class _AlikeSides(_Sides):
    """The documents of a plan by the texts that its leading likeness compares: `compared` are the
    spines of these on either side, for each index that has some."""

    by_time = False

    def __init__(
        self,
        plan: Plan,
        registry: Registry,
        state: JoinState,
        tokens: Tokens,
        leaves: Sequence[AlikeLeaves],
    ) -> None:
        super().__init__(plan, registry)
        self._of_leaves = [_AlikeDocuments(one, state, tokens) for one in leaves]
        left, right = ([one.spines[side] for one in leaves] for side in (0, 1))
        self.compared = (left, right)

    def met_by(self, time: int, side: int, strings: Sequence[Collection[int]]) -> Sequence[int]:
        """The documents on the opposite side with a text like one of these that a document with
        this time meets, each once."""
        found: dict[int, None] = {}
        for documents, some in zip(self._of_leaves, strings, strict=True):
            for posting in documents.alike(side, some):
                found.update(dict.fromkeys(self.within(posting, time, side)))
        return [*found]

    def add(self, document: int, time: int, side: int, strings: Sequence[Collection[int]]) -> None:
        """Adds a document to a side."""
        for documents, some in zip(self._of_leaves, strings, strict=True):
            if some:
                documents.add(document, time, side, some)

    def drop(self, document: int, time: int) -> None:
        """Removes a document from both sides."""
        for documents in self._of_leaves:
            documents.drop(document, time)


class _AlikeDocuments:
    """The documents of either side of a plan by the texts of some leaves."""

    def __init__(self, leaves: AlikeLeaves, state: JoinState, tokens: Tokens) -> None:
        self._leaves, self._tokens = leaves, tokens
        self._postings: tuple[dict[int, Posting], dict[int, Posting]] = ({}, {})
        self._strings: tuple[dict[int, Collection[int]], dict[int, Collection[int]]] = ({}, {})
        for side, spines in enumerate(leaves.spines):
            rows = state.strings_with(spines)
            if missing := tokens.missing(leaves.measure, {string for *_, string in rows}):
                for string, (text, _) in state.values(missing).items():
                    tokens.of(leaves.measure, string, text)
            times: dict[int, int] = {}
            strings: dict[int, set[int]] = {}
            for document, time, string in rows:
                times[document] = time
                strings.setdefault(document, set()).add(string)
            for document, its in strings.items():
                self.add(document, times[document], side, its)

    def alike(self, side: int, strings: Collection[int]) -> Iterator[Posting]:
        """The documents on the opposite side by each text that is like one of these."""
        leaves, postings = self._leaves, self._postings[1 - side]
        for string in strings:
            for other, degree in leaves.texts.alike(string, self._tokens_of(string)):
                if degree >= leaves.least and (posting := postings.get(other)) is not None:
                    yield posting

    def add(self, document: int, time: int, side: int, strings: Collection[int]) -> None:
        """Adds a document, with its texts, to a side."""
        self._strings[side][document] = strings
        for string in strings:
            self._leaves.texts.add(string, self._tokens_of(string))
            self._postings[side].setdefault(string, Posting()).add(document, time)

    def drop(self, document: int, time: int) -> None:
        """Removes a document from both sides."""
        for postings, of in zip(self._postings, self._strings, strict=True):
            for string in of.pop(document, ()):
                self._leaves.texts.remove(string)
                postings[string].remove(document, time)
                if not postings[string].documents:
                    del postings[string]

    def _tokens_of(self, string: int) -> Callable[[], TokenNumbers]:
        return lambda: self._tokens.of(self._leaves.measure, string)


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
        self._made_for: object = None
        """What the sides depend on, of the queries and the leaf paths."""

    def follow(self) -> None:
        """Queries or leaf paths have changed: the sides are made again if it was theirs."""
        self._feeds.clear()
        if self._of_plans is not None and self._made_for != self._needed():
            self.clear()

    def _needed(self) -> object:
        registry = self._registry
        of_plans = map(registry.singles_of, registry.crossing.values())
        spines = {spine for singles in of_plans for some in singles for spine in some}
        of_paths = (
            spines.intersection([spine for spine, _ in some]) for some in self._accepts.of_paths()
        )
        # Texts of one leaf path are in one index.
        return registry.crossing_version, {*map(frozenset, filter(None, of_paths))}

    def clear(self) -> None:
        """Drops everything: queries or leaf paths have changed, or documents came unseen."""
        self._of_plans = None
        self._feeds.clear()

    def begin(self) -> None:
        """Before a batch: drops the last hits, and notes the documents that came before it."""
        self.pairs, self._many = [], 0
        if self._of_plans is None:
            self._of_plans, self._made_for = self._sides(), self._needed()

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
            [
                {string for row in rows if (string := of_rows[row]) is not None and string >= 0}
                for rows in of_leaves
            ]
            for _, _, of_leaves in feeds
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
        """The sides of all plans."""
        registry, state, tokens = self._registry, self._state, self._tokens
        alike = alike_leaves(registry, self._accepts, tokens.measures)
        return [
            _AllSides(plan, registry, state)
            if (leaves := alike.get(plan.id)) is None
            else _AlikeSides(plan, registry, state, tokens, leaves)
            for plan in registry.crossing.values()
        ]

    def _feeds_of(self, layout: Layout) -> list[_Feed]:
        here = {spine for path in layout.kinds for spine, _ in self._accepts[path]}
        return [
            (of_plan, side, [self._rows_of(layout, some) for some in of_plan.compared[side]])
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


_Feed = tuple[_AllSides | _AlikeSides, int, Sequence[Sequence[int]]]
"""A plan, one of its sides, and the rows of a layout whose texts are compared there, by index."""
