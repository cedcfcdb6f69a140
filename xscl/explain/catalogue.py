"""Many queries at once: the catalogue of their templates, and the streams between them.

The catalogue is what the sharing rests on (section 6.4.2): few templates for many queries.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from io import StringIO

from rich.console import Console
from rich.table import Table
from rich.text import Text

from xscl.dissection.parts import Dissection
from xscl.explain.event_plans import EventPlans
from xscl.explain.explained import explained
from xscl.explain.sample import names_of, number_of
from xscl.explain.shared import shared_lines
from xscl.explain.stages import joins
from xscl.explain.text import WIDTH, as_text
from xscl.explain.words import plain, shortened
from xscl.stream_names import is_internal
from xscl.templates import JoinGraph

__all__ = ["catalogue_text", "explain_file"]

_MOST = 20
_WIDEST_MINOR = 40


def explain_file(
    dissections: Sequence[Dissection],
    without: Collection[str] = (),
    sharable: Iterable[Collection[str]] = (),
) -> str:
    """The texts of up to 20 queries of a file, then, of several, their catalogue; of more queries
    the catalogue alone.  `without` and `sharable` as the engine has them."""
    if (number := number_of(dissections)) > _MOST:
        how = f"{number:,} queries; `xscl explain … --query NAME` shows one of them"
        return f"{catalogue_text(dissections, without, sharable)}\n\n{how}"
    texts = [as_text(dissection, dissections) for dissection in dissections]
    if len(dissections) > 1:
        texts.append(catalogue_text(dissections, without, sharable))
    return "\n\n".join(texts)


def catalogue_text(
    dissections: Sequence[Dissection],
    without: Collection[str] = (),
    sharable: Iterable[Collection[str]] = (),
) -> str:
    """The templates of some queries, those of the most queries first, the streams that they read
    and publish, and what the rules make of their plans."""
    shared = list(shared_lines(dissections, without, sharable))
    beside = ["", *shared] if shared else []
    return "\n".join((*_templates(dissections), "", *_streams(dissections), *beside))


def _templates(dissections: Sequence[Dissection]) -> Iterator[str]:
    shown: dict[str, tuple[str, str]] = {}
    queries: dict[str, dict[str, None]] = {}
    plans = EventPlans(dissections)
    for dissection in dissections:
        names = dict.fromkeys(names_of(dissections, dissection.query.name))
        for one in dissection.everything():
            mine = names if one is dissection else {one.query.name: None}
            for id, minor, value_joins in _used(one, plans):
                shown[id] = minor, value_joins
                queries.setdefault(id, {}).update(mine)
    ranked = sorted(shown, key=lambda id: (-len(queries[id]), id))
    if not ranked:
        yield "templates: none, since nothing joins"
        return
    rows = [("template", "minor", "value joins", "queries", "names")]
    for id in ranked:
        of = list(queries[id])
        rows.append((id, *shown[id], f"{len(of):,}", shortened(of, most=3)))
    yield from _table(rows)


def _used(dissection: Dissection, plans: EventPlans) -> Iterator[tuple[str, str, str]]:
    """The templates of a query: of a join with its minor and the number of its value joins, of a
    pattern with its states, of an event query with its operators."""
    if (own := explained(dissection)) is not None:
        yield (*own.template(dissection, plans), "—")
    for stage in joins(dissection):
        template = stage.plan.template
        yield template.id, _minor(template.graph), str(len(template.graph.value_joins))


def _streams(dissections: Sequence[Dissection]) -> Iterator[str]:
    read: dict[str, dict[str, None]] = {}
    fed: dict[str, dict[str, None]] = {}
    for dissection in dissections:
        names = dict.fromkeys(names_of(dissections, dissection.query.name))
        for one in dissection.everything():
            for stream in one.streams:
                if not is_internal(stream):
                    read.setdefault(stream, {}).update(names)
            if one.feeds is not None:
                fed.setdefault(one.feeds, {}).update(names)
    rows: list[tuple[str, ...]] = [("stream", "published by", "read by")]
    for stream in dict.fromkeys((*read, *fed)):
        both = (list(of.get(stream, ())) for of in (fed, read))
        rows.append((stream, *(shortened(some, most=3) if some else "—" for some in both)))
    yield from _table(rows)


def _minor(graph: JoinGraph) -> str:
    """A template in short: its nodes by the numbers of their meta-variables, what hangs under a
    node in parentheses; then its edges."""
    children = graph.children()

    def tree(number: int) -> str:
        below = " ".join(tree(child) for child in children[number])
        return f"{number + 1}({below})" if below else str(number + 1)

    sides: tuple[list[str], list[str]] = [], []
    for node in graph.nodes:
        if node.parent is None:
            sides[node.side].append(tree(node.number))
    edges = ", ".join(f"{e.left + 1} {e.operator} {e.right + 1}" for e in graph.edges)
    drawn = " | ".join(" ".join(side) or "—" for side in sides)
    whole = f"{drawn}: {edges}" if edges else "empty"
    return whole if len(whole) <= _WIDEST_MINOR else f"{whole[: _WIDEST_MINOR - 1]}…"


def _table(rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    """The lines of a table; its first row is the heading.  Long cells end in an ellipsis."""
    heading, *others = rows
    table = Table(box=None, pad_edge=False)
    for head in heading:
        number = head in ("value joins", "queries")
        table.add_column(head, justify="right" if number else "left", no_wrap=True)
    for row in others:
        table.add_row(*(Text(plain(cell)) for cell in row))
    console = Console(width=WIDTH, color_system=None, file=StringIO())
    with console.capture() as captured:
        console.print(table)
    yield from (line.rstrip() for line in captured.get().splitlines())
