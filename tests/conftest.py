"""Settings of all tests: an example may take as long as a busy machine makes it, and the tests are
shared out to several workers, where there are such."""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, Phase, is_hypothesis_test, settings

from tests.drawn import CHOSEN, DRAW, SEED, times
from tests.shared import wanting
from tests.xscl.web.loopback import Server, serving
from xscl.garbage import leave_imported

# That a machine is slow, or luck is bad, is no fault.
_LUCK = (HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large)

# The same examples each time, or those of a seed: none depends on what an earlier run has left.
settings.register_profile(
    "patient",
    deadline=None,
    derandomize=not CHOSEN,
    database=None,
    max_examples=times(60),
    suppress_health_check=_LUCK,
)
settings.register_profile(
    "unshrunk",
    deadline=None,
    database=None,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=_LUCK,
)
settings.load_profile("patient")

collect_ignore = ["warm.py"]
"""What it does at its import is for processes that run commands, and has no examples."""

_LONG = (
    "tests/xscl/spark/",
    "tests/crash/",
    "tests/hostile/",
    "tests/trial/",
    "tests/benchmarks/test_reports.py",
    "tests/xscl/documents/test_large_documents.py",
    "tests/xscl/engine/test_archives.py",
    "tests/xscl/engine/test_back_pressure.py",
    "tests/xscl/engine/test_memory.py",
    "tests/xscl/feeds/test_both_ways.py",
    "tests/xscl/serve/test_in_browser.py",
    "tests/xscl/serve/test_many_readers.py",
    "tests/artefacts/",
    "tests/documentation/test_site.py::",
)
"""Where the tests are that start Spark or a browser, and others that take long."""

_SHARED = {
    "spark": "spark",
    "wheel": "wheel",
    "image": "wheel",
    "site": "site",
    "browser": "browser",
    "middle": "crash",
    "undisturbed": "crash",
}
"""Fixtures that cost much, each with the group of tests that one worker runs: the first that a test
has."""


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """XSCL_SEED is the seed of all that is drawn, unless hypothesis has one of its own."""
    if CHOSEN and config.option.hypothesis_seed is None:
        config.option.hypothesis_seed = SEED


def pytest_report_header() -> str:
    return f"drawn by XSCL_SEED={SEED} XSCL_DRAW={DRAW:g}"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Slow tests come first, drawn examples among them; short tests come last, so that no worker is
    done long before another.  Tests that share costly fixtures run on one worker; pytest-xdist must
    know this before it distributes them."""
    if DRAW > 1:
        config.hook.pytest_deselected(items=[item for item in items if not _is_drawn(item)])
        items[:] = filter(_is_drawn, items)
    items.sort(key=lambda item: (not item.nodeid.startswith(_LONG), not _is_drawn(item)))
    for item in items:
        used = getattr(item, "fixturenames", ())
        for fixture, group in _SHARED.items():
            if fixture in used:
                item.add_marker(pytest.mark.xdist_group(group))
                break


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """Thousands of tests and what they import are not looked at for garbage by each of them, and as
    if a run of the command line in this process had come before: in whatever order tests come."""
    leave_imported()


def pytest_unconfigure() -> None:
    """What is left so at the end is taken for leaked by extension modules, which say so."""
    gc.unfreeze()


@pytest.fixture
def server() -> Iterator[Server]:
    """A server on the loopback interface, which has nothing yet."""
    with serving() as server:
        yield server


def _is_drawn(item: pytest.Item) -> bool:
    if item.get_closest_marker("drawn") is not None:
        return True
    return isinstance(item, pytest.Function) and is_hypothesis_test(item.obj)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """What draws again what failed; how much was not tested for want of the documents shared by
    all."""
    if terminalreporter.stats.get("failed"):
        terminalreporter.write_line(f"drawn by XSCL_SEED={SEED} XSCL_DRAW={DRAW:g}")
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
