"""Tests that share what costs much run on one worker, where there are several."""

from __future__ import annotations

import pytest


@pytest.mark.xdist_group("one worker")
def test_groups_have_an_effect(request: pytest.FixtureRequest) -> None:
    """A group is at the end of a test's id, by which pytest-xdist distributes: where it is lost,
    nothing fails, but Spark, a browser and the wheel are there once for each worker."""
    if not getattr(request.config.option, "loadgroup", False):
        pytest.skip("the tests are not distributed by groups")
    assert request.node.nodeid.endswith("@one worker")
