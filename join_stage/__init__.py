"""Stage 2: witnesses and query templates in, matches of all queries out (sections 6.4, 6.5).

`term` is a conjunctive query, `plan` the one of a template, `sql` its text; the `compiler` makes it
a program that the `evaluator` runs.  The `registry` holds the queries as rows of R_T, each row with
its `audience` (its queries by time `constraints`) and its `value_joins`, with the widest `bounds`
of their queries; a `journal` has the changes to be written to the relations.

The `processor` joins each `batch` by one of the ways behind `batch_join`
(docs/laws.md#two-value-joins): a small one `in_process`, a large one in the `relational` way, by
the chosen `strategies`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xscl.join_stage.batch import Accepted, Batch
from xscl.join_stage.batch_join import BatchJoin, Outputs, Wanted
from xscl.join_stage.constraints import TimeConstraint
from xscl.join_stage.evaluator import picking
from xscl.join_stage.in_process.channels import Channel, ChannelTuple
from xscl.join_stage.plan import Chain, Plan, plan_of
from xscl.join_stage.processor import JoinProcessor
from xscl.join_stage.strategies import Strategies
from xscl.join_stage.term import Atom, Comparison, ConjunctiveQuery
from xscl.join_stage.tokens import Measures

if TYPE_CHECKING:
    from xscl.join_stage.sql import to_sql
else:

    def __getattr__(name: str) -> object:
        """The writer of SQL is imported on demand: that takes long."""
        if name != "to_sql":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from xscl.join_stage.sql import to_sql

        return to_sql


__all__ = [
    "Accepted",
    "Atom",
    "Batch",
    "BatchJoin",
    "Chain",
    "Channel",
    "ChannelTuple",
    "Comparison",
    "ConjunctiveQuery",
    "JoinProcessor",
    "Measures",
    "Outputs",
    "Plan",
    "Strategies",
    "TimeConstraint",
    "Wanted",
    "picking",
    "plan_of",
    "to_sql",
]
