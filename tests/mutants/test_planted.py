"""Each bug can still be planted; `make mutants` reports whether it is caught."""

from __future__ import annotations

import pytest

from tests.mutants.planted import ROOT, Mutant, planted


@pytest.mark.parametrize("mutant", planted(), ids=lambda mutant: mutant.name)
def test_a_bug_can_be_planted(mutant: Mutant) -> None:
    found = mutant.occurrences(ROOT)
    assert found == 1, f"{mutant.file} has {mutant.text!r} {found} times: say where it is now"


@pytest.mark.parametrize("mutant", planted(), ids=lambda mutant: mutant.name)
def test_the_tests_that_must_find_it_are_there(mutant: Mutant) -> None:
    for test in mutant.tests:
        path, *names = test.split("::")
        assert all(f"def {name.partition('[')[0]}(" in (ROOT / path).read_text() for name in names)


def test_names_are_given_once() -> None:
    names = [mutant.name for mutant in planted()]
    assert len(names) == len({*names})
