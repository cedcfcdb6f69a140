"""Where and when figures are measured: the machine, and the commit."""

from __future__ import annotations

import os
import platform
import subprocess
from importlib.metadata import version
from pathlib import Path

__all__ = ["commit", "description"]

LIBRARIES = ("lxml", "duckdb", "pyarrow")


def description() -> str:
    """Processor, cores, memory, system, Python and the libraries that matter."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    libraries = ", ".join(f"{name} {version(name)}" for name in LIBRARIES)
    return (
        f"{_processor()}, {os.cpu_count()} cores, {memory:.0f} GiB; {platform.system()} "
        f"{platform.release()}; Python {platform.python_version()}, {libraries}"
    )


def commit(checkout: Path = Path(__file__).parent) -> str:
    """The commit that is checked out, with `+` if files differ from it; `unknown` without git."""
    git = ["git", "-C", str(checkout)]
    try:
        found = subprocess.run(
            [*git, "describe", "--always", "--exclude=*", "--dirty=+"],
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return found.stdout.strip()


def _processor() -> str:
    """Its name, as Linux reports it; elsewhere, what Python knows."""
    file = Path("/proc/cpuinfo")
    if file.exists():
        for line in file.read_text(encoding="utf-8").splitlines():
            name, _, value = line.partition(":")
            if name.strip() == "model name":
                return value.strip()
    return platform.processor() or platform.machine()
