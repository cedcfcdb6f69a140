"""Conditions over the events of a match: those of negated components, and those that hold for all
`i` though they stand behind a Kleene component.

Such a function is given the events by component (`B`, a list of a Kleene one), and the event `n`
of a negated component.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pattern_stage.compiler.terms import Leaf, conjunct_text, leaves
from pattern_stage.compiler.texts import Texts
from pattern_stage.pattern import (
    Aggregate,
    Comparison,
    Conjunct,
    Constant,
    Form,
    Index,
    Length,
    Pattern,
    Read,
    Slot,
)

__all__ = ["BoundReads", "bound_function", "every", "overlap_function", "reads_of", "runs_over"]


def reads_of(conjunct: Conjunct) -> Iterator[Leaf]:
    """What a conjunct is made of."""
    for comparison in conjunct:
        yield from leaves(comparison.left)
        yield from leaves(comparison.right)


def runs_over(conjunct: Conjunct) -> int | None:
    """The Kleene component over whose `i` a conjunct runs."""
    for leaf in reads_of(conjunct):
        if isinstance(leaf, Read) and leaf.index in (Index.EACH, Index.PREVIOUS):
            return leaf.component
        if isinstance(leaf, Aggregate) and leaf.previous:
            return leaf.component
    return None


class BoundReads:
    """Reads of the events of a match."""

    def __init__(self, texts: Texts, negated: int | None = None) -> None:
        self._texts, self._negated = texts, negated

    def read(self, read: Read, form: Form) -> str:
        return self._texts.slot(read.component, Slot(read.attribute, form), self._event(read))

    def _event(self, read: Read) -> str:
        if read.component == self._negated:
            return "n"
        within = {None: "", Index.FIRST: "[0]", Index.LAST: "[-1]", Index.EACH: "[i]"}
        return f"b{read.component}{within.get(read.index, '[i - 1]')}"

    def wild(self, read: Read) -> bool:
        return self._texts.wild(read.component)

    def aggregate(self, aggregate: Aggregate) -> str:
        part = "[:i]" if aggregate.previous else ""
        events = f"b{aggregate.component}{part}"
        if aggregate.attribute is None:
            return f"len({events})"
        slot = self._texts.slot(aggregate.component, Slot(aggregate.attribute, Form.NUMBER), "q")
        return f"aggregate({aggregate.function!r}, [{slot} for q in {events}])"

    def length(self, length: Length) -> str:
        return f"len(b{length.component})"

    def constant(self, constant: Constant, form: Form) -> str:
        return self._texts.constant(constant, form)


def every(conjunct: Conjunct, reads: BoundReads) -> str:
    """A conjunct over events, for all `i`."""
    text = conjunct_text(conjunct, reads)
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
    """The function that gives the partition of a match: of each test `[x]` the value of the first
    event that has one."""
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
    held = []
    for place in texts.positive:
        old = texts.slot(place, slot, "q")
        one = f"({old} is None or {old} == {new})"
        if pattern.components[place].kleene:
            held.append(f"all({one} for q in b{place})")
        else:
            held.append(one.replace("q[", f"b{place}["))
    if texts.wild(negated):
        return f"({new} is None or ({conjunction(held)}))"
    return f"({new} is not None and {conjunction(held)})"


def comparison_of(test_attribute: Read, constant: Constant) -> Comparison:
    """`x = c`, as a test of one event."""
    return Comparison("=", test_attribute, constant)
