"""The technical benchmark of the thesis' section 4.6.1: one stream of events, and queries of three
steps over it, by five templates.

An event has four attributes of 100 values (`d0` to `d3`) and four in [0, 1) (`c0` to `c3`), all
uniform, and comes a second after the one before it.  Each step of a query compares two of the
former with constants and bounds two of the latter; one of the equalities, the primary predicate, is
the same in all its steps.  Attributes are drawn for each query and are in its text; constants are
drawn for each step and are parameters.  So 72 texts make all queries of a template (table 4.1).
Everything is the same for the same seed.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, permutations
from random import Random
from typing import Any, Literal

__all__ = [
    "STEPPED",
    "SteppedQuery",
    "cayuga_benchmark",
    "cayuga_events",
    "stepped_queries",
    "with_rows",
]

STEPPED = ("LinearStat", "LinearDyn", "Filter", "NonDeterministic", "NonDeterministicAgg")
"""The templates of queries."""

Template = Literal["LinearStat", "LinearDyn", "Filter", "NonDeterministic", "NonDeterministicAgg"]

VALUES = 100
RANGES = 25
SELECTIVITY = 0.7
ZIPF = (1.0, 1.0, 0.8)
DURATION = 20

DISCRETE, CONTINUOUS = (tuple(f"{kind}{place}" for place in range(4)) for kind in "dc")
NAMES = DISCRETE + CONTINUOUS

Row = dict[str, str | float]


@dataclass(frozen=True, slots=True)
class SteppedQuery:
    """The choices drawn for a query: attributes by their places, the primary one first; for each
    step the other equality's constant and the bounds, an upper and a lower one."""

    discrete: tuple[int, int]
    continuous: tuple[int, int]
    primary: int
    others: tuple[int, ...]
    bounds: tuple[tuple[float, float], ...]

    @property
    def row(self) -> Row:
        """Its constants, as the parameters of its text."""
        row: Row = {"p": str(self.primary)}
        for step, (other, (most, least)) in enumerate(zip(self.others, self.bounds, strict=True)):
            row |= {f"e{step}": str(other), f"k{step}": most, f"l{step}": least}
        return row

    def text(self, template: Template) -> str:
        """The query, with parameters for its constants."""
        return _TEXTS[template](self)

    def steps(self, length: int) -> Hashable:
        """A key that two queries share if and only if their first steps are the same, whichever of
        the equalities is the primary predicate of one step."""
        primary, other = self.discrete
        equal = tuple(
            frozenset([(primary, self.primary), (other, constant)])
            for constant in self.others[:length]
        )
        return equal, self.continuous, self.bounds[:length]


def stepped_queries(
    count: int,
    *,
    zipf: tuple[float, ...] = ZIPF,
    selectivity: float = SELECTIVITY,
    seed: int = 10,
) -> list[SteppedQuery]:
    """Queries at random: attributes and the primary constant are drawn by the first exponent of
    Zipf, the constant and the range of a step by its own; both bounds of the range admit as many
    values as `selectivity` says, and up to 0.024 more.

    >>> stepped_queries(1)[0].row["k1"]
    0.7
    """
    random = Random(seed)
    weights = [rank ** -zipf[0] for rank in range(1, 5)]
    pairs = {
        pair: weights[pair[0]] * weights[pair[1]] / (sum(weights) - weights[pair[0]])
        for pair in permutations(range(4), 2)
    }
    discrete = random.choices([*pairs], [*pairs.values()], k=count)
    continuous = random.choices([*pairs], [*pairs.values()], k=count)
    primary = zipfian(random, VALUES, zipf[0], count)
    others, ranges = (
        [*zip(*(zipfian(random, values, one, count) for one in zipf), strict=True)]
        for values in (VALUES, RANGES)
    )
    # Equal bounds are one object: there are hundreds of thousands.
    bounds = [
        (round(selectivity + shift / 1_000, 4), round(1 - selectivity - shift / 1_000, 4))
        for shift in range(RANGES)
    ]
    queries = []
    for place, (one, two) in enumerate(zip(discrete, continuous, strict=True)):
        ordered = two if two[0] < two[1] else two[::-1]
        drawn = tuple([bounds[shift] for shift in ranges[place]])
        queries.append(SteppedQuery(one, ordered, primary[place], others[place], drawn))
    return queries


def cayuga_benchmark(
    template: Template,
    count: int,
    *,
    zipf: tuple[float, ...] = ZIPF,
    selectivity: float = SELECTIVITY,
    seed: int = 10,
) -> Iterator[tuple[str, list[Row]]]:
    """Queries of a template: a text, and the rows of its parameters, for `subscribe_many`.

    >>> sum(len(rows) for _, rows in cayuga_benchmark("Filter", 1000))
    1000
    """
    return with_rows(
        template, stepped_queries(count, zipf=zipf, selectivity=selectivity, seed=seed)
    )


