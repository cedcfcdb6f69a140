"""The core depends on permissive licences alone, or on those whose copyleft ends at a file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.architecture.packages import PROJECT

PERMISSIVE = re.compile(
    r"MIT|Apache|BSD|ISC|Python Software Foundation|PSF|CNRI|Zlib|Unlicense|0BSD"
    r"|MPL|Mozilla Public License"
)
COPYLEFT = re.compile(r"GPL|GNU|Affero|EUPL|CeCILL|SSPL", re.IGNORECASE)


def needed(requirements: list[str]) -> dict[str, Distribution]:
    """What is installed for some requirements here, recursively and without extras, by name."""
    found: dict[str, Distribution] = {}
    pending = [*map(Requirement, requirements)]
    while pending:
        one = pending.pop()
        name = canonicalize_name(one.name)
        if name in found or (one.marker and not one.marker.evaluate({"extra": ""})):
            continue
        found[name] = distribution(name)
        pending += map(Requirement, found[name].requires or ())
    return found


def licences(of: Distribution) -> Iterator[str]:
    """What a distribution says of its licence: an SPDX expression and classifiers, else the first
    line of its text."""
    said = [of.metadata.get("License-Expression"), *(of.metadata.get_all("Classifier") or ())]
    named = [one for one in said if one and (one == said[0] or one.startswith("License ::"))]
    named = [one for one in named if one != "License :: OSI Approved"]
    # The text may be a whole licence, which names others in passing.
    yield from named or [(of.metadata.get("License") or "").strip().partition("\n")[0]]


def acceptable(of: Distribution) -> bool:
    named = [*licences(of)]
    return all(PERMISSIVE.search(one) and not COPYLEFT.search(one) for one in named)


def test_nothing_of_the_core_has_copyleft() -> None:
    core = needed(PROJECT["project"]["dependencies"])
    assert {"duckdb", "lxml", "rich", "mdurl"} <= {*core}
    assert {name: [*licences(one)] for name, one in core.items() if not acceptable(one)} == {}


def test_copyleft_is_found() -> None:
    """In what the tests alone need."""
    try:
        judge = distribution("igraph")
    except PackageNotFoundError:
        pytest.skip("igraph is not installed")
    assert not acceptable(judge)
