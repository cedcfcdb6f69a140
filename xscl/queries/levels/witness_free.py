"""A second stage that looks at no witnesses: what it is handed comes another way."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from typing import Any

from join_stage import Accepted, Batch, ChannelTuple, Wanted

__all__ = ["WitnessFree"]


class WitnessFree:
    """The parts of the seam between evaluation and the second stages that are of witnesses, leaf
    paths and strings: nothing is done, and nothing found."""

    def accept(self, accepts: Sequence[Accepted]) -> None:
        """Leaf paths are no matter of events."""

    def change(
        self,
        gone: Sequence[int],
        moved: Sequence[tuple[int, int | None]],
        unvalued: Sequence[int],
    ) -> None:
        """As `accept`."""

    def begin(self, batch: Batch) -> None:
        """Witnesses are no matter of events, which come by themselves."""

    def review(self, batch: Batch, queries: Collection[int]) -> None:
        """As `begin`."""

    def restore(self, batch: Batch, queries: Collection[int] = ()) -> None:
        """As `begin`."""

    def rejoin(self, queries: Collection[int]) -> None:
        """As `begin`."""

    @property
    def tuples(self) -> Sequence[ChannelTuple]:
        """None: channel tuples are of joins."""
        return ()

    def outputs(self, wanted: Wanted) -> Iterator[Any]:
        """None before the end of the step."""
        return iter(())

    def counts(self) -> Mapping[int, int]:
        """None before the end of the step."""
        return {}

    def unheld_strings(self, *, exact: bool = False) -> Mapping[int, str]:
        """None: it is handed none that it looks at."""
        return {}

    def strings_held(self, strings: Collection[int]) -> Set[int]:
        """None."""
        return frozenset()

    def drop_strings(self, strings: Sequence[int]) -> None:
        """It has none."""
