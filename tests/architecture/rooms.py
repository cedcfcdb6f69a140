"""The rooms of the code and the imports between them, read from the source text.

A room is a top-level package (such as `xpath_stage`), a sub-package of `xscl`, or a module that
lies directly in `xscl`.  A room stands one floor above the highest room that it imports;
the ground floor imports no other room.
"""

from __future__ import annotations

import ast
import sys
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any

__all__ = ["PACKAGES", "PROJECT", "ROOT", "House", "Import", "room_of"]

ROOT = Path(__file__).parents[2]
PROJECT: Mapping[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PACKAGES: tuple[str, ...] = tuple(PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"])
"""Those of the wheel."""


@dataclass(frozen=True, slots=True)
class Import:
    """A module that imports another, by their dotted names."""

    importer: str
    imported: str

    def __str__(self) -> str:
        return f"{self.importer} imports {self.imported}"


@dataclass(frozen=True)
class House:
    """All modules by dotted name, with their files."""

    modules: Mapping[str, Path]

    @classmethod
    def of(cls, root: Path = ROOT) -> House:
        """The house below a folder."""
        files = (file for package in PACKAGES for file in (root / package).rglob("*.py"))
        return cls({_dotted(file.relative_to(root)): file for file in sorted(files)})

    @cached_property
    def imports(self) -> tuple[Import, ...]:
        """Every import of one of our modules in another, also those within functions."""
        return tuple(
            Import(module, imported)
            for module, file in self.modules.items()
            for imported in self._imported(ast.parse(file.read_text(encoding="utf-8")))
        )

    @cached_property
    def foreign(self) -> Mapping[str, str]:
        """The packages that are neither ours nor Python's own, each with a module that imports
        it."""
        found: dict[str, str] = {}
        for module, file in self.modules.items():
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Import):
                    names = [one.name for one in node.names]
                else:
                    names = [getattr(node, "module", None) or "xscl"]
                found |= {name.partition(".")[0]: module for name in names}
        ours = {*PACKAGES, *sys.stdlib_module_names}
        return {name: module for name, module in found.items() if name not in ours}

    @cached_property
    def lines(self) -> Mapping[str, int]:
        """The lines of each room."""
        lines: dict[str, int] = {}
        for module, file in self.modules.items():
            count = len(file.read_text(encoding="utf-8").splitlines())
            lines[room_of(module)] = lines.get(room_of(module), 0) + count
        return lines

    @cached_property
    def arrows(self) -> Mapping[str, frozenset[str]]:
        """The rooms that each room imports."""
        arrows: dict[str, set[str]] = {room: set() for room in self.lines}
        for one in self.imports:
            importer, imported = room_of(one.importer), room_of(one.imported)
            if importer != imported:
                arrows[importer].add(imported)
        return {room: frozenset(below) for room, below in arrows.items()}

    @cached_property
    def floors(self) -> Mapping[str, int]:
        """The floor of each room, from 1; raises graphlib.CycleError where an arrow runs upward."""
        floors: dict[str, int] = {}
        for room in TopologicalSorter(self.arrows).static_order():
            floors[room] = 1 + max((floors[below] for below in self.arrows[room]), default=0)
        return floors

    def needed_arrows(self) -> Iterator[tuple[str, str]]:
        """The arrows that no way through other rooms stands for (the transitive reduction)."""
        for room, below in sorted(self.arrows.items()):
            for target in sorted(below):
                if not any(target in self._reached(other) for other in below if other != target):
                    yield room, target

    def _reached(self, room: str) -> set[str]:
        reached: set[str] = set()
        waiting = [room]
        while waiting:
            new = self.arrows[waiting.pop()] - reached
            reached |= new
            waiting += new
        return reached

    def _imported(self, tree: ast.AST) -> Iterator[str]:
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                yield from (one.name for one in node.names if one.name in self.modules)
            elif isinstance(node, ast.ImportFrom) and node.module in self.modules:
                for one in node.names:
                    module = f"{node.module}.{one.name}"
                    yield module if module in self.modules else node.module


def room_of(module: str) -> str:
    """The room of a module."""
    package, *rest = module.split(".")
    return ".".join((package, *rest[:1])) if package == "xscl" else package


def _dotted(file: Path) -> str:
    parts = file.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
