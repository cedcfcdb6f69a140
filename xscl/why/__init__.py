"""Why documents match a query or do not, and where most of them are lost.

    findings.py    what is told of each condition; durations.py, wording.py: in which words
    judge.py       a query and one document for each block -> the findings
      operators.py   a query    -> its blocks (patterns.py), operators and comparisons
      blocks.py      a block, a document (trees.py) -> its findings, what is left (assignments.py)
      timing.py      an operator, documents -> whether they differ, and are in its time
      comparisons.py a comparison, what is left (relations.py) -> its finding
    near_values.py, near_names.py, filter_values.py: what all but met a condition
    funnel.py      a query and many documents -> how many come through each condition (stages.py)
      operator_stages.py, by pairs.py
    rendering.py   all of it for a terminal

Nothing here takes part in finding matches: it evaluates the syntax tree directly, and so is also
a check of the engine.
"""

from xscl.why.findings import Finding, Values, Why
from xscl.why.funnel import funnel
from xscl.why.judge import why
from xscl.why.rendering import as_text, funnel_table, why_table
from xscl.why.stages import Funnel, Miss, Stage

__all__ = [
    "Finding",
    "Funnel",
    "Miss",
    "Stage",
    "Values",
    "Why",
    "as_text",
    "funnel",
    "funnel_table",
    "why",
    "why_table",
]
