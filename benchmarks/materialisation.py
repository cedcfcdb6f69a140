"""What view materialisation costs and gains (section 6.6.2), on one pair of documents."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from benchmarks.baselines.mmqjp import MMQJP
from benchmarks.baselines.relations import Relations
from benchmarks.baselines.views import STEPS, materialise
from benchmarks.engine import counted
from benchmarks.measure import agree, best, within
from benchmarks.report import Bars, Report, Statement, Table, number, time_text
from benchmarks.scale import Scale
from benchmarks.sweep import between
from benchmarks.technical import planning
from datasets import Schema, document_pair, random_joins

__all__ = ["Costs", "costs", "report"]


NAMES = {"r_vj": "R_vj", "r_l": "R_L", "r_r": "R_R"}


@dataclass(frozen=True, slots=True)
class Costs:
    """Seconds: of the conjunctive queries over the witness relations and over the views, and of
    each view; None is longer than the limit.  `planning` is the share of the time that DuckDB takes
    to plan the former two."""

    templates: int
    plain: float | None
    over_views: float | None
    views: dict[str, float]
    planning: tuple[float | None, float | None]

    @property
    def with_views(self) -> float:
        """The time of the queries over the views, and of these."""
        return (self.over_views or float("nan")) + sum(self.views.values())

    @property
    def gain(self) -> float:
        """How many times as long the queries take without the views as with them, and they."""
        return (self.plain or float("nan")) / self.with_views

    @property
    def text(self) -> str:
        """The gain, and what it is computed from."""
        plain, views = (time_text(one) for one in (self.plain, self.with_views))
        return f"{number(self.gain)} times as fast with them ({plain} and {views})"


def costs(schema: Schema, scale: Scale) -> Costs:
    """Measured at the greatest number of queries."""
    joins = random_joins(schema, scale.many)
    relations = Relations(schema)
    earlier, current = document_pair(schema, 0)
    relations.load([earlier])
    relations.merge()
    relations.load([current])
    views = {
        name: best(partial(materialise, relations, name), scale.rounds, scale.limit)
        for name in STEPS
    }
    expected = counted(schema, joins, [earlier, current])
    templates = 0
    taken: list[float | None] = []
    shares: list[float | None] = []
    for way, over in (("MMQJP", False), ("MMQJP over the views", True)):
        queries = MMQJP(relations, joins, views=over)
        templates = len(queries)
        results = within(scale.patience, relations.database, queries.evaluate)
        if results is not None:
            agree(way, results, expected)
        time = None if results is None else best(queries.evaluate, scale.rounds, scale.limit)
        taken.append(time)
        shares.append(time and planning(queries.plan, time))
    return Costs(templates, taken[0], taken[1], views, (shares[0], shares[1]))


def report(name: str, title: str, measured: Costs, scale: Scale) -> Report:
    """The figure's report."""
    shares = {
        "MMQJP": measured.plain,
        **{NAMES[view]: taken for view, taken in measured.views.items()},
        "MMQJP over the views": measured.over_views,
    }
    planned = {
        part: share
        for part, share in zip(("MMQJP", "MMQJP over the views"), measured.planning, strict=True)
        if share is not None
    }
    figure = title.partition(":")[0].lower()
    views = sum(measured.views.values())
    share = views / measured.over_views if measured.over_views else float("nan")
    return Report(
        name,
        title,
        f"{scale.many:,} queries of {measured.templates} templates over one pair of documents: "
        "the conjunctive queries over the witness relations (*MMQJP*), and over the views, with "
        "the time to materialise each view. A part of the time of the conjunctive queries is "
        "DuckDB's planning, which views do not save.",
        (
            Table(
                ("part", "time", "planning, %"),
                tuple(
                    (
                        part,
                        time_text(taken) or "> limit",
                        round(100 * planned[part]) if part in planned else None,
                    )
                    for part, taken in shares.items()
                ),
            ),
        ),
        (Bars("seconds", {part: taken for part, taken in shares.items() if taken}),),
        (
            Statement(
                f"6.6.2, {figure}",
                "materialising R_vj, R_L and R_R costs little next to the join (at most half)",
                between(0, share, 0.5),
                f"{number(100 * share)} % ({time_text(views)} and "
                f"{time_text(measured.over_views)})",
            ),
            Statement(
                f"6.6.2, {figure}",
                "there are great benefits from materialising them first (1.5 times as fast)",
                between(1.5, measured.gain),
                measured.text,
            ),
        ),
    )
