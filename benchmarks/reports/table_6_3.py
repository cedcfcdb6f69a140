"""Table 6.3 and section 6.6.1: how many query templates there are, next to the thesis' numbers.

Over documents of two levels, and of any depth, every query of so many value joins is made and put
through the engine's own minor and canonical form.  For the random queries over three levels the
templates are counted as this project has them, and with a template and its mirror image (left and
right exchanged) as one.
"""

from __future__ import annotations

from itertools import combinations, product

from benchmarks.baselines.shapes import Shape, hanging_of, least_shape, template_of, up_to_mirroring
from benchmarks.report import Cell, Report, Statement, Table
from benchmarks.scale import Scale
from datasets import random_joins, three_level
from tests.templates.graphs import bipartite, graph, grown, trees
from xscl.templates import minor
from xscl.templates import template_of as canonical_template

FLAT = {1: 1, 2: 3, 3: 6, 4: 16}
DEEP = {1: 1, 2: 3, 3: 16, 4: 230}
"""The thesis' numbers; of the last one it says that there are fewer."""

DRAWN = ((2, 1_000, 2), (3, 1_000, 6), (4, 10, 6), (4, 1_000, 20), (4, 100_000, 22), (5, 1_000, 39))
"""(K, queries, the thesis' number of templates) of the three-level benchmark."""

DRAWS = 50


def run(scale: Scale) -> Report:
    counts = [(joins, FLAT[joins], flat(joins), DEEP[joins], deep(joins)) for joins in FLAT]
    possible = {most: all_templates(most) for most in sorted({most for most, _, _ in DRAWN})}
    rows = list[tuple[Cell, ...]]()
    ranges = list[tuple[int, int]]()
    for most, queries, thesis in DRAWN:
        draws = [both_ways(random_templates(most, queries, seed)) for seed in seeds(queries)]
        mirrored = [each for _, each in draws]
        ranges.append((min(mirrored), max(mirrored)))
        of_draws = span(*ranges[-1])
        rows.append(
            (most, queries, thesis, *draws[0][::-1], of_draws, *both_ways(possible[most])[::-1])
        )
    exact = all(a == b and c == d for joins, a, b, c, d in counts if joins < 4)
    return Report(
        "table_6_3",
        "Table 6.3: query templates",
        "First table: all templates of so many value joins. Second table: the templates of random "
        "queries over three-level documents. A template and its mirror image (left and right "
        "exchanged) are two in XSCL, since the left side is the earlier document; the thesis seems "
        "to count them as one (*mirrored = 1*). Where not all that are possible occur, their "
        f"number depends on the draw: the table has the first draw, which figures 6.11 and 6.12 "
        f"use, and the range of {DRAWS} (one for 100,000 queries).",
        (
            Table(
                (
                    "value joins",
                    "flat schema: thesis",
                    "flat schema: here",
                    "complex schema: thesis",
                    "complex schema: here",
                ),
                tuple(
                    (joins, a, b, f"< {c}" if joins == 4 else c, d) for joins, a, b, c, d in counts
                ),
            ),
            Table(
                (
                    "K",
                    "queries",
                    "thesis",
                    "here, mirrored = 1",
                    "here",
                    f"{DRAWS} draws, mirrored = 1",
                    "possible, mirrored = 1",
                    "possible",
                ),
                tuple(rows),
            ),
        ),
        (),
        (
            Statement(
                "6.4.2, table 6.3",
                "1, 3, 6, 16 templates for 1 to 4 value joins over flat schemas; 1, 3, 16, "
                "fewer than 230 over complex ones",
                exact and counts[-1][2] == FLAT[4] and counts[-1][4] < DEEP[4],
                f"{', '.join(str(row[2]) for row in counts)}; "
                f"{', '.join(str(row[4]) for row in counts)}",
            ),
            *(
                Statement(
                    "6.6.1",
                    f"random queries over three levels: {thesis} templates for K = {most} and "
                    f"{queries:,} queries (within the range of the draws)",
                    least <= thesis <= greatest,
                    f"{span(least, greatest)} in {len(seeds(queries))} "
                    f"draw{'s' * (len(seeds(queries)) > 1)}, mirror images as one",
                )
                for (most, queries, thesis), (least, greatest) in zip(DRAWN, ranges, strict=True)
            ),
        ),
    )


def flat(joins: int) -> int:
    """All templates of so many value joins over documents of two levels."""
    left = [(0, None), *[(0, 0)] * joins]
    right = [(1, None), *[(1, joins + 1)] * joins]
    leaves = range(1, joins + 1), range(joins + 2, 2 * joins + 2)
    return len(
        {
            canonical_template(minor(graph([*left, *right], [(a, "=", b) for a, b in edges])))[0].id
            for edges in combinations(product(*leaves), joins)
        }
    )


def deep(joins: int) -> int:
    """All templates of so many value joins over documents of any depth."""
    found = set()
    for edges in bipartite(joins):
        lefts, rights = (trees(sorted({edge[side] for edge in edges})) for side in (0, 1))
        for sides in product(lefts, rights):
            found.add(canonical_template(minor(grown(sides, edges)))[0].id)
    return len(found)


def seeds(queries: int) -> range:
    """Of the draws: one is enough where all that is possible occurs."""
    return range(1, 1 + (DRAWS if queries < 100_000 else 1))


def span(least: int, greatest: int) -> str:
    return f"{least}" if least == greatest else f"{least} to {greatest}"


def random_templates(most: int, queries: int, seed: int) -> set[Shape]:
    """The templates of random queries over three levels."""
    schema = three_level()
    joins = random_joins(schema, queries, most=most, seed=seed)
    return {template_of(schema, join)[0] for join in joins}


def all_templates(most: int) -> set[Shape]:
    """All templates that queries of up to so many value joins over three levels can have."""
    above = sorted({path[:-1] for path in three_level().leaves})
    shapes = set()
    for joins in range(1, most + 1):
        sides = {
            hanging_of(parents)
            for parents in product(above, repeat=joins)
            if max(map(parents.count, parents)) <= len(above)
        }
        shapes |= {least_shape(left, right)[0] for left, right in product(sides, repeat=2)}
    return shapes


def both_ways(shapes: set[Shape]) -> tuple[int, int]:
    """How many there are, and how many if a template and its mirror image are one."""
    return len(shapes), up_to_mirroring(shapes)
