"""The oracles on some of the shared conformance cases, whose queries are here as terms.

So nested loops, XQuery and the expected matches are three opinions on chains, groups and published
streams; their results are compared, too.
"""

from __future__ import annotations

import json
from collections import Counter
from functools import cache
from typing import Any, Literal

import pytest

from tests.oracle.as_nested_loops import query_in_loops
from tests.oracle.canonical import differences
from tests.oracle.patterns import Document as Published
from tests.oracle.saxon import matches_by_xquery
from tests.oracle.standing import evaluate
from tests.oracle.terms import (
    Block,
    Branch,
    Call,
    Compared,
    Constructor,
    Document,
    Filter,
    Insert,
    Item,
    Join,
    JoinedBy,
    Logical,
    Number,
    Operation,
    Predicate,
    Query,
    Side,
    Source,
    Step,
    Text,
    VariablePath,
)
from tests.shared import SHARED, needs

Kind = Literal["FOLLOWED BY", "JOIN"]


def step(where: str, variable: str | None = None, *branches: Step | tuple[Step, ...]) -> Step:
    """`//a`, `/@k`: an axis and a test; branches are paths of filters."""
    paths = (branch if isinstance(branch, tuple) else (branch,) for branch in branches)
    filters = tuple(Filter((Branch(path) if path[-1].variable else path,)) for path in paths)
    if where.startswith("//"):
        return Step("//", where[2:], variable, filters)
    return Step("/", where[1:], variable, filters)


def block(stream: str, *path: Step) -> Block:
    return Block(stream, path)


def compared(text: str) -> Predicate:
    """`x1 = x2`, where a side may be a variable with one step: `x1/b`."""

    def side(written: str) -> Side:
        variable, _, child = written.partition("/")
        return Side(VariablePath(variable, (Step("/", child),) if child else ()))

    left, sign, right = text.split()
    return Compared(side(left), sign, side(right))


def all_of(*parts: str | Predicate) -> Predicate:
    return Logical("AND", tuple(compared(p) if isinstance(p, str) else p for p in parts))


def one_of(*parts: str) -> Predicate:
    return Logical("OR", tuple(map(compared, parts)))


def joined(
    left: Source,
    kind: Kind,
    predicate: str | Predicate,
    right: Source,
    window: float | None = None,
) -> Join:
    predicate = compared(predicate) if isinstance(predicate, str) else predicate
    return Join(left, JoinedBy(kind, predicate, window), right)


def nested(kind: Kind, outer: str, window: float, inner: Kind) -> Query:
    """Three blocks over a, b and c, the last two in a group."""
    group = joined(block("S", step(B, "x")), inner, "x = y", block("S", step(C, "y")))
    return Query(joined(block("S", step(A, "w")), kind, outer, group, window))


def items(variables: str) -> tuple[Item, ...]:
    return tuple(Item(VariablePath(variable)) for variable in variables.split())


def hit(*variables: str) -> Constructor:
    """The constructor that many of the shared queries have."""
    strings = (Insert(VariablePath(variable), string=True) for variable in variables)
    return Constructor(
        "hit",
        attributes=(("by", (Insert(VariablePath(variables[0])),)),),
        content=tuple(Constructor("t", content=(string,)) for string in strings),
    )


A, B, C = (f"//{name}" for name in "abc")
FIRST_B = Step("/", "b", None, (Filter((Number("1"),)),))
FILTERED = Step(
    "/", "c", "x4", (Filter((Operation("=", Call("string", ((FIRST_B,),)), Text("v")),)),)
)
"""`./c->x4[string(b[1]) = 'v']`"""

