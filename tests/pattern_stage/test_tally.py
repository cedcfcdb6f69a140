"""How many of something each query of a mask has."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from tests.drawn import drawn
from xscl.pattern_stage.bounds import Tally


@drawn(100)
@given(
    st.lists(st.tuples(st.integers(0, 2**12), st.integers(0, 40)), max_size=30), st.integers(0, 90)
)
def test_a_tally_is_a_counter_for_each_bit(added: list[tuple[int, int]], most: int) -> None:
    tally, counts = Tally(), Counter[int]()
    for mask, many in added:
        tally.add(mask, many)
        for bit in range(13):
            counts[bit] += many * (mask >> bit & 1)
    assert tally.over(most) == sum(1 << bit for bit, count in counts.items() if count > most)
