"""Figure 6.15: view materialisation over three-level documents."""

from __future__ import annotations

from dataclasses import replace

from benchmarks.materialisation import costs, report
from benchmarks.report import Report, Statement, number
from benchmarks.scale import Scale
from datasets import three_level, two_level


def run(scale: Scale) -> Report:
    title = "Figure 6.15: view materialisation, three levels"
    deep = costs(three_level(), scale)
    made = report("figure_6_15", title, deep, scale)
    flat = costs(two_level(), scale)
    known = deep.gain == deep.gain and flat.gain == flat.gain
    more = Statement(
        "6.6.2, figure 6.15",
        "the more templates there are, the greater is the benefit",
        deep.gain > flat.gain if known else None,
        f"{number(deep.gain)} times with {deep.templates} templates, {number(flat.gain)} times "
        f"with {flat.templates} (two levels, measured again in this run)",
    )
    return replace(made, statements=(*made.statements, more))
