"""An ingestion that is killed, whole and at once, loses nothing that was spooled and repeats
nothing; `make bench` does the same with many more kills."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.xscl.spark.kills import Moment, killed
from tests.xscl.spark.scrolling_feeds import ScrollingFeeds

WHILE_ITEMS_ARE_WRITTEN = Moment("written", delay=0.05)
WHILE_BODIES_LAND = Moment("spooled", delay=0.3)


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc, and loopback addresses by tens")
def test_what_was_spooled_is_in_the_output_exactly_once(tmp_path: Path) -> None:
    feeds = ScrollingFeeds(total=1_000, rate=75.0)
    at = [WHILE_ITEMS_ARE_WRITTEN, WHILE_BODIES_LAND]
    account = killed(tmp_path, feeds, at, lapse=150, seed=6, going_on=False)
    print(account)
    assert account.faults == ()
    assert account.total == 1_000
    assert min(account.ingested, account.never_served) > 100
    for kill in account.kills:
        assert kill.processes >= 3, "the driver, Java and a worker at least"
        assert kill.spooled > 0
