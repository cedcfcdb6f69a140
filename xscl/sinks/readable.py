"""Matches for people: the query, and a sentence that names the documents and what joins them.

    2026-06-09T08:00:00Z promo  “Beginning RSS” followed 7 days later by “RSS in use”; t = u: “RSS”

Of texts that are joined by likeness it says how alike they are, and the words of the left one that
both have, `…` for others between them; on a terminal these are bold wherever the text is written:

    2026-06-09T08:00:00Z same  “RSS feeds in use” and “RSS in use”; similar(t, u) >= 0.7: 0.75,
    “RSS … in use”

A match of a pattern or an event query is its result where the query has a SELECT, else its events:

    2026-06-09T08:00:00Z quiet  a “Beginning RSS” (https://…), 7 days later b “RSS in use”

A SELECT's result is first, then what it is from.  A document is called by the title of its output
node, else that of the element around it (the rules are those of `entries`), else by its first
values, else by its id; its link is behind the title where the terminal has links, else after it.
All of it is text of strangers, and made printable.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import islice
from os import environ
from typing import NamedTuple

from rich.style import Style
from rich.table import Table
from rich.text import Text

from xscl.documents.document import Document
from xscl.language.syntax import Query
from xscl.matches.match import Match, event_times, recipe
from xscl.matches.nodes import BoundNode
from xscl.printable import one_line
from xscl.sinks.entries import in_json, in_xml, named
from xscl.sinks.summaries import Part, part, summary
from xscl.times import rfc3339, span
from xscl.why import Closest, Conditions, Joined, JoinedValues, conditions_of
from xscl.why.joined.values import Place
from xscl.xpath_stage.texts.shared_tokens import stretches

__all__ = ["Sentences", "closing_table", "takes_links"]

_LONGEST_TITLE = 80
_LONGEST_VALUE = 60
_NAMED = 500
_QUERIES = 1_000
_ROWS = 20
_TITLES = 10_000

_Part = tuple[str, str | Style]
"""A part of a sentence and its style."""


class _Asked(NamedTuple):
    """What sentences need of a query: whether it has a SELECT, and what joins its documents."""

    selects: bool
    conditions: Conditions
    joined_values: JoinedValues


class Sentences:
    """Makes sentences of the matches of queries, which are asked for by name; with `links` the
    links are behind the titles."""

    def __init__(self, query_of: Callable[[str], Query | None], *, links: bool) -> None:
        self._query_of = query_of
        self._links = links
        self._asked: dict[str, _Asked | None] = {}
        self._titles: dict[tuple[int, Place], tuple[str, str | None]] = {}

    def sentence(self, match: Match) -> Text:
        """A match in one line."""
        parts, joined = self._parts(match)
        text = Text.assemble(*parts)
        for most in (one.closest for one in joined if one.closest is not None):
            for value in {most.left, most.right}:
                _embolden(text, most, value)
        return text

    def plain(self, match: Match) -> str:
        """A match in one line, without styles."""
        return "".join([text for text, _ in self._parts(match)[0]])

    def _parts(self, match: Match) -> tuple[list[_Part], list[Joined]]:
        """A match in parts, and what joins its documents."""
        parts: list[_Part] = [(f"{rfc3339(match.time)} ", "dim")]
        if match.retracts:
            parts.append(("taken back ", "bold red"))
        parts.append((f"{one_line(match.query, _LONGEST_TITLE)}  ", "bold cyan"))
        made, asked = recipe(match), self._of(match.query)
        if made is None or asked is None:
            return [*parts, *self._of_result(match)], []
        outputs, variables = made
        conditions = asked.conditions
        said = self._selected(match) if asked.selects else None
        if said is not None:
            if said.link in [self._called(output)[1] for output in outputs]:
                said.link = None
            self._add_part(parts, said)
            parts.append((" from ", ""))
        before: Document | None = None
        for number, output in enumerate(outputs):
            if before is not None:
                parts.append((_between(conditions, number, before, output.document), ""))
            self._add_document(parts, output)
            before = output.document
        joined = asked.joined_values.of(
            [output.document for output in outputs],
            [_place(output) for output in outputs],
            {name: _place(node) for name, node in variables.items()},
        )
        for one in joined:
            parts += (("; ", ""), (f"{one_line(one.text, _LONGEST_VALUE)}: ", "dim"))
            if one.closest is not None:
                parts.append((f"{one.closest.number}, ", ""))
            parts.append((_listed(one), ""))
        return parts, joined

    def _selected(self, match: Match) -> Part | None:
        """What the SELECT of a join or a filter, which has one, makes, if that says something."""
        (said,) = summary({"result": match.result}, selects=True).parts
        return said if said.title or said.values else None

    def _of_result(self, match: Match) -> list[_Part]:
        """The result where the query has a SELECT; else the events, with their variables and the
        time between."""
        asked = self._of(match.query)
        said = {"documents": match.documents, "variables": match.variables, "result": match.result}
        made = summary(said, selects=asked is None or asked.selects)
        times = event_times(match)
        # Of many events the last follows those that are left out.
        places = [*range(len(made.parts) - 1), len(made.parts) - 1 + made.more]
        parts: list[_Part] = []
        for place, before, one in zip(places, [0, *places], made.parts, strict=False):
            if place > before + 1:
                parts.append((f", … {made.more:,} more", "dim"))
            if place and place < len(times):
                parts.append((f", {span(times[place] - times[before], most=2)} later ", ""))
            elif place:
                parts.append((", ", ""))
            if one.variable and not one.variable.startswith("_"):  # of an event without a name
                parts.append((f"{one_line(one.variable, _LONGEST_TITLE)} ", "dim"))
            self._add_part(parts, one)
        if not any(one.title or one.link or one.values for one in made.parts):
            parts.append((", ".join(one_line(id, _LONGEST_TITLE) for id in match.documents), ""))
        return parts

    def _add_part(self, parts: list[_Part], one: Part) -> None:
        """Adds a result or an event: its title and link; its values, of an event with neither."""
        title = f"“{one_line(one.title, _LONGEST_TITLE)}”" if one.title else ""
        values = "" if one.variable and (title or one.link) else _members(one)
        if one.link:
            self._add_title(parts, title or values, one.link)
        else:
            parts.append((title or values, ""))
        if title and values:
            parts += (("; ", ""), (values, ""))

    def _add_title(self, parts: list[_Part], shown: str, link: str | None) -> None:
        """Adds what something is called, and its link: behind it, after it, or alone."""
        address = None if link is None else one_line(link, 2_000)
        if not shown and address is not None:
            parts.append((address, ""))
        elif self._links and address is not None and address.isascii():
            parts.append((shown, Style(underline=True, link=address)))
        else:
            parts.append((shown, ""))
            if address is not None:
                parts.append((f" ({address})", "dim"))

    def _of(self, name: str) -> _Asked | None:
        # A subscription that has no tree of its query parses its text: once, not for each match.
        if name not in self._asked:
            if len(self._asked) >= _QUERIES:
                self._asked.clear()
            query = self._query_of(name)
            if query is None:
                self._asked[name] = None
            else:
                conditions = conditions_of(query)
                joined_values = JoinedValues(conditions)
                self._asked[name] = _Asked(query.select is not None, conditions, joined_values)
        return self._asked[name]

    def _called(self, output: BoundNode) -> tuple[str, str | None]:
        """What a document is called, as it is shown, and where it leads."""
        key = output.document.number, _place(output)
        if key not in self._titles:
            if len(self._titles) >= _TITLES:
                self._titles.clear()
            title, link = _title_and_link(output)
            shown = f"“{one_line(title, _LONGEST_TITLE)}”" if title else _untitled(output)
            self._titles[key] = shown, link
        return self._titles[key]

    def _add_document(self, parts: list[_Part], output: BoundNode) -> None:
        """Adds what a document is called."""
        shown, link = self._called(output)
        self._add_title(parts, shown, link)


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


def _untitled(output: BoundNode) -> str:
    """What a document without a title is called: its first values, else its id, but not that of a
    result, which is a hash."""
    document = output.document
    said = part(output.value() if document.json else output.element)
    named_by = one_line(document.id, _LONGEST_TITLE)
    return _members(said) or (named_by if document.source == document.stream else "a result")


def _members(one: Part) -> str:
    """The names and values of a part."""
    return ", ".join(f"{name} “{value}”" if name else f"“{value}”" for name, value in one.values)


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


def _embolden(text: Text, most: Closest, value: str) -> None:
    """Makes the words that two values share bold wherever a sentence has one of these."""
    tokens = most.shared
    for shown in {f"“{one_line(value, longest)}”" for longest in (_LONGEST_TITLE, _LONGEST_VALUE)}:
        words = stretches(most.measure, shown, tokens)
        at = text.plain.find(shown)
        while at >= 0:
            for start, end in words:
                text.stylize("bold", at + start, at + end)
            at = text.plain.find(shown, at + len(shown))


def _listed(joined: Joined) -> str:
    shown = ", ".join(f"“{one_line(one, _LONGEST_VALUE)}”" for one in joined.values.shown)
    return f"{shown} and {joined.values.more:,} more" if joined.values.more else shown
