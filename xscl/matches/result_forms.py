"""The form of results: their common part, and the places that each match fills from its documents.

`results` makes it from a SELECT, when the first result is read.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Union

if TYPE_CHECKING:
    from xscl.language.syntax import Selected, VariablePath

__all__ = ["Find", "JSONForm", "Path", "Pieces", "Place", "XMLForm", "dumps"]

dumps = json.JSONEncoder(ensure_ascii=False).encode

Path = Union["VariablePath", "Selected"]

Find = Callable[[Path], tuple[int, str | None, Callable[[Any], Sequence[Any]]]]
"""The place of a name in SELECT: the block, the variable of the node from which it is reached, and
a function to the nodes: `BoundNode`s, or objects with name, string, value and markup like these."""

Pieces = Sequence[Sequence[Any]]
"""The pieces of each block's document: texts; members of an object are a list of `Member`."""


@dataclass(frozen=True, slots=True)
class Place:
    """A place of a result that is filled from one document: from the node of a variable or, where
    that is None, from the output node."""

    block: int = field(compare=False)
    variable: str | None
    fill: Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class XMLForm:
    """XML results: `before`, the pieces in order, each by its block and its number in the block,
    and `after`; `empty` where all pieces are.  `parts` are those of each piece, by block."""

    before: str
    pieces: tuple[tuple[int, int], ...]
    after: str
    empty: str
    parts: tuple[tuple[tuple[str | Place, ...], ...], ...]

    def text(self, of_blocks: Pieces) -> str:
        """The result, given the pieces of each block."""
        content = "".join([of_blocks[block][number] for block, number in self.pieces])
        return f"{self.before}{content}{self.after}" if content else self.empty

    def around(self, content: str) -> str:
        """The result as a string of JSON, around content that is escaped already."""
        before, after, empty = (dumps(one)[1:-1] for one in (self.before, self.after, self.empty))
        return f'"{before}{content}{after}"' if content else f'"{empty}"'


@dataclass(frozen=True, slots=True)
class JSONForm:
    """JSON results: `text` makes one from the pieces of each block, which `places` make."""

    places: tuple[tuple[Place, ...], ...]
    text: Callable[[Pieces], str]
