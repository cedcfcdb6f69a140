"""The shares that an engine's parts have of its one bound on memory."""

from __future__ import annotations

from dataclasses import dataclass

from xscl.errors import XSCLError
from xscl.sizes import size_of_text

__all__ = ["LEAST_MEMORY", "Budget"]

LEAST_MEMORY = 64 * 1024 * 1024
"""Bytes, of which half is enough for the relations."""

_LEAST_OF_STATE = 16 * 1024 * 1024
"""Bytes without which a state file would need more in almost every transaction."""


@dataclass(frozen=True, slots=True)
class Budget:
    """The shares of a bound: bytes of the relations, of the caches of joins in process, of
    documents' trees and bodies, and of a state file's memory; None for no bound."""

    relations: int | None = None
    at_hand: int | None = None
    trees: int | None = None
    bodies: int | None = None
    state: int = 256 * 1024 * 1024

    @classmethod
    def of(cls, memory: int | str | None) -> Budget:
        """The shares of so many bytes, or of a size as text; raises XSCLError for a text that is no
        size, and for a size that is too small."""
        if memory is None:
            return cls()
        if isinstance(memory, str):
            try:
                memory = size_of_text(memory)
            except ValueError as error:
                raise XSCLError(f"memory: {error}") from error
        if not isinstance(memory, int) or isinstance(memory, bool):
            problem = f"memory: {memory!r} is no size; give bytes as an int, or text such as '64MB'"
            raise XSCLError(problem)
        if memory < LEAST_MEMORY:
            raise XSCLError(
                f"memory: {memory:,} bytes are not enough for the relations of a join state; "
                "give 64 MiB or more"
            )
        return cls(
            relations=memory // 2,
            at_hand=memory // 16 * 3,
            trees=memory // 16,
            bodies=memory // 8,
            state=max(memory // 8, _LEAST_OF_STATE),
        )
