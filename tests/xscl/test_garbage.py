"""Python's collector of cycles, left alone while much is made that stays."""

from __future__ import annotations

import gc

import pytest

from xscl.garbage import without_collecting


@pytest.mark.parametrize("frozen", [False, True])
def test_what_is_made_meanwhile_is_not_looked_at(frozen: bool) -> None:
    if frozen:
        gc.freeze()
    at_first = gc.get_freeze_count()
    # Else the next one may be due before the first line.
    gc.collect()
    try:
        looks = [generation["collections"] for generation in gc.get_stats()]
        with without_collecting():
            made = [[number] for number in range(10_000)]
            during = [generation["collections"] for generation in gc.get_stats()]
        assert during == looks
        assert gc.isenabled()
        # What somebody has left to itself for good stays so.
        assert bool(gc.get_freeze_count()) == bool(at_first)
        young = {id(one) for generation in (0, 1) for one in gc.get_objects(generation)}
        assert at_first or not any(id(one) in young for one in made)
    finally:
        gc.unfreeze()


def test_whoever_collects_nothing_is_left_so() -> None:
    gc.disable()
    try:
        with without_collecting():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
