"""Names for the operators of a plan: equal sub-plans have the same, whatever query they are of.

`id` is of an operator with its constants and inputs, `form` without the constants: operators of one
form are one m-op (docs/semantics.md#sharing).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from hashlib import sha256

from xscl.event_queries.terms import Known, Open
from xscl.language.same_query import bare
from xscl.language.syntax import Block
from xscl.pattern_stage.algebra.localised import Localised, Operators
from xscl.pattern_stage.algebra.nodes import INPUTS, Node, Source

__all__ = ["Operator", "operators"]


@dataclass(frozen=True, slots=True)
class Operator:
    """An operator of a plan, as it is there, by its names."""

    node: Node
    id: str
    form: str
    inputs: tuple[Operator, ...]

    def everything(self) -> Iterator[Operator]:
        """It and all below it, from the root on, left to right."""
        left = [self]
        while left:
            top = left.pop()
            yield top
            left += reversed(top.inputs)


def operators(root: Node, constants: Sequence[Known], blocks: Sequence[Block]) -> Operator:
    """A plan, from its root."""
    return _named(root, Operators().localise(root), constants, blocks)


def _named(
    node: Node, local: Localised, constants: Sequence[Known], blocks: Sequence[Block]
) -> Operator:
    inputs = tuple(
        _named(one, inner, constants, blocks)
        for one, inner in zip(node.inputs, local.inputs, strict=True)
    )
    # The order of histories is of compositions alone.
    names = [one.name for one in fields(local.node) if one.name not in (*INPUTS, "by_history")]
    own: list[object] = [type(node).__name__, *(getattr(local.node, name) for name in names)]
    if isinstance(node, Source):
        own = [type(node).__name__, bare(blocks[node.type]), node.listed]
    values = [
        f":{one.name}" if isinstance(one, Open) else one
        for one in (constants[place] for place in local.places)
    ]
    return Operator(
        node,
        _hashed(own, values, [one.id for one in inputs]),
        _hashed(own, [one.form for one in inputs]),
        inputs,
    )


def _hashed(*parts: object) -> str:
    return sha256(repr(parts).encode()).hexdigest()[:12]
