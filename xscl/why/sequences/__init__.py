"""Why documents match a pattern, or do not.

judge.py  a pattern and documents for its events -> the findings of all that has to hold
taken.py  events that are taken -> the values that the pattern compares
"""

from xscl.why.sequences.judge import why_sequence

__all__ = ["why_sequence"]
