"""The seam between evaluation and the second stages, which consume the witnesses of stage 1.

Each stage is handed the same batches, none of which ever changes, and finds rows for the queries
that are registered with it.  A document is held as long as any stage can reach it, a string as
long as any stage holds it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from typing import TYPE_CHECKING, Any, Protocol

from join_stage import Accepted, Batch, ChannelTuple, Wanted

if TYPE_CHECKING:
    from pattern_stage.plan.outputs import Outputs

__all__ = ["SecondStage", "StageRows", "longest_reach", "take_unheld_strings"]


class StageRows(Protocol):
    """Rows of a stage, as the readers of queries read them."""

    def by_query(self) -> Iterable[tuple[int, Sequence[tuple[Any, ...]]]]:
        """Queries by number, with rows of theirs; those of one query may come in parts."""

    def counts(self) -> Mapping[int, int]:
        """The number of rows of each query."""


class SecondStage(Protocol):
    """A stage that finds rows in witnesses; of queries' numbers it looks at its own."""

    @property
    def version(self) -> int:
        """Grows whenever its queries, or how long it reaches, may have changed."""

    # Leaf paths

    def accept(self, accepts: Sequence[Accepted]) -> None:
        """Takes in what leaf paths accept anew."""

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

    def restore(self, batch: Batch, queries: Collection[int] = ()) -> None:
        """Takes in a batch that came before; `outputs` then has the rows of some queries."""

    def rejoin(self, queries: Collection[int]) -> None:
        """Finds the rows of some queries among all documents held."""

    # Rows

    @property
    def tuples(self) -> Sequence[ChannelTuple]:
        """Matches of the last batch for many queries at once."""

    def outputs(self, wanted: Wanted) -> Iterator[StageRows]:
        """The rows of the last batch, or some of them, each once."""

    def counts(self) -> Mapping[int, int]:
        """The number of rows of the last batch that `Wanted.BUT_SOLE_DISJUNCTS` leaves out, by
        query."""

    @property
    def timed(self) -> bool:
        """Whether time completes any rows: `advance` is called of such a stage alone."""

    def advance(
        self, watermark: int | None, *, ended: bool = False
    ) -> Sequence[StageRows | Outputs]:
        """The rows that time completes: nothing that follows is earlier than the watermark
        (microseconds; None where anything may be), or nothing at all where the input has `ended`.
        It is called when all that a publication has caused is taken in, and until it has no more;
        each row is returned once."""

    # Holding

    def reach(self, spine: int) -> int:
        """For how long (microseconds) after its time a witness of a spine can be reached."""

    def forget(
        self, watermark: int | None, documents: Sequence[int], *, exact: bool = False
    ) -> None:
        """Drops documents, and, where that pays or is to be `exact`, what cannot be reached from
        the watermark."""

    def unheld_strings(self, *, exact: bool = False) -> Mapping[int, str]:
        """Strings that it was handed and does not hold, by number; all of them where `exact`."""

    def strings_held(self, strings: Collection[int]) -> Set[int]:
        """The strings of some that it holds."""

    def drop_strings(self, strings: Sequence[int]) -> None:
        """Drops strings that no stage holds; their numbers are not used again."""


def longest_reach(stages: Iterable[SecondStage]) -> Callable[[int], int]:
    """For how long a witness of a spine can be reached by any of the stages."""
    return lambda spine: max(stage.reach(spine) for stage in stages)


def take_unheld_strings(stages: Sequence[SecondStage], *, exact: bool) -> list[str]:
    """Drops the strings that no stage holds; returns them."""
    dropped: list[str] = []
    for stage in stages:
        unheld = dict(stage.unheld_strings(exact=exact))
        for other in stages:
            if unheld and other is not stage:
                for string in other.strings_held(unheld):
                    del unheld[string]
        if unheld:
            for each in stages:
                each.drop_strings([*unheld])
            dropped += unheld.values()
    return dropped
