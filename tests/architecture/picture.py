"""A picture of the house as SVG: rooms on their floors, arrows to what they import.

An arrow that a way through other rooms stands for is left out: `a → b → c` says that `a` may use
`c`, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from tests.architecture.rooms import House

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


def as_svg(house: House) -> str:
    """The picture."""
    rows = _rows(house)
    top = len(rows)
    height = top * _FLOOR + 16
    centre: dict[str, tuple[float, float]] = {}
    boxes: list[str] = []
    for floor, rooms in enumerate(rows, 1):
        y = 16 + (top - floor) * _FLOOR
        boxes.append(
            f'<line class="ground" x1="0" x2="{_WIDTH}" y1="{y + _BOX + 8}" y2="{y + _BOX + 8}"/>'
            f'<text class="floor" x="4" y="{y + 24}">{floor}</text>'
        )
        widths = [max(64.0, len(_name(room)) * _PER_LETTER + 18) for room in rooms]
        x = _LEFT + (_WIDTH - _LEFT - sum(widths) - _GAP * (len(rooms) - 1)) / 2
        for room, width in zip(rooms, widths, strict=True):
            centre[room] = (x + width / 2, y)
            stage = "" if room.startswith("xscl") else ' class="stage"'
            boxes.append(
                f'<rect{stage} x="{x:.0f}" y="{y}" width="{width:.0f}" height="{_BOX}"/>'
                f'<text x="{x + 9:.0f}" y="{y + 17}">{escape(_name(room))}</text>'
                f'<text class="lines" x="{x + 9:.0f}" y="{y + 32}">{house.lines[room]:,}</text>'
            )
            x += width + _GAP
    arrows = [
        f'<line x1="{centre[above][0]:.0f}" y1="{centre[above][1] + _BOX}" '
        f'x2="{centre[below][0]:.0f}" y2="{centre[below][1] - 2}" marker-end="url(#tip)"/>'
        for above, below in house.needed_arrows()
    ]
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" '
        f'width="{_WIDTH}" height="{height}">\n<title>The rooms of XSCL</title>\n'
        f"<style>\n{_STYLE}</style>\n"
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
        'markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z" fill="#9aa9b7"/></marker></defs>\n'
        f'<rect x="0" y="0" width="{_WIDTH}" height="{height}" '
        'style="fill: white; stroke: none"/>\n'
    )
    return head + "\n".join([*arrows, *boxes]) + "\n</svg>\n"


def _name(room: str) -> str:
    return room.removeprefix("xscl.") if room != "xscl" else "xscl (public names)"


def _rows(house: House) -> list[list[str]]:
    """The rooms of each floor from the ground up, each near the middle of what it stands on."""
    rows: list[list[str]] = [[] for _ in range(max(house.floors.values()))]
    for room, floor in sorted(house.floors.items()):
        rows[floor - 1].append(room)
    place: dict[str, float] = {}
    for rooms in rows:
        rooms.sort(key=lambda room: (sum(_below(house, room, place)), room))
        place.update((room, (index + 1) / (len(rooms) + 1)) for index, room in enumerate(rooms))
    return rows


def _below(house: House, room: str, place: dict[str, float]) -> Iterator[float]:
    needed = [below for above, below in house.needed_arrows() if above == room]
    return (place[below] / len(needed) for below in needed)
