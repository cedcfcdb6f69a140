"""The first ten minutes of a stranger: the blocks of the README, and the first pattern of
docs/start.md, pasted into a shell whose `xscl` and `python3` are of the built wheel in a fresh
environment; then that pattern over feeds with the habits of real ones.

Those feeds are written for this test: releases as a forge has them (tag ids, thumbnails), a weblog
(tracking parameters, `isPermaLink="false"`, a guid by number), a paper (ISO-8859-1, CDATA, a zone
by its letters), an office's JSON.  Where ../shared is, feeds that were polled are read, too.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from itertools import permutations
from pathlib import Path

from lxml import etree

from tests.documentation.test_start import blocks
from tests.shared import SHARED, needs
from xscl.sources.feed_files import read_feeds

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
LIKE_REAL = Path(__file__).parent / "feeds_like_real"
DAY = 86_400.0
POLLED = SHARED / "data" / "feed-archives" / "tech-digest-2026" / "raw"


def pasted(installed: Path, folder: Path, lines: str, form: str = "text") -> str:
    """What a shell writes that takes some lines; a match is a line of text, as on a terminal."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environment |= {"PATH": f"{installed}:{os.environ['PATH']}", "XSCL_FORMAT": form}
    done = subprocess.run(
        ["bash", "-ec", lines],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def shows(written: str, line: str) -> bool:
    """Whether one of the lines is as a page has it, in which `…` is anything."""
    return bool(re.search(f"^{'.*'.join(map(re.escape, line.split('…')))}$", written, re.MULTILINE))


def test_the_readme_alone(installed: Path, tmp_path: Path) -> None:
    found = re.findall(r"^```(\w+)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    kinds = [kind for kind, _ in found]
    assert kinds == ["shell", "xscl", "shell", "text", "python"]
    (_, install), (_, query), (_, commands), (_, text), (_, session) = found
    assert install == "pip install xscl\n"  # The fixture has done it, with the wheel of today.
    (tmp_path / "noticed.xscl").write_text(query, encoding="utf-8")
    written = pasted(installed, tmp_path, commands)
    for line in text.splitlines():
        assert shows(written, line), written
    (tmp_path / "session.txt").write_text(session, encoding="utf-8")
    program = "import doctest; print(*doctest.testfile('session.txt', module_relative=False))"
    assert pasted(installed, tmp_path, f'python3 -c "{program}"') == "0 6\n"


def first_pattern() -> tuple[list[str], list[str]]:
    """Its lines in docs/start.md, and what the page shows below them."""
    page = [*blocks("start.md")]
    (place,) = (at for at, (_, lines) in enumerate(page) if "patterns.xscl" in lines[0])
    assert page[place + 1][0] == "text"
    return page[place][1], page[place + 1][1]


def test_the_first_pattern(installed: Path, tmp_path: Path) -> None:
    lines, text = first_pattern()
    written = pasted(installed, tmp_path, "\n".join(["xscl sample first", *lines]))
    for line in text:
        assert shows(written, line), written


def over(feeds: Path) -> str:
    """The lines of the first pattern, over other feeds."""
    *written, command = first_pattern()[0]
    return "\n".join(["mkdir first", *written, command.replace("first/feeds", str(feeds))])


def test_feeds_with_the_habits_of_real_ones(installed: Path, tmp_path: Path) -> None:
    """A title that comes again is found by the first query as it is; the second asks for a release
    that no post links to once the name of the feed and the element are others."""
    lines = over(LIKE_REAL).replace("Pagewright Press", "Release notes from gauge")
    lines = lines.replace("book.title = review.title", "book.link = review.linked")
    matches = pasted(installed, tmp_path, lines).splitlines()[:3]
    assert matches == [
        "2026-03-04T23:10:00Z again  a “Low water at the Ferry Bridge” "
        "(https://lockkeeper.example/2026/03/04/low-water), 16 hours 40 minutes later b “Low water "
        "at the Ferry Bridge” (https://courier.example/local/articles/c0ffee12)",
        "2026-03-07T16:40:03Z unreviewed  book “gauge 2.4.0” "
        "(https://forge.example/tidewater/gauge/releases/tag/v2.4.0)",
        "query       matches",
    ]


@needs("data", "feed-archives")
def test_feeds_that_were_polled(installed: Path, tmp_path: Path) -> None:
    """Judged by all pairs of their items."""
    items = {one["id"]: one for one in read_feeds(POLLED, "S", on_error=lambda _: None)}
    read = [(one["id"], one["timestamp"], etree.fromstring(one["xml"])) for one in items.values()]
    wanted = {
        (a, b)
        for (a, start, earlier), (b, end, later) in permutations(read, 2)
        if 0 < end - start < DAY
        and earlier.findtext("title") == later.findtext("title") is not None
        and earlier.findtext("feed") != later.findtext("feed")
    }
    written = pasted(installed, tmp_path, over(POLLED), "jsonl").splitlines()
    found = [json.loads(line) for line in written if line.startswith("{")]
    assert len(found) == len(wanted) == 5
    assert {tuple(match["documents"]) for match in found if match["query"] == "again"} == wanted
