"""The queries of a text as an engine has them: dissected and compiled."""

from __future__ import annotations

from xscl.dissection.parts import Dissection
from xscl.serve.trying.checks import check

__all__ = ["dissected"]


def dissected(text: str) -> list[Dissection]:
    """The queries of a text, in order; it has no error, and its parameters represent themselves."""
    found = check(text, {})
    assert not found.errors
    return found.queries
