"""The packages of the code and the imports between them, read from the source text.

A package is a stage (such as `xpath_stage`, whose folder lies next to `xscl` and is installed below
it), a sub-package of `xscl`, or a module that lies directly in `xscl`.  A package is one floor
above the highest package that it imports; the ground floor imports no other package.
"""

from __future__ import annotations

import ast
import sys
import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any

__all__ = ["PACKAGES", "PROJECT", "ROOT", "STAGES", "Code", "Import", "package_of"]

ROOT = Path(__file__).parents[2]
PROJECT: Mapping[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
STAGES = tuple(
    sorted(
        link.name
        for link in (ROOT / "xscl").iterdir()
        if link.is_symlink() and link.name == link.readlink().name
    )
)
"""The folders next to `xscl` that are installed below it, and imported as `xscl.NAME`."""

PACKAGES = ("xscl", *STAGES)
"""The folders of what is installed; but for the samples, which are data."""


@dataclass(frozen=True, slots=True)
class Import:
    """A module that imports another, by their dotted names."""

    importer: str
    imported: str

    def __str__(self) -> str:
        return f"{self.importer} imports {self.imported}"


@dataclass(frozen=True)
class Code:
    """All modules by dotted name, with their files."""

    modules: Mapping[str, Path]

    @classmethod
    def of(cls, root: Path = ROOT) -> Code:
        """The code below a folder."""
        files = (file for package in PACKAGES for file in (root / package).rglob("*.py"))
        return cls({_dotted(file.relative_to(root)): file for file in sorted(files)})

    @cached_property
    def _statements(self) -> Mapping[str, list[ast.Import | ast.ImportFrom]]:
        """The imports of each module, also those within functions."""
        return {
            module: [
                node
                for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
                if isinstance(node, ast.Import | ast.ImportFrom)
            ]
            for module, file in self.modules.items()
        }

    @cached_property
    def imports(self) -> tuple[Import, ...]:
        """Every import of one of our modules in another, also those within functions."""
        return tuple(
            Import(module, imported)
            for module, statements in self._statements.items()
            for imported in self._imported(statements)
        )

    @cached_property
    def foreign(self) -> Mapping[str, str]:
        """The packages that are neither ours nor Python's own, each with a module that imports
        it."""
        found: dict[str, str] = {}
        for module, statements in self._statements.items():
            for one in statements:
                if isinstance(one, ast.Import):
                    names = [alias.name for alias in one.names]
                else:
                    names = [one.module or "xscl"]
                found |= {name.partition(".")[0]: module for name in names}
        ours = {"xscl", *sys.stdlib_module_names}
        return {name: module for name, module in found.items() if name not in ours}

    @cached_property
    def lines(self) -> Mapping[str, int]:
        """The lines of each package."""
        lines: dict[str, int] = {}
        for module, file in self.modules.items():
            count = len(file.read_text(encoding="utf-8").splitlines())
            lines[package_of(module)] = lines.get(package_of(module), 0) + count
        return lines

    @cached_property
    def arrows(self) -> Mapping[str, frozenset[str]]:
        """The packages that each package imports."""
        arrows: dict[str, set[str]] = {package: set() for package in self.lines}
        for one in self.imports:
            importer, imported = package_of(one.importer), package_of(one.imported)
            if importer != imported:
                arrows[importer].add(imported)
        return {package: frozenset(below) for package, below in arrows.items()}

    @cached_property
    def floors(self) -> Mapping[str, int]:
        """The floor of each package, from 1; raises graphlib.CycleError where an arrow runs
        upward."""
        floors: dict[str, int] = {}
        for package in TopologicalSorter(self.arrows).static_order():
            floors[package] = 1 + max((floors[below] for below in self.arrows[package]), default=0)
        return floors

    def needed_arrows(self) -> Iterator[tuple[str, str]]:
        """The arrows that no others imply (the transitive reduction)."""
        for package, below in sorted(self.arrows.items()):
            for target in sorted(below):
                if not any(target in self._reached(other) for other in below if other != target):
                    yield package, target

    def circles(self) -> list[list[str]]:
        """The sets of modules that import each other, directly or through others of the set."""
        below: dict[str, set[str]] = {module: set() for module in self.modules}
        for one in self.imports:
            below[one.importer].add(one.imported)
        reached = {module: _reached(below, module) for module in below}
        circles = {
            frozenset(other for other in of if module in reached[other])
            for module, of in reached.items()
            if module in of
        }
        return sorted(sorted(one) for one in circles)

    def _reached(self, package: str) -> set[str]:
        return _reached(self.arrows, package)

    def _imported(self, statements: Iterable[ast.Import | ast.ImportFrom]) -> Iterator[str]:
        for one in statements:
            if isinstance(one, ast.Import):
                yield from (alias.name for alias in one.names if alias.name in self.modules)
            elif one.module in self.modules:
                for alias in one.names:
                    module = f"{one.module}.{alias.name}"
                    yield module if module in self.modules else one.module


def _reached(below: Mapping[str, Collection[str]], start: str) -> set[str]:
    reached: set[str] = set()
    waiting = [start]
    while waiting:
        new = {*below[waiting.pop()]} - reached
        reached |= new
        waiting += new
    return reached


def package_of(module: str) -> str:
    """The package of a module, a stage by its own name."""
    package, *rest = module.split(".")
    return rest[0] if rest and rest[0] in STAGES else ".".join((package, *rest[:1]))


def _dotted(file: Path) -> str:
    parts = file.with_suffix("").parts
    if parts[0] != "xscl":
        parts = ("xscl", *parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
