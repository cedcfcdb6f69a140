"""Why documents match a query or do not, and where most of them are lost.

    findings.py    the finding of a condition on some documents, its tally over many
    report.py      the answers that these make up, for a terminal or as JSON
    conditions.py  a query -> its blocks (patterns.py), operators and comparisons
    blocks.py      a block, a document (trees.py) -> its findings, what is left (relations.py)
    timing.py      an operator, documents -> whether they differ, and are in its time
    comparisons.py a comparison, what is left -> its finding
    near_values.py, near_names.py, filter_values.py: what all but met a condition
    judge.py       a query and one document for each block -> the findings of all conditions
    sequences/     a pattern and documents for its events -> the same
    events/        an event query and documents -> the same, operator by operator
    funnel.py      a query and many documents -> how many come through each condition
      operator_tallies.py, by pairs.py
    hint.py        a query that has found nothing -> the first condition that nothing came through
    joined_values.py  a match -> the values that its documents have in common
    joined_nodes.py   a match -> their nodes that have these

Stage 1 and stage 2 take no part in it: libxml2 evaluates the blocks' paths, a few joins in Python
the comparisons; so it is also a check of the engine.
"""

from xscl.why.conditions import Conditions, conditions_of
from xscl.why.events import lacking_event, why_events
from xscl.why.findings import Finding, Miss, Tally, Values
from xscl.why.funnel import funnel
from xscl.why.hint import Names, missing_name, where_lost
from xscl.why.joined_nodes import JoinedNodes, joined_nodes
from xscl.why.joined_values import Joined, JoinedValues
from xscl.why.judge import why
from xscl.why.report import Funnel, Why, as_text
from xscl.why.sequences import why_sequence

__all__ = [
    "Conditions",
    "Finding",
    "Funnel",
    "Joined",
    "JoinedNodes",
    "JoinedValues",
    "Miss",
    "Names",
    "Tally",
    "Values",
    "Why",
    "as_text",
    "conditions_of",
    "funnel",
    "joined_nodes",
    "lacking_event",
    "missing_name",
    "where_lost",
    "why",
    "why_events",
    "why_sequence",
]