def with_rows(
    template: Template, queries: Iterable[SteppedQuery]
) -> Iterator[tuple[str, list[Row]]]:
    """Queries by their texts; rows are made one text after the other."""
    by_text: dict[str, list[SteppedQuery]] = {}
    texts: dict[tuple[object, object], str] = {}
    for query in queries:
        attributes = query.discrete, query.continuous
        if attributes not in texts:
            texts[attributes] = query.text(template)
        by_text.setdefault(texts[attributes], []).append(query)
    for text, some in by_text.items():
        yield text, [query.row for query in some]


def cayuga_events(count: int, *, seed: int = 11) -> Iterator[dict[str, Any]]:
    """Events as envelopes of stream `S`, at seconds 1, 2, …

    >>> sorted(next(cayuga_events(1))["json"])
    ['c0', 'c1', 'c2', 'c3', 'd0', 'd1', 'd2', 'd3']
    """
    dice = Random(seed).random
    for time in range(1, count + 1):
        values = {name: int(dice() * VALUES) for name in DISCRETE}
        values |= {name: round(dice(), 6) for name in CONTINUOUS}  # type: ignore[misc]
        yield {"stream": "S", "id": f"s{time}", "timestamp": time, "json": values}


def zipfian(random: Random, values: int, exponent: float, count: int) -> list[int]:
    """So many of the numbers below `values`; lower numbers are likelier."""
    weights = list(accumulate(rank**-exponent for rank in range(1, values + 1)))
    return random.choices(range(values), cum_weights=weights, k=count)


# Texts.  The stream is declared, so that it has these attributes and no others.

_DECLARED = f"DECLARE STREAM S ({', '.join(NAMES)});\n"
_ALL = ", ".join(NAMES)
_SUM = "$.s + $2.c0 + $2.c1 + $2.c2 + $2.c3 AS s"


def _theta(query: SteppedQuery, step: int, prefix: str = "", before: str | None = None) -> str:
    """The condition of a step over attributes that begin with a prefix; where there is one of the
    step before, the first bounded attribute must have grown since by 1 %."""
    (primary, other), (one, two) = query.discrete, query.continuous
    grown = "" if before is None else f" AND {prefix}c{one} > 1.01*{before}c{one}"
    return (
        f"{prefix}d{primary} = :p AND {prefix}d{other} = :e{step} "
        f"AND {prefix}c{one} < :k{step} AND {prefix}c{two} > :l{step}{grown}"
    )


def _skipping(query: SteppedQuery, prefix: str = "") -> str:
    """Admits an event with the primary predicate."""
    return f"DUR <= {DURATION} AND $2.{prefix}d{query.discrete[0]} = :p"


def _linear(query: SteppedQuery, *, dynamic: bool = False, skipping: bool = False) -> str:
    """Three events, next to each other or skipping some."""
    found = f"FILTER{{{_theta(query, 0)}}}(S)"
    for step, before, prefix in ((1, "", "x"), (2, "x", "y")):
        renamed = ", ".join(f"{name} AS {prefix}{name}" for name in NAMES)
        between = f"{{{_skipping(query, prefix)}}}" if skipping else ""
        theta = _theta(query, step, prefix, before if dynamic else None)
        found = f"FILTER{{{theta}}}({found}\nNEXT{between} (SELECT {renamed} FROM S))"
    return _DECLARED + found


def _iterated(query: SteppedQuery, *, summed: bool = False) -> str:
    """An event and two series of events with the primary predicate."""
    first = f"FILTER{{{_theta(query, 0)}}}(S)"
    if summed:
        first = f"(SELECT *, c0 + c1 + c2 + c3 AS s FROM {first})"
    braces = f"{{{_skipping(query)}{f', , {_SUM}' if summed else ''}}}"
    second = f"FILTER{{{_theta(query, 1)}}}({first}\nFOLD{braces} S)"
    firsts = ", ".join(f"{name}_1 AS x{name}" for name in NAMES)
    kept = f"(SELECT {firsts}, {_ALL}{', s' if summed else ''} FROM {second})"
    return f"{_DECLARED}FILTER{{{_theta(query, 2)}}}({kept}\nFOLD{braces} S)"


_TEXTS: dict[str, Callable[[SteppedQuery], str]] = {
    "LinearStat": _linear,
    "LinearDyn": partial(_linear, dynamic=True),
    "Filter": partial(_linear, skipping=True),
    "NonDeterministic": _iterated,
    "NonDeterministicAgg": partial(_iterated, summed=True),
}
