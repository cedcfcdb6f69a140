"""Conditions over the events of a match: those of negated components, and those that hold for all
`i` although they follow a Kleene component.

The arguments of such a function are the events by component (`B`, a list for a Kleene one), and the
event `n` of a negated component.
"""

from __future__ import annotations

from collections.abc import Iterable

from xscl.pattern_stage.compiler.terms import ComponentTexts
from xscl.pattern_stage.compiler.texts import Texts
from xscl.pattern_stage.pattern import Conjunct, Pattern
from xscl.pattern_stage.values.terms import (
    Aggregate,
    Form,
    Index,
    Length,
    Read,
    Slot,
    leaves,
)

__all__ = ["BoundReads", "bound_function", "every", "overlap_function", "runs_over"]


def runs_over(conjunct: Conjunct) -> int | None:
    """The Kleene component over whose `i` a conjunct ranges."""
    for leaf in leaves(conjunct):
        if isinstance(leaf, Read) and leaf.index in (Index.EACH, Index.PREVIOUS):
            return leaf.component
        if isinstance(leaf, Aggregate) and leaf.previous:
            return leaf.component
    return None


class BoundReads(ComponentTexts):
    """Reads of the events of a match."""

    def __init__(self, texts: Texts, negated: int | None = None) -> None:
        super().__init__(texts)
        self._negated = negated

    def read(self, leaf: Read, form: Form) -> str:
        return self.texts.slot(leaf.component, Slot(leaf.attribute, form), self._event(leaf))

    def _event(self, read: Read) -> str:
        if read.component == self._negated:
            return "n"
        within = {None: "", Index.FIRST: "[0]", Index.LAST: "[-1]", Index.EACH: "[i]"}
        return f"b{read.component}{within.get(read.index, '[i - 1]')}"

    def aggregate(self, aggregate: Aggregate) -> str:
        part = "[:i]" if aggregate.previous else ""
        events = f"b{aggregate.component}{part}"
        if aggregate.attribute is None:
            return f"len({events})"
        slot = self.texts.slot(aggregate.component, Slot(aggregate.attribute, Form.NUMBER), "q")
        return f"aggregate({aggregate.function!r}, [{slot} for q in {events}])"

    def length(self, length: Length) -> str:
        return f"len(b{length.component})"


def every(conjunct: Conjunct, reads: BoundReads) -> str:
    """A conjunct over events, for all `i`."""
    text = reads.conjunct(conjunct)
    component = runs_over(conjunct)
    return text if component is None else f"all({text} for i in range(1, len(b{component})))"


def bound_function(texts: Texts, result: str, negated: bool = False) -> str:
    """The name of a function of the events of a match."""
    names = "".join(f"b{place}, " for place in range(len(texts.types)))
    return texts.function("B, n" if negated else "B", result, f"{names}= B")


def conjunction(conditions: Iterable[str]) -> str:
    """Conditions joined by AND."""
    return " and ".join(conditions) or "True"


def overlap_function(texts: Texts, pattern: Pattern) -> str:
    """The function for the partition of a match: of each test `[x]` the value of the first event
    that has one."""
    values = []
    for test in pattern.tests:
        if test.constant is not None:
            continue
        slot = Slot(test.attribute, Form.TEXT)
        candidates = []
        for place in texts.positive:
            if pattern.components[place].kleene:
                candidates.append(f"*({texts.slot(place, slot, 'q')} for q in b{place})")
            else:
                candidates.append(texts.slot(place, slot, f"b{place}"))
            if not texts.wild(place):
                break
        values.append(f"next((v for v in ({', '.join(candidates)},) if v is not None), None)")
    return bound_function(texts, f"({', '.join(values)},)")


def same_test(texts: Texts, pattern: Pattern, negated: int, slot: Slot) -> str:
    """An equivalence test of a negated event and a match, whose plain components all pass."""
    new = texts.slot(negated, slot, "n")
    tests = []
    for place in texts.positive:
        old = texts.slot(place, slot, "q")
        one = f"({old} is None or {old} == {new})"
        if pattern.components[place].kleene:
            tests.append(f"all({one} for q in b{place})")
        else:
            tests.append(one.replace("q[", f"b{place}["))
    if texts.wild(negated):
        return f"({new} is None or ({conjunction(tests)}))"
    return f"({new} is not None and {conjunction(tests)})"
