"""Tells when another package of the same name stands before one of ours.

The stages are top-level packages alongside `xscl`, and some of their names
are common: a folder `templates` in the current directory is enough for Python to import that one.
What is found anywhere but beside `xscl` is foreign.  To be called before the first import from
one of them; nothing foreign is executed to find out.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

__all__ = ["refuse_shadowing_packages"]

STAGES = ("xpath_stage", "join_stage", "pattern_stage", "templates")


def refuse_shadowing_packages() -> None:
    """Raise ImportError, naming the file, where a stage would come from another place than ours."""
    ours = Path(__file__).resolve().parents[1]
    for name in STAGES:
        found = _whence(name)
        if found is None:
            raise ImportError(
                f"xscl needs its package {name!r}, which is missing from {ours}: install xscl again"
            )
        if (ours / name) not in found.resolve().parents:
            raise ImportError(
                f"xscl needs its own package {name!r} ({ours / name}), but Python finds another of "
                f"that name first: {found}\nRename that one, take its folder off the Python path, "
                "or run xscl from another directory",
                name=name,
                path=str(found),
            )


def _whence(name: str) -> Path | None:
    """The file that `import name` runs; of a folder without `__init__.py` a file it would have."""
    try:
        spec = find_spec(name)
    except ValueError:  # already imported, by something that did not come from a file
        return Path(f"<{name} in sys.modules>")
    if spec is None:
        return None
    if spec.origin is not None:
        return Path(spec.origin)
    return Path(next(iter(spec.submodule_search_locations or ["."]))) / "__init__.py"
