"""A queue that many threads fill is emptied in its order, by one of them at a time."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.drawn import seeded, times
from xscl.engine.handovers import HandOvers


@pytest.mark.parametrize("number", range(times(20)))
def test_groups_of_many_threads(number: int) -> None:
    draw = seeded(f"hand-overs {number}")
    handed: list[int] = []
    put: list[int] = []
    writing = threading.Lock()
    inside = threading.Lock()

    def take(one: int) -> None:
        assert inside.acquire(blocking=False)
        time.sleep(draw.choice([0, 0, 0.001]))
        handed.append(one)
        inside.release()

    waiting: set[threading.Thread] = set()
    queue = HandOvers(take, waiting)
    plans = [
        [(draw.randrange(3), draw.choice([None, 0, 0.002])) for _ in range(12)] for _ in range(4)
    ]

    def publish(plan: list[tuple[int, float | None]]) -> None:
        for size, patience in plan:
            with writing:
                group = [*range(len(put), len(put) + size)]
                put.extend(group)
                queue.put(group)
            queue.hand_over(patience)
            if patience is None:
                # All that was put before, by whomever.
                assert set(group) <= {*handed}

    with ThreadPoolExecutor(len(plans)) as pool:
        assert [*pool.map(publish, plans)] == [None] * len(plans)
    queue.hand_over()
    assert handed == put
    assert not queue.pending
    assert not waiting


def test_what_breaks_off_leaves_nothing_to_do() -> None:
    handed: list[int] = []

    def take(one: int) -> None:
        handed.append(one)
        if one == 1:
            raise KeyboardInterrupt

    queue = HandOvers(take, set())
    queue.put([0, 1, 2])
    queue.put([3])
    with pytest.raises(KeyboardInterrupt):
        queue.hand_over()
    assert handed == [0, 1]
    assert not queue.pending
    queue.put([4])
    queue.hand_over()
    assert handed == [0, 1, 4]
