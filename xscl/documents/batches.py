"""Envelopes in batches, each full by its number of documents or by their length."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TypeVar

from xscl.errors import XSCLError

__all__ = ["in_batches"]

T = TypeVar("T", bound="Mapping[str, object] | tuple[Mapping[str, object], object]")

_LONG = 64 * 1024 * 1024
"""A batch with so many characters or bytes is full, however few documents it has."""


def in_batches(entries: Iterable[T], size: int) -> Iterator[list[T]]:
    """Envelopes, or tuples that begin with one, in lists of a size, or smaller ones where their
    bodies are long; each envelope is read on demand."""
    if size < 1:
        raise XSCLError(f"a batch holds at least one document, not {size}")
    some: list[T] = []
    length = 0
    for entry in entries:
        some.append(entry)
        envelope = entry[0] if isinstance(entry, tuple) else entry
        body = envelope.get("xml")
        if type(body) is str or isinstance(body, (str, bytes)):
            length += len(body)
        if len(some) == size or length > _LONG or isinstance(body, Path):
            yield some
            some, length = [], 0
    if some:
        yield some
