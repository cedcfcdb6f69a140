"""Random queries as text, of all that explaining distinguishes, and random small documents."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

from hypothesis import strategies as st

STRINGS = ("1", "it''s", '"<b>" #35;', "\\n", "a\nb")
FILTERS = ("[b]", "[not(@k)]", "[. != '']", "[c > 1 or b]", "[1]")


@st.composite
def _pattern(draw: st.DrawFn, names: Iterator[str], budget: int, *, main: bool = False) -> str:
    """A path whose last step binds, with branches in filters below it."""
    text = "" if main else draw(st.sampled_from([".", ""]))
    for last in draw(st.sampled_from([(True,), (True,), (False, True)])):
        # A relative path may begin without an axis.
        test = draw(st.sampled_from(["a", "b", "*", "'d e'"]))
        axis = draw(st.sampled_from(["/", "//", "//"])) if main or text else ""
        text += ("./" if test[0] == "'" and not axis else axis) + test
        if last or draw(st.booleans()):
            text += f"->{next(names)}"
        if draw(st.integers(0, 3)) == 0:
            text += draw(st.sampled_from(FILTERS))
    for _ in range(draw(st.integers(0, budget))):
        text += f"[{draw(_pattern(names, budget - 1))}]"
    return text


@st.composite
def _operand(draw: st.DrawFn, names: Iterator[str], bound: list[str], *, depth: int) -> str:
    kind = draw(st.integers(0, 6)) if depth else 6
    if kind == 0:
        return f"({draw(_source(names, bound, depth=depth - 1))})"
    read = draw(st.sampled_from(["S", "S", "T"]))
    if kind == 1:
        # Its variables are its own.
        inner = draw(_source((f"v{n}" for n in count()), [], depth=0))
        read = f"(SELECT * FROM {inner}{draw(st.sampled_from(['', ' PUBLISH P']))})"
    return read + draw(_pattern(_noted(names, bound), 2, main=True))


def _noted(names: Iterator[str], to: list[str]) -> Iterator[str]:
    for name in names:
        to.append(name)
        yield name


@st.composite
def _source(draw: st.DrawFn, names: Iterator[str], bound: list[str], *, depth: int) -> str:
    """A chain of up to four operands; `bound` gets its variables."""
    text = draw(_operand(names, bound, depth=depth))
    for _ in range(draw(st.integers(0, 3))):
        right = draw(_operand(names, bound, depth=depth))
        operator = draw(st.sampled_from(["JOIN", "FOLLOWED BY"]))
        constraint = draw(_predicate(bound)) + draw(st.sampled_from(["", ", 5 s", ", 1.5h", ", 0"]))
        text += f" {operator} {{{constraint.removeprefix(', ')}}} {right}"
    return text


@st.composite
def _predicate(draw: st.DrawFn, bound: list[str]) -> str:
    sides = st.sampled_from(bound).flatmap(
        lambda name: st.sampled_from([name, name, name, f"{name}/c", f"lower-case({name})"])
    )
    others = st.one_of(sides, sides, sides, st.sampled_from([f"'{one}'" for one in STRINGS]))
    signs = st.sampled_from(["=", "=", "=", "!=", "<", ">="])
    comparison = st.builds("{} {} {}".format, sides, signs, others)
    conjuncts = st.lists(comparison, min_size=1, max_size=3).map(" AND ".join)
    return draw(
        st.sampled_from(["", "one", "one", "one", "two"]).flatmap(
            lambda kind: (
                st.just("")
                if not kind
                else st.lists(conjuncts, min_size=1, max_size=2 if kind == "two" else 1).map(
                    " OR ".join
                )
            )
        )
    )


@st.composite
def queries(draw: st.DrawFn) -> str:
    """Chains with groups and sub-queries, disjuncts, filters, windows of all kinds."""
    bound: list[str] = []
    source = draw(_source((f"x{n}" for n in count()), bound, depth=1))
    return f"{source}{draw(st.sampled_from(['', ' PUBLISH Q']))}"


@st.composite
def joins_of_one_pattern(draw: st.DrawFn) -> str:
    """JOINs over one stream of a pattern with itself."""
    variables: list[str] = []
    pattern = draw(_pattern(_noted((f"x{n}" for n in count()), variables), 2, main=True))
    sides = st.sampled_from([*variables, *(name.replace("x", "y") for name in variables)])
    similar = st.sampled_from(variables).map(lambda name: f"{name} = {name.replace('x', 'y')}")
    signs = st.sampled_from(["=", "!=", "<"])
    conjuncts = draw(
        st.lists(similar | st.builds("{} {} {}".format, sides, signs, sides), max_size=2)
    )
    predicate = " AND ".join(conjuncts) or "INF"
    return f"S{pattern} JOIN {{{predicate}}} S{pattern.replace('->x', '->y')}"


_leaves = st.builds(
    "<{0}{1}>{2}</{0}>".format,
    st.sampled_from(["a", "b", "c"]),
    st.sampled_from(["", " k='1'"]),
    st.sampled_from(["1", "2"]),
)
_inner = st.builds(
    "<{0}>{1}</{0}>".format, st.sampled_from(["a", "b"]), st.lists(_leaves, max_size=3).map("".join)
)
documents = st.builds(
    "<{0}>{1}</{0}>".format,
    st.sampled_from(["a", "b"]),
    st.lists(_leaves | _inner, max_size=3).map("".join),
)
"""Documents of up to three levels."""
