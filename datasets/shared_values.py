"""The adversarial stream: few values, shared across all leaves of three-level documents.

Each of the 16 leaves of a document (section 6.6.1's complex schema) is drawn from the same 100
values.  So any two documents join, each pair at its own two or three places: hardly any pair
resembles another, and caches of pairs are of little use.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

from .technical_benchmark import three_level

__all__ = ["shared_values"]

VALUES = 100


def shared_values(
    documents: int, *, values: int = VALUES, seed: int = 4
) -> Iterator[dict[str, Any]]:
    """The documents as envelopes of stream `S`, one a second, over `three_level()`.

    >>> next(shared_values(1))["xml"][:38]
    '<doc><part1><leaf1>value 30</leaf1><le'
    """
    random = Random(seed)
    schema = three_level()
    for number in range(documents):
        drawn = [f"value {random.randrange(values)}" for _ in schema.leaves]
        yield {
            "stream": "S",
            "id": f"d{number}",
            "timestamp": number,
            "xml": schema.document(drawn),
        }
