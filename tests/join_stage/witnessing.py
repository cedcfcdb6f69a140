"""Witnesses as stage 1 leaves them, from plain rows."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count

from xscl.join_stage.batch import Witness
from xscl.xpath_stage import Layout, Witnesses

Leaf = tuple[int, tuple[int, ...], int | None]
"""A leaf path, the codes of the nodes from the root to the row's own, the string."""


def leave(to: Witnesses, document: int, leaves: Iterable[Leaf]) -> None:
    """Adds the rows of a document."""
    rows = list(leaves)
    if not rows:
        return
    places = count()
    layout = Layout.of(
        (path, chain, None if string is None else next(places), ()) for path, chain, string in rows
    )
    to.leave(document, layout, [string for *_, string in rows if string is not None])


def witnesses_of(witnesses: Witnesses) -> tuple[Witness, ...]:
    """Witnesses as a batch has them."""
    return tuple(witnesses.left)
