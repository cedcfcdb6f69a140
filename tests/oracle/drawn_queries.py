"""Random queries over every production of the language but chains and sub-queries."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import count

from hypothesis import strategies as st

from tests.oracle.drawn_filters import conditions, node_test, plain_path
from tests.oracle.drawn_selects import selects
from tests.oracle.terms import (
    Block,
    Branch,
    Compared,
    Filter,
    JoinedBy,
    Logical,
    Number,
    Path,
    Predicate,
    Query,
    Side,
    Step,
    Text,
    VariablePath,
)

__all__ = ["queries"]

_WINDOWS = (
    (None, None),
    (None, None),
    (None, "INF"),
    (None, None),
    (2, "2"),
    (0.5, "500ms"),
    (1.5, "1.5 sec"),
    (5, "5seconds"),
    (60, "1 Minute"),
    (3600, "1 h"),
    (86400, "1 day"),
    (1209600, "2 weeks"),
)
_LITERALS = ("1", "2", "x", "X", "x y", "", "10")
_NUMBERS = ("1", "2", "1.0", "10", "1.5", "-1", "0")


@st.composite
def _steps(draw: st.DrawFn, names: Iterator[str], kinds: str, budget: int, *, main: bool) -> Path:
    """One to three steps that bind in the last, and more often than not in none before."""
    length = draw(st.sampled_from([1, 1, 1, 1, 2, 2, 3] if main else [1, 1, 1, 1, 1, 2]))
    path: list[Step] = []
    if not main and draw(st.integers(0, 11)) == 0:
        variable = next(names)
        filters = draw(_filters(names, kinds, 0, "self"))
        return (Step("/", ".", variable, filters),)
    for place in range(length):
        last = place == length - 1
        attribute = last and kinds != "json" and draw(st.integers(0, 5)) == 0
        axes = ["//"] * 6 + ["/"] if main and not place else ["/", "//"]
        test = draw(node_test(kinds, attribute=attribute))
        here = draw(st.integers(0, budget)) if last or draw(st.integers(0, 3)) == 0 else 0
        variable = next(names) if last or draw(st.integers(0, 2)) == 0 else None
        filters = draw(_filters(names, kinds, 0 if attribute else here, _kind(test)))
        path.append(Step(draw(st.sampled_from(axes)), test, variable, filters))
    return tuple(path)


def _kind(test: str) -> str:
    return "attributes" if test == "@*" else "attribute" if test.startswith("@") else "element"


@st.composite
def _filters(
    draw: st.DrawFn, names: Iterator[str], kinds: str, branches: int, node: str
) -> tuple[Filter, ...]:
    filters = []
    positional = node not in ("attributes",)
    if draw(st.integers(0, 6)) == 0:
        for _ in range(draw(st.sampled_from([1, 1, 1, 2]))):
            filters.append(Filter((draw(conditions(kinds, positional=positional, top=True)),)))
    for _ in range(branches):
        parts: list = [Branch(draw(_steps(names, kinds, branches - 1, main=False)))]
        if draw(st.integers(0, 5)) == 0:
            parts.insert(draw(st.integers(0, 1)), draw(conditions(kinds, positional=False)))
        if draw(st.integers(0, 5)) == 0:
            parts.append(Branch(draw(_steps(names, kinds, 0, main=False))))
        filters.append(Filter(tuple(parts)))
        if draw(st.integers(0, 7)) == 0:
            filters.append(Filter((draw(conditions(kinds, positional=False)),)))
    return tuple(filters)


def bound(path: Path) -> list[str]:
    """The variables of a path, in order."""
    found = []
    for step in path:
        found += [step.variable] if step.variable else []
        for filter in step.filters:
            for part in filter.parts:
                if isinstance(part, Branch):
                    found += bound(part.path)
    return found


def _renamed(path: Path) -> Path:
    """x1 becomes y1: the same pattern is likely to match what the first matched."""
    return tuple(
        replace(
            step,
            variable=step.variable and "y" + step.variable[1:],
            filters=tuple(
                Filter(
                    tuple(
                        Branch(_renamed(part.path)) if isinstance(part, Branch) else part
                        for part in filter.parts
                    )
                )
                for filter in step.filters
            ),
        )
        for step in path
    )


@st.composite
def _blocks(draw: st.DrawFn, letter: str, kinds: str) -> Block:
    primes = draw(st.sampled_from(["", "", "", "'"]))
    names = (f"{letter}{number}{primes}" for number in count(1))
    stream = draw(st.sampled_from(["S"] * 9 + ["R"]))
    if draw(st.integers(0, 15)) == 0:
        return Block(stream, ())
    return Block(stream, draw(_steps(names, kinds, draw(st.sampled_from([0, 1, 1, 2])), main=True)))


@st.composite
def _sides(draw: st.DrawFn, names: list[str], kinds: str, *, literal: bool = False) -> Side:
    if literal or not names:
        if draw(st.booleans()):
            wrapped = st.sampled_from([(), (), (), ("lower-case",), ("number",)])
            return Side(Text(draw(st.sampled_from(_LITERALS))), draw(wrapped))
        return Side(Number(draw(st.sampled_from(_NUMBERS))))
    path: Path = ()
    if draw(st.integers(0, 3)) == 0:
        path = draw(plain_path(kinds))
    functions = draw(
        st.sampled_from(
            [
                (),
                (),
                (),
                (),
                ("normalize-space",),
                ("lower-case",),
                ("lower-case", "normalize-space"),
                ("number",),
                ("normalize-space", "number"),
            ]
        )
    )
    return Side(VariablePath(draw(st.sampled_from(names)), path), functions)


@st.composite
def _comparisons(draw: st.DrawFn, left: list[str], right: list[str], kinds: str) -> Compared:
    alike = [name for name in left if "y" + name[1:] in right]
    shape = draw(st.integers(0, 11))
    sign = draw(st.sampled_from(["=", "=", "=", "=", "!=", "<", "<=", ">", ">="]))
    if shape < 6 and alike:
        name = draw(st.sampled_from(alike))
        sides = [Side(VariablePath(name)), Side(VariablePath("y" + name[1:]))]
    elif shape < 9:
        sides = [draw(_sides(left, kinds)), draw(_sides(right, kinds))]
    elif shape < 10:
        sides = [draw(_sides(left + right, kinds)), draw(_sides([], kinds, literal=True))]
    else:
        sides = [draw(_sides(left + right, kinds)), draw(_sides(left + right, kinds))]
    if draw(st.integers(0, 3)) == 0:
        sides.reverse()
    return Compared(sides[0], sign, sides[1])


@st.composite
def _predicates(draw: st.DrawFn, left: list[str], right: list[str], kinds: str) -> Predicate:
    one = _comparisons(left, right, kinds)
    shape = draw(st.sampled_from(["one", "one", "one", "and", "and", "or", "both", "both"]))
    if shape == "one":
        return draw(one)
    first, second = draw(one), draw(one)
    if shape == "both":
        inner = Logical(draw(st.sampled_from(["AND", "OR"])), (first, second))
        outer = "OR" if inner.sign == "AND" else "AND"
        parts = [inner, draw(one)]
        return Logical(outer, tuple(parts if draw(st.booleans()) else parts[::-1]))
    return Logical("AND" if shape == "and" else "OR", (first, second))


@st.composite
def queries(draw: st.DrawFn, kinds: str) -> Query:
    """Two of three are joins."""
    blocks = [draw(_blocks("x", kinds))]
    operator = None
    if draw(st.integers(0, 2)):
        if draw(st.integers(0, 2)):
            blocks.append(Block(blocks[0].stream, _renamed(blocks[0].path)))
        else:
            blocks.append(draw(_blocks("y", kinds)))
        left, right = (bound(block.path) for block in blocks)
        predicate = None
        if left and right and draw(st.integers(0, 9)):
            predicate = draw(_predicates(left, right, kinds))
        window, written = draw(st.sampled_from(_WINDOWS))
        kind = draw(st.sampled_from(["FOLLOWED BY", "JOIN"]))
        operator = JoinedBy(kind, predicate, window, written)
    names = [name for block in blocks for name in bound(block.path)]
    select = draw(selects(names, kinds))
    return Query(tuple(blocks), operator, select, draw(st.integers(0, 1000)))
