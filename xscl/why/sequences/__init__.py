"""Why documents match a pattern, or do not.

funnel.py a pattern and many documents -> how many events and pairs come through each condition
hint.py   a pattern -> its blocks, and the names that it asks of their events
judge.py  a pattern and documents for its events -> the findings of all that has to hold
taken.py  events that are taken -> the values that the pattern compares
"""

from xscl.why.sequences.funnel import funnel_of_sequence
from xscl.why.sequences.hint import read_by_pattern
from xscl.why.sequences.judge import why_sequence

__all__ = ["funnel_of_sequence", "read_by_pattern", "why_sequence"]
