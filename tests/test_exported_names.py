"""What the packages offer: the names listed in `exported_names.toml`, each importable, and
documented where it can be.  Who adds a name, or takes one away, says so there."""

from __future__ import annotations

import importlib
import inspect
import tomllib
from pathlib import Path

import pytest

LISTED = tomllib.loads(Path(__file__).with_suffix(".toml").with_stem("exported_names").read_text())


@pytest.mark.parametrize("package", LISTED)
def test_a_package_offers_the_names_that_are_listed(package: str) -> None:
    offered = importlib.import_module(package).__all__
    assert sorted(offered) == LISTED[package]
    assert len({*offered}) == len(offered)


@pytest.mark.parametrize(
    ("package", "name"), [(package, name) for package, names in LISTED.items() for name in names]
)
def test_a_name_is_there_and_documented(package: str, name: str) -> None:
    """A type has words of its own, not those that are made for a dataclass."""
    found = getattr(importlib.import_module(package), name)
    if not (inspect.isclass(found) or inspect.isroutine(found)):
        return
    documented = inspect.getdoc(found) or ""
    assert documented.strip()
    assert not documented.startswith(f"{name}(")
