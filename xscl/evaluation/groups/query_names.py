"""The names of the queries that documents satisfy: put in order when one of them is looked at.

A channel may have thousands of queries, and most who ask for them want to know how many they are,
or nothing yet: the sequence is made immediately, and its tuple once, when it is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, overload

from xscl.queries.subscription import Subscription

__all__ = ["QueryNames"]


class QueryNames(Sequence[str]):
    """The names of queries, each once, in order of subscription; equal to their tuple.

    `owners` are the queries, each once, in any order, as they were when it was made; `count` is
    their number, None where it takes them to know it.
    """

    __slots__ = ("_count", "_names", "_owners")

    def __init__(
        self, owners: Callable[[], Iterable[Subscription]], count: int | None = None
    ) -> None:
        self._owners = owners
        self._count = count
        self._names: tuple[str, ...] | None = None

    @property
    def _all(self) -> tuple[str, ...]:
        # Two threads may both make it: they make the same one.
        names = self._names
        if names is None:
            in_order = sorted(self._owners(), key=lambda owner: owner.order)
            names = self._names = tuple([owner.name for owner in in_order])
        return names

    def __len__(self) -> int:
        return len(self._all) if self._count is None else self._count

    @overload
    def __getitem__(self, index: int) -> str: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[str, ...]: ...

    def __getitem__(self, index: int | slice) -> str | tuple[str, ...]:
        return self._all[index]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all)

    def __contains__(self, name: object) -> bool:
        return name in self._all

    def __eq__(self, other: object) -> bool:
        if isinstance(other, QueryNames):
            return self is other or self._all == other._all
        return self._all == other if isinstance(other, tuple) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._all)

    def __repr__(self) -> str:
        return repr(self._all)

    def __reduce__(self) -> tuple[Any, ...]:
        # Copied or sent elsewhere, the names go without the queries.
        return tuple, (self._all,)
