"""Patterns of events in order of time: events and patterns in, matches out.

A `pattern` is compiled (`compiler`) to an `automaton`; queries alike but for constants that `gates`
compare are `members` of one (`shared`).  `runs` take events in order of time and leave `cells`;
where a pattern is a plain sequence of which any event may be skipped, `stacks` construct it.
`endings` are where a run is a match, unless `negation` forbids it.  The `processor` is the whole.

Event queries are of another kind: an `algebra` of operators, and one `plan` for all of them.
"""

from pattern_stage.found import Found, Group
from pattern_stage.layouts import Event
from pattern_stage.pattern import (
    Aggregate,
    Arithmetic,
    Attribute,
    Comparison,
    Component,
    Conjunct,
    Constant,
    Form,
    Index,
    Length,
    Negative,
    Pattern,
    Read,
    Slot,
    Strategy,
    Term,
    Test,
)
from pattern_stage.plan import EventFound, EventGroup, EventStage
from pattern_stage.processor import FOREVER, PatternStage
from pattern_stage.switches import EVENT_SWITCHES, SWITCHES

__all__ = [
    "EVENT_SWITCHES",
    "FOREVER",
    "SWITCHES",
    "Aggregate",
    "Arithmetic",
    "Attribute",
    "Comparison",
    "Component",
    "Conjunct",
    "Constant",
    "Event",
    "EventFound",
    "EventGroup",
    "EventStage",
    "Form",
    "Found",
    "Group",
    "Index",
    "Length",
    "Negative",
    "Pattern",
    "PatternStage",
    "Read",
    "Slot",
    "Strategy",
    "Term",
    "Test",
]
