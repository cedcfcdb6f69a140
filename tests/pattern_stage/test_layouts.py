"""Where slots stand in the events of types."""

from __future__ import annotations

from xscl.pattern_stage.layouts import SLOTS, Layouts, slot_names
from xscl.pattern_stage.values.terms import Attribute, Form, Slot

A, B = (Slot(Attribute((name,)), Form.TEXT) for name in "ab")


def test_a_slot_is_at_one_place_in_the_events_of_all_types_of_a_component() -> None:
    layouts = Layouts()
    assert layouts.place((1,), A) == layouts.place((2,), B) == SLOTS
    place = layouts.place((1, 2), A)
    assert [layouts.slots(type_)[place - SLOTS] for type_ in (1, 2)] == [A, A]
    assert (layouts.slots(1)[0], layouts.slots(2)[0]) == (A, B)
    version = layouts.version
    assert layouts.place((2, 1), A) == layouts.place((2,), A) == place
    assert layouts.place((1,), A) == SLOTS
    assert layouts.version == version


def test_a_place_that_no_query_reads_has_no_name() -> None:
    layouts = Layouts()
    layouts.place((1,), A)
    place = layouts.place((1, 2), B)
    assert place == SLOTS + 1
    assert slot_names(layouts.slots(2)) == [(), ("b", "TEXT")]
