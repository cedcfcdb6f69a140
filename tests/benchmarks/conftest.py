"""Nothing is measured here: what the tests have imported is not looked at for garbage again for
each engine."""

from __future__ import annotations

import gc

import pytest


@pytest.fixture(autouse=True)
def leave_what_is_frozen(monkeypatch: pytest.MonkeyPatch) -> None:
    """All that thousands of tests have imported stays frozen."""
    monkeypatch.setattr(gc, "unfreeze", lambda: None)
