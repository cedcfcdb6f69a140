"""Stage 2: witnesses and query templates in, matches of all queries out (sections 6.4, 6.5).

`term` is a conjunctive query, `plan` the one of a template, `sql` its text; `relations` are
what it reads, `registry` the queries' side of them (with `bounds`, their windows counted), `state`
the documents' side, and `retention` how long it is held; `value_join` are the pairs of equal
leaves, `together` those of plans without an equality, `constraints` what is in time.

A `batch` that is small is joined in process: `edges` say what equal leaves mean, `view_cache`
and `slices` where they are, `signatures` what pairs of documents have in common.  The `compiler`
makes a term a program, which the `evaluator` runs over `row_trie`s.  `audience` are the queries of
a row, `channels` all that a pair satisfies, `completion` is what a signature does not say;
`in_process` puts these together, or goes the `plain` way.

`processor` is the algorithm, by the `strategies` chosen, `outputs` what it finds, `views` the
thesis' own relations over ours.
"""

from join_stage.batch import Accepted, Batch
from join_stage.constraints import TimeConstraint
from join_stage.in_process.channels import Channel, ChannelTuple
from join_stage.outputs import Outputs, Wanted
from join_stage.plan import Chain, Plan, plan_of
from join_stage.processor import JoinProcessor
from join_stage.relational.views import Relation, Views
from join_stage.sql import to_sql
from join_stage.strategies import Strategies
from join_stage.term import Atom, Comparison, ConjunctiveQuery

__all__ = [
    "Accepted",
    "Atom",
    "Batch",
    "Chain",
    "Channel",
    "ChannelTuple",
    "Comparison",
    "ConjunctiveQuery",
    "JoinProcessor",
    "Outputs",
    "Plan",
    "Relation",
    "Strategies",
    "TimeConstraint",
    "Views",
    "Wanted",
    "plan_of",
    "to_sql",
]
