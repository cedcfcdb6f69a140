"""The pictures of the pages -> their classes: one drawn on white is inverted in the dark, and one
with text scrolls sideways where it would be too small to read."""

from __future__ import annotations

from docutils import nodes
from sphinx.application import Sphinx

__all__ = ["setup"]

_DRAWN = ("benchmarks/", "architecture.svg")
_TERMINAL = "terminal/"


def _mark(app: Sphinx, doctree: nodes.document) -> None:
    for picture in [*doctree.findall(nodes.image)]:
        name = picture["uri"]
        if not name.startswith((*_DRAWN, _TERMINAL)):
            continue
        picture["classes"].append("terminal" if name.startswith(_TERMINAL) else "drawn")
        around = picture.parent if isinstance(picture.parent, nodes.paragraph) else picture
        frame = nodes.container(classes=["wide"])
        around.replace_self(frame)
        frame += picture


def setup(app: Sphinx) -> None:
    """Marks the pictures of each page when it is read."""
    app.connect("doctree-read", _mark)
