"""Why documents match an event query, or do not.

funnel.py  an event query and many documents -> how many events come through each operator
judge.py   an event query and documents -> the findings of its operators, in the best way
hint.py    the blocks of a query of events -> what no document had
makes.py   events that are there -> the composites of each operator
values.py  a condition over events -> whether it holds, and the values on both sides
"""

from xscl.why.events.funnel import funnel_of_events
from xscl.why.events.hint import Reading, lacking, read_by_events
from xscl.why.events.judge import why_events

__all__ = ["Reading", "funnel_of_events", "lacking", "read_by_events", "why_events"]
