"""How many matches each query of a server has found, in its state file.

    tallies (query, matches, since, rate, measured)    in seconds; the rate was so when measured

They are written in the transactions that found the matches.  The cancellation of a query drops
its row; no run but a server reads them.
"""

from __future__ import annotations

from xscl.durable.changes import Tallied
from xscl.durable.keeper import Keeper

__all__ = ["TallyFile"]


class TallyFile:
    """The tallies of a state file: `known` are those of earlier runs."""

    def __init__(self, keeper: Keeper) -> None:
        self._keeper = keeper
        names = ", ".join(Tallied._fields)
        rows = keeper.file.rows(f"SELECT {names} FROM tallies ORDER BY since, query")
        self.known = [Tallied(*row) for row in rows]  # type: ignore[arg-type]

    def put(self, tallied: Tallied) -> None:
        """Writes a tally in the transaction that is open."""
        self._keeper.tallied(tallied)
