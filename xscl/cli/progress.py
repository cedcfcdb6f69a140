"""What is said on a terminal while something runs: a line that shows how far it is, and lines that
stay above it."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import Progress, TextColumn, TimeElapsedColumn

__all__ = ["Terminal"]


class Terminal:
    """A console with a line of progress, shown where it is a terminal and `alone`: nothing else
    is written there meanwhile.  A context manager, for as long as the progress shows."""

    def __init__(self, console: Console, *, alone: bool, beginning: str) -> None:
        self._console = console
        self._progress = Progress(
            TextColumn("{task.description}"),
            TimeElapsedColumn(),
            console=console,
            transient=True,
            disable=not (console.is_terminal and alone),
        )
        self._task = self._progress.add_task(beginning, total=None)

    def show(self, text: str) -> None:
        """Shows how far it is."""
        self._progress.update(self._task, description=text)

    def say(self, text: str) -> None:
        """Prints a line that stays."""
        self._console.print(text, markup=False, highlight=False, soft_wrap=True)

    def stop(self) -> None:
        """Ends the progress: what is printed from now on stays."""
        # Stopped twice, it would wipe what has been said in between.
        if self._progress.live.is_started:
            self._progress.stop()

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()
