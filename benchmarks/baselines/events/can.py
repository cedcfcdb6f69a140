"""The two-state embedding (CAN): each NEXT is an automaton of its own with two states, joined with
the next by resubscription, and no prefix is shared.

The engine's own operators evaluate them, `s_cse` switched off: pairs of events are published, each
with the number of its query, which the second automaton requires.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from datasets import SteppedQuery

__all__ = ["WITHOUT", "embedded"]

WITHOUT = ("s_cse",)

FIRST = ("number", "p", "e0", "k0", "l0", "e1", "k1", "l1")
SECOND = ("number", "p", "e2", "k2", "l2")
"""The parameters of either automaton."""


def embedded(queries: Iterable[SteppedQuery]) -> Iterator[tuple[str, list[Mapping[str, Any]]]]:
    """Queries of the template Filter as two automata each: texts with rows of parameters."""
    by_text: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for number, query in enumerate(queries):
        texts = _texts(query)
        by_text.setdefault(texts, []).append(query.row | {"number": str(number)})
    for place, names in enumerate((FIRST, SECOND)):
        for texts, rows in by_text.items():
            yield texts[place], [{name: row[name] for name in names} for row in rows]


def _texts(query: SteppedQuery) -> tuple[str, str]:
    """The automaton of the first two events, and that of the third."""
    text = query.text("Filter")
    declared, whole = text.split("\n", 1)
    third, inner = whole.split("(", 1)
    first, between = inner.rsplit("\nNEXT", 1)
    last = f"NEXT{between.rsplit(')', 1)[0]}"
    return (
        f"{declared}\nSELECT :number AS number FROM {first} PUBLISH Pairs",
        f"{declared}\n{third}(FILTER{{number = :number}}(Pairs) {last})",
    )
