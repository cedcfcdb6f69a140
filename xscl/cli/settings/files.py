"""A file such as `xscl.toml` -> its members, each with its place."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from xscl.errors import XSCLError

__all__ = ["SettingsFile"]

_NAME = r"""(?:[\w-]+|"[^"\n]*"|'[^'\n]*')"""
_NAMES = rf"{_NAME}(?:\s*\.\s*{_NAME})*"
_HEADER = re.compile(rf"\s*\[\s*({_NAMES})\s*\]")
_MEMBER = re.compile(rf"\s*({_NAMES})\s*=")


@dataclass(frozen=True, slots=True)
class SettingsFile:
    """The members of a file by their keys, and the lines of keys and tables, counted from 1."""

    path: str
    members: Mapping[str, Any]
    lines: Mapping[tuple[str, ...], int]

    @classmethod
    def read(cls, path: str) -> SettingsFile:
        """A file of TOML; raises XSCLError for what is none."""
        try:
            with open(path, "rb") as file:
                text = file.read().decode()
            import tomllib  # most runs have no such file

            members = tomllib.loads(text)
        except OSError as error:
            raise XSCLError(f"{path}: it cannot be read: {error.strerror}") from error
        except ValueError as error:
            raise XSCLError(f"{path}: it is not TOML: {error}") from error
        lines: dict[tuple[str, ...], int] = {}
        for keys, number in _lines(text):
            for length in range(1, len(keys) + 1):
                lines.setdefault(keys[:length], number)
        return cls(path, members, lines)

    def place(self, *keys: str) -> str:
        """Where a key is: the file and, where it is found, the line."""
        line = self.lines.get(keys)
        return self.path if line is None else f"{self.path}, line {line}"


def _lines(text: str) -> Iterator[tuple[tuple[str, ...], int]]:
    """Keys and headers of tables, with all that leads to them, and their lines."""
    table: tuple[str, ...] = ()
    within = False
    for number, line in enumerate(text.splitlines(), 1):
        if not within:
            if header := _HEADER.match(line):
                table = _split(header[1])
                yield table, number
            elif member := _MEMBER.match(line):
                yield (*table, *_split(member[1])), number
        # A string of several lines begins and ends by three quotes.
        if (line.count('"""') + line.count("'''")) % 2:
            within = not within


def _split(names: str) -> tuple[str, ...]:
    return tuple(name.strip("\"'") for name in re.findall(_NAME, names))
