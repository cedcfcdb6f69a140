"""The newest matches of an engine in its state file, for readers that continue where they were.

    journal (number, match, query, line)      a match by number: its id, its query, its JSON

They are written in the transactions that have their documents.  The relation is made by the first
server on a file; no other run reads or writes it.
"""

from __future__ import annotations

from collections.abc import Sequence

from xscl.durable.changes import Found
from xscl.durable.keeper import Keeper

__all__ = ["JournalFile"]

_RELATION = """
    CREATE TABLE IF NOT EXISTS journal (
        number BIGINT, match VARCHAR, query VARCHAR, line VARCHAR
    )
"""
_COLUMNS = "number, match, query, line"
_RETRACTS = """starts_with(line, '{"retract": ')"""


class JournalFile:
    """The journal of a state file, with at least the `keep` newest matches; `life` is a word that
    is the file's own, `oldest` and `newest` are the numbers of matches that it has."""

    def __init__(self, keeper: Keeper, keep: int) -> None:
        self._keeper = keeper
        self._file = keeper.file
        self._keep = keep
        self._file.rows(_RELATION)
        # All of it is read: what is damaged is to be found before anything is written.
        ((oldest, newest, _),) = self._file.rows(
            "SELECT min(number), max(number), bit_xor(hash(read)) FROM journal read"
        )
        self.newest = int(str(newest or 0))
        self.oldest = self.newest + 1 if oldest is None else int(str(oldest))
        ((made_at,),) = self._file.rows("SELECT made_at FROM xscl_state")
        self.life = f"{int(float(str(made_at)) * 1e6) & 0xFFFFFFFF:08x}"

    def add(self, some: Sequence[Found]) -> None:
        """Adds matches to the transaction that is open, and lets the oldest go if they are many."""
        if not some:
            return
        self._keeper.found(some)
        self.newest = some[-1].number
        # Dropping costs a statement: some at a time.
        if self.newest - self.oldest > self._keep + self._keep // 8:
            self.oldest = self.newest - self._keep + 1
            self._keeper.found_no_more(self.oldest)

    def by_query(self) -> list[tuple[str, int]]:
        """The query and number of each match, in their order."""
        return self._file.rows("SELECT query, number FROM journal ORDER BY number")  # type: ignore[return-value]

    def named(self, numbers: Sequence[int]) -> list[Found]:
        """The matches of some numbers, which ascend or descend, in ascending order."""
        if not numbers:
            return []
        # The bounds let all other parts of the file be passed over.
        bounds = sorted((numbers[0], numbers[-1]))
        rows = self._file.rows(
            f"SELECT {_COLUMNS} FROM journal WHERE number BETWEEN $1 AND $2 "
            "AND number IN (SELECT unnest($3)) ORDER BY number",
            [*bounds, list(numbers)],
        )
        return [Found(*row) for row in rows]  # type: ignore[arg-type]

    def between(self, first: int, last: int, most: int) -> list[Found]:
        """The matches from one number to another, so many at most."""
        rows = self._file.rows(
            f"SELECT {_COLUMNS} FROM journal WHERE number BETWEEN $1 AND $2 "
            f"ORDER BY number LIMIT {most}",
            [first, last],
        )
        return [Found(*row) for row in rows]  # type: ignore[arg-type]

    def gone(self) -> set[int]:
        """The numbers of retractions, and of the matches that they take back."""
        rows = self._file.rows(
            f"SELECT number, match, {_RETRACTS} FROM journal WHERE match IN "
            f"(SELECT match FROM journal WHERE {_RETRACTS}) ORDER BY number"
        )
        gone, standing = set[int](), dict[object, int]()
        for number, match, retracts in rows:
            if retracts:
                gone |= {int(str(number)), standing.pop(match, int(str(number)))}
            else:
                standing[match] = int(str(number))
        return gone

    def before(self, match: str, number: int) -> int | None:
        """The number of the newest entry of a match before a number."""
        rows = self._file.rows(
            "SELECT max(number) FROM journal WHERE match = $1 AND number < $2", [match, number]
        )
        return None if rows[0][0] is None else int(str(rows[0][0]))

    def find(self, match: str) -> Found | None:
        """The newest of a match's id."""
        rows = self._file.rows(
            f"SELECT {_COLUMNS} FROM journal WHERE match = ? ORDER BY number DESC LIMIT 1", [match]
        )
        return Found(*rows[0]) if rows else None  # type: ignore[arg-type]
