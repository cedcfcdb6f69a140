"""Punctuations with a predicate: no document in which a block selects something will come any more
that is of before a time; one that does is late (docs/semantics.md#punctuations-with-a-predicate).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from lxml import etree

from xscl.documents.arrivals import Arrivals
from xscl.documents.document import Document
from xscl.documents.trees import parsed
from xscl.errors import DocumentError, QueryError
from xscl.xpath_stage import EXTENSIONS

if TYPE_CHECKING:
    from xscl.language.syntax import Block

__all__ = ["breaks_promise", "note_promise", "promised_block", "promised_streams"]


def note_promise(line: Mapping[str, object], time: int, arrivals: Arrivals) -> None:
    """Notes the promise of a line that has a `where`; raises DocumentError, whose cause is a
    QueryError where the block cannot be read."""
    from xscl.language.automata.blocks import block_of
    from xscl.language.problems import Problem

    text, name = line["where"], str(line.get("id"))
    if not isinstance(text, str):
        raise DocumentError("`where` must be a block, as text", stream="?", document=name)
    found = block_of(text)
    if isinstance(found, Problem):
        error = QueryError(found.text, query="where", text=text, at=found.at)
        problem = f"`where`, column {error.column}: {error.problem}"
        raise DocumentError(problem, stream="?", document=name) from error
    arrivals.promise(time, text, name)


def promised_block(text: str) -> Block:
    """The block of a promise that was noted."""
    from xscl.language.automata.blocks import block_of
    from xscl.language.syntax import Block

    block = block_of(text)
    assert isinstance(block, Block)
    return block


def promised_streams(promises: Mapping[str, int]) -> frozenset[str]:
    """The streams that promises are of."""
    return frozenset(_selecting(text)[0] for text in promises) if promises else frozenset()


def breaks_promise(document: Document, promises: Mapping[str, int]) -> bool:
    """Whether a document should not have come; raises DocumentError if it cannot be read."""
    for text, time in promises.items():
        stream, selects = _selecting(text)
        if document.time < time and stream == document.stream and selects(document):
            return True
    return False


@lru_cache(maxsize=1_000)
def _selecting(text: str) -> tuple[str, Callable[[Document], bool]]:
    """The stream of a block, and whether it selects something in a document of it."""
    block = promised_block(text)
    stream = block.stream.text
    if not block.steps:
        return stream, lambda document: True
    from xscl.dissection.xpath_text import path_expression

    expression, namespaces = path_expression(block.steps)
    # `/a`, and `//a` for the `.//a` of a relative path.
    way = ("/" if block.steps[0].axis == "/" else "") + expression.removeprefix(".")
    path: Any = etree.XPath(f"boolean({way})", namespaces=namespaces, extensions=EXTENSIONS)

    def selects(document: Document) -> bool:
        try:
            return bool(path(parsed(document)))
        except etree.XPathError as error:
            problem = f"`where`, {text}: {error}"
            raise DocumentError(problem, stream=stream, document=document.id) from error

    return stream, selects
