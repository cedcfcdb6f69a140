"""The options of an engine that change its speed and never its matches.

Each strategy switched off alone, all together, and all of them with so little memory that every
limit is met by a few documents.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any
from unittest import mock

import xscl
from xscl.documents import bodies
from xscl.join_stage import likeness, processor
from xscl.join_stage.in_process import channels, signatures, view_cache
from xscl.join_stage.in_process import join as in_process

__all__ = ["USUAL", "WAYS", "Way"]

_SMALL: Mapping[ModuleType, Mapping[str, int]] = {
    channels: {"_MOST_PARTS": 2},
    in_process: {"_LONG": 1, "_WIDE": 4, "_EXCESSIVE": 12, "_UNSETTLED": 2},
    likeness: {"_FEWEST": 3, "_CACHED": 5},
    processor: {"_LEAVES": 5, "_FEW": 2},
    signatures: {
        "_PROBED": 4,
        "_UNASKED": 6,
        "_STATES": 5,
        "_POSITIONS": 12,
        "_BINDINGS": 3,
    },
    view_cache: {"_SHAPES": 4},
}
_HOT: Mapping[ModuleType, Mapping[str, int]] = {in_process: {"_LONG": 1}}


@dataclass(frozen=True)
class Way:
    """Options of an engine, and limits of its packages by module."""

    name: str
    options: Mapping[str, Any] = field(default_factory=dict, repr=False)
    limits: Mapping[ModuleType, Mapping[str, int]] = field(default_factory=dict, repr=False)

    @contextmanager
    def taken(self) -> Iterator[Mapping[str, Any]]:
        """The options, while the limits are these."""
        with ExitStack() as stack:
            for module, limits in self.limits.items():
                stack.enter_context(mock.patch.multiple(module, **limits))
            yield self.options


def _strategies(**options: Any) -> dict[str, Any]:
    return {"strategies": xscl.Strategies(**options)}


USUAL = Way("as it is")

WAYS = (
    USUAL,
    Way("all in DuckDB", _strategies(in_process=0)),
    Way("some in DuckDB", _strategies(in_process=2)),
    Way("no memory", _strategies(memory=0)),
    Way("bounded memory", {"memory": 2**26}),
    Way("no signatures", _strategies(signatures=False)),
    Way("no ranges", _strategies(ranges=False)),
    Way("a template for each query", _strategies(templates=False)),
    Way("no channels", _strategies(channels=False)),
    Way("no query sharing", {"query_sharing": False}),
    Way(
        "none at all",
        _strategies(
            in_process=0,
            memory=0,
            signatures=False,
            ranges=False,
            templates=False,
            channels=False,
        )
        | {"query_sharing": False},
    ),
    Way(
        "in process and no more",
        _strategies(memory=0, signatures=False, ranges=False) | {"query_sharing": False},
    ),
    Way("every string is hot", limits=_HOT),
    Way("every document is large", limits={bodies: {"LARGE": 10}}),
    Way("little room", _strategies(memory=20_000, in_process=5), _SMALL),
)
