"""Conjunctive queries as SQL on DuckDB, against an evaluation of the term atom by atom."""

from __future__ import annotations

import math
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from tests.drawn import drawn
from xscl.join_stage import Atom, Comparison, ConjunctiveQuery, to_sql

Value = Any
Relation = tuple[tuple[str, ...], list[tuple[Value, ...]]]
Database = dict[str, Relation]

TYPES = {"value": "VARCHAR", "double": "DOUBLE"}


# The oracle: Datalog, read aloud.


def answers(query: ConjunctiveQuery, database: Database) -> set[tuple[Value, ...]]:
    """The head of every assignment under which all atoms and comparisons hold."""
    atoms = [*query.body, query.rows]
    return {
        tuple(assignment[variable] for variable in query.head)
        for assignment in _assignments(atoms, database, {})
        if all(_holds(comparison, assignment) for comparison in query.comparisons)
    }


def _assignments(
    atoms: list[Atom], database: Database, bound: dict[str, Value]
) -> Iterator[dict[str, Value]]:
    if not atoms:
        yield bound
        return
    columns, rows = database[atoms[0].relation]
    for row in rows:
        extended = dict(bound)
        for column, variable in atoms[0].arguments:
            value = row[columns.index(column)]
            # A NaN is not equal to itself, but it is the same value.
            known = extended.setdefault(variable, value)
            if known is not value and known != value:
                break
        else:
            yield from _assignments(atoms[1:], database, extended)


def _holds(comparison: Comparison, assignment: dict[str, Value]) -> bool:
    left = [assignment[variable] for variable in comparison.left]
    right = [assignment[variable] for variable in comparison.right]
    if comparison.operator == "=":
        return bool(left == right)
    if comparison.operator == "!=":
        return bool(left != right)
    (text, number), (other_text, other_number) = left, right
    if number is None or other_number is None:
        number, other_number = text, other_text
    return {
        "<": number < other_number,
        "<=": number <= other_number,
        ">": number > other_number,
        ">=": number >= other_number,
    }[comparison.operator]


def select(query: ConjunctiveQuery, database: Database) -> list[tuple[Value, ...]]:
    with duckdb.connect() as connection:
        for name, (columns, rows) in database.items():
            typed = ", ".join(f'"{column}" {TYPES.get(column, "BIGINT")}' for column in columns)
            connection.execute(f'CREATE TABLE "{name}" ({typed})')
            for row in rows:
                places = ", ".join("?" * len(row))
                connection.execute(f'INSERT INTO "{name}" VALUES ({places})', list(row))
        return connection.execute(to_sql(query)).fetchall()


# Drawing.

COLUMNS = {"p": ("doc", "a", "b", "c"), "q": ("doc", "a", "b"), "rows_t": ("r", "j0", "j1")}
INTEGERS = st.sampled_from([0, 0, 1, 2])
VARIABLES = st.sampled_from(["x", "y", "z"])
TEXTS = st.sampled_from(["", "1", "9", "10", "é", "z", "\uffff", "\U0001f600"])
DOUBLES = st.sampled_from([None, None, 0.0, -0.0, 9.0, 10.0, 1e300, math.inf, -math.inf, math.nan])


@st.composite
def databases(draw: st.DrawFn) -> Database:
    some: Database = {
        name: (
            COLUMNS[name],
            draw(st.lists(st.tuples(*[INTEGERS] * len(COLUMNS[name])), min_size=1, max_size=6)),
        )
        for name in ("p", "q")
    }
    pairs = draw(st.lists(st.tuples(INTEGERS, INTEGERS), min_size=1, max_size=4))
    some["rows_t"] = (COLUMNS["rows_t"], [(r, *pair) for r, pair in enumerate(pairs)])
    strings = [(number, draw(TEXTS), draw(DOUBLES)) for number in range(3)]
    some["strings"] = (("id", "value", "double"), strings)
    return some


