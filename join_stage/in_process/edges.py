"""Edges: the value joins that equal leaves of two paths represent, with their bounds.

The in-process side of the relations `accept` and `value_join`.  Leaves are rows of paths
(docs/laws.md#path-rows); the edge of a pair of paths is looked up once, and stays valid until
queries or leaf paths come or go.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from xscl.join_stage.batch import Accepted
from xscl.join_stage.registry import Registry

__all__ = ["Accepts", "Edge", "Edges"]

Depths = tuple[int, ...]


class Accepts:
    """The spines that leaf paths accept: for each path, (spine, depths) pairs.

    `version` grows when the accepts of a known path change.
    """

    def __init__(self) -> None:
        self.version = 0
        self._of_path: dict[int, list[tuple[int, Depths]]] = {}

    def __getitem__(self, path: int) -> Sequence[tuple[int, Depths]]:
        return self._of_path.get(path, ())

    def of_paths(self) -> Collection[Sequence[tuple[int, Depths]]]:
        """Those of each leaf path."""
        return self._of_path.values()

    def add(self, accepts: Iterable[Accepted]) -> None:
        """Adds the new accepts of leaf paths."""
        new: dict[int, list[tuple[int, Depths]]] = {}
        for path, spine, depths in accepts:
            new.setdefault(path, []).append((spine, depths))
        for path, some in new.items():
            if path in self._of_path:
                self.version += 1
                self._of_path[path] += some
            else:
                self._of_path[path] = some

    def change(self, gone: Iterable[int], moved: Iterable[tuple[int, int | None]]) -> None:
        """Removes spines and leaf paths."""
        self.version += 1
        for path, _ in moved:
            self._of_path.pop(path, None)
        spines = set(gone)
        if not spines:
            return
        for path, some in list(self._of_path.items()):
            left = [accept for accept in some if accept[0] not in spines]
            if not left:
                del self._of_path[path]
            elif len(left) < len(some):
                self._of_path[path] = left


@dataclass(frozen=True, slots=True)
class Edge:
    """Value joins between leaves of two paths: (number, depths of the marked nodes on the left, on
    the right); the depths that any of them marks, and their widest (lo, wl)."""

    joins: tuple[tuple[int, Depths, Depths], ...]
    left: Depths
    right: Depths
    lo: int
    wl: int


class Edges:
    """The edges between leaf paths, as queries and accepts are now."""

    def __init__(self, registry: Registry, accepts: Accepts) -> None:
        self._registry = registry
        self._accepts = accepts
        self._version = (-1, -1)
        self._edges: dict[tuple[int, int], Edge | None] = {}
        self._joins: dict[int, bool] = {}

    def settle(self) -> bool:
        """Updates to the queries and the accepts; returns whether anything has changed."""
        version = (self._registry.structure, self._accepts.version)
        if version == self._version:
            return False
        self._version = version
        self._edges.clear()
        self._joins.clear()
        return True

    def joins(self, path: int) -> bool:
        """Whether leaves of a path are in any value join."""
        found = self._joins.get(path)
        if found is None:
            joining = self._registry.value_joins.joining
            found = any(joining[spine] > 0 for spine, _ in self._accepts[path])
            self._joins[path] = found
        return found

    def between(self, left: int, right: int) -> Edge | None:
        """The edge between a left and a right leaf path, None where no value join concerns them."""
        try:
            return self._edges[left, right]
        except KeyError:
            edge = self._edges[left, right] = self._edge(left, right)
            return edge

    def _edge(self, left: int, right: int) -> Edge | None:
        by_spine: dict[int, list[Depths]] = {}
        for spine, depths in self._accepts[right]:
            by_spine.setdefault(spine, []).append(depths)
        joins: list[tuple[int, Depths, Depths]] = []
        bounds: set[tuple[int, int]] = set()
        for spine, depths in self._accepts[left]:
            partners = self._registry.value_joins.partners.get(spine, {})
            for other in partners.keys() & by_spine.keys():
                join = partners[other]
                bounds.add(join.bounds.widest)
                joins += ((join.number, depths, opposite) for opposite in by_spine[other])
        if not joins:
            return None
        return Edge(
            tuple(joins),
            _all_depths(depths for _, depths, _ in joins),
            _all_depths(depths for _, _, depths in joins),
            min(lo for lo, _ in bounds),
            max(wl for _, wl in bounds),
        )


def _all_depths(some: Iterable[Depths]) -> Depths:
    return tuple(sorted({depth for depths in some for depth in depths}))
