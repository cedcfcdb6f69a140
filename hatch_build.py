"""What an editable install exposes: `xscl` alone, not the folders that lie next to it, of which
others have some by the same name.

`.editable`, which goes on the path, has a link to `xscl` and nothing else.  Hatchling's own
`dev-mode-exact` would need a package at run time, which uv leaves out.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.config import BuilderConfig
from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class EditableHook(BuildHookInterface[BuilderConfig]):
    """Makes the folder, which is not in the repository, with an editable wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called before a wheel is built: its version is `standard` or `editable`."""
        link = Path(self.root) / ".editable" / "xscl"
        if version == "editable" and not link.is_symlink():
            link.parent.mkdir(exist_ok=True)
            link.symlink_to(Path("..") / "xscl", target_is_directory=True)
