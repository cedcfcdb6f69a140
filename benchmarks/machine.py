"""Where and when figures are measured: the machine, and the commit."""

from __future__ import annotations

import os
import platform
import subprocess
from importlib.metadata import version
from pathlib import Path

__all__ = ["commit", "description", "product_commit"]

LIBRARIES = ("lxml", "duckdb", "pyarrow")
PRODUCT = (
    "xscl", "xpath_stage", "join_stage", "pattern_stage", "templates", "datasets", "pyproject.toml"
)  # fmt: skip
"""What is measured: of two commits that differ in other files alone, the figures are the same."""


def description() -> str:
    """Processor, cores, memory, system, Python and the libraries that matter."""
    kernel = ".".join(platform.release().split(".")[:2])
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    libraries = ", ".join(f"{name} {version(name)}" for name in LIBRARIES)
    return (
        f"{_processor()}, {os.cpu_count()} cores, {memory:.0f} GiB; {platform.system()} "
        f"{kernel}; Python {platform.python_version()}, {libraries}"
    )


def commit(checkout: Path = Path(__file__).parents[1]) -> str:
    """The commit that is checked out, with `+` if files differ from it; `unknown` without git."""
    return _git(checkout, "describe", "--always", "--exclude=*", "--dirty=+") or "unknown"


def product_commit(checkout: Path = Path(__file__).parents[1]) -> str:
    """The last commit that changed the product, with `+` if its files differ from it: results and
    pages that are committed since change nothing of what was measured.  `unknown` without git."""
    found = _git(checkout, "log", "-1", "--format=%h", "--abbrev=9", "--", *PRODUCT)
    if not found:
        return "unknown"
    return found + "+" * bool(_git(checkout, "status", "--porcelain", "--", *PRODUCT))


def _git(checkout: Path, *arguments: str) -> str:
    """What git prints; nothing where it cannot."""
    git = ["git", "-C", str(checkout), *arguments]
    try:
        return subprocess.run(git, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def _processor() -> str:
    """Its name, as Linux reports it; elsewhere, what Python knows."""
    file = Path("/proc/cpuinfo")
    if file.exists():
        for line in file.read_text(encoding="utf-8").splitlines():
            name, _, value = line.partition(":")
            if name.strip() == "model name":
                return value.strip()
    return platform.processor() or platform.machine()
