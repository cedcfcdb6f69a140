"""Why documents match an automaton, or do not.

runs.py    an automaton, events -> all runs, arc by arc
input.py   an automaton, documents -> the events of each part, and why others are not in the input
judge.py   an automaton, documents -> what became of each run
counts.py  an automaton, many documents -> how far its runs come
hint.py    an automaton that has found nothing -> what it lacks
report.py  these answers, for a terminal or as JSON
"""

from xscl.why.automata.counts import AutomatonFunnel, count_automaton
from xscl.why.automata.hint import read_by_automaton, untaken
from xscl.why.automata.judge import Withheld, why_automaton
from xscl.why.automata.report import AutomatonWhy

__all__ = [
    "AutomatonFunnel",
    "AutomatonWhy",
    "Withheld",
    "count_automaton",
    "read_by_automaton",
    "untaken",
    "why_automaton",
]
