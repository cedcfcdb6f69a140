"""Matches for people: the query, and a sentence that names the documents and what joins them.

    2026-06-09T08:00:00Z promo  “Beginning RSS” followed 7 days later by “RSS in use”; t = u: “RSS”

A document is called by the title of its output node, else that of the element around it (the rules
are those of `entries`), else by its id; its link is behind the title where the terminal has links,
else after it.  All of it is text of strangers, and made printable.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from itertools import islice
from os import environ

from rich.style import Style
from rich.table import Table
from rich.text import Text

from xscl.documents.document import Document
from xscl.language.syntax import Query
from xscl.matches.match import Match, recipe
from xscl.matches.nodes import BoundNode
from xscl.printable import one_line
from xscl.sinks.entries import in_json, in_xml, named
from xscl.times import rfc3339, span
from xscl.why import Conditions, Joined, JoinedValues, conditions_of
from xscl.why.joined_values import Place

__all__ = ["Sentences", "closing_table", "takes_links"]

_LONGEST_TITLE = 80
_LONGEST_VALUE = 60
_LONGEST_RESULT = 200
_NAMED = 500
_QUERIES = 1_000
_ROWS = 20
_TITLES = 10_000

_Part = tuple[str, str | Style]
"""A part of a sentence and its style."""


class Sentences:
    """Makes sentences of the matches of queries, which are asked for by name; with `links` the
    links are behind the titles."""

    def __init__(self, query_of: Callable[[str], Query | None], *, links: bool) -> None:
        self._query_of = query_of
        self._links = links
        self._asked: dict[str, tuple[Conditions, JoinedValues] | None] = {}
        self._titles: dict[tuple[int, Place], tuple[str, str | None]] = {}

    def sentence(self, match: Match) -> Text:
        """A match in one line."""
        return Text.assemble(*self._parts(match))

    def plain(self, match: Match) -> str:
        """A match in one line, without styles."""
        return "".join([text for text, _ in self._parts(match)])

    def _parts(self, match: Match) -> list[_Part]:
        parts: list[_Part] = [(f"{rfc3339(match.time)} ", "dim")]
        parts.append((f"{one_line(match.query, _LONGEST_TITLE)}  ", "bold cyan"))
        seen: set[str | None] = set()
        made, asked = recipe(match), self._of(match.query)
        if made is None or asked is None:
            names = ", ".join(one_line(one, _LONGEST_TITLE) for one in match.documents)
            return [*parts, (names or one_line(_result(match), _LONGEST_RESULT), "")]
        outputs, variables = made
        conditions, joined_values = asked
        before: Document | None = None
        for number, output in enumerate(outputs):
            if before is not None:
                parts.append((_between(conditions, number, before, output.document), ""))
            seen |= self._add_document(parts, output)
            before = output.document
        joined = joined_values.of(
            [output.document for output in outputs],
            [_place(output) for output in outputs],
            {name: _place(node) for name, node in variables.items()},
        )
        rest = {name: value for name, value in match.values.items() if value not in seen}
        _add_values(parts, joined, rest)
        return parts

    def _of(self, name: str) -> tuple[Conditions, JoinedValues] | None:
        if name not in self._asked:
            if len(self._asked) >= _QUERIES:
                self._asked.clear()
            query = self._query_of(name)
            if query is None:
                self._asked[name] = None
            else:
                conditions = conditions_of(query)
                self._asked[name] = conditions, JoinedValues(conditions)
        return self._asked[name]

    def _add_document(self, parts: list[_Part], output: BoundNode) -> set[str | None]:
        """Adds what a document is called; returns its title and its link."""
        key = output.document.number, _place(output)
        if key not in self._titles:
            if len(self._titles) >= _TITLES:
                self._titles.clear()
            self._titles[key] = _title_and_link(output)
        title, link = self._titles[key]
        shown = f"“{one_line(title, _LONGEST_TITLE)}”" if title else _id(output.document)
        address = None if link is None else one_line(link, 2_000)
        if self._links and address is not None and address.isascii():
            parts.append((shown, Style(underline=True, link=address)))
        else:
            parts.append((shown, ""))
            if address is not None:
                parts.append((f" ({address})", "dim"))
        return {title, link}


def _result(match: Match) -> str:
    """What a match without documents says."""
    result = match.result
    return result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)


def _add_values(parts: list[_Part], joined: list[Joined], selected: Mapping[str, str]) -> None:
    """What joins the documents, then what else the SELECT names."""
    of_joins = {name for one in joined for name in one.variables}
    pairs = [(one_line(one.text, _LONGEST_VALUE), _listed(one)) for one in joined]
    pairs += [
        (name, f"“{one_line(value, _LONGEST_VALUE)}”")
        for name, value in selected.items()
        if name not in of_joins and value.strip()
    ]
    for name, values in pairs:
        parts += (("; ", ""), (f"{name}: ", "dim"), (values, ""))


def takes_links() -> bool:
    """Whether the terminal, by its name, takes OSC 8: others would show the address's letters."""
    return environ.get("TERM", "") not in ("", "dumb", "linux", "eterm", "eterm-color", "unknown")


def closing_table(counts: Counter[str]) -> Table:
    """The number of matches of each query; of many queries, those that have the most."""
    table = Table("query", "matches", box=None, pad_edge=False, header_style="dim")
    table.columns[1].justify = "right"
    for name, count in counts.most_common(_ROWS):
        table.add_row(Text(one_line(name, _LONGEST_TITLE)), f"{count:,}")
    if len(counts) > _ROWS:
        rest = counts.total() - sum(count for _, count in counts.most_common(_ROWS))
        table.add_row(Text(f"{len(counts) - _ROWS:,} more"), f"{rest:,}")
    return table


def _place(node: BoundNode) -> Place:
    return node.number, node.attribute


def _id(document: Document) -> str:
    """What a document without a title is called."""
    if document.source != document.stream:
        return "a result"  # of a sub-query: its id is a hash
    return one_line(document.id, _LONGEST_TITLE)


def _between(conditions: Conditions, block: int, before: Document, document: Document) -> str:
    """The words between the documents of two blocks, the second of which is given."""
    operator = next(
        one for one in conditions.operators if one.left[-1] + 1 == one.right[0] == block
    )
    apart = document.time - before.time
    how = f"{span(abs(apart), most=2)} {'later' if apart >= 0 else 'earlier'} "
    if operator.kind == "FOLLOWED BY":
        return f" followed {how}by "
    return f" and, {how.strip()}, " if apart else " and "


def _title_and_link(output: BoundNode) -> tuple[str, str | None]:
    """What an output node, or the element around it, is called, and where it leads."""
    if output.document.json:
        return named(islice(in_json("", output.value()), _NAMED))
    element = output.element
    title, link = named(islice(in_xml(element), _NAMED))
    parent = element.getparent()
    if title or parent is None:
        return title, link
    title, around = named(islice(in_xml(parent), _NAMED))
    return title, link or around


def _listed(joined: Joined) -> str:
    shown = ", ".join(f"“{one_line(one, _LONGEST_VALUE)}”" for one in joined.values.shown)
    return f"{shown} and {joined.values.more:,} more" if joined.values.more else shown
