"""Why documents match a query or do not, and where most of them are lost.

    findings.py    the finding of a condition on some documents, its tally over many
    report.py      the answers that these make up, for a terminal or as JSON
    conditions.py  a query -> its blocks (patterns.py), operators and comparisons
    blocks.py      a block, a document (trees.py) -> its findings, what is left (relations.py)
    timing.py      an operator, documents -> whether they differ, and are in its time
    comparisons.py a comparison, what is left -> its finding
    near_values.py, near_names.py, filter_values.py: what all but met a condition
    alike_values.py  the values that are most alike, and the tokens that they share
    judge.py       a query and one document for each block -> the findings of all conditions
    sequences/     a pattern and documents for its events -> the same
    automata/      an automaton and documents -> its runs, arc by arc
    compositions/  a composition in EQL and documents for its events -> the same
    events/        an event query and documents -> the same, operator by operator
    funnel.py      a query and many documents -> how many come through each condition
      operator_tallies.py, by pairs.py
    hint.py        a query that has found nothing -> the first condition that nothing came through
    joined/         a match -> the values that its documents have in common, and their nodes

Stage 1 and stage 2 take no part in it: libxml2 evaluates the blocks' paths, a few joins in Python
the comparisons; so it is also a check of the engine.
"""

from xscl.why.alike_values import Closest
from xscl.why.automata import (
    AutomatonFunnel,
    AutomatonWhy,
    Withheld,
    count_automaton,
    read_by_automaton,
    untaken,
    why_automaton,
)
from xscl.why.compositions import (
    funnel_of_composition,
    read_by_composition,
    why_composition,
)
from xscl.why.conditions import Conditions, conditions_of
from xscl.why.events import Reading, funnel_of_events, lacking, read_by_events, why_events
from xscl.why.findings import Finding, Miss, Tally, Values
from xscl.why.funnel import funnel
from xscl.why.hint import Names, missing_name, where_lost
from xscl.why.joined import Joined, JoinedNodes, JoinedValues, joined_nodes
from xscl.why.judge import why
from xscl.why.patterns import pattern_of
from xscl.why.report import Funnel, Why, as_text
from xscl.why.sequences import funnel_of_sequence, read_by_pattern, why_sequence

__all__ = [
    "AutomatonFunnel",
    "AutomatonWhy",
    "Closest",
    "Conditions",
    "Finding",
    "Funnel",
    "Joined",
    "JoinedNodes",
    "JoinedValues",
    "Miss",
    "Names",
    "Reading",
    "Tally",
    "Values",
    "Why",
    "Withheld",
    "as_text",
    "conditions_of",
    "count_automaton",
    "funnel",
    "funnel_of_composition",
    "funnel_of_events",
    "funnel_of_sequence",
    "joined_nodes",
    "lacking",
    "missing_name",
    "pattern_of",
    "read_by_automaton",
    "read_by_composition",
    "read_by_events",
    "read_by_pattern",
    "untaken",
    "where_lost",
    "why",
    "why_automaton",
    "why_composition",
    "why_events",
    "why_sequence",
]
