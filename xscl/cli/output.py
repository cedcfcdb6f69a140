"""Where matches are written as lines: standard output, or the file of `-o`."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TextIO

from xscl.durable.output_file import OutputFile
from xscl.engine import Engine
from xscl.matches.match import Match
from xscl.sinks.registry import LINE_FORMS

__all__ = ["line_writer"]


def line_writer(
    engine: Engine, stack: contextlib.ExitStack, form: str, output: str | None, *, add: bool
) -> Callable[[Sequence[Match]], None]:
    """What writes a batch of matches as lines of a form: to standard output, to a file, or, with
    a state, to a file whose length the state knows, each match once.  With `add` the lines that
    are there stay."""
    lines, keeper = LINE_FORMS[form], engine.keeper
    if output is not None and keeper is not None:
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
    if output is not None:
        to = stack.enter_context(open(output, "w", encoding="utf-8"))  # noqa: SIM115

    def write(matches: Sequence[Match]) -> None:
        to.writelines(lines(matches))
        to.flush()

    return write


def _add(path: str, lines: Iterable[str]) -> None:
    """Adds lines to a file, which may have been moved away since the last ones."""
    with open(path, "a", encoding="utf-8") as file:
        file.writelines(lines)
