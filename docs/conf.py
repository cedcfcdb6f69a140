"""The pages of this folder -> a site (`make docs`), with the Python reference from docstrings."""

from __future__ import annotations

from collections.abc import Iterator

from pygments.lexers.data import JsonLexer
from pygments.lexers.special import TextLexer
from pygments.token import Comment
from sphinx.application import Sphinx

from xscl.version import __version__

project = "XSCL"
author = "the authors of XSCL"
version = release = __version__
extensions = ["myst_parser", "sphinx.ext.autodoc"]
html_theme = "furo"
html_title = f"XSCL {__version__}"
html_show_copyright = False

myst_heading_anchors = 3
default_role = "code"  # a docstring's `names`
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
maximum_signature_line_length = 90

_KINDS = ("documents", "error", "example", "feed", "matches", "params", "picks", "skipped", "xscl")
"""The kinds of blocks that the tests of the pages give a meaning; their texts are plain."""


class ElidedJsonLexer(JsonLexer):
    """JSON, where `…` stands for what differs each time: so the tests of the pages read it, too."""

    def get_tokens_unprocessed(self, text: str) -> Iterator[tuple[int, object, str]]:
        for place, kind, value in super().get_tokens_unprocessed(text):
            yield place, Comment if value == "…" else kind, value


def setup(app: Sphinx) -> None:
    """Enters the kinds of blocks."""
    app.add_lexer("json", ElidedJsonLexer)
    for kind in _KINDS:
        app.add_lexer(kind, TextLexer)
