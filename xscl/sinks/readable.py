"""Matches for people: the query, the time and what the result says, a few lines each."""

from __future__ import annotations

from datetime import UTC, datetime

from lxml import etree
from rich.text import Text

from xscl.matches.match import Match

__all__ = ["readable"]


def readable(match: Match) -> Text:
    """A match as text: a heading, then the result's leaves, a line each."""
    when = datetime.fromtimestamp(match.time, UTC).strftime("%a %d %b %Y, %H:%M")
    text = Text()
    text.append(match.query, style="bold cyan")
    text.append(f"  {when}\n", style="dim")
    lines = list(_leaves(match.xml()))
    width = max((len(label) for label, _ in lines), default=0)
    for label, value in lines:
        text.append(f"  {label:<{width}}  ", style="dim")
        text.append(f"{value}\n")
    return text


def _leaves(element: etree._Element) -> list[tuple[str, str]]:
    """The attributes and texts of a result, labelled by their names."""
    leaves = [(etree.QName(str(name)).localname, str(value)) for name, value in element.items()]
    children = [child for child in element if isinstance(child.tag, str)]
    if children:
        return leaves + [leaf for child in children for leaf in _leaves(child)]
    text = " ".join((element.text or "").split())
    return [*leaves, (etree.QName(element).localname, text)] if text else leaves
