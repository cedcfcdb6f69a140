"""Levels of consistency as they are written."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xscl import Engine
from xscl.consistency import Level


@given(st.none() | st.integers(0, 10**15))
def test_a_level_is_read_as_it_is_written(window: int | None) -> None:
    level = Level("middle", window)
    assert Level.of(str(level)) == level


@pytest.mark.parametrize("window", ["2 weeks", "1234567 ms", "0.00001 s", "20 days"])
def test_a_state_file_keeps_a_level(window: str, tmp_path: Path) -> None:
    for level in (f"middle({window})", None):
        with Engine(tmp_path / "s.duckdb", consistency=level, revisable={"S"}) as engine:
            if level is not None:
                engine.subscribe("EVENT SEQ(S a, !T b) WITHIN 5", name="q")
            assert engine.publish("S", {}, timestamp=1) == []
