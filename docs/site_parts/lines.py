"""A block in colours -> an element for each of its lines, so that `site.css` can wrap a long one
with an indent, as the beginnings of lines have to stay visible: each is a document or a match."""

from __future__ import annotations

from collections.abc import Iterator

from pygments.formatters import HtmlFormatter
from sphinx.highlighting import PygmentsBridge

__all__ = ["setup"]

Pieces = Iterator[tuple[int, str]]


class LinesFormatter(HtmlFormatter[str]):
    """HTML with `<span class="line">` around each line, its end included."""

    def wrap(self, source: Pieces) -> Pieces:
        """The pieces of a block; 1 is a line of it, 0 is what is around."""
        for is_line, piece in super().wrap(source):
            yield is_line, f'<span class="line">{piece}</span>' if is_line else piece


def setup() -> None:
    """Lets Sphinx use it."""
    PygmentsBridge.html_formatter = LinesFormatter
