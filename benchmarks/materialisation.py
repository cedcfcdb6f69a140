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
from datasets import Schema, document_pair, random_joins

__all__ = ["Costs", "costs", "report"]


NAMES = {"r_vj": "R_vj", "r_l": "R_L", "r_r": "R_R"}


@dataclass(frozen=True, slots=True)
class Costs:
    """Seconds: of the conjunctive queries over the witness relations and over the views, and of
    each view; None is longer than the limit."""

    templates: int
    plain: float | None
    over_views: float | None
    views: dict[str, float]

    @property
    def gain(self) -> float:
        """How many times as long the queries take without the views as with them, and they."""
        if self.plain is None or self.over_views is None:
            return float("nan")
        return self.plain / (self.over_views + sum(self.views.values()))


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
    for way, over in (("MMQJP", False), ("MMQJP over the views", True)):
        queries = MMQJP(relations, joins, views=over)
        templates = len(queries)
        results = within(scale.patience, relations.database, queries.evaluate)
        if results is not None:
            agree(way, results, expected)
        taken.append(None if results is None else best(queries.evaluate, scale.rounds, scale.limit))
    plain, over_views = taken
    return Costs(templates, plain, over_views, views)


def report(name: str, title: str, measured: Costs, scale: Scale) -> Report:
    """The figure's report."""
    shares = {
        "MMQJP": measured.plain,
        **{NAMES[view]: taken for view, taken in measured.views.items()},
        "MMQJP over the views": measured.over_views,
    }
    figure = title.partition(":")[0].lower()
    views = sum(measured.views.values())
    share = views / measured.over_views if measured.over_views else float("nan")
    return Report(
        name,
        title,
        f"{scale.many:,} queries, {measured.templates} templates. {scale.limits}",
        (
            Table(
                ("part", "time"),
                tuple((part, time_text(taken) or "> limit") for part, taken in shares.items()),
            ),
        ),
        (Bars("seconds", {part: taken for part, taken in shares.items() if taken}),),
        (
            Statement(
                f"6.6.2, {figure}",
                "materialising R_vj, R_L and R_R costs little beside the join",
                between(0, share, 0.5),
                f"{number(100 * share)} % of the conjunctive queries over them",
            ),
            Statement(
                f"6.6.2, {figure}",
                "there are great benefits from materialising them first",
                between(1.5, measured.gain),
                f"{number(measured.gain)} times as fast with them",
            ),
        ),
    )
