"""`SELECT … FROM AUTOMATON { … }`: the fields of the register in a result, and their names."""

from __future__ import annotations

import json

import pytest

import xscl

RISES = (
    'AUTOMATON {"events": {"e": "S"}, "by": ["of"], "register": {"n": 0, "m": 1}, "final": ["b"],'
    ' "arcs": [{"from": "a", "to": "b", "event": "e", "set": "n = e.x"}]}'
)

RESULTS = {
    "n": {"n": 3},
    "m, of AS o, reg.n AS k": {"m": 1, "o": "y", "k": 3},
    "n, n AS again": {"n": 3, "again": 3},
    "*": {"of": "y", "n": 3, "m": 1},
}


@pytest.mark.parametrize("selected", RESULTS)
def test_a_result_has_what_is_selected(selected: str) -> None:
    with xscl.Engine(lateness=0) as engine:
        engine.subscribe(f"SELECT {selected} FROM {RISES} PUBLISH Found", name="q")
        engine.subscribe(RISES, name="all")
        engine.subscribe("Found/*/*->x", name="read")
        matches = [*engine.publish("S", {"of": "y", "x": 3}, timestamp=1), *engine.flush()]
    results = {one.query: one.result for one in matches}
    assert results["q"] == RESULTS[selected]
    assert list(results["q"]) == list(RESULTS[selected])
    assert results["all"] == RESULTS["*"]
    assert sum(one.query == "read" for one in matches) > 0


PROBLEMS = {
    "nn": "`nn` is no field; there are of, n, m",
    "off": "`off` is no field; did you mean `of`?",
    "n, m AS n": "`n` is selected twice; rename one with AS",
    "n + 1 AS k": "SELECT lists fields of the register; a transfer computes them",
    "e.x": "SELECT lists fields of the register; a transfer computes them",
    "<a>{n}</a>": "of an automaton SELECT lists fields of its register, as in `SELECT a, b AS c`",
}


@pytest.mark.parametrize("selected", PROBLEMS)
def test_what_is_no_field_is_refused(selected: str) -> None:
    with xscl.Engine() as engine, pytest.raises(xscl.QueryError) as refused:
        engine.subscribe(f"SELECT {selected} FROM {RISES}")
    assert refused.value.problem == PROBLEMS[selected]


def test_explain_shows_what_is_selected() -> None:
    with xscl.Engine() as engine:
        engine.subscribe(f"SELECT n, m AS k FROM {RISES}", name="q")
        assert "\n  select n, m AS k\n" in engine.explain("q")


def test_it_outlives_a_restart(tmp_path: pytest.TempPathFactory) -> None:
    state = f"{tmp_path}/state.xscl"
    with xscl.Engine(state=state, lateness=9) as engine:
        engine.subscribe(f"SELECT n AS k FROM {RISES}", name="q")
        engine.publish("S", {"of": "y", "x": 3}, timestamp=1)
    with xscl.Engine(state=state, lateness=9) as engine:
        (match,) = engine.flush()
    assert json.dumps(match.result) == '{"k": 3}'
