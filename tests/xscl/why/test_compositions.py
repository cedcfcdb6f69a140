"""Why documents match a query in EQL: the answer agrees with the definitions, document by
document."""

from __future__ import annotations

import pytest

import xscl
from tests.drawn import seeded, times
from tests.oracle.drawn_compositions import drawn_query
from xscl.errors import XSCLError
from xscl.why import Funnel, Why


@pytest.mark.drawn
def test_what_holds_is_what_matches() -> None:
    both = {True: 0, False: 0}
    for number in range(times(120)):
        dice = seeded("why of compositions", number)
        drawn = drawn_query(dice)
        engine = xscl.Engine(lateness=20)
        engine.subscribe(drawn.text, "q")
        # So that all are held.
        engine.subscribe("SELECT * FROM (s A; t B; u C)", "all")
        engine.publish_many(drawn.envelopes)
        order = {one["id"]: one["timestamp"] for one in drawn.envelopes}
        matches = {tuple(id for _, id in one) for one in drawn.expected()}
        some = [*matches][:5]
        for _ in range(5):
            size = dice.randint(1, min(4, len(drawn.envelopes)))
            chosen = dice.sample([*order], size)
            some.append(tuple(sorted(chosen, key=order.__getitem__)))
        for documents in some:
            if len({order[one] for one in documents}) < len(documents):
                # Which of them would be first is not said.
                continue
            try:
                answer = engine.why("q", *documents)
            except XSCLError:
                assert documents not in matches
                continue
            assert isinstance(answer, Why)
            assert answer.holds == (documents in matches), (number, drawn.text, documents)
            both[answer.holds] += 1
        funnel = engine.why("q")
        assert isinstance(funnel, Funnel)
        assert funnel.matches == len(drawn.expected()), (number, drawn.text)
        engine.close()
    assert all(both.values())
