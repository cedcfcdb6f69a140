"""The pictures of docs/terminal: what commands write to a terminal, as SVG.

Each is the real output of a command over the sample feeds, cut to its first lines and its last.
"""

from __future__ import annotations

import html
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from itertools import accumulate, chain, groupby
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

from tests.terminal import on_terminal, screen
from tests.xscl.web.loopback import Reply, serving
from xscl.samples import FEEDS

__all__ = ["PICTURES", "Picture", "lines_of", "lines_within"]

COLUMNS = 110
_FIRST, _LAST, _OF_PART = 26, 5, 7
_STATUS = r"next poll at [^\n]* [1-9]\d* match"
_CHANGING = re.compile(r"[\d,]+ (docs|items)/s|127\.0\.0\.1:\d+|The queries: .*|\d?\d:\d\d:\d\d")
_TEXT = re.compile(r"<text [^>]*y=\"([\d.]+)\"[^>]*>(.*?)</text>")


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture: its title, a command line that a user can type, and what writes its output in a
    directory that has the sample feeds and their queries."""

    name: str
    title: str
    write: Callable[[Path], str]

    def output(self, folder: Path) -> list[list[Text]]:
        """The final lines on the terminal, each in pieces as wide as the picture."""
        for file in FEEDS.iterdir():
            shutil.copy(file, folder)
        queries = (folder / "queries.xscl").read_text(encoding="utf-8")
        found = re.search(r"-- name: reviewed.*?;\n", queries, re.DOTALL)
        assert found is not None
        (folder / "reviews.xscl").write_text(found[0], encoding="utf-8")
        written = self.write(folder).rstrip("\n")
        console = Console(width=COLUMNS)
        return [
            [*Text.from_ansi(line).wrap(console, COLUMNS)] or [Text()]
            for line in screen(written.replace(str(FEEDS), "…/xscl/samples/feeds"))
        ]

    def svg(self, folder: Path) -> str:
        """The picture."""
        lines = _cut(self.output(folder))
        with open("/dev/null", "w", encoding="utf-8") as nowhere:
            console = Console(record=True, width=COLUMNS, file=nowhere, force_terminal=True)
            for line in lines:
                console.print(line, soft_wrap=True)
            svg = console.export_svg(title=self.title, theme=MONOKAI, unique_id=self.name)
        return "\n".join(line.rstrip() for line in svg.splitlines()) + "\n"


def _cut(lines: list[list[Text]]) -> list[Text]:
    """The beginning of each part, where blank lines part them; else of the whole, and its end."""
    if len([*chain(*lines)]) <= _FIRST + _LAST:
        return [*chain(*lines)]
    more = Text("⋮", style="dim")
    parts = [[*part] for blank, part in groupby(lines, lambda one: not one[0].plain) if not blank]
    if len(parts) == 1:
        end = _first(lines[::-1], _LAST)[::-1]
        return [*chain(*_first(lines, _FIRST)), more, *chain(*end)]
    cut: list[Text] = []
    for part in parts:
        first = _first(part, _OF_PART)
        cut += [*chain(*first), *([more] if len(part) > len(first) else []), Text()]
    return cut


def _first(lines: list[list[Text]], most: int) -> list[list[Text]]:
    """As many of the first lines as there are whole in so many pieces."""
    ends = accumulate(len(line) for line in lines)
    return [line for line, end in zip(lines, ends, strict=True) if end <= most]


def lines_within(svg: str) -> list[str]:
    """The lines of text of a picture, without what changes from run to run."""
    rows: dict[str, str] = {}
    for y, text in _TEXT.findall(svg.partition("</defs>")[2].partition("-matrix")[2]):
        rows[y] = rows.get(y, "") + text
    return [_settled(html.unescape(row)) for row in rows.values()]


def lines_of(output: list[list[Text]]) -> set[str]:
    """The same of an output."""
    return {_settled(piece.plain) for piece in chain(*output)}


def _settled(line: str) -> str:
    return "".join(_CHANGING.sub("…", line.replace("\xa0", " ")).split())


def _demo(folder: Path) -> str:
    return _typed(folder, "demo", "--fast")


def _run(folder: Path) -> str:
    return _typed(folder, "run", "reviews.xscl", "--feed", "S=.")


def _watch(folder: Path) -> str:
    with serving() as server:
        outlines = ""
        # Of two names of this machine: one host is asked again only after a while.
        for host, feed in (("127.0.0.1", "books-pagewright"), ("localhost", "blog-marginalia")):
            server.site[f"/{feed}"] = Reply(body=(FEEDS / f"{feed}.xml").read_bytes())
            outlines += f'<outline type="rss" xmlUrl="{server.url(f"/{feed}", host)}"/>'
        opml = f'<opml version="2.0"><body>{outlines}</body></opml>'
        (folder / "feeds.opml").write_text(opml, encoding="utf-8")
        arguments = ("watch", "reviews.xscl", "--feed", "S=feeds.opml", "--allow-private")
        return _typed(folder, *arguments, until=_STATUS)


def _typed(folder: Path, *arguments: str, until: str | None = None) -> str:
    return on_terminal(
        folder, *arguments, columns=2_000, errors=True, until=until, TERM="xterm-256color"
    )


PICTURES = (
    Picture("demo", "$ xscl demo", _demo),
    Picture("run", "$ xscl run reviews.xscl --feed S=feeds/", _run),
    Picture("watch", "$ xscl watch reviews.xscl --feed S=feeds.opml", _watch),
)