@st.composite
def queries(draw: st.DrawFn) -> ConjunctiveQuery:
    """As plans make them: the head has `r` and the documents, of which every atom has one, and
    each of R_T's columns is a variable of the body."""
    body = []
    for _ in range(draw(st.integers(1, 3))):
        relation = draw(st.sampled_from(["p", "q"]))
        columns = draw(st.sets(st.sampled_from(COLUMNS[relation][1:]), min_size=1))
        document = ("doc", draw(st.sampled_from(["dl", "dl", "dl", "dr"])))
        body.append(Atom(relation, (document, *((c, draw(VARIABLES)) for c in sorted(columns)))))
    bound = sorted({variable for atom in body for variable in atom.variables})
    asked = draw(st.lists(st.sampled_from(["=", "!=", "<", "<=", ">", ">="]), max_size=2))
    compared = [
        (operator, draw(st.sampled_from(bound)), draw(st.sampled_from(bound))) for operator in asked
    ]
    ordered = {v for op, *ends in compared if op not in ("=", "!=") for v in ends}
    for variable in sorted(ordered):
        columns = (
            ("id", variable),
            ("value", f"{variable}_text"),
            ("double", f"{variable}_double"),
        )
        body.append(Atom("strings", columns))
    joined = draw(st.lists(st.sampled_from(bound), max_size=2, unique=True))
    rows = Atom("rows_t", (("r", "r"), *zip(("j0", "j1"), joined, strict=False)))
    documents = [name for name in ("dl", "dr") if name in bound]
    free = sorted({*bound, *rows.variables} - {"r", *documents})
    return ConjunctiveQuery(
        "out_t",
        ("r", *documents, *draw(st.lists(st.sampled_from(free), max_size=3, unique=True))),
        tuple(body),
        rows,
        tuple(
            Comparison(operator, (left,), (right,))
            if operator in ("=", "!=")
            else Comparison(
                operator, (f"{left}_text", f"{left}_double"), (f"{right}_text", f"{right}_double")
            )
            for operator, left, right in compared
        ),
    )


@given(queries(), databases())
@drawn(25)
def test_rows_are_the_answers_each_once(query: ConjunctiveQuery, database: Database) -> None:
    expected = answers(query, database)
    event("answers" if expected else "none")
    assert Counter(select(query, database)) == Counter(expected)


# By hand.


ORDERS = [
    (("9", 9.0), "<", ("10", 10.0), True),
    (("10", 10.0), "<", ("9a", None), True),
    (("9", 9.0), "<=", ("9.0", 9.0), True),
    (("9", 9.0), "<", ("9.0", 9.0), False),
    (("NaN", math.nan), "<=", ("NaN", math.nan), False),
    (("NaN", math.nan), ">=", ("INF", math.inf), False),
    (("1", 1.0), "<", ("NaN", math.nan), False),
    (("NaN", math.nan), "<", ("a", None), True),
    (("-INF", -math.inf), "<", ("-1e300", -1e300), True),
    (("", None), "<", ("a", None), True),
    (("z", None), "<", ("é", None), True),
    (("\uffff", None), "<", ("\U0001f600", None), True),
]


@pytest.mark.parametrize(("left", "operator", "right", "holds"), ORDERS)
def test_orders(
    left: tuple[str, float | None], operator: str, right: tuple[str, float | None], holds: bool
) -> None:
    query = ConjunctiveQuery(
        "out",
        ("r", "left", "right"),
        tuple(
            Atom(name, (("a", name), ("value", f"{name}_text"), ("double", f"{name}_double")))
            for name in ("left", "right")
        ),
        Atom("rows_t", (("r", "r"),)),
        (Comparison(operator, ("left_text", "left_double"), ("right_text", "right_double")),),
    )
    database: Database = {
        "left": (("a", "value", "double"), [(0, *left)]),
        "right": (("a", "value", "double"), [(0, *right)]),
        "rows_t": (("r",), [(0,)]),
    }
    assert select(query, database) == ([(0, 0, 0)] if holds else [])


