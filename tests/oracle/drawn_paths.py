"""Random paths of blocks, whose steps and filters bind variables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from hypothesis import strategies as st

from tests.oracle.drawn_filters import conditions, node_test
from tests.oracle.terms import Branch, Condition, Filter, Path, Step

__all__ = ["renamed", "steps"]


@st.composite
def steps(draw: st.DrawFn, names: Iterator[str], kinds: str, budget: int, *, main: bool) -> Path:
    """One to three steps that bind in the last, and more often than not in none before."""
    length = draw(st.sampled_from([1, 1, 1, 1, 2, 2, 3] if main else [1, 1, 1, 1, 1, 2]))
    path: list[Step] = []
    if not main and draw(st.integers(0, 11)) == 0:
        own = next(names)
        return (Step("/", ".", own, draw(_filters(names, kinds, 0, "self"))),)
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
        parts: list[Condition | Branch] = [
            Branch(draw(steps(names, kinds, branches - 1, main=False)))
        ]
        if draw(st.integers(0, 5)) == 0:
            parts.insert(draw(st.integers(0, 1)), draw(conditions(kinds, positional=False)))
        if draw(st.integers(0, 5)) == 0:
            parts.append(Branch(draw(steps(names, kinds, 0, main=False))))
        filters.append(Filter(tuple(parts)))
        if draw(st.integers(0, 7)) == 0:
            filters.append(Filter((draw(conditions(kinds, positional=False)),)))
    return tuple(filters)


def renamed(path: Path, letter: str) -> Path:
    """The same path with variables of another letter: x1 becomes y1."""
    return tuple(
        replace(
            step,
            variable=step.variable and letter + step.variable[1:],
            filters=tuple(
                Filter(
                    tuple(
                        Branch(renamed(part.path, letter)) if isinstance(part, Branch) else part
                        for part in filter.parts
                    )
                )
                for filter in step.filters
            ),
        )
        for step in path
    )
