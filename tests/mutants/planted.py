"""The bugs that are planted, read from `planted.toml`: a line of code, and its replacement."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

__all__ = ["ROOT", "Mutant", "planted"]

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True)
class Mutant:
    """A bug: in `file`, `text` becomes `instead`; `why` that is wrong, and the `tests` nearest to
    it, of which at least one must fail."""

    name: str
    file: str
    text: str
    instead: str
    why: str
    tests: tuple[str, ...]

    def __post_init__(self) -> None:
        if self.text == self.instead or not self.tests:
            raise ValueError(f"{self.name}: nothing is changed, or no test is named")

    def occurrences(self, root: Path) -> int:
        """How often the text occurs in its file; a bug can be planted where that is once."""
        file = root / self.file
        return file.read_text(encoding="utf-8").count(self.text) if file.exists() else 0


def planted() -> list[Mutant]:
    """All of them, in the order of the file: from the ground up."""
    text = Path(__file__).with_name("planted.toml").read_text(encoding="utf-8")
    return [Mutant(**{**one, "tests": tuple(one["tests"])}) for one in tomllib.loads(text)["bug"]]
