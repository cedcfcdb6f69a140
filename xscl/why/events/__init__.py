"""Why documents match an event query, or do not.

judge.py   an event query and documents -> the findings of its operators, in the best way
hint.py    an event query that has found nothing -> what no document had
makes.py   events that are there -> the composites of each operator
values.py  a condition over events -> whether it holds, and the values on both sides
"""

from xscl.why.events.hint import lacking_event
from xscl.why.events.judge import why_events

__all__ = ["lacking_event", "why_events"]
