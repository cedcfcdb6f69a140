"""Stage 2, the Join Processor: a batch of witnesses into the matches of all queries.

Algorithm 1 of the thesis, a batch at a time: ingest the witnesses, join values, evaluate the
conjunctive query of each template against R_T, test the time constraints.  Small batches are
processed in process, large ones in DuckDB (docs/laws.md#two-value-joins).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING

from xscl.join_stage.batch import Accepted, Batch, DoubleOf
from xscl.join_stage.batch_join import BatchJoin, Outputs, Wanted
from xscl.join_stage.in_process.channels import ChannelTuple
from xscl.join_stage.in_process.join import InProcessJoin
from xscl.join_stage.registry import Registry
from xscl.join_stage.relational.join import RelationalJoin
from xscl.join_stage.relational.relations import when_needed
from xscl.join_stage.relational.state import JoinState
from xscl.join_stage.strategies import Strategies
from xscl.join_stage.tokens import Measures

if TYPE_CHECKING:
    import duckdb

__all__ = ["JoinProcessor"]


_LEAVES = 100
_FEW = 100
"""A batch is joined in process if it has at most `_LEAVES` leaves for each document; one with fewer
than `_FEW` documents may have as many leaves as `_FEW` documents."""


class JoinProcessor:
    """The queries of one engine (`registry`), and the ways to join batches for them.

    `double_of` returns the double as which a string is compared by order, None for one that is no
    number; `measures` say how alike two strings are.
    """

    def __init__(
        self,
        connect: Callable[[], duckdb.DuckDBPyConnection],
        double_of: DoubleOf,
        measures: Measures,
        strategies: Strategies | None = None,
    ) -> None:
        self.connection = when_needed(connect)
        self._strategies = strategies or Strategies()
        self.registry = Registry(self._strategies)
        self._state = JoinState(self.connection, double_of, self._strategies.memory)
        self._in_process = InProcessJoin(self.registry, self._state, measures, self._strategies)
        self.relational = RelationalJoin(
            self.connection, self.registry, self._state, self._in_process.tokens
        )
        self._ways: tuple[BatchJoin, ...] = (self._in_process, self.relational)

    @property
    def version(self) -> int:
        """Grows whenever queries, or the reach of their rows, may have changed."""
        return self.registry.version

    # Batches

    def begin(self, batch: Batch) -> None:
        """Adds a batch and joins it; `outputs` and `counts` then report its matches."""
        if batch.accepts or self._state.unsettled:
            self.accept(batch.accepts)
        few = len(batch.times)
        small = few <= self._strategies.in_process and batch.rows <= _LEAVES * max(few, _FEW)
        # In process before the state has the batch: a slice that is filled must not contain it.
        if small and self._in_process.join(batch):
            self.relational.follow(batch, crossed=self._in_process.crossed)
        else:
            self.relational.join(batch)
            self._in_process.follow(batch)

    def review(self, batch: Batch, queries: Collection[int]) -> None:
        """Joins documents and composites that are retained already, for some queries only;
        `outputs` and `counts` then report the matches of these queries among them.

        The batch has all that is to be joined, in any order.  Its witnesses replace those of the
        same documents; its composites have none.
        """
        self.accept(batch.accepts)
        self.relational.review(batch, queries)
        self._in_process.follow(batch)
        self._in_process.clear()

    def restore(self, batch: Batch, queries: Collection[int] = ()) -> None:
        """Adds a batch as `begin` does, but joins it for some queries only: the matches of all
        others in it were found before."""
        self.accept(batch.accepts)
        self.relational.restore(batch, queries)
        self._in_process.follow(batch)

    def rejoin(self, queries: Collection[int]) -> None:
        """Joins all that is retained within itself, for some queries only."""
        self.relational.rejoin(queries)
        self._in_process.follow(Batch())

    def change(
        self,
        gone: Sequence[int],
        moved: Sequence[tuple[int, int | None]],
        unvalued: Sequence[int],
    ) -> None:
        """Applies changes of leaf paths, between batches.

        `gone` are released spines; `moved` removed leaf paths, each with the one that takes over
        its rows, or None where the rows are dropped; `unvalued` are leaf paths, numbered as after
        the move, whose strings are dropped.  New accepts come by `accept`, at the latest with the
        next batch; until then rows that have moved are not dropped.
        """
        for way in self._ways:
            way.change(gone, moved, unvalued)

    def accept(self, accepts: Sequence[Accepted]) -> None:
        """Adds the new accepts of leaf paths: path, spine, depths."""
        if not accepts and not self._state.unsettled:
            return
        for way in self._ways:
            way.accept(accepts)

    def prepare(self) -> None:
        """Updates the relations to the queries and to what was joined in process."""
        self.relational.prepare()

    # Matches

    @property
    def tuples(self) -> Sequence[ChannelTuple]:
        """The channel tuples of the current batch: none for one that was joined in DuckDB."""
        return self._in_process.tuples

    def outputs(self, wanted: Wanted = Wanted.ALL) -> Iterator[Outputs]:
        """The matches that the current batch completes, or some of them."""
        return chain(self._in_process.outputs(wanted), self.relational.outputs(wanted))

    def counts(self) -> dict[int, int]:
        """The number of matches that the current batch completes, by sole disjunct."""
        return {query: count for way in self._ways for query, count in way.counts().items()}

    # State

    def reach(self, spine: int) -> int:
        """For how long (microseconds) after its time a row of a spine can be reached."""
        return self.registry.reach(spine)

    def evict(
        self, watermark: int | None, documents: Sequence[int], *, exact: bool = False
    ) -> None:
        """Drops documents and composites, and of all others the rows that no query can reach from
        the watermark (microseconds; None where nothing is ever late).

        Rows are searched only when enough documents have come for this to pay, unless `exact`.
        """
        for way in self._ways:
            way.evict(watermark, documents, exact=exact)

    def withdraw(self, documents: Sequence[int]) -> None:
        """Drops documents and composites that are within reach, as if they had never come."""
        for way in self._ways:
            way.evict(None, documents, exact=True)

    def unstored_strings(self, *, exact: bool = False) -> dict[int, str]:
        """The strings that came and are no longer stored, by number.

        They are searched only when enough rows were dropped for this to pay, unless `exact`.
        """
        return self.relational.unstored_strings(exact=exact)

    def strings_stored(self, strings: Collection[int]) -> set[int]:
        """Those of some strings that are stored."""
        return self._state.strings_stored(strings)

    def drop_strings(self, strings: Sequence[int]) -> None:
        """Drops strings that nothing stores."""
        for way in self._ways:
            way.drop_strings(strings)

    @property
    def rows(self) -> int:
        """The number of rows of `node`, including those pending to be written or deleted."""
        return self._state.rows

    def witnesses_by_stream(self) -> dict[str, int]:
        """The number of rows of `node` that the documents of each stream have."""
        return self._state.witnesses_by_stream()

    def in_process(self) -> dict[str, int]:
        """The sizes of the view cache and the memo, for `Engine.stats`."""
        return self._in_process.sizes()

    def joined(self) -> dict[str, int]:
        """Counts of documents, slices and pairs joined in process, for `Engine.stats`."""
        return self._in_process.joined()
