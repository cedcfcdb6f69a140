"""Random queries over every production of the language.

Two of three are joins, of which a third have three or four blocks, often grouped to the right.
Most blocks of a join are equal, as the same pattern is the likeliest to match.  Some queries read
the results of others: of one in parentheses, or of those that publish to a stream.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import count
from typing import Literal

from hypothesis import strategies as st

from tests.oracle.drawn_filters import plain_path
from tests.oracle.drawn_paths import renamed, steps
from tests.oracle.drawn_selects import selects
from tests.oracle.terms import (
    Block,
    Compared,
    Join,
    JoinedBy,
    Logical,
    Number,
    Path,
    Predicate,
    Query,
    Side,
    Source,
    Step,
    Text,
    VariablePath,
    blocks_of,
    bound,
)

__all__ = ["queries", "query_sets", "query_with_sub_query"]

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
_LONG = ((None, None), (None, None), (5, "5seconds"), (60, "1 Minute"), (86400, "1 day"))
_FINITE = ((2, "2"), (3, "3 s"), (5, "5"))
_LITERALS = ("1", "2", "x", "X", "x y", "", "10")
_NUMBERS = ("1", "2", "1.0", "10", "1.5", "-1", "0")
_SIGNS: tuple[Literal["AND", "OR"], ...] = ("AND", "OR")
_KINDS: tuple[Literal["FOLLOWED BY", "JOIN"], ...] = ("FOLLOWED BY", "JOIN")
_STREAMS = ("S",) * 9 + ("R",)


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
    similar = [(a, b) for a in left for b in right if a[1:] == b[1:]]
    shape = draw(st.integers(0, 11))
    sign = draw(st.sampled_from(["=", "=", "=", "=", "!=", "<", "<=", ">", ">="]))
    if shape < 6 and similar:
        sides = [Side(VariablePath(name)) for name in draw(st.sampled_from(similar))]
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
def _predicates(
    draw: st.DrawFn, left: list[str], right: list[str], kinds: str, *, easy: bool
) -> Predicate:
    one = _comparisons(left, right, kinds)
    similar = [(a, b) for a in left for b in right if a[1:] == b[1:]]
    if easy and similar and draw(st.integers(0, 2)):
        a, b = draw(st.sampled_from(similar))
        return Compared(Side(VariablePath(a)), "=", Side(VariablePath(b)))
    shape = draw(st.sampled_from(["one", "one", "one", "and", "and", "or", "both", "both"]))
    if shape == "one":
        return draw(one)
    first, second = draw(one), draw(one)
    if shape == "both":
        signs = draw(st.permutations(_SIGNS))
        parts: list[Predicate] = [Logical(signs[0], (first, second)), draw(one)]
        return Logical(signs[1], tuple(parts if draw(st.booleans()) else parts[::-1]))
    return Logical("AND" if shape == "and" else "OR", (first, second))


@st.composite
def _blocks(
    draw: st.DrawFn, letter: str, kinds: str, streams: Sequence[str], *, easy: bool
) -> Block:
    primes = draw(st.sampled_from(["", "", "", "'"]))
    names = (f"{letter}{number}{primes}" for number in count(1))
    stream = draw(st.sampled_from(streams))
    shape = draw(st.integers(0, 15))
    if shape == 0:
        return Block(stream, ())
    if easy and shape > 8:
        return Block(stream, (Step("//", draw(st.sampled_from(["*", "a", "b"])), next(names)),))
    budget = draw(st.sampled_from([0, 0, 1] if easy else [0, 1, 1, 2]))
    return Block(stream, draw(steps(names, kinds, budget, main=True)))


@st.composite
def _sources(
    draw: st.DrawFn, kinds: str, streams: Sequence[str], *, most: int, finite: bool, easy: bool
) -> Source:
    number = min(most, draw(st.sampled_from([1, 1, 1, 2, 2, 2, 2, 3, 3, 4])))
    easy = easy or number > 2 or draw(st.booleans())
    blocks: list[Block] = []
    for letter in "xyzw"[:number]:
        block = draw(_blocks(letter, kinds, streams, easy=easy))
        if blocks and draw(st.integers(0, 2 * number - 2)) > 0:
            stream = block.stream if draw(st.integers(0, 2)) == 0 else blocks[0].stream
            block = Block(stream, renamed(blocks[0].path, letter))
        blocks.append(block)
    windows = _FINITE if finite else _LONG if easy else _WINDOWS
    return draw(_joined(blocks, [], kinds, windows, easy=easy))


@st.composite
def _joined(
    draw: st.DrawFn,
    blocks: list[Block],
    outside: list[str],
    kinds: str,
    windows: Sequence[tuple[float | None, str | None]],
    *,
    easy: bool,
) -> Source:
    """The blocks under operators; those that bind `outside` are to the left of them."""
    if len(blocks) == 1:
        return blocks[0]
    cut = draw(st.sampled_from([len(blocks) - 1, len(blocks) - 1, *range(1, len(blocks))]))
    sides = blocks[:cut], blocks[cut:]
    left, right = ([name for block in side for name in bound(block.path)] for side in sides)
    predicate = None
    if left and right and draw(st.integers(0, 39 if easy else 9)) > 0:
        reached = left + outside if draw(st.integers(0, 1)) else left
        predicate = draw(_predicates(reached, right, kinds, easy=easy))
    window, written = draw(st.sampled_from(windows))
    kind = draw(st.sampled_from(_KINDS + _KINDS[1:] if easy else _KINDS))
    return Join(
        draw(_joined(sides[0], outside, kinds, windows, easy=easy)),
        JoinedBy(kind, predicate, window, written),
        draw(_joined(sides[1], outside + left, kinds, windows, easy=easy)),
    )


@st.composite
def queries(
    draw: st.DrawFn,
    kinds: str,
    *,
    streams: Sequence[str] = _STREAMS,
    publish: str | None = None,
    most: int = 4,
    finite: bool = False,
    easy: bool = False,
) -> Query:
    """A query of at most so many blocks without sub-queries.

    `finite` gives it windows that end, `easy` makes it likelier to match, as chains and half of
    the others are anyway.
    """
    source = draw(_sources(kinds, streams, most=most, finite=finite, easy=easy))
    names = [name for block in blocks_of(source) for name in bound(block.path)]
    return Query(source, draw(selects(names, kinds)), publish, draw(st.integers(0, 1000)))


@st.composite
def query_with_sub_query(draw: st.DrawFn, kinds: str, *, finite: bool) -> Query:
    """A query of which one block reads the results of another, which may publish them, too."""
    publish = draw(st.sampled_from([None, None, "P"]))
    one = partial(queries, kinds, streams=("S",), finite=finite, easy=True)
    inner = draw(one(publish=publish, most=2))
    if draw(st.integers(0, 3)) == 0:
        inner = _within(inner, draw(one(most=1)), 0)
    most = draw(st.sampled_from([1, 2, 2, 3]))
    outer = draw(one(most=most))
    return _within(outer, inner, draw(st.integers(0, len(blocks_of(outer.source)) - 1)))


def _within(outer: Query, inner: Query, place: int) -> Query:
    """The outer query with the inner one in place of the stream of one of its blocks."""

    def replaced(source: Source, place: int) -> Source:
        if isinstance(source, Block):
            return replace(source, stream=inner) if place == 0 else source
        left = len(blocks_of(source.left))
        return Join(
            replaced(source.left, place),
            source.operator,
            replaced(source.right, place - left),
        )

    return replace(outer, source=replaced(outer.source, place))


@st.composite
def _published(draw: st.DrawFn, kinds: str, *, finite: bool) -> list[Query]:
    """One or two queries that publish, and one or two that read it, the last maybe what the one
    before it publishes in turn."""
    stream = draw(st.sampled_from(["P", "P", "R"]))  # in R there are other documents, too
    one = partial(queries, kinds, finite=finite, easy=True)
    drawn = [
        draw(one(streams=("S",), publish=stream, most=2))
        for _ in range(draw(st.sampled_from([1, 1, 2])))
    ]
    streams: tuple[str, ...] = (stream, stream, stream, "S")
    for number in range(draw(st.integers(1, 2))):
        publish = "T" if number == 0 and draw(st.booleans()) else None
        most = draw(st.sampled_from([1, 2, 3]))
        drawn.append(draw(one(streams=streams, publish=publish, most=most)))
        streams += ("T",) * 3 if publish else ()
    return drawn


@st.composite
def query_sets(draw: st.DrawFn, kinds: str, *, finite: bool = False) -> list[Query]:
    """One to five queries; in two of seven sets some read results of others."""
    one = queries(kinds, finite=finite)
    shape = draw(st.sampled_from(["alone"] * 5 + ["sub-query", "published"]))
    if shape == "published":
        drawn = draw(_published(kinds, finite=finite))
        return draw(st.permutations(drawn))
    least, most = (2, 4) if shape == "alone" else (0, 1)
    drawn = draw(st.lists(one, min_size=least, max_size=most))
    if shape == "sub-query":
        drawn.append(draw(query_with_sub_query(kinds, finite=finite)))
        if draw(st.booleans()):
            drawn.append(draw(queries(kinds, streams=("P", "P", "S"), most=2, easy=True)))
    return drawn
