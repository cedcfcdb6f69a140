"""`+`: one event or more of an input, each the successor of those before it (NEXT CEP's EQL).

A composite is a chain, `(start, end, None, last, before)`: its last event, and the chain of those
before that, None in a chain of one.  `Once` makes these, `Repeat` the longer ones.
"""

from __future__ import annotations

from dataclasses import dataclass

from xscl.pattern_stage.algebra.composites import chain_text
from xscl.pattern_stage.algebra.nodes.node import NOTHING, Leaf, Node
from xscl.pattern_stage.algebra.nodes.select import Condition
from xscl.pattern_stage.algebra.reading import ReadContext
from xscl.pattern_stage.layouts import SLOTS
from xscl.pattern_stage.values.terms import STEP, Form

__all__ = ["BEFORE", "LAST", "Once", "Repeat"]

LAST, BEFORE = SLOTS, SLOTS + 1


def _chained(of: Node, event: str, leaf: Leaf, reading: ReadContext) -> str:
    """What `leaf` makes of the events of a chain."""
    inner = reading.fresh()
    text = of.leaves(inner, leaf, reading)
    return text if text == NOTHING else f"chained({event}, lambda {inner}: {text})"


@dataclass(frozen=True, slots=True)
class Once(Node):
    """Each event as a chain of one."""

    input: Node

    def leaves(self, event: str, leaf: Leaf, reading: ReadContext) -> str:
        """Those of the one event."""
        return _chained(self.input, event, leaf, reading)

    @property
    def names(self) -> tuple[str, ...]:
        return self.input.names

    @property
    def open(self) -> bool:
        return self.input.open

    def read(self, name: str, form: Form, event: str, reading: ReadContext) -> str:
        """An attribute is that of the one event."""
        return self.input.read(name, form, f"{event}[{LAST}]", reading)


@dataclass(frozen=True, slots=True)
class Repeat(Node):
    """φ is `condition`, θ `continuing`, over sides 1 (the event that comes) and 2 (the chain before
    it), and 3 for the latest event of a variable in either.  The left input has the chains of one,
    which are events of this, too.  Of several events that end together the first in the order of
    histories is the successor."""

    condition: Condition
    continuing: Condition
    left: Node
    right: Node

    @property
    def parts(self) -> tuple[Node, ...]:
        return (self.right,)

    def leaves(self, event: str, leaf: Leaf, reading: ReadContext) -> str:
        """Those of each event of the chain."""
        return _chained(self.right, event, leaf, reading)

    @property
    def names(self) -> tuple[str, ...]:
        return self.right.names

    @property
    def open(self) -> bool:
        return self.right.open

    def read(self, name: str, form: Form, event: str, reading: ReadContext) -> str:
        """An attribute is that of the last event of its variable."""
        if self.right.has(name.partition(STEP)[0]):
            return self.right.read(name, form, f"{event}[{LAST}]", reading)
        return f"last_of({self.leaves(event, chain_text(name, form, reading), reading)})"


@dataclass(frozen=True, slots=True)
class Latest:
    """Side 3: an attribute of the last event of its variable in the event that comes, else in the
    chain before it."""

    of: Repeat
    chain: str
    coming: str

    def read(self, name: str, form: Form, event: str, reading: ReadContext) -> str:
        """As of a node, of both."""
        right = self.of.right
        if right.has(name.partition(STEP)[0]):
            return right.read(name, form, self.coming, reading)
        leaf = chain_text(name, form, reading)
        before = self.of.leaves(self.chain, leaf, reading)
        return f"last_of({before} + {right.leaves(self.coming, leaf, reading)})"
