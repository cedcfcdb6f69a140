"""Boxes, trees and the edges between them as SVG: what a picture of a query is put together of.

Whole numbers throughout, so that equal queries have equal pictures.  Whatever a query holds is
text: it is escaped here, and nowhere else.  Of every font a text has the width that its cells have,
by `textLength`, so that none runs out of its box.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from typing import NamedTuple

from rich.cells import cell_len, set_cell_size

from xscl.explain.words import plain
from xscl.templates import flipped

__all__ = [
    "Box",
    "DrawnState",
    "Link",
    "Piece",
    "above",
    "automaton_row",
    "beside",
    "caption",
    "framed",
    "links",
    "text",
    "tree",
    "wide",
]

_CELL = 15
"""Half pixels of a letter at 12 pixels."""

_LONGEST, _MOST = 46, 4
"""Cells of a line in a box, and the lines that a longer one becomes; what is still longer is cut,
and whole as the title that a pointer shows."""

_LINE, _PAD, _TWIG, _BETWEEN = 17, 12, 22, 8


class Box(NamedTuple):
    """Where a node is drawn: the middle of its left and of its right side."""

    left: int
    right: int
    y: int
    column: int = 0


@dataclass(frozen=True, slots=True)
class Piece:
    """Some drawing with its size, and where the nodes of it are that edges may end at."""

    width: int
    height: int
    parts: tuple[str, ...] = ()
    boxes: Mapping[int, Box] = field(default_factory=dict)

    def at(self, x: int, y: int, column: int = 0) -> Piece:
        """The piece elsewhere."""
        boxes = {
            number: Box(box.left + x, box.right + x, box.y + y, box.column + column)
            for number, box in self.boxes.items()
        }
        parts = (f'<g transform="translate({x} {y})">', *self.parts, "</g>") if x or y else None
        return replace(self, parts=parts or self.parts, boxes=boxes)


class Link(NamedTuple):
    """An edge between two nodes: its operator, its class, and what a pointer shows of it."""

    left: int
    right: int
    operator: str
    kind: str
    title: str


class DrawnState(NamedTuple):
    """A state of an automaton: its lines, and those of its edges; or what is forbidden before the
    next state."""

    lines: list[str]
    edges: list[str]
    forbidden: bool = False


def wide(words: str) -> int:
    """The width of a text."""
    return cell_len(plain(words)) * _CELL // 2


def text(x: int, y: int, words: str, kind: str = "") -> str:
    """A line of text that begins at a place."""
    whole = plain(words)
    shown, title = whole, ""
    if cell_len(whole) > _LONGEST and kind not in ("head", "dim"):
        shown = set_cell_size(whole, _LONGEST - 1).rstrip() + "…"
        title = f"<title>{escape(whole)}</title>"
    chosen = f' class="{kind}"' if kind else ""
    length = f' textLength="{wide(shown)}" lengthAdjust="spacingAndGlyphs"' if shown else ""
    return f'<text x="{x}" y="{y}"{chosen}{length}>{title}{escape(shown)}</text>'


def _rows(line: str) -> list[str]:
    """A line of a box as some that fit it; the last of very many is cut."""
    rows = textwrap.wrap(plain(line), _LONGEST, break_on_hyphens=False) or [""]
    return [*rows[: _MOST - 1], " ".join(rows[_MOST - 1 :])] if len(rows) > _MOST else rows


def caption(*lines: str, kind: str = "dim") -> Piece:
    """Some lines of text."""
    parts = tuple(text(0, 13 + _LINE * number, line, kind) for number, line in enumerate(lines))
    return Piece(max(map(wide, lines), default=0), _LINE * len(lines), parts)


def above(pieces: Iterable[Piece], gap: int = 10) -> Piece:
    """Pieces below one another."""
    width = y = 0
    parts: list[str] = []
    boxes: dict[int, Box] = {}
    for piece in pieces:
        placed = piece.at(0, y)
        parts += placed.parts
        boxes |= placed.boxes
        width, y = max(width, piece.width), y + piece.height + gap
    return Piece(width, max(0, y - gap), tuple(parts), boxes)


def beside(pieces: Iterable[Piece], gap: int) -> Piece:
    """Pieces beside one another; each is a column more."""
    height = x = 0
    parts: list[str] = []
    boxes: dict[int, Box] = {}
    for column, piece in enumerate(pieces):
        placed = piece.at(x, 0, column)
        parts += placed.parts
        boxes |= placed.boxes
        height, x = max(height, piece.height), x + piece.width + gap
    return Piece(max(0, x - gap), height, tuple(parts), boxes)


_ARROW, _OVER, _UNDER, _GAP = 12, 30, 44, 34
"""Where arrows enter and leave a state, below its top; the height of those over states; how far
below an arrow a forbidden state is; the space between states."""


def automaton_row(
    states: Sequence[tuple[Piece, bool]], ways: Mapping[tuple[int, int], str]
) -> Piece:
    """States from left to right, at whose box 0 arrows begin and end: straight to the next one,
    over the states to itself and others; each way with its class.  A forbidden state, which no way
    counts, is below the arrow that it lies in."""
    parts: list[str] = []
    boxes: list[Box] = []
    arrows: list[str] = []
    x = height = 0
    for piece, forbidden in states:
        top = _OVER + (_UNDER if forbidden else 0)
        placed = piece.at(x, top)
        parts += placed.parts
        box = placed.boxes[0]
        if forbidden:
            middle = (box.left + box.right) // 2
            way = f"M{middle} {_OVER + _ARROW}V{top - 7}"
            arrows += _arrow(way, (middle, top), "l-4 -8h8z", "residual")
        else:
            boxes.append(box)
        x, height = x + piece.width + _GAP, max(height, top + piece.height)
    if states and states[0][1]:
        # What may not come before the first event lies in an arrow from nowhere.
        arrows += _ahead(0, boxes[0].left)
    for (one, other), kind in ways.items():
        start, end = boxes[one], boxes[other]
        if other == one + 1:
            arrows += _ahead(start.right, end.left, kind)
            continue
        out, into = ((box.left + box.right) // 2 for box in (start, end))
        # The ends of a loop are apart, as are those of the two ways between two states.
        out, into = (out - 9, into + 9) if one == other else (out - 4, into + 4)
        rise = _OVER - (30 if one == other else 36 if one < other else 24)
        way = f"M{out} {_OVER}C{out} {rise} {into} {rise} {into} {_OVER - 7}"
        arrows += _arrow(way, (into, _OVER), "l-4 -8h8z", kind)
    return Piece(max(0, x - _GAP), height, (*parts, *arrows))


def _ahead(start: int, end: int, kind: str = "value") -> list[str]:
    """An arrow from left to right."""
    y = _OVER + _ARROW
    return _arrow(f"M{start} {y}H{end - 7}", (end, y), "l-8 -4v8z", kind)


def _arrow(way: str, at: tuple[int, int], tip: str, kind: str) -> list[str]:
    """A way and its tip at its end."""
    return [
        f'<path class="edge {kind}" d="{way}"/>',
        f'<path class="tip {kind}" d="M{at[0]} {at[1]}{tip}"/>',
    ]


def framed(piece: Piece, kind: str, title: str = "") -> Piece:
    """A piece in a box of its own, under a title."""
    top = _PAD + (_LINE + 6 if title else 0)
    width = max(piece.width, wide(title)) + 2 * _PAD
    height = piece.height + top + _PAD
    inner = piece.at(_PAD, top)
    frame = f'<rect class="{kind}" width="{width}" height="{height}" rx="10"/>'
    head = (text(_PAD, _PAD + 13, title, "head"),) if title else ()
    return Piece(width, height, (frame, *head, *inner.parts), inner.boxes)


def tree(nodes: Sequence[tuple[int, int | None, Sequence[str], str]]) -> Piece:
    """Trees from left to right: nodes by number, each with its parent, lines and class; below a
    node those whose parent it is, so that every node has a row of its own."""
    children: dict[int | None, list[int]] = {None: []}
    for number, parent, *_ in nodes:
        children.setdefault(parent, []).append(number)
    named = {number: (lines, kind) for number, _, lines, kind in nodes}
    boxes: dict[int, Box] = {}
    twigs: list[str] = []
    parts: list[str] = []
    width = y = 0
    bottoms: dict[int, int] = {}
    waiting: list[tuple[int, int, int | None]] = [(n, 0, None) for n in reversed(children[None])]
    while waiting:
        number, depth, parent = waiting.pop()
        lines, kind = named[number]
        rows = [(one, "said" if n else "") for n, line in enumerate(lines) for one in _rows(line)]
        x = depth * _TWIG
        across = max(min(wide(line), _LONGEST * _CELL // 2) for line, _ in rows) + 2 * 10
        down = _LINE * len(rows) + 8
        parts.append(
            f'<rect class="node {kind}" x="{x}" y="{y}" width="{across}" height="{down}" rx="6"/>'
        )
        parts += (
            text(x + 10, y + 17 + _LINE * row, line, said) for row, (line, said) in enumerate(rows)
        )
        boxes[number], bottoms[number] = Box(x, x + across, y + down // 2), y + down
        if parent is not None:
            stem = x - _TWIG + 10
            turn = y + down // 2
            twigs.append(f'<path class="twig" d="M{stem} {bottoms[parent]}V{turn}H{x}"/>')
        width, y = max(width, x + across), y + down + _BETWEEN
        waiting += ((child, depth + 1, number) for child in reversed(children.get(number, [])))
    return Piece(width, max(0, y - _BETWEEN), (*twigs, *parts), boxes)


def links(piece: Piece, some: Sequence[Link]) -> Piece:
    """A piece with edges between its nodes: a curve between columns beside each other, a loop
    within one, and a way below all others where columns are between."""
    curves: list[str] = []
    signs: list[str] = []
    height = piece.height
    edge_of = {box.column: 0 for box in piece.boxes.values()}
    for box in piece.boxes.values():
        edge_of[box.column] = max(edge_of[box.column], box.right)
    taken: list[tuple[int, int]] = []
    for link in some:
        one, other = piece.boxes[link.left], piece.boxes[link.right]
        left, right = sorted((one, other), key=lambda box: (box.column, box.y))
        if left.column == right.column:
            out = edge_of[left.column] + 18
            points = (left.right, left.y), (out, left.y), (out, right.y), (right.right, right.y)
            way, at = _curve(points), _free(points, taken)
        elif right.column - left.column == 1:
            mid = (left.right + right.left) // 2
            points = (left.right, left.y), (mid, left.y), (mid, right.y), (right.left, right.y)
            way, at = _curve(points), _free(points, taken)
        else:
            out, into, low = edge_of[left.column] + 26, right.left - 26, height + 16
            way = (
                f"M{left.right} {left.y}H{out - 8}Q{out} {left.y} {out} {left.y + 8}V{low - 8}"
                f"Q{out} {low} {out + 8} {low}H{into - 8}Q{into} {low} {into} {low - 8}"
                f"V{right.y + 8}Q{into} {right.y} {into + 8} {right.y}H{right.left}"
            )
            at, height = ((out + into) // 2, low), low + 14
        sign = link.operator if one is left else flipped(link.operator)
        curves.append(f'<path class="edge {link.kind}" d="{way}"/>')
        taken.append(at)
        across = wide(sign) + 12
        x, y = at
        signs.append(
            f'<g class="sign {link.kind}"><title>{escape(plain(link.title))}</title>'
            f'<rect x="{x - across // 2}" y="{y - 10}" width="{across}" height="20" rx="10"/>'
            f"{text(x - wide(sign) // 2, y + 4, sign)}</g>"
        )
    return Piece(piece.width, height, (*piece.parts, *curves, *signs), piece.boxes)


_Points = tuple[tuple[int, int], tuple[int, int], tuple[int, int], tuple[int, int]]


def _curve(points: _Points) -> str:
    (a, b), (c, d), (e, f), (g, h) = points
    return f"M{a} {b}C{c} {d} {e} {f} {g} {h}"


def _free(points: _Points, taken: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """The point of a curve, the nearer to its middle the better, whose sign lies on no other; of
    none such the one that is the farthest from others."""
    some = [_point(points, 0.5 + step / 20) for n in range(8) for step in ((n, -n) if n else (0,))]

    def room(at: tuple[int, int]) -> int:
        x, y = at
        return min((max(abs(x - u) - 32, abs(y - v) - 21) for u, v in taken), default=0)

    return next((at for at in some if room(at) >= 0), max(some, key=room))


def _point(points: _Points, t: float) -> tuple[int, int]:
    """A point of a Bézier curve."""
    weights = (1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3
    x, y = (sum(w * p[i] for w, p in zip(weights, points, strict=True)) for i in (0, 1))
    return round(x), round(y)
