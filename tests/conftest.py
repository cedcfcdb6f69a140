"""Settings of all tests: an example may take as long as a busy machine makes it, and the tests are
shared out to several workers, where there are such."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import is_hypothesis_test, settings

if TYPE_CHECKING:
    from xdist.remote import Producer
    from xdist.scheduler import LoadScopeScheduling

settings.register_profile("patient", settings(), deadline=None)
settings.load_profile("patient")

_SPARK = "tests/xscl/spark/"
_OF_THEIR_OWN = tuple(f"{_SPARK}test_{name}.py" for name in ("ingest", "kills", "bad_feeds"))
"""Tests that start Spark in processes of their own: they may run beside those that share one."""

_TOGETHER = (*_OF_THEIR_OWN, _SPARK, "tests/test_wheel.py")
"""Tests of one worker: one session of Spark is shared, and one wheel is made."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes long comes first: the tests that start Spark, then drawn examples; what comes last
    should be short, so that no worker is done long before another."""
    items.sort(key=lambda item: (not item.nodeid.startswith(_SPARK), not _is_drawn(item)))


def _is_drawn(item: pytest.Item) -> bool:
    return isinstance(item, pytest.Function) and is_hypothesis_test(item.obj)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadScopeScheduling:
    """Whichever worker is free takes the next test, or the next of those that are together."""
    from xdist.scheduler import LoadScopeScheduling

    class Scheduling(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return next((place for place in _TOGETHER if nodeid.startswith(place)), nodeid)

    return Scheduling(config, log)
