"""What is read of composites: the events of variables, in order of time, and the order of their
histories (White et al., *What is "next" in event processing?*, PODS 2007; Schultz-Møller et al.,
*Distributed complex event processing with query rewriting*, DEBS 2009).

Texts are expressions over an event of a node, as `reading` has them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from xscl.pattern_stage.algebra.reading import ReadContext
from xscl.pattern_stage.layouts import NUMBER, START
from xscl.pattern_stage.values.terms import STEP, Form

if TYPE_CHECKING:
    from xscl.pattern_stage.algebra.nodes.node import Leaf, Node

__all__ = ["chain_text", "events_text", "history_text", "spans_text"]


def chain_text(name: str, form: Form, reading: ReadContext) -> Leaf:
    """For `leaves`: the values of an attribute, None where an event of its variable lacks it."""
    wanted = name.partition(STEP)[0]

    def leaf(variable: str, of: Node, event: str) -> str:
        return f"({of.read(name, form, event, reading)},)" if variable == wanted else "()"

    return leaf


def spans_text(some: Iterable[str]) -> Leaf:
    """For `leaves`: the starts and ends of the events of some variables."""
    wanted = frozenset(some)

    def leaf(variable: str, of: Node, event: str) -> str:
        return f"({event}[{START}:{NUMBER}],)" if variable in wanted else "()"

    return leaf


def events_text(node: Node, event: str, reading: ReadContext) -> str:
    """The events of a composite, each with its variable, which is the number of a component."""
    return node.leaves(event, lambda variable, _, one: f"(({int(variable)}, {one}),)", reading)


def history_text(node: Node, event: str, reading: ReadContext) -> str:
    """The key of the order ⊏ among events: all times from the last to the first, and then none.

    Of two histories the one with the smaller time comes first where they first differ, counted
    from their ends; a proper tail comes after the longer one.
    """
    times = node.leaves(event, lambda _, __, one: f"{one}[{START}:{NUMBER}]", reading)
    return f"({times}[::-1] + (inf,))"
