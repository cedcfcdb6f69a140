"""Why documents match an event query, or do not.

judge.py   an event query and documents -> the findings of its operators, in the best way
makes.py   events that are there -> the composites of each operator
values.py  a condition over events -> whether it holds, and the values on both sides
"""

from xscl.why.events.judge import why_events

__all__ = ["why_events"]
