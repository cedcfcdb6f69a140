"""Python's collector of cycles, left alone while much is made that stays."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any
from weakref import ref

import pytest

from xscl import garbage
from xscl.garbage import leave_imported, leaving, without_collecting


@pytest.fixture
def looked_at() -> Iterator[None]:
    """Nothing is left to itself, as the tests have it else."""
    gc.unfreeze()
    garbage._left.clear()
    yield
    leave_imported()


@pytest.mark.usefixtures("looked_at")
@pytest.mark.parametrize("leave", [None, gc.freeze, leave_imported])
def test_what_is_made_meanwhile_is_not_looked_at(leave: Callable[[], None] | None) -> None:
    """What was frozen for good stays so."""
    if leave is not None:
        leave()
    at_first = gc.get_freeze_count()
    # Else the next one may be due before the first line.
    gc.collect()
    looks = [generation["collections"] for generation in gc.get_stats()]
    with without_collecting():
        made = [[number] for number in range(10_000)]
        during = [generation["collections"] for generation in gc.get_stats()]
    assert during == looks
    assert gc.isenabled()
    assert bool(gc.get_freeze_count()) == bool(at_first)
    young = {id(one) for generation in (0, 1) for one in gc.get_objects(generation)}
    assert at_first or not any(id(one) in young for one in made)


def test_what_is_left_to_itself_is_not_counted() -> None:
    """Python walks over all of it to do so: for each query that comes to an engine of millions."""
    called: list[object] = []

    def note(frame: FrameType, event: str, argument: Any) -> None:
        if event == "c_call":
            called.append(argument)

    leave_imported()
    sys.setprofile(note)
    try:
        with without_collecting():
            pass
    finally:
        sys.setprofile(None)
    assert gc.enable in called
    assert gc.get_freeze_count not in called


def test_a_disabled_collector_stays_disabled() -> None:
    gc.disable()
    try:
        with without_collecting():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_what_is_made_in_a_batch_of_a_command_is_left() -> None:
    """Without a look, but not for ever: what nobody holds any more is freed."""

    class Held:
        pass

    gc.collect()
    looks = [generation["collections"] for generation in gc.get_stats()]
    with leaving():
        made = [Held() for _ in range(10_000)]
        gone = ref(made[0])
        during = [generation["collections"] for generation in gc.get_stats()]
    assert during == looks
    assert gc.isenabled()
    assert not {*map(id, made)} & {*map(id, gc.get_objects())}
    made.clear()
    assert gone() is None
