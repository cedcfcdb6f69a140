"""Plots into SVG files, by matplotlib; the same figures make the same file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib

from benchmarks.report import Bars, Plot

matplotlib.use("svg")

from matplotlib import pyplot
from matplotlib.axes import Axes

__all__ = ["write"]

MARKERS = "osD^vPX*"
OWN = "XSCL"
"""Lines whose names begin so are thick."""
SETTINGS: Any = {
    "svg.hashsalt": "xscl",
    "svg.fonttype": "none",
    "font.size": 9,
    "axes.grid": True,
    "grid.alpha": 0.3,
}


def write(plot: Plot | Bars, file: Path) -> None:
    """Writes one plot."""
    with pyplot.rc_context(SETTINGS):
        figure, axes = pyplot.subplots(figsize=(7, 3.6), layout="constrained")
        if isinstance(plot, Bars):
            axes.barh(list(plot.heights), list(plot.heights.values()))
            axes.invert_yaxis()
            axes.set(xlabel=plot.y)
        else:
            _lines(plot, axes)
            figure.legend(loc="outside right upper", fontsize=7)
        file.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(file, metadata={"Date": None, "Creator": None})
        pyplot.close(figure)


def _lines(plot: Plot, axes: Axes) -> None:
    for place, (name, points) in enumerate(plot.lines.items()):
        if points:
            xs, ys = zip(*points, strict=True)
            marker, width = MARKERS[place % len(MARKERS)], 2.5 if name.startswith(OWN) else 1.2
            axes.plot(xs, ys, marker=marker, markersize=4, linewidth=width, label=name)
    axes.set(xlabel=plot.x, ylabel=plot.y)
    if plot.log_x:
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter("{x:,.10g}")
    if plot.log_y:
        axes.set_yscale("log")
    else:
        axes.set_ylim(bottom=0)
    axes.yaxis.set_major_formatter("{x:,.10g}")
