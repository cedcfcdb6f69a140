"""Where matches are written as lines: standard output, or the file of `-o`.

`run` rewrites it, in its place when the run has come to its end; `watch` adds to it; with a
state both continue where the last run ended.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from xscl.files.named import named
from xscl.files.whole import in_place, written_whole
from xscl.matches.unwritten import made_of
from xscl.printable import escaped
from xscl.sinks.registry import FEED_FORMS, LINE_FORMS

if TYPE_CHECKING:
    from xscl.durable.keeper import Keeper
    from xscl.engine import Engine
    from xscl.language.syntax import Query
    from xscl.matches.match import Match
    from xscl.matches.unwritten import Report
    from xscl.queries.subscription import Subscription

__all__ = ["TEXT", "fate_of", "form_of", "is_replaced", "line_writer"]

TEXT = "text"
"""The form of lines that are sentences."""

_CHUNK = 2**18
"""Bytes that are written at a time."""

_TOGETHER = 500
"""Matches whose lines are made together."""

Lines = Callable[[Iterable["Match"]], Iterable[bytes]]

Dropped = Callable[[], bool]
"""Whether what was written is not to take the place of what was there."""


def line_writer(
    engine: Engine,
    stack: contextlib.ExitStack,
    form: str,
    output: str | None,
    *,
    dropped: Dropped | None,
    report: Report,
) -> Callable[[Sequence[Match]], None]:
    """What writes a batch of matches as lines of a form: to standard output, to a file, or, with
    a state, to a file whose length the state knows, each match once.  Those that cannot be written
    are reported.

    The file is rewritten, unless that is `dropped` at the end; with None it is added to.
    """
    lines, keeper = _each(_lines(engine, form, output), report), engine.keeper
    add = dropped is None
    if output is not None and keeper is not None and not in_place(output):
        from xscl.durable.output_file import OutputFile

        file = OutputFile(output, keeper.written(output), add=add)
        keeper.sync_before(file.sync)
        stack.callback(file.close)
        # What waits to be written says how long the file is: first that, then it is closed.
        stack.callback(engine.commit)
        with engine.transaction():
            keeper.wrote(output, file.length)

        def write_once(matches: Sequence[Match]) -> None:
            file.write(lines(matches))
            keeper.wrote(output, file.length)

        return write_once
    if output is not None and add:
        return lambda matches: _add(output, lines(matches))
    text = sys.stdout
    if output is not None and dropped is not None:
        text = stack.enter_context(written_whole(output, dropped))
    text.flush()
    to = text.buffer

    def write(matches: Sequence[Match]) -> None:
        to.writelines(_in_chunks(lines(matches)))
        to.flush()

    return write


def form_of(form: str | None, output: str | None) -> str:
    """The form of matches: the one that is asked for, else text on a terminal, else JSON Lines."""
    if form is not None:
        return form
    return TEXT if output is None and sys.stdout.isatty() else "jsonl"


def _lines(engine: Engine, form: str, output: str | None) -> Lines:
    """How matches become lines; a terminal gets no control characters of strangers."""
    on_terminal = output is None and sys.stdout.isatty()
    if form != TEXT:
        lines = LINE_FORMS[form]
        if not on_terminal:
            return lines
        return lambda matches: (escaped(line.decode()).encode() for line in lines(matches))
    from xscl.sinks.readable import Sentences, takes_links

    queries: dict[str, Subscription] = {}

    def query_of(name: str) -> Query | None:
        if name not in queries:
            queries.update((one.name, one) for one in engine.subscriptions)
        return queries[name].query if name in queries else None

    if not on_terminal:
        plain = Sentences(query_of, links=False)
        return lambda matches: (f"{plain.plain(match)}\n".encode() for match in matches)
    from rich.console import Console

    console = Console(highlight=False)
    links = console.color_system is not None and takes_links()
    linked = Sentences(query_of, links=links)

    def on_console(match: Match) -> bytes:
        sentence = linked.sentence(match)
        if links:  # an address that is written out is of use only whole
            sentence.truncate(console.width, overflow="ellipsis")
        with console.capture() as shown:
            console.print(sentence, soft_wrap=True)
        return shown.get().encode()

    return lambda matches: map(on_console, matches)


def _each(lines: Lines, report: Report) -> Lines:
    """The lines of some matches together; where one has none, the lines of each by itself, so that
    it keeps back no other."""

    def made(matches: Iterable[Match]) -> Iterator[bytes]:
        left = iter(matches)
        while some := [*islice(left, _TOGETHER)]:
            try:
                written = [*lines(some)]
            except Exception:
                # Anything may be wrong with one match, and the others are unaffected.
                for _, one in made_of(some, lambda match: [*lines((match,))], report):
                    yield from one
            else:
                yield from written

    return made


def _in_chunks(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Lines in larger pieces, for each of which a file is asked once."""
    chunk, size = [], 0
    for line in lines:
        chunk.append(line)
        size += len(line)
        if size >= _CHUNK:
            yield b"".join(chunk)
            chunk, size = [], 0
    yield b"".join(chunk)


def is_replaced(output: str, form: str, keeper: Keeper | None) -> bool:
    """Whether a run replaces what is in the file of `-o`: a feed and what a state has written go
    on."""
    if form in FEED_FORMS:
        return False
    return form == "counts" or keeper is None or keeper.written(output) is None


def fate_of(output: str, *, dropped: bool, replaced: bool, was_there: bool) -> str:
    """What has become of the file of `-o`, as a closing line.

    >>> fate_of("out.jsonl", dropped=False, replaced=True, was_there=True)
    'out.jsonl: rewritten'
    """
    if dropped:
        return f"{output}: as it was, for the run was interrupted; --state continues where it ended"
    if not was_there:
        return f"{output}: {'written' if os.path.exists(output) else 'not made: nothing to write'}"
    return f"{output}: {'rewritten' if replaced else 'added to'}"


def _add(path: str, lines: Iterable[bytes]) -> None:
    """Adds lines to a file, which may have been moved away since the last ones."""
    with named(path), open(path, "ab") as file:
        file.writelines(lines)
