"""A coloured graph -> its vertices in canonical order, and its symmetries, by refinement.

Vertices are 0, 1, …, each with a colour, and arcs have labels; an edge is two arcs, one from either
end.  Vertices are put into cells: first by colour, then by how many arcs of which label they have
to which cell, until nothing differs (colour refinement).  Where a cell with several vertices is
left, each of them in turn is set apart, behind the others, and the cells are refined again
(individualisation; McKay and Piperno, Practical graph isomorphism II, 2014).  What refinement does
to the cells, its *trace*, is equal for vertices that a symmetry exchanges, so only those with the
least trace are followed; of two that a symmetry known by then exchanges, only one.  A leaf has one
vertex a cell: an order.  The graph as it is numbered by it is the leaf's *form*; the least form is
the same for all isomorphic graphs, and leaves of the same form differ by a symmetry.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence

__all__ = ["Arc", "Form", "Symmetry", "canonical_order", "form_of", "symmetries"]

Arc = tuple[int, str, int]
"""From a vertex, a label, to a vertex."""

Form = tuple[tuple[str, ...], tuple[Arc, ...]]
"""Colours and arcs of a graph as an order numbers it; of each edge the arc that begins first."""

Symmetry = Mapping[int, int]
"""Where those vertices go that do not stay."""

_Trace = list[tuple[int, int, tuple[int, ...]]]
"""What refinement has found: a cell, how many vertices of it, and what these have."""


def canonical_order(colours: Sequence[str], arcs: Collection[Arc]) -> tuple[int, ...]:
    """The vertices in an order by which isomorphic graphs, and no others, have equal forms.

    >>> canonical_order(["a", "b", "a"], [(0, "to", 1), (1, "from", 0)])
    (2, 0, 1)
    """
    search = _Search(colours, arcs, by_number=False)
    return min(search.leaves.values(), key=lambda leaf: leaf.form).order


def symmetries(
    colours: Sequence[str], arcs: Collection[Arc]
) -> Mapping[int, Mapping[int, Symmetry]]:
    """For each vertex, by the others to which symmetries take it that keep all vertices before it
    in place, one such symmetry; vertices that only stay are left out.

    >>> symmetries(["a", "b", "a"], [])
    {0: {2: {2: 0, 0: 2}}}
    """
    return _Search(colours, arcs, by_number=True).transversals()


def form_of(colours: Sequence[str], arcs: Iterable[Arc], order: Sequence[int]) -> Form:
    """A graph as an order numbers it."""
    place = {vertex: i for i, vertex in enumerate(order)}
    numbered = ((place[one], label, place[other]) for one, label, other in arcs)
    return tuple([colours[vertex] for vertex in order]), tuple(
        sorted([arc for arc in numbered if arc[0] <= arc[2]])
    )


class _Cells:
    """Vertices in cells.  A cell is named by how many vertices are in those before it."""

    __slots__ = ("members", "of")

    def __init__(self, of: list[int], members: dict[int, list[int]]) -> None:
        self.of = of
        self.members = members

    def setting_apart(self, vertex: int) -> _Cells:
        """A copy in which a vertex is behind the others of its cell, which keep the name."""
        copy = _Cells(self.of.copy(), self.members.copy())
        cell = self.of[vertex]
        others = [other for other in self.members[cell] if other != vertex]
        last = cell + len(others)
        copy.members[cell] = others
        copy.members[last] = [vertex]
        copy.of[vertex] = last
        return copy

    @property
    def unsettled(self) -> list[int]:
        """The cells with several vertices."""
        return [cell for cell, members in self.members.items() if len(members) > 1]


class _Leaf:
    """An order, the graph as it is numbered by it, and the vertices that were set apart."""

    __slots__ = ("form", "order", "path")

    def __init__(self, form: Form, order: tuple[int, ...], path: tuple[int, ...]) -> None:
        self.form = form
        self.order = order
        self.path = path


class _Search:
    """The leaves of the least traces, and symmetries that generate all.

    By number, the vertex that is set apart is the first that can be: then those symmetries that
    keep the vertices before it generate all that do.
    """

    def __init__(self, colours: Sequence[str], arcs: Collection[Arc], *, by_number: bool) -> None:
        self.colours = colours
        self.arcs = arcs
        self.by_number = by_number
        labels = {label: i for i, label in enumerate(sorted({label for _, label, _ in arcs}))}
        # To each vertex, the vertices with an arc to it; label and cell become one number.
        self.into: list[list[tuple[int, int]]] = [[] for _ in colours]
        self.out: list[set[tuple[int, str]]] = [set() for _ in colours]
        for one, label, other in arcs:
            self.into[other].append((labels[label] * len(colours), one))
            self.out[one].add((other, label))
        # What is set apart now, and the cells that each has left.
        self.path: list[int] = []
        self.along: list[_Cells] = []
        # Along the path that first had the least traces, by its depth.
        self.guide: list[int] = []
        self.guiding: list[_Cells] = []
        self.traces: list[_Trace] = []
        self.leaves: dict[Form, _Leaf] = {}
        # By depth, the symmetries that keep what is set apart, and where they take each vertex.
        self.found: list[Symmetry] = []
        self.keeping = [self.found]
        self.orbits = [[*range(len(colours))]]
        cells = self._by_colour()
        self._refine(cells, range(len(colours)))
        self._visit(cells)

    def transversals(self) -> dict[int, dict[int, Symmetry]]:
        """As `symmetries` returns them, of a search by number."""
        of: dict[int, dict[int, Symmetry]] = {}
        keeping = self.found
        for vertex in self.guide:
            reached: dict[int, Symmetry] = {vertex: {}}
            pending = [vertex]
            while pending:
                at = pending.pop()
                for one in keeping:
                    if (image := one.get(at, at)) not in reached:
                        reached[image] = _composed(reached[at], one)
                        pending.append(image)
            del reached[vertex]
            if reached:
                of[vertex] = reached
            keeping = [one for one in keeping if vertex not in one]
        return of

    def _by_colour(self) -> _Cells:
        cells = _Cells([0] * len(self.colours), {})
        order = sorted(range(len(self.colours)), key=self.colours.__getitem__)
        for i, vertex in enumerate(order):
            if i == 0 or self.colours[vertex] != self.colours[order[i - 1]]:
                cell = i
                cells.members[cell] = []
            cells.members[cell].append(vertex)
            cells.of[vertex] = cell
        return cells

    def _refine(self, cells: _Cells, changed: Collection[int]) -> _Trace:
        """Splits cells until all vertices of each have as many arcs of each label to each cell,
        where only `changed` vertices have come to others than before.

        Of the parts of a cell the first keeps its name, so how many arcs lead to it follows from
        the others.
        """
        of, members = cells.of, cells.members
        trace: _Trace = []
        while changed:
            having: dict[int, list[int]] = defaultdict(list)
            for vertex in changed:
                cell = of[vertex]
                for label, one in self.into[vertex]:
                    having[one].append(label + cell)
            touched: dict[int, list[int]] = defaultdict(list)
            for vertex in having:
                touched[of[vertex]].append(vertex)
            changed = []
            for cell in sorted(touched):
                whole = members[cell]
                parts: dict[tuple[int, ...], list[int]] = defaultdict(list)
                for vertex in touched[cell]:
                    parts[tuple(sorted(having[vertex]))].append(vertex)
                if len(touched[cell]) < len(whole):
                    parts[()] = [vertex for vertex in whole if vertex not in having]
                start = cell
                for has in sorted(parts):
                    part = parts[has]
                    trace.append((start, len(part), has))
                    if len(parts) > 1:
                        members[start] = part
                        if start != cell:
                            changed.extend(part)
                            for vertex in part:
                                of[vertex] = start
                    start += len(part)
        return trace

    def _visit(self, cells: _Cells) -> int:
        """Follows what can be set apart next; returns the depth at which to continue."""
        depth = len(self.path)
        unsettled = cells.unsettled
        if not unsettled:
            return self._reach(cells)
        if self.by_number:
            cell = cells.of[min(min(cells.members[cell]) for cell in unsettled)]
            if self.leaves:  # the cell that was chosen along the guide
                before = self.guiding[depth - 1] if depth else cells
                cell = before.of[self.guide[depth]]
        else:
            cell = min(unsettled, key=lambda cell: (len(cells.members[cell]), cell))
        following = self._least(cells, sorted(cells.members[cell]))
        tried: list[int] = []
        for vertex, below in following:
            if self._is_known(vertex, tried):
                continue
            tried.append(vertex)
            if len(self.guide) == depth:
                self.guide.append(vertex)
                self.guiding.append(below)
            self._descend(vertex, below)
            back = self._guess(below) if self.leaves else None
            if back is None:
                back = self._visit(below)
            del self.path[depth:], self.along[depth:]
            del self.keeping[depth + 1 :], self.orbits[depth + 1 :]
            if back < depth:
                return back
        return depth

    def _least(self, cells: _Cells, vertices: Sequence[int]) -> list[tuple[int, _Cells]]:
        """Those vertices that have the least trace when set apart, with the cells that this
        leaves, but none that a symmetry exchanges with one before it."""
        depth = len(self.path)
        kept: list[tuple[int, _Cells]] = []
        least = self.traces[depth] if depth < len(self.traces) else None
        for vertex in vertices:
            if self._is_known(vertex, [one for one, _ in kept]):
                continue
            below = cells.setting_apart(vertex)
            trace = self._refine(below, [vertex])
            if least is None or (trace < least and not self.by_number):
                # What was least so far is not.
                least = trace
                kept.clear()
                self.leaves.clear()
                self.guide[:], self.guiding[:] = self.path, self.along
                self.traces[depth:] = [trace]
            elif trace != least or (kept and self._exchanges(kept[0][1], below)):
                continue
            kept.append((vertex, below))
        return kept

    def _reach(self, cells: _Cells) -> int:
        order = tuple([cells.members[place][0] for place in range(len(self.colours))])
        form = form_of(self.colours, self.arcs, order)
        known = self.leaves.setdefault(form, _Leaf(form, order, tuple(self.path)))
        if known.order == order:
            return len(self.path)
        image = dict(zip(known.order, order, strict=True))
        self._note({one: other for one, other in image.items() if one != other})
        return _common(known.path, self.path)

    def _guess(self, cells: _Cells) -> int | None:
        """Where a symmetry takes the guide's cells to these, the depth at which to continue."""
        depth = len(self.path)
        if self.guide[:depth] == self.path or not self._exchanges(self.guiding[depth - 1], cells):
            return None
        return _common(self.guide, self.path)

    def _exchanges(self, ones: _Cells, others: _Cells) -> bool:
        """Whether what takes the settled vertices of one to those of the other, and moves no more
        than that needs, is a symmetry; it is noted."""
        moved = {}
        for cell, members in ones.members.items():
            if len(members) == 1 and members != others.members[cell]:
                moved[members[0]] = others.members[cell][0]
        start_of = {image: vertex for vertex, image in moved.items()}
        for end in [vertex for vertex in start_of if vertex not in moved]:
            start = end
            while start in start_of:
                start = start_of[start]
            moved[end] = start
        for vertex, image in moved.items():
            if self.colours[vertex] != self.colours[image]:
                return False
            if {(moved.get(at, at), label) for at, label in self.out[vertex]} != self.out[image]:
                return False
        self._note(moved)
        return True

    def _descend(self, vertex: int, cells: _Cells) -> None:
        """Sets a vertex apart, which leaves these cells."""
        self.path.append(vertex)
        self.along.append(cells)
        self.keeping.append([one for one in self.keeping[-1] if vertex not in one])
        self.orbits.append([*range(len(self.colours))])
        for one in self.keeping[-1]:
            self._unite(self.orbits[-1], one)

    def _note(self, symmetry: Symmetry) -> None:
        """Keeps a symmetry, at each depth whose path it keeps."""
        for depth, (keeping, orbits) in enumerate(zip(self.keeping, self.orbits, strict=True)):
            if depth and self.path[depth - 1] in symmetry:
                break
            keeping.append(symmetry)
            self._unite(orbits, symmetry)

    def _unite(self, orbits: list[int], symmetry: Symmetry) -> None:
        for vertex, image in symmetry.items():
            orbits[_first(orbits, vertex)] = _first(orbits, image)

    def _is_known(self, vertex: int, others: Collection[int]) -> bool:
        """Whether a known symmetry that keeps the path exchanges a vertex with one of others."""
        orbits = self.orbits[len(self.path)]
        here = _first(orbits, vertex)
        return any(_first(orbits, other) == here for other in others)


def _first(orbits: list[int], vertex: int) -> int:
    """The vertex that stands for those of an orbit: each has one that is nearer to it."""
    while (above := orbits[vertex]) != vertex:
        orbits[vertex] = vertex = orbits[above]
    return vertex


def _composed(one: Symmetry, other: Symmetry) -> Symmetry:
    """The first, and then the other."""
    moved = {vertex: other.get(image, image) for vertex, image in one.items()}
    moved |= {vertex: image for vertex, image in other.items() if vertex not in one}
    return {vertex: image for vertex, image in moved.items() if vertex != image}


def _common(one: Sequence[int], other: Sequence[int]) -> int:
    """How long two paths are the same."""
    return next(
        (i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b),
        min(len(one), len(other)),
    )
