"""Settings of all tests: an example may take as long as a busy machine makes it, and the tests are
shared out to several workers, where there are such."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest
from hypothesis import Phase, is_hypothesis_test, settings

from tests.drawn import DRAW, times
from tests.shared import wanting

if TYPE_CHECKING:
    from xdist.remote import Producer
    from xdist.scheduler import LoadScopeScheduling

settings.register_profile("patient", settings(), deadline=None, max_examples=times(100))
settings.register_profile(
    "unshrunk", settings(deadline=None, phases=(Phase.explicit, Phase.generate))
)
settings.load_profile("patient")

_SPARK = "tests/xscl/spark/"
_OF_THEIR_OWN = tuple(f"{_SPARK}test_{name}.py" for name in ("ingest", "kills", "bad_feeds"))
"""Tests that start Spark in processes of their own: they may run beside those that share one."""

_TOGETHER = (*_OF_THEIR_OWN, _SPARK, "tests/test_wheel.py")
"""Tests of one worker: one session of Spark is shared, and one wheel is made."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """What takes long comes first: the tests that start Spark, then drawn examples; what comes last
    should be short, so that no worker is done long before another."""
    if DRAW > 1:
        config.hook.pytest_deselected(items=[item for item in items if not _is_drawn(item)])
        items[:] = filter(_is_drawn, items)
    items.sort(key=lambda item: (not item.nodeid.startswith(_SPARK), not _is_drawn(item)))


def _is_drawn(item: pytest.Item) -> bool:
    if item.get_closest_marker("drawn") is not None:
        return True
    return isinstance(item, pytest.Function) and is_hypothesis_test(item.obj)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadScopeScheduling:
    """Whichever worker is free takes the next test, or the next of those that are together."""
    from xdist.scheduler import LoadScopeScheduling

    class Scheduling(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return next((place for place in _TOGETHER if nodeid.startswith(place)), nodeid)

    return Scheduling(config, log)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """How much was not tested for want of the documents shared by all."""
    places: Counter[str] = Counter()
    for report in terminalreporter.stats.get("skipped", ()):
        *_, reason = report.longrepr
        _, of_them, part = reason.partition(wanting())
        if of_them:
            places[part.removeprefix("/")] += 1
    if places:
        each = ", ".join(f"{tests} of {place}" for place, tests in places.most_common())
        line = f"{places.total()} tests skipped for want of ../shared: {each}"
        terminalreporter.write_line(line, yellow=True)
