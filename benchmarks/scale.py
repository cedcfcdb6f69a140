"""How much is measured: as much as in the thesis, or as much as two minutes allow."""

from __future__ import annotations

from dataclasses import dataclass, replace

__all__ = ["FULL", "QUICK", "Scale"]


@dataclass(frozen=True, slots=True)
class Scale:
    """`queries` are the numbers of queries along an axis, the last one meaning "many".

    What can be cut short is measured for `limit` seconds, on a sample or as far as it gets; what
    cannot is given up after `patience` seconds.  A short run counts as the best of `rounds`.
    `items` of a stream, and `subscriptions` of subscribers.  `against` is another checkout of the
    project, whose package is measured in turns with this one's where a report can do that; `rows`
    is in the names of the only rows to be measured.
    """

    queries: tuple[int, ...]
    limit: float
    patience: float
    rounds: int
    items: int
    patterns: int
    subscriptions: int
    against: str = ""
    rows: str = ""

    @property
    def many(self) -> int:
        """The greatest number of queries."""
        return self.queries[-1]

    @property
    def full(self) -> bool:
        """Whether it says anything of 100,000 queries, as the thesis' "many" are."""
        return self.many >= 100_000

    @property
    def limits(self) -> str:
        """For the text of a chapter: what bounds the time of its figures."""
        return (
            f"Sequential is measured for {self.limit:g} s, and scaled up to all queries (`~`); "
            f"MMQJP is stopped after {self.patience:g} s."
        )

    def with_limit(self, limit: float | None) -> Scale:
        """With another limit, if one is given."""
        return self if limit is None else replace(self, limit=limit)


FULL = Scale(
    queries=(10, 100, 1_000, 10_000, 100_000),
    limit=30,
    patience=120,
    rounds=10,
    items=225_000,
    patterns=100_000,
    subscriptions=1_000_000,
)
QUICK = Scale(
    queries=(10, 100, 1_000),
    limit=1,
    patience=5,
    rounds=3,
    items=4_000,
    patterns=10_000,
    subscriptions=5_000,
)
