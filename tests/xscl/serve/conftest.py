"""One browser for the tests of the page: Chromium, where there is one."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

from tests.xscl.serve import asking

NAMES = ("chromium", "chromium-browser", "google-chrome")
NAMES_HERE = ["--host-resolver-rules=MAP *.example 127.0.0.1"]
"""As if others' names led to this machine."""

PATIENCE = 1_000.0 * asking.PATIENCE
"""In milliseconds."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """The browser, without a window, only for as long as a module needs it: the thread that drives
    it can run no other event loop."""
    found = executable()
    if found is None:
        pytest.skip("wants Chromium: apt-get install chromium")
    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=found, args=NAMES_HERE, timeout=PATIENCE
        )
        yield browser
        browser.close()


def executable() -> str | None:
    """Where Chromium is, if it is anywhere."""
    return next(filter(None, map(shutil.which, NAMES)), None)
