"""The view cache (Algorithms 4 and 5): slices of R_L by string value, kept from one document to
the next.

A slice has the earlier nodes of one string value with the structural edges that end at them.  At
most `capacity` slices are kept, the last used.
"""

from __future__ import annotations

from collections import OrderedDict

from benchmarks.baselines.mmqjp import MMQJP
from benchmarks.baselines.relations import BIN, Relations


class ViewCache:
    """The slices, and R_L and R_R of the current document in tables of these names."""

    def __init__(self, relations: Relations, capacity: int) -> None:
        self._relations = relations
        self._execute = relations.database.execute
        self._capacity = capacity
        self._used: OrderedDict[int, None] = OrderedDict()
        fields = ", ".join(f"{column} BIGINT" for column in (*BIN, "strval"))
        for name in ("slices", "r_l", "r_r"):
            self._execute(f"CREATE TABLE {name} ({fields})")

    def process(self, queries: MMQJP) -> dict[str, int]:
        """Algorithm 4, but for line 1: the current document is loaded, and no part of the earlier
        ones yet."""
        common = self._common_strings()
        missing = [value for value in common if value not in self._used]
        if missing:
            self._execute(
                "INSERT INTO slices SELECT b.*, d.strval FROM doc d JOIN bin b "
                f"ON b.docid = d.docid AND b.node2 = d.node WHERE d.strval IN ({_list(missing)})"
            )
        for name, source in (
            ("r_l", "slices"),
            (
                "r_r",
                "(SELECT b.*, d.strval FROM docw d JOIN binw b "
                "ON b.docid = d.docid AND b.node2 = d.node)",
            ),
        ):
            self._execute(f"TRUNCATE {name}")
            self._execute(
                f"INSERT INTO {name} SELECT * FROM {source} WHERE strval IN ({_list(common)})"
            )
        counts = queries.evaluate()
        self._relations.merge()
        self._maintain(common)
        return counts

    def _common_strings(self) -> list[int]:
        """Line 2: the string values of the current document that earlier ones have, too."""
        found = self._execute("SELECT DISTINCT strval FROM docw SEMI JOIN doc USING (strval)")
        return [value for (value,) in found.fetchall()]

    def _maintain(self, common: list[int]) -> None:
        """Algorithm 5, and the slices that were not used for longest are dropped."""
        self._execute("INSERT INTO slices SELECT * FROM r_r")
        for value in common:
            self._used[value] = None
            self._used.move_to_end(value)
        excess = len(self._used) - self._capacity
        if excess > 0:
            dropped = [self._used.popitem(last=False)[0] for _ in range(excess)]
            self._execute(f"DELETE FROM slices WHERE strval IN ({_list(dropped)})")


def _list(values: list[int]) -> str:
    return ", ".join(map(str, values)) or "NULL"
