"""The rows of the glossary -> the index of the site, by which its search finds the page of a word.

The first column of a row has words, its last one the section that they belong to.
"""

from __future__ import annotations

import re
from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx

__all__ = ["rows", "setup"]

_ROW = re.compile(r"^\| (.+?) \|.*\| \[[^\]]*\]\(([\w-]+)\.md(?:#([\w-]+))?\) \|$", re.MULTILINE)


def rows(glossary: str) -> list[tuple[tuple[str, ...], str, str]]:
    """The words of each row, its page, and the section or nothing.

    >>> rows("| retract, `retracted` | taken back | [envelope](envelope.md#a-document) |")
    [(('retract', 'retracted'), 'envelope', 'a-document')]
    """
    return [
        (tuple(re.sub(r"[`*]", "", words).split(", ")), page, section)
        for words, page, section in _ROW.findall(glossary)
    ]


def _enter(app: Sphinx, doctree: nodes.document) -> None:
    """Marks the sections of a page that words belong to."""
    glossary = Path(app.srcdir, "glossary.md").read_text(encoding="utf-8")
    sections = {
        name: section for section in doctree.findall(nodes.section) for name in _anchors(section)
    }
    first = next(iter(sections.values()), None)
    for words, page, anchor in rows(glossary):
        section = sections.get(anchor, first) if page == app.env.docname else None
        if section is not None:
            entries = [("single", word, section["ids"][0], "main", None) for word in words]
            section.insert(1, addnodes.index(entries=entries))


def _anchors(section: nodes.section) -> list[str]:
    """What a section is linked by: GitHub's form of its heading, and the site's."""
    heading = re.sub(r"[^\w -]", "", section[0].astext().lower()).replace(" ", "-")
    return [heading, *section["ids"]]


def setup(app: Sphinx) -> None:
    """Enters the words of each page when it is read, before Sphinx makes its index of them."""
    app.connect("doctree-read", _enter, priority=100)
