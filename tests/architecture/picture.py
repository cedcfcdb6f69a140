"""A picture of the code as SVG: packages on their floors, arrows to what they import.

An arrow that is implied by others is left out: `a → b → c` says that `a` may use
`c`, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from tests.architecture.packages import Code

__all__ = ["as_svg"]

_WIDTH, _FLOOR, _BOX, _GAP, _LEFT = 1160, 84, 40, 22, 40
_PER_LETTER = 8.0
_STYLE = """\
  text { font: 13px system-ui, sans-serif; fill: #1b2733 }
  .lines, .floor { font-size: 10px; fill: #5d6b78 }
  rect { fill: #eef4fa; stroke: #7a94ad; rx: 5 }
  .stage { fill: #fdf3e1; stroke: #c39b52 }
  line { stroke: #9aa9b7; stroke-width: 1 }
  .ground { stroke: #dde4ea }
"""


def as_svg(code: Code) -> str:
    """The picture."""
    rows = _rows(code)
    top = len(rows)
    height = top * _FLOOR + 16
    centre: dict[str, tuple[float, float]] = {}
    boxes: list[str] = []
    for floor, packages in enumerate(rows, 1):
        y = 16 + (top - floor) * _FLOOR
        boxes.append(
            f'<line class="ground" x1="0" x2="{_WIDTH}" y1="{y + _BOX + 8}" y2="{y + _BOX + 8}"/>'
            f'<text class="floor" x="4" y="{y + 24}">{floor}</text>'
        )
        widths = [max(64.0, len(_name(package)) * _PER_LETTER + 18) for package in packages]
        x = _LEFT + (_WIDTH - _LEFT - sum(widths) - _GAP * (len(packages) - 1)) / 2
        for package, width in zip(packages, widths, strict=True):
            centre[package] = (x + width / 2, y)
            stage = "" if package.startswith("xscl") else ' class="stage"'
            boxes.append(
                f'<rect{stage} x="{x:.0f}" y="{y}" width="{width:.0f}" height="{_BOX}"/>'
                f'<text x="{x + 9:.0f}" y="{y + 17}">{escape(_name(package))}</text>'
                f'<text class="lines" x="{x + 9:.0f}" y="{y + 32}">{code.lines[package]:,}</text>'
            )
            x += width + _GAP
    arrows = [
        f'<line x1="{centre[above][0]:.0f}" y1="{centre[above][1] + _BOX}" '
        f'x2="{centre[below][0]:.0f}" y2="{centre[below][1] - 2}" marker-end="url(#tip)"/>'
        for above, below in code.needed_arrows()
    ]
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" '
        f'width="{_WIDTH}" height="{height}">\n<title>The packages of XSCL</title>\n'
        f"<style>\n{_STYLE}</style>\n"
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
        'markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z" fill="#9aa9b7"/></marker></defs>\n'
        f'<rect x="0" y="0" width="{_WIDTH}" height="{height}" '
        'style="fill: white; stroke: none"/>\n'
    )
    return head + "\n".join([*arrows, *boxes]) + "\n</svg>\n"


def _name(package: str) -> str:
    return package.removeprefix("xscl.") if package != "xscl" else "xscl (public names)"


def _rows(code: Code) -> list[list[str]]:
    """The packages of each floor from the ground up, each near the middle of what it imports."""
    rows: list[list[str]] = [[] for _ in range(max(code.floors.values()))]
    for package, floor in sorted(code.floors.items()):
        rows[floor - 1].append(package)
    place: dict[str, float] = {}
    for packages in rows:
        packages.sort(key=lambda package: (sum(_below(code, package, place)), package))
        place.update(
            (package, (index + 1) / (len(packages) + 1)) for index, package in enumerate(packages)
        )
    return rows


def _below(code: Code, package: str, place: dict[str, float]) -> Iterator[float]:
    needed = [below for above, below in code.needed_arrows() if above == package]
    return (place[below] / len(needed) for below in needed)