CASES: dict[str, dict[str, Query]] = {
    "full-720004": {
        "Q1": Query(
            joined(
                joined(
                    block("S", step("//d", "x1")),
                    "FOLLOWED BY",
                    all_of("x1 = x2", "x1 = x2"),
                    block("S", step("//d", "x2")),
                ),
                "JOIN",
                one_of("x3 = x2", "x3 = x2"),
                block("S", step("//c", "x3")),
            )
        )
    },
    "full-720006": {
        "Q2": Query(
            joined(
                joined(
                    block("S", step("//d", "x1", step("//*", "x2"))),
                    "JOIN",
                    "x1 = x3",
                    block("S", step("//a", "x3")),
                ),
                "JOIN",
                "x2 = x6",
                block("S", step("//*", "x4", step("/*", "x5"), step("/d", "x6"))),
            ),
            items("x4"),
        )
    },
    "full-720008": {
        "Q6": Query(
            joined(
                block("S", step("//*", "x1")),
                "FOLLOWED BY",
                all_of("x4 = x1", "x1 >= x4"),
                joined(
                    block("S", step("//@k", "x2")),
                    "FOLLOWED BY",
                    one_of("x5 = x2", "x2 <= x6"),
                    block(
                        "R",
                        step("/b", "x3", step("/*", "x4")),
                        step("/*", "x5", step("/@k", "x6")),
                    ),
                    20,
                ),
                20,
            )
        )
    },
    "full-720014": {
        "Q3": Query(
            joined(
                block(
                    "S", step("//*", "x1", step("/*", "x2"), step("//@k", "x3")), step("/b", "x4")
                ),
                "FOLLOWED BY",
                all_of("x2 = x6", "x2 <= x7", "x4 = x6"),
                joined(
                    block("S", step("//a", "x5", step("//@k", "x6"))),
                    "JOIN",
                    "x7 = x6",
                    block("S", step("//d", "x7")),
                    20,
                ),
                20,
            ),
            hit("x2", "x7"),
        )
    },
    "full-720023": {
        "Q2": Query(
            joined(
                joined(
                    block("S", step("//b", "x1")),
                    "FOLLOWED BY",
                    "x1 = x2",
                    block("S", step("//@k", "x2")),
                ),
                "FOLLOWED BY",
                "x3 = x1",
                block("S", step("//*", "x3")),
                5,
            ),
            hit("x2", "x1", "x3"),
        ),
        "Q7": Query(
            joined(
                block("S", step("//d", "x1", step("/@k", "x2"))),
                "JOIN",
                one_of("x2 = x4", "x1 = x4"),
                joined(
                    block("R", step("//@k", "x3")),
                    "FOLLOWED BY",
                    "x3 = x4",
                    block("S", step("//@k", "x4")),
                ),
            )
        ),
    },
    "full-720035": {
        "Q5": Query(
            joined(
                block("S", step("//*", "x1", step("//*", "x2")), step("/a", "x3")),
                "JOIN",
                all_of("x3 = x4", "x3 = x6", "x6 = x1"),
                joined(
                    block("S", step("//@k", "x4")),
                    "JOIN",
                    one_of("x4 = x6", "x4 <= x5"),
                    block("S", step("//*", "x5", step("//b", "x6"))),
                    20,
                ),
                20,
            ),
            hit("x6", "x1"),
        )
    },
    "full-720042": {
        "Q4": Query(
            joined(
                joined(
                    block("S", step("//b", "x1")),
                    "JOIN",
                    "x1 = x4",
                    block("S", step("//*", "x2", step("//c", "x3")), step("//*", "x4")),
                    20,
                ),
                "FOLLOWED BY",
                "x3 = x5",
                block("R", step("//*", "x5")),
            ),
            items("x5"),
        )
    },
    "full-720065": {
        "Q1": Query(
            joined(
                joined(
                    block("S", step("/*", "x1")),
                    "JOIN",
                    "x1/b = x2",
                    block("R", step("//c", "x2")),
                ),
                "FOLLOWED BY",
                "x2 = x3",
                block("R", step("//*", "x3")),
            ),
            items("x2"),
        )
    },
    "full-720066": {
        "Q2": Query(
            joined(
                block("R", step("//*", "x1", step("//@m", "x2"))),
                "JOIN",
                one_of("x2 != x5", "x2 = x5"),
                joined(
                    block("S", step("/*", "x3", step("//@m"), FILTERED)),
                    "JOIN",
                    "x5 = x4",
                    block("S", step("//a", "x5")),
                ),
            )
        )
    },
    "full-720079": {
        "Q3": Query(
            joined(
                joined(
                    block("S", step("//*", "x1", step("/d", "x2"))),
                    "FOLLOWED BY",
                    "x2 = x3",
                    block("S", step("//d", "x3")),
                    20,
                ),
                "FOLLOWED BY",
                one_of("x3 = x4", "x2 > x4"),
                block("S", step("//@m", "x4")),
                20,
            )
        )
    },
    "wide-right-nested": {
        "Q1": nested("FOLLOWED BY", "w = x", 6, "JOIN"),
        "Q2": nested("FOLLOWED BY", "w = y", 5, "FOLLOWED BY"),
        "Q3": nested("JOIN", "w = x", 1, "JOIN"),
    },
    "wide-publish": {
        "pairs": Query(
            joined(block("S", step(A, "x")), "FOLLOWED BY", "x = y", block("S", step(B, "y")), 5),
            Constructor(
                "pair",
                attributes=(("k", (Insert(VariablePath("x")),)),),
                content=(Insert(VariablePath("x")), Insert(VariablePath("y"))),
            ),
            "pairs",
        ),
        "next": Query(
            joined(
                block("pairs", step("/pair", "p")),
                "FOLLOWED BY",
                "p/@k = z",
                block("S", step(C, "z")),
                5,
            ),
            Constructor("next", content=(Insert(VariablePath("p")),)),
            "next",
        ),
        "last": Query(
            joined(
                block("next", step("//pair"), step("/b", "b")),
                "JOIN",
                "b = z",
                block("S", step(C, "z")),
            )
        ),
        "other": Query(block("pairs", step("//@k", "k"))),
    },
}


@cache
def shared() -> dict[str, dict[str, Any]]:
    files = (SHARED / "conformance" / f"{name}.jsonl" for name in ("full", "wide"))
    cases = (json.loads(line) for file in files for line in file.read_text("utf-8").splitlines())
    return {case["case"]: case for case in cases}


def expected_of(case: str) -> list[dict[str, Any]]:
    return [match for match in shared()[case]["expected"] if match["query"] in CASES[case]]


def documents_of(case: str) -> list[Document]:
    return [
        Document(event["stream"], event["id"], event["timestamp"], event["xml"])
        for event in shared()[case]["events"]
    ]


here = needs("conformance")


@here
@pytest.mark.parametrize("case", CASES)
def test_xquery(case: str) -> None:
    expected = expected_of(case)
    assert expected
    got = matches_by_xquery(CASES[case], {}, documents_of(case))
    assert not differences(expected, got)


@here
@pytest.mark.parametrize("case", CASES)
def test_nested_loops(case: str) -> None:
    rows = evaluate(
        [query_in_loops(name, query, {}) for name, query in CASES[case].items()],
        [Published(d.stream, d.id, d.timestamp, str(d.content)) for d in documents_of(case)],
    )
    found = Counter(
        (
            row.query,
            tuple(name if isinstance(name, str) else "*" for name in row.documents),
            tuple(number for number, _ in row.nodes),
            tuple((name, number) for name, (number, _) in row.bindings),
        )
        for row in rows
    )
    assert found == Counter(
        (
            match["query"],
            tuple(match["documents"]),
            tuple(match["nodes"]),
            tuple(sorted(match["bindings"].items())),
        )
        for match in expected_of(case)
    )
