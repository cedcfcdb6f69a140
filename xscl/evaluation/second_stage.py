"""The seam between evaluation and the second stages, which find the rows of queries.

A stage of witnesses is handed the batches of stage 1, none of which ever changes; a stage of time
finds its rows when the watermark moves.  A document is retained as long as any stage can reach it,
a string as long as any stage of witnesses holds it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from typing import TYPE_CHECKING, Any, Protocol

from xscl.join_stage import Accepted, Batch, ChannelTuple, Wanted

if TYPE_CHECKING:
    from xscl.pattern_stage.plan.outputs import Outputs

__all__ = [
    "SecondStage",
    "StageRows",
    "TimedRows",
    "TimedStage",
    "WitnessStage",
    "longest_reach",
    "take_unstored_strings",
]


class StageRows(Protocol):
    """Rows of a stage, as the readers of queries read them."""

    def by_query(self) -> Iterable[tuple[int, Sequence[tuple[Any, ...]]]]:
        """Queries by number, with rows of theirs; those of one query may come in parts."""

    def counts(self) -> Mapping[int, int]:
        """The number of rows of each query."""


TimedRows = tuple[Sequence[StageRows], Sequence["Outputs"]]
"""The rows that time has completed, and the outputs of event queries."""


class SecondStage(Protocol):
    """What all stages have; of queries' numbers each looks at its own."""

    @property
    def version(self) -> int:
        """Grows whenever its queries, or how long it reaches, may have changed."""

    def reach(self, spine: int) -> int:
        """For how long (microseconds) after its time a witness of a spine can be reached."""

    def evict(
        self, watermark: int | None, documents: Sequence[int], *, exact: bool = False
    ) -> None:
        """Drops documents, and, where that pays or is to be `exact`, what cannot be reached from
        the watermark."""


class TimedStage(SecondStage, Protocol):
    """A stage that finds rows as time passes."""

    def advance(self, watermark: int | None, *, ended: bool = False) -> Iterator[TimedRows]:
        """The rows that time completes: nothing that follows is earlier than the watermark
        (microseconds; None where anything may be), or nothing at all where the input has `ended`.
        It is called when all that a publication has caused has been read; what one item causes is
        read before the next one is taken."""


class WitnessStage(SecondStage, Protocol):
    """A stage that finds rows in witnesses."""

    # Leaf paths

    def accept(self, accepts: Sequence[Accepted]) -> None:
        """Takes what leaf paths newly accept."""

    def change(
        self,
        gone: Sequence[int],
        moved: Sequence[tuple[int, int | None]],
        unvalued: Sequence[int],
    ) -> None:
        """Follows changes of leaf paths, between batches: spines that are no more; leaf paths
        that are no more, with those that take over their rows, or None where the rows go; leaf
        paths, numbered as after the move, whose strings go."""

    # Batches

    def begin(self, batch: Batch) -> None:
        """Takes in a batch of new documents; `outputs` then has the rows that these complete."""

    def review(self, batch: Batch, queries: Collection[int]) -> None:
        """Finds the rows of some queries among documents held, whose witnesses the batch has as
        queries are now; `outputs` then has these rows."""

    def withdraw(self, documents: Sequence[int]) -> None:
        """Drops documents and composites that are within reach, as if they had never come."""

    def restore(self, batch: Batch, queries: Collection[int] = ()) -> None:
        """Takes in a batch that came before; `outputs` then has the rows of some queries."""

    def rejoin(self, queries: Collection[int]) -> None:
        """Finds the rows of some queries among all documents held."""

    # Rows

    @property
    def tuples(self) -> Sequence[ChannelTuple]:
        """Matches of the last batch for many queries together."""

    def outputs(self, wanted: Wanted) -> Iterator[StageRows]:
        """The rows of the last batch, or some of them, each once."""

    def counts(self) -> Mapping[int, int]:
        """The number of rows of the last batch that `Wanted.BUT_SOLE_DISJUNCTS` leaves out, by
        query."""

    # Strings

    def unstored_strings(self, *, exact: bool = False) -> Mapping[int, str]:
        """Strings that it was handed and does not hold, by number; all of them where `exact`."""

    def strings_stored(self, strings: Collection[int]) -> Set[int]:
        """The strings of some that it holds."""

    def drop_strings(self, strings: Sequence[int]) -> None:
        """Drops strings that no stage holds; their numbers are not used again."""


def longest_reach(stages: Iterable[SecondStage]) -> Callable[[int], int]:
    """For how long a witness of a spine can be reached by any of the stages."""
    return lambda spine: max(stage.reach(spine) for stage in stages)


def take_unstored_strings(stages: Sequence[WitnessStage], *, exact: bool) -> list[str]:
    """Drops the strings that no stage holds; returns them."""
    dropped: list[str] = []
    for stage in stages:
        unstored = dict(stage.unstored_strings(exact=exact))
        for other in stages:
            if unstored and other is not stage:
                for string in other.strings_stored(unstored):
                    del unstored[string]
        if unstored:
            for each in stages:
                each.drop_strings([*unstored])
            dropped += unstored.values()
    return dropped
