"""The runs that nothing disturbs, each made once."""

from __future__ import annotations

import pytest

from tests.crash.harness import Undisturbed

DOCUMENTS = 2_000


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Undisturbed:
    """2,000 documents in ten batches."""
    return Undisturbed.of(tmp_path_factory.mktemp("undisturbed"), DOCUMENTS, 200)


@pytest.fixture(scope="session")
def middle(tmp_path_factory: pytest.TempPathFactory) -> Undisturbed:
    """8,000 documents in sixteen batches, where one disturbance is to fall into the midst."""
    return Undisturbed.of(tmp_path_factory.mktemp("middle"), 8_000, 500)
