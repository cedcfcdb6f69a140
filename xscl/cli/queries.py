"""Query files, with tables of parameters: read, subscribed, and run over a batch."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from json import JSONDecoder
from types import MappingProxyType
from typing import TYPE_CHECKING

import click

from xscl.cli.log import log_of_command
from xscl.cli.options import GivenQuery
from xscl.cli.parameters import read_parameters
from xscl.files.gzipped import read_whole

if TYPE_CHECKING:
    from xscl.dissection.parts import Dissection
    from xscl.engine import Engine
    from xscl.errors import QueryError
    from xscl.matches.match import Match

__all__ = [
    "QueryText",
    "check_stream",
    "good_queries",
    "load_queries",
    "published",
    "read_one_by_one",
    "read_texts",
    "subscribe",
    "with_tables",
]

_STANDARD_INPUT = "standard input"

_TO_NEXT = re.compile(r"\s*(?=\S)")

_SHORT = 100_000
"""Characters of a text that may be nothing but comments."""


@dataclass(frozen=True, slots=True)
class QueryText:
    """The text of a query file, and the tables of its queries' parameters, by name."""

    path: str
    text: str
    tables: Mapping[str, object]


def _read(path: str) -> str:
    from xscl.language.scan import scan

    try:
        text = path.text if isinstance(path, GivenQuery) else read_whole(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise click.UsageError(f"{path} is no UTF-8 text: byte {error.start} is wrong") from error
    if path.endswith((".json", ".jsonl")):
        text = _statements(path, text)
    if not text.strip() or (len(text) < _SHORT and not scan(text).statements):
        what = "it has nothing but comments" if text.strip() else "it is empty"
        raise click.UsageError(f"{_STANDARD_INPUT if path == '-' else path} has no query: {what}")
    return text


def _statements(path: str, text: str) -> str:
    """The descriptions of automata in a file, an object or one a line, as a query file with the
    same lines."""
    statements, decoder, at = list[str](), JSONDecoder(), 0
    while (found := _TO_NEXT.match(text, at)) is not None:
        before, at = found[0], found.end()
        try:
            described, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError) as error:
            line = text.count("\n", 0, getattr(error, "pos", at)) + 1
            what = getattr(error, "msg", "it is nested too deeply")
            raise click.UsageError(f"{path}, line {line}: no JSON: {what}") from error
        if not isinstance(described, dict):
            line = text.count("\n", 0, at) + 1
            what = "found no object, expected the description of an automaton"
            raise click.UsageError(f"{path}, line {line}: {what}")
        blank = re.sub(r"[^ \t\r\n]", " ", before) or " "
        statements.append(f"AUTOMATON{blank}{text[at:end]};")
        at = end
    return "".join(statements)


def good_queries(
    texts: Iterable[QueryText], rates: Mapping[str, float] | None = None
) -> tuple[list[Dissection], int, list[QueryText]]:
    """The good queries of some texts, parameters standing for themselves, planned for some rates of
    streams; how many errors were printed; and the texts, each of which is read after the errors of
    those before it were printed."""
    from xscl.engine import Engine
    from xscl.language.parameters import Prepared, parameters
    from xscl.language.read import parse_from

    bad, first, read = 0, 1, list[QueryText]()
    with Engine(rates=rates) as engine:
        for one in texts:
            read.append(one)
            queries, _, first = parse_from(one.text, first)
            stand_ins = {
                query.name: Prepared(query).stand_ins for query in queries if parameters(query)
            }
            bad += subscribe(engine, [QueryText(one.path, one.text, stand_ins)])[0]
        return [subscription.dissection for subscription in engine.subscriptions], bad, read


def load_queries(engine: Engine, paths: Sequence[str], params: Sequence[tuple[str, str]]) -> int:
    """Subscribes the good queries of some files, with the tables of their parameters; prints and
    counts the errors."""
    return subscribe(engine, read_texts(paths, params))[0]


def read_texts(paths: Sequence[str], params: Sequence[tuple[str, str]]) -> list[QueryText]:
    """The texts of some query files, each with the tables of its queries' parameters.  Standard
    input and pipes can be read once."""
    return with_tables([*read_one_by_one(paths)], params)


def read_one_by_one(paths: Iterable[str]) -> Iterator[QueryText]:
    """The texts of some query files, each read when it is asked for."""
    return (QueryText(path, _read(path), {}) for path in paths)


def with_tables(texts: Sequence[QueryText], params: Sequence[tuple[str, str]]) -> list[QueryText]:
    """Texts with the tables of their queries' parameters, which are read."""
    from xscl.language.read import parse_from

    tables = {name: _table(name, file) for name, file in params}
    if not tables:
        return [*texts]
    found = []
    known: list[str] = []
    first = 1
    for one in texts:
        queries, _, first = parse_from(one.text, first)
        known += [query.name for query in queries]
        of_text = {q.name: tables[q.name] for q in queries if q.name in tables}
        found.append(QueryText(one.path, one.text, of_text))
    for name, file in params:
        if name not in known:
            there = ", ".join(known[:20]) or "none"
            problem = f"--params {name}={file}: no good query is named {name!r}; there are: {there}"
            raise click.UsageError(problem)
    return found


def _table(name: str, file: str) -> list[dict[str, object]]:
    try:
        return list(read_parameters(file))
    except OSError as error:
        problem = f"--params {name}={file}: it cannot be read: {error.strerror}"
        raise click.UsageError(problem) from error


def subscribe(
    engine: Engine,
    texts: Iterable[QueryText],
    looking_back: Collection[str] = (),
    known: Mapping[str, Sequence[QueryError]] = MappingProxyType({}),
) -> tuple[int, list[Match]]:
    """Subscribes the good queries of some texts; prints and counts the errors, and returns what
    those found that look back, given by their names.  Queries whose errors are `known` are there as
    they were before."""
    wrong = 0
    found: list[Match] = []
    for one in texts:
        added, errors = engine.load_good(one.text, tables=one.tables, history=looking_back)
        spared = dict.fromkeys(error.query for error in errors if error.query in known)
        others = (error for error in errors if error.query not in known)
        for error in chain(others, *(known[name] for name in spared)):
            log_of_command().say(f"{one.path}: {error}")
            wrong += 1
        for subscription in added:
            if subscription.name in looking_back:
                found += subscription.found
    return wrong, found


def check_stream(engine: Engine, stream: str | None) -> None:
    """Raises UsageError for a stream that no query publishes to; None is all."""
    if stream is not None and stream not in engine.published:
        known = ", ".join(engine.published) or "none"
        raise click.UsageError(f"no query publishes to {stream!r}; published are: {known}")


def published(
    engine: Engine, envelopes: Iterable[Mapping[str, object]] | None, stream: str | None
) -> list[Match]:
    """The matches of a batch, or at the end of the input (None) of what has waited for that; or
    those of them that are published to a stream."""
    matches = engine.flush() if envelopes is None else engine.publish_many(envelopes)
    return of_stream(matches, stream)


def of_stream(matches: list[Match], stream: str | None) -> list[Match]:
    """The matches that are published to a stream, or all."""
    return matches if stream is None else [one for one in matches if one.stream == stream]
