"""Random small documents and queries as data; written as XSCL, and as the oracle's own terms."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any, Literal

from hypothesis import strategies as st

from tests.oracle.nested_loops import Block as OracleBlock
from tests.oracle.nested_loops import Conjuncts, Document, Query, Row, Side, Term, Variable

Envelope = dict[str, Any]

NAMES = ("a", "a", "b", "b", "c")
VALUES = ("1", "1", "1", "2", "2", "10", "x", "X", "1.0", " 1", "")
PATHS = ("b", "*", ".//b", ".//*", ".//@k", "@k", "*/b", "b[@k]", "*[1]")
WRAPPINGS = (
    ("number",),
    ("lower-case",),
    ("normalize-space",),
    ("normalize-space", "lower-case"),
)
TESTS = ("a", "a", "b", "b", "*", "*")
CONDITIONS = (
    "b",
    "not(c)",
    "@k",
    "@k = '1'",
    ". = '1'",
    ". != ''",
    ".//b",
    "count(b) = 1",
    "b or c",
    "b = c",
    "string-length(.) < 3",
    "b > 1",
    "contains(., '1') and not(@k)",
    "starts-with(., '1')",
    "normalize-space(.) = '1'",
    "number(.) * 2 = 2",
)
POSITIONS = ("1", "2", "last()", "b", "not(c)")
ON_ATTRIBUTES = (". = '1'", ". != ''", "number(.) > 1")


@dataclass(frozen=True)
class Step:
    """A step of a block; branches are the paths in its filters that bind."""

    axis: Literal["/", "//"]
    test: str
    variable: str | None = None
    filters: tuple[str, ...] = ()
    branches: tuple[tuple[Step, ...], ...] = ()


@dataclass(frozen=True)
class Block:
    stream: str
    steps: tuple[Step, ...]


@dataclass(frozen=True)
class DrawnQuery:
    """One block, or two under an operator."""

    blocks: tuple[Block, ...]
    kind: Literal["FOLLOWED BY", "JOIN"] | None = None
    joins: tuple[tuple[Side, str, Side], ...] = ()
    window: int | None = None
    selected: tuple[str, ...] = ()
    select: str = ""
    alternatives: tuple[tuple[tuple[Side, str, Side], ...], ...] = ()
    name: str = field(default="", compare=False)

    def __str__(self) -> str:
        return xscl_text(self)


# As XSCL.


def xscl_text(query: DrawnQuery) -> str:
    head = f"-- name: {query.name}\n{query.select}"
    blocks = [block.stream + "".join(map(_step_text, block.steps)) for block in query.blocks]
    if query.kind is None:
        return head + blocks[0]
    predicate = " OR ".join(map(_conjuncts_text, (query.joins, *query.alternatives)))
    window = "" if query.window is None else f"{', ' if predicate else ''}{query.window} s"
    if not predicate and not window:
        window = "INF"
    return f"{head}{blocks[0]}\n  {query.kind} {{{predicate}{window}}}\n  {blocks[1]}"


def _conjuncts_text(joins: Conjuncts) -> str:
    return " AND ".join(f"{_side_text(a)} {op} {_side_text(b)}" for a, op, b in joins)


def _side_text(side: Side) -> str:
    if isinstance(side, str):
        return side
    if side.variable is None:
        text = f"'{side.constant}'"
    elif side.path == ".":
        text = side.variable
    else:
        step = side.path.removeprefix(".")
        text = side.variable + (step if step.startswith("//") else f"/{step}")
    for function in side.functions:
        text = f"{function}({text})"
    return text


def _step_text(step: Step) -> str:
    binding = f"->{step.variable}" if step.variable else ""
    filters = "".join(f"[{condition}]" for condition in step.filters)
    branches = "".join(f"[{_branch_text(branch)}]" for branch in step.branches)
    return f"{step.axis}{step.test}{binding}{filters}{branches}"


def _branch_text(branch: tuple[Step, ...]) -> str:
    text = "".join(map(_step_text, branch))
    return text.removeprefix("/") if branch[0].test == "." else f".{text}"


# As the oracle's terms: every step is a variable, those without a name a hidden one.


def oracle_query(query: DrawnQuery) -> Query:
    hidden = (f"_{number}" for number in count())
    return Query(
        query.name,
        [_oracle_block(block, hidden) for block in query.blocks],
        query.kind,
        query.joins,
        query.window,
        query.selected,
        alternatives=query.alternatives,
    )


def _oracle_block(block: Block, hidden: Iterator[str]) -> OracleBlock:
    variables: list[Variable] = []

    def add(steps: Sequence[Step], parent: str | None) -> str:
        for step in steps:
            name = step.variable or next(hidden)
            path = step.test + "".join(f"[{condition}]" for condition in step.filters)
            if step.test != ".":
                path = ("" if parent is None else ".") + step.axis + path
            variables.append(Variable(name, parent, path))
            for branch in step.branches:
                add(branch, name)
            parent = name
        assert parent is not None
        return parent

    output = add(block.steps, None)
    return OracleBlock(block.stream, variables, output)


# Drawing.


@st.composite
def _steps(draw: st.DrawFn, names: Iterator[str], budget: int, *, main: bool) -> tuple[Step, ...]:
    """One or two steps; `budget` bounds the branches below them."""
    steps = []
    length = draw(st.sampled_from([1, 1, 2]))
    for index in range(length):
        last = index == length - 1
        if last and draw(st.integers(0, 4)) == 0 and not (main and length == 1):
            filters = draw(st.lists(st.sampled_from(ON_ATTRIBUTES), max_size=1))
            axis = draw(st.sampled_from(["/", "//"]))
            steps.append(Step(axis, "@k", next(names), tuple(filters)))
            break
        axis = draw(st.sampled_from(["/", "//", "//", "//"] if main and not index else ["/", "//"]))
        test = draw(st.sampled_from(TESTS))
        filters = []
        if draw(st.integers(0, 5)) == 0:
            conditions = draw(st.sampled_from([CONDITIONS, CONDITIONS, POSITIONS]))
            filters = draw(st.lists(st.sampled_from(conditions), min_size=1, max_size=2))
        variable = next(names) if last or draw(st.booleans()) else None
        branches = []
        for _ in range(draw(st.integers(0, budget)) if last else 0):
            if draw(st.integers(0, 9)) == 0:
                branches.append((Step("/", ".", next(names)),))
            else:
                branches.append(draw(_steps(names, budget - 1, main=False)))
        steps.append(Step(axis, test, variable, tuple(filters), tuple(branches)))
    return tuple(steps)


def variables_of(steps: Iterable[Step]) -> list[str]:
    found = []
    for step in steps:
        found += [step.variable] if step.variable else []
        for branch in step.branches:
            found += variables_of(branch)
    return found


@st.composite
def _blocks(draw: st.DrawFn, letter: str) -> Block:
    names = (f"{letter}{number}" for number in count(1))
    stream = draw(st.sampled_from(["S", "S", "S", "S", "S", "R"]))
    return Block(stream, draw(_steps(names, 2, main=True)))


def _renamed(block: Block) -> Block:
    """The block with x1, x2, … called y1, y2, …"""

    def renamed(step: Step) -> Step:
        branches = tuple(tuple(map(renamed, branch)) for branch in step.branches)
        variable = step.variable and f"y{step.variable[1:]}"
        return replace(step, variable=variable, branches=branches)

    return replace(block, steps=tuple(map(renamed, block.steps)))


@st.composite
def _side(draw: st.DrawFn, names: st.SearchStrategy[str]) -> Side:
    """Of eight, five are variables; or a path, functions, a constant."""
    name = draw(names)
    kind = draw(st.integers(0, 7))
    if kind < 5:
        return name
    functions = draw(st.sampled_from(((), *WRAPPINGS) if kind == 5 else WRAPPINGS))
    if kind == 7:
        return Term(None, constant=draw(st.sampled_from(VALUES)), functions=functions[:1])
    return Term(name, draw(st.sampled_from(PATHS)) if kind == 5 else ".", functions)


def _joins(draw: st.DrawFn, names: st.SearchStrategy[str], most: int) -> list[Any]:
    """Comparisons of any two sides."""
    operators = st.sampled_from(["=", "=", "=", "!=", "<", "<=", ">", ">="])
    comparison = st.tuples(_side(names), operators, _side(names))
    return draw(st.lists(comparison, min_size=1, max_size=most))


@st.composite
def queries(draw: st.DrawFn, *, finite: bool = False) -> DrawnQuery:
    """Three of four are joins, most of these with an equality."""
    sides = [draw(_blocks("x"))]
    query = DrawnQuery(tuple(sides))
    if draw(st.integers(0, 3)):
        # Often the same pattern on both sides, as it is the likeliest to match.
        alike = draw(st.integers(0, 2)) > 0
        sides.append(_renamed(sides[0]) if alike else draw(_blocks("y")))
        lefts, rights = (st.sampled_from(variables_of(block.steps)) for block in sides)
        equalities = draw(
            st.lists(
                lefts.map(lambda name: (name, "=", f"y{name[1:]}"))
                if alike
                else st.tuples(lefts, st.just("="), rights),
                min_size=1,
                max_size=2,
            )
            if draw(st.integers(0, 5))
            else st.just([])
        )
        anyone = lefts | rights
        others = _joins(draw, anyone, 1) if draw(st.integers(0, 2)) == 0 else []
        alternatives = []
        if (equalities or others) and draw(st.integers(0, 2)) == 0:
            alternatives = [tuple(_joins(draw, anyone, 2)) for _ in range(draw(st.integers(1, 2)))]
        window = draw(st.sampled_from([2, 3, 5] if finite else [None, None, 2, 5]))
        kind = draw(st.sampled_from(["FOLLOWED BY", "FOLLOWED BY", "JOIN"]))
        query = DrawnQuery(
            tuple(sides),
            kind,
            (*equalities, *others),
            window,
            alternatives=tuple(alternatives),
        )
    names = [name for block in sides for name in variables_of(block.steps)]
    how = draw(st.sampled_from(["", "SELECT * FROM ", "list", "list", "constructor"]))
    if how not in ("list", "constructor"):
        return replace(query, select=how)
    selected = tuple(draw(st.lists(st.sampled_from(names), min_size=1, max_size=3)))
    select = "SELECT " + ", ".join(selected[:1] + tuple(f"{n} AS v" for n in selected[1:]))
    if how == "constructor":
        inserts = "".join(f"{{{name}}}" for name in selected[1:])
        select = f"SELECT <r k='{{{selected[0]}}}'>{inserts}</r>"
    return replace(query, selected=selected, select=f"{select} FROM ")


def query_sets(*, finite: bool = False) -> st.SearchStrategy[list[DrawnQuery]]:
    """A few queries with names."""
    return st.lists(queries(finite=finite), min_size=1, max_size=3).map(
        lambda drawn: [replace(query, name=f"q{n}") for n, query in enumerate(drawn, start=1)]
    )


def _element(name: str, attribute: str | None, content: list[str]) -> str:
    written = "" if attribute is None else f' k="{attribute}"'
    return f"<{name}{written}>{''.join(content)}</{name}>"


_attributes = st.none() | st.none() | st.sampled_from(VALUES)
_leaves = st.builds(
    _element, st.sampled_from(NAMES), _attributes, st.sampled_from(VALUES).map(lambda v: [v])
)
bodies = st.builds(
    _element,
    st.sampled_from(NAMES),
    _attributes,
    st.lists(
        _leaves
        | st.builds(
            _element, st.sampled_from(NAMES), _attributes, st.lists(_leaves, min_size=1, max_size=3)
        ),
        min_size=2,
        max_size=3,
    ),
)
"""Documents of two or three levels."""


@st.composite
def streams_of_documents(draw: st.DrawFn, *, size: int = 6) -> list[Document]:
    """In any order of time, some at the same time; some say the same."""
    some = st.sampled_from(draw(st.lists(bodies, min_size=2, max_size=3)))
    streams = st.sampled_from(["S", "S", "S", "S", "S", "R"])
    drawn = draw(
        st.lists(
            st.tuples(streams, st.integers(0, 6), some),
            min_size=3,
            max_size=size,
        )
    )
    return [
        Document(stream, f"d{number}", time, body)
        for number, (stream, time, body) in enumerate(drawn)
    ]


def envelope(document: Document) -> Envelope:
    return {
        "stream": document.stream,
        "id": document.id,
        "timestamp": document.timestamp,
        "xml": document.xml,
    }


# What is compared.

Told = tuple[str, tuple[str, ...], tuple[int, ...], tuple[tuple[str, int], ...]]


def told_by_oracle(rows: Iterable[Row]) -> Counter[Told]:
    """An attribute bears its element's number, so that rows may fall together: a multiset."""
    return Counter(
        (
            row.query,
            row.documents,
            tuple(number for number, _ in row.nodes),
            tuple((name, number) for name, (number, _) in row.bindings),
        )
        for row in rows
    )


def told_by_engine(matches: Iterable[Any]) -> Counter[Told]:
    return Counter(
        (match.query, match.documents, match.nodes, tuple(sorted(match.bindings.items())))
        for match in matches
    )