def test_what_nobody_asks_for_does_not_multiply() -> None:
    """A thousand witnesses for an existential variable are one answer."""
    query = ConjunctiveQuery(
        "out",
        ("r", "x"),
        (Atom("p", (("a", "x"), ("b", "y"))), Atom("q", (("a", "x"), ("b", "z")))),
        Atom("rows_t", (("r", "r"), ("j0", "x"))),
    )
    many = [(1, number) for number in range(1000)]
    database: Database = {
        "p": (("a", "b"), many),
        "q": (("a", "b"), many),
        "rows_t": (("r", "j0"), [(0, 1), (1, 2), (2, 1)]),
    }
    assert sorted(select(query, database)) == [(0, 1), (2, 1)]


P = Atom("p", (("a", "x"),))
BY_X = Atom("rows_t", (("r", "r"), ("j0", "x")))
UNUSUAL: dict[str, tuple[Any, ...]] = {
    "an atom that only has to hold": (
        ("r",),
        (P, Atom("q", (("a", "y"),))),
        Atom("rows_t", (("r", "r"),)),
    ),
    "a head without the number of a row": (("x",), (P,), BY_X),
    "a comparison with a column of the rows": (
        ("r", "x"),
        (P,),
        Atom("rows_t", (("r", "r"), ("j0", "y"))),
        (Comparison("!=", ("x",), ("y",)),),
    ),
    "two columns of the rows that agree": (
        ("r", "x"),
        (P,),
        Atom("rows_t", (("r", "r"), ("j0", "y"), ("j1", "y"))),
    ),
}


@pytest.mark.parametrize("case", UNUSUAL)
def test_terms_that_no_plan_makes(case: str) -> None:
    """They have their answers all the same."""
    database: Database = {
        "p": (("a",), [(1,), (2,)]),
        "q": (("a",), [(3,)]),
        "rows_t": (("r", "j0", "j1"), [(0, 1, 1), (1, 1, 2), (2, 2, 2)]),
    }
    head, body, rows, *comparisons = UNUSUAL[case]
    query = ConjunctiveQuery("out", head, body, rows, *comparisons)
    expected = Counter(answers(query, database))
    assert expected
    assert Counter(select(query, database)) == expected


def test_unbound_variables_are_refused() -> None:
    rows = Atom("rows_t", (("r", "r"),))
    with pytest.raises(ValueError, match=r"unbound variables: \['x'\]"):
        ConjunctiveQuery("out", ("r", "x"), (), rows)
    with pytest.raises(ValueError, match=r"unbound variables: \['x', 'y'\]"):
        ConjunctiveQuery("out", ("r",), (), rows, (Comparison("=", ("x",), ("y",)),))


def test_other_dialects_are_other_texts_of_the_same_term() -> None:
    query = ConjunctiveQuery(
        "out", ("r",), (Atom("p", (("a", "x"),)),), Atom("rows_t", (("r", "r"), ("j0", "x")))
    )
    assert '"rows_t"' in to_sql(query)
    assert "`rows_t`" in to_sql(query, dialect="spark")


TABLE_6_2 = """\
out_T(r, dl, dr, dt, n0, n3) :-
  pair(j: j0, dl: dl, dr: dr, dt: dt, l0: n0, l1: n1, r0: n3, r1: n4, s: v0),
  pair(j: j1, dl: dl, dr: dr, dt: dt, l0: n0, l1: n2, r0: n3, r1: n5, s: v1),
  rows_T(r: r, j0: j0, j1: j1)."""


def test_the_term_of_table_6_2() -> None:
    """Of the template in figure 6.5, with its two output nodes.  The numbers of a template's
    nodes are those of the first query that had it, so this asks a process that has seen none."""
    program = (
        "from xscl.join_stage import plan_of; from tests.templates.graphs import graph;"
        "plan, _ = plan_of(graph([(0, None), (0, 0), (0, 0), (1, None), (1, 3), (1, 3)],"
        " [(1, '=', 4), (2, '=', 5)], kept=[0, 3]), 2);"
        "print(str(plan.query(plan.outputs)).replace(plan.id, 'T'))"
    )
    reported = subprocess.run(
        [sys.executable, "-c", program],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=True,
    )
    assert reported.stdout.rstrip() == TABLE_6_2
