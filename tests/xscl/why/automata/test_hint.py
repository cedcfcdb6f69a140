"""Hints of automata that have found nothing, and the notes on fences that never hold."""

from __future__ import annotations

from typing import Any

import pytest

from xscl import Arc, Automaton, Engine

DOCUMENTS: list[dict[str, Any]] = [
    {"stream": "S", "id": f"d{at}", "timestamp": at, "json": {"title": "foo", "n": at}}
    for at in range(4)
]
TWO = {"e": "S", "o": "T"}


def automaton(*arcs: Arc, events: dict[str, str] | None = None, **members: Any) -> Automaton:
    return Automaton("q", events or {"e": "S"}, ["f"], arcs, within=100, **members)


HINTS = {
    "no document of S had `titel`; did you mean `title`?": automaton(
        Arc("a", "f", "e", when="e.titel = 'foo'")
    ),
    "no document of S had `nn`; did you mean `n`?": automaton(
        Arc("a", "b", "e"), Arc("b", "f", "*", when="event.nn = 2")
    ),
    "no document of S had `ttle`; did you mean `title`?": automaton(
        Arc("a", "f", "e", when="k = 1", set="k = e.ttle"), register={"k": 0}
    ),
    "no document of S had `titl`; did you mean `title`?": automaton(
        Arc("a", "f", "e"), by=["titl"]
    ),
    "no document is of stream `T`; there is `S`": automaton(
        Arc("a", "b", "e"), Arc("b", "f", "o"), events=TWO
    ),
    "no run could take the arc `a1`: `e.n > 9` did not hold": automaton(
        Arc("a", "b", "e"), Arc("b", "f", "e", when="e.n > 9 AND e.n > 3")
    ),
    "no run could take the arc `a0`: `e.title = 'fooo'` did not hold; did you mean 'foo'?": (
        automaton(Arc("a", "b", "e", when="e.title = 'fooo' AND e.n > 0"), Arc("b", "f", "e"))
    ),
    "no run could take the arc `a0`: its conditions did not hold together": automaton(
        Arc("a", "f", "e", when="e.n > 1 AND e.n < 2"),
    ),
    "no document of S met `[title = 'Foo']`; 'foo' and 'Foo' are equal but for case": automaton(
        Arc("a", "f", "e"), events={"e": "S//json[title = 'Foo']"}
    ),
}


@pytest.mark.parametrize("hint", HINTS)
def test_what_is_said_of_an_automaton(hint: str) -> None:
    with Engine() as engine:
        engine.subscribe(HINTS[hint])
        assert [*engine.publish_many(DOCUMENTS), *engine.flush()] == []
        assert engine.hint("q", DOCUMENTS) == hint


@pytest.mark.parametrize(
    "found",
    [
        automaton(Arc("a", "f", "e", when="e.n > 9"), Arc("a", "f", "o"), events=TWO),
        automaton(
            Arc("a", "b", "e", when="e.n < 9"),
            Arc("b", "f", "o", when="o.x = 1"),
            Arc("b", "f", "e", when="e.n > 9"),
            events=TWO,
        ),
    ],
)
def test_what_one_of_several_ways_lacks_is_not_said(found: Automaton) -> None:
    with Engine() as engine:
        engine.subscribe(found)
        assert [*engine.publish_many(DOCUMENTS), *engine.flush()] == []
        assert engine.hint("q", DOCUMENTS) is None


NOTES = {
    "e.x > 5 AND e.x < 3": "`e.x > 5` and `e.x < 3` never hold together",
    "e.y = 1 AND 5 < k AND e.x = 2 AND k <= 5": "`5 < k` and `k <= 5` never hold together",
    "1 > 2 AND e.x = 1": "`1 > 2` never holds",
    "e.x != event.x": "`e.x != event.x` never holds",
}


@pytest.mark.parametrize("when", NOTES)
def test_a_fence_that_never_holds_is_noted(when: str) -> None:
    with Engine() as engine:
        engine.subscribe(automaton(Arc("a", "f", "e", when=when), register={"k": 0}))
        assert f"note: arc `a0` is never taken: {NOTES[when]}" in engine.explain("q")


@pytest.mark.parametrize(
    "when",
    [
        *("e.x > 5 AND e.x < 7", "e.x > 5 OR e.x < 3", "NOT e.x = 1"),
        *(
            "e.x != 0 AND e.x > 1700000000000000000",
            "e.x > 1000000000000000000 AND e.x > 2000000000000000000",
        ),
    ],
)
def test_a_fence_that_may_hold_has_no_note(when: str) -> None:
    with Engine() as engine:
        engine.subscribe(automaton(Arc("a", "f", "e", when=when)))
        assert "note:" not in engine.explain("q")


def test_a_circle_without_a_window_is_noted() -> None:
    arcs = [Arc("a", "b", "e"), Arc("b", "b", "e", kind="ignore"), Arc("b", "f", "e")]
    with Engine() as engine:
        engine.subscribe(Automaton("q", {"e": "S"}, ["f"], arcs))
        assert "note: a run can go on for good, so its state is not bounded" in engine.explain("q")
