"""Which queries of a file are those of an earlier run: what says the same, whatever its text."""

from __future__ import annotations

from pathlib import Path

import pytest

import xscl

COUNTED = "SELECT COUNT(*) AS c FROM WINDOW{{{}}}(S)"
JOIN = "S//a[b->x][c->y] JOIN {{x = z AND {}}} T//d->z"
AUTOMATON = (
    '-- name: n\nAUTOMATON {{"events": {{"e": "S"}}, "final": ["q1"], '
    '"arcs": [{{"from": "q0", "to": "q1", "event": "e"{}}}]}}'
)


def two(one: str, other: str) -> str:
    return f"-- name: n\n{one};\n-- name: p\n{other}"


@pytest.mark.parametrize(
    ("before", "now", "same", "changed"),
    [
        # Constants have another unit, or another place, in what is written first.
        (
            two(COUNTED.format("60 s"), COUNTED.format("5 s")),
            two(COUNTED.format("1 min"), COUNTED.format("5 min")),
            "n",
            "p",
        ),
        (
            two(JOIN.format("x = 'A' AND y = 'B'"), JOIN.format("x = 'C' AND y = 'D'")),
            two(JOIN.format("y = 'B' AND x = 'A'"), JOIN.format("y = 'C' AND x = 'D'")),
            "n",
            "p",
        ),
        (
            two(JOIN.format("x > 5 AND y < 9"), JOIN.format("x > 6 AND y < 9")),
            two(JOIN.format("y < 9 AND x > 5"), JOIN.format("y < 9 AND 7 < x")),
            "n",
            "p",
        ),
        (
            two(COUNTED.format("60 s"), COUNTED.format("300 s")),
            two(COUNTED.format("1 min"), COUNTED.format("5 min")),
            "np",
            "",
        ),
        (AUTOMATON.format(', "at": 100'), AUTOMATON.format(', "at": 200'), "", "n"),
        # Only in a result 1 is not 1.0.
        (
            two('SELECT {"v": 1} FROM S/a', "S/a[b = 1]"),
            two('SELECT {"v": 1.0} FROM S/a', "S/a[b = 1.0]"),
            "p",
            "n",
        ),
        (AUTOMATON.format(', "at": 100'), AUTOMATON.format(""), "", "n"),
        (AUTOMATON.format(', "at": 100'), AUTOMATON.format(',  "at":100'), "n", ""),
    ],
)
def test_what_continues(before: str, now: str, same: str, changed: str, tmp_path: Path) -> None:
    state = tmp_path / "s.duckdb"
    with xscl.Engine(state) as engine:
        engine.load(before)
    with xscl.Engine(state) as engine:
        plan = engine.plan([(now, {})])
    assert (plan.continuing, plan.changed) == ([*same], [*changed])


def test_rows_of_a_table_continue_by_their_values(tmp_path: Path) -> None:
    state, text = tmp_path / "s.duckdb", "-- name: q\nS//a->x[b = :word]"
    with xscl.Engine(state) as engine:
        engine.subscribe_many(text, [{"word": "x"}, {"word": 1}])
    with xscl.Engine(state) as engine:
        plan = engine.plan([(text, {"q": [{"word": "x"}, {"word": "1"}]})])
    assert (plan.continuing, plan.changed) == (["q[0]"], ["q[1]"])


QUERIES = {"one": "S/item[title = 'a']", "two": JOIN.format("x > 5"), "three": "S//c"}


def written(queries: dict[str, str]) -> str:
    return ";\n".join(f"-- name: {name}\n{text}" for name, text in queries.items())


@pytest.mark.parametrize(
    ("text", "continuing", "changed", "stopping"),
    [
        # What is not closed, and an end that is missing, take the queries behind them along.
        (written({**QUERIES, "one": "S/item[title = 'a]"}), ["one", "two", "three"], [], []),
        (written({**QUERIES, "one": "S/item (: title"}), ["one", "two", "three"], [], []),
        (written(QUERIES).replace(";", "", 1), ["one", "two", "three"], [], []),
        (written({**QUERIES, "two": "S//a["}), ["one", "two", "three"], [], []),
        (written({"one": "S//a[", "two": "S//b"}), ["one", "three"], ["two"], []),
        (written({"one": QUERIES["one"]}), ["one"], [], ["two", "three"]),
    ],
)
def test_a_slip_of_the_pen_stops_nothing(
    text: str, continuing: list[str], changed: list[str], stopping: list[str], tmp_path: Path
) -> None:
    state = tmp_path / "s.duckdb"
    with xscl.Engine(state) as engine:
        engine.load(written(QUERIES))
    with xscl.Engine(state) as engine:
        plan = engine.plan([(text, {})])
    assert (plan.continuing, plan.changed, plan.stopping) == (continuing, changed, stopping)


@pytest.mark.parametrize("other", ["S/c", "S//a->x JOIN {x = y} S//b->y", "S//a["])
def test_of_one_name_in_several_files_the_first_counts(other: str, tmp_path: Path) -> None:
    state, text = tmp_path / "s.duckdb", "-- name: a\nS//a->x JOIN {x = y} S//b->y"
    with xscl.Engine(state) as engine:
        engine.load(text)
    for now, same in ((text, ["a"]), ("-- name: a\nS//d", [])):
        with xscl.Engine(state) as engine:
            plan = engine.plan([(now, {}), (f"-- name: a\n{other}", {})])
        assert plan.continuing == same
        assert plan.changed == ([] if same else ["a"])
        assert plan.stopping == []
