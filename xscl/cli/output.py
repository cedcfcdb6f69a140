"""Where matches are written as lines: standard output, or the file of `-o`.

`run` writes it anew, in its place when the run has come to its end; `watch` adds to it; with a
state both go on where the last run ended.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TextIO

from xscl.durable.output_file import OutputFile
from xscl.engine import Engine
from xscl.files.named import named
from xscl.files.whole import in_place, written_whole
from xscl.matches.match import Match
from xscl.sinks.registry import LINE_FORMS

__all__ = ["fate_of", "line_writer"]

Dropped = Callable[[], bool]
"""Whether what was written is not to take the place of what was there."""


def line_writer(
    engine: Engine,
    stack: contextlib.ExitStack,
    form: str,
    output: str | None,
    *,
    dropped: Dropped | None,
) -> Callable[[Sequence[Match]], None]:
    """What writes a batch of matches as lines of a form: to standard output, to a file, or, with
    a state, to a file whose length the state knows, each match once.

    The file is written anew, unless that is `dropped` at the end; with None it is added to.
    """
    lines, keeper = LINE_FORMS[form], engine.keeper
    add = dropped is None
    if output is not None and keeper is not None and not in_place(output):
        file = OutputFile(output, keeper.written(str(Path(output).absolute())), add=add)
        stack.callback(file.close)
        with engine.transaction():
            keeper.wrote(file.path, file.length)

        def write_once(matches: Sequence[Match]) -> None:
            file.write(lines(matches))
            keeper.wrote(file.path, file.length)

        return write_once
    if output is not None and add:
        return lambda matches: _add(output, lines(matches))
    to: TextIO = sys.stdout
    if output is not None and dropped is not None:
        to = stack.enter_context(written_whole(output, dropped))

    def write(matches: Sequence[Match]) -> None:
        to.writelines(lines(matches))
        to.flush()

    return write


def fate_of(output: str, *, dropped: bool, anew: bool) -> str:
    """What has become of the file of `-o`, as a closing line.

    >>> fate_of("out.jsonl", dropped=False, anew=True)
    'out.jsonl: written anew'
    """
    if dropped:
        return f"{output}: as it was, for the run was interrupted; --state goes on where it ended"
    return f"{output}: {'written anew' if anew else 'added to'}"


def _add(path: str, lines: Iterable[str]) -> None:
    """Adds lines to a file, which may have been moved away since the last ones."""
    with named(path), open(path, "a", encoding="utf-8") as file:
        file.writelines(lines)
