"""The texts of terms and conditions over `a`, `b`, `i` (sides 0, 1, 2) and the constants `c`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from xscl.pattern_stage.algebra.composites import spans_text
from xscl.pattern_stage.algebra.nodes import Node, Repeat
from xscl.pattern_stage.algebra.nodes.iterate import Iterate, Iteration
from xscl.pattern_stage.algebra.nodes.node import Leaf
from xscl.pattern_stage.algebra.nodes.repeat import Latest
from xscl.pattern_stage.algebra.reading import ReadContext
from xscl.pattern_stage.layouts import END, START, Layouts
from xscl.pattern_stage.values.terms import (
    RANGES,
    STEP,
    Age,
    Column,
    Constant,
    ForAll,
    Form,
    Spread,
)
from xscl.pattern_stage.values.texts import NONE, TermTexts

__all__ = ["SideTexts"]


_ACROSS = 3
"""The first side that is no event of its own."""

_PARTS = {"all": "", "last": "[-1:]", "before": "[-2:-1]"}


class Reader(Protocol):
    """The source of a side: a node, or an iteration."""

    def read(self, name: str, form: Form, event: str, reading: ReadContext) -> str:
        """The text that reads an attribute of an event."""


class _Values:
    """A side of a `ForAll`: pairs, of the text and of the number of an attribute; `forms` are those
    that are read."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.forms: set[Form] = set()

    def read(self, name: str, form: Form, event: str, reading: ReadContext) -> str:
        """The value in a form."""
        self.forms.add(form)
        return f"{event}[{0 if form is Form.TEXT else 1}]"


class SideTexts(TermTexts):
    """The texts of one function; `sides` are the nodes by side, with their variables."""

    def __init__(self, sides: Mapping[int, tuple[Any, str]], layout: Layouts) -> None:
        self.sides, self.reading = sides, ReadContext(layout)

    @classmethod
    def over(cls, node: Node, layout: Layouts) -> SideTexts:
        """Over one event, `a`: of a Select's input, or a Map's."""
        return cls({0: (node, "a")}, layout)

    @classmethod
    def between(cls, left: Node, right: Node, layout: Layouts) -> SideTexts:
        """Over two events, `a` and `b`: of a Sequence."""
        return cls({0: (left, "a"), 1: (right, "b")}, layout)

    @classmethod
    def repeating(cls, node: Repeat, first: bool, layout: Layouts) -> SideTexts:
        """Over `b` and the chain before it: `i`, or the `first` one, `a`."""
        chain = "a" if first else "i"
        latest: tuple[Reader, str] = Latest(node, chain, "b"), "b"
        return cls({1: (node.right, "b"), 2: (node, chain), 3: latest}, layout)

    @classmethod
    def within(cls, node: Iterate, first: bool, layout: Layouts) -> SideTexts:
        """Over `a`, `b` and an iteration `i`; in the `first`, `$` is the left event `a`."""
        latest: tuple[Reader, str] = (node.left, "a") if first else (Iteration(node), "i")
        return cls({0: (node.left, "a"), 1: (node.right, "b"), 2: latest}, layout)

    def read(self, leaf: Column, form: Form) -> str:
        side, event = self.sides[leaf.side]
        reader: Reader = side
        return reader.read(leaf.name, form, event, self.reading)

    def for_all(self, predicate: ForAll) -> str:
        """The values of each range as pairs of text and number, as far as they are read."""
        names = [self.fresh() for _ in predicate.ranges]
        values = [_Values(name) for name in names]
        sides = {RANGES + place: (one, one.name) for place, one in enumerate(values)}
        before, self.sides = self.sides, {**self.sides, **sides}
        part = self.predicate(predicate.part)
        self.sides = before
        over = ""
        for range_, one in zip(predicate.ranges, values, strict=True):
            node, event = self.sides[range_.side]
            forms = [form if form in one.forms else None for form in (Form.TEXT, Form.NUMBER)]
            pairs = node.leaves(event, self._pairs(range_.name, forms), self.reading)
            over += f" for {one.name} in {pairs}{_PARTS[range_.which]}"
        return f"all({part}{over})"

    def _pairs(self, name: str, forms: Iterable[Form | None]) -> Leaf:
        wanted = name.partition(STEP)[0]

        def leaf(variable: str, of: Node, event: str) -> str:
            if variable != wanted:
                return "()"
            read = [
                NONE if form is None else of.read(name, form, event, self.reading) for form in forms
            ]
            return f"(({', '.join(read)}),)"

        return leaf

    def computed(self, leaf: Age | Spread) -> str:
        if isinstance(leaf, Spread):
            return f"spread({self._spans(leaf.one)}, {self._spans(leaf.other)})"
        if leaf.side is None:
            last = self.sides[1 if 1 in self.sides else 0][1]
            return f"({last}[{END}] - {self.sides[0][1]}[{START}])"
        event = self.sides[leaf.side][1]
        return f"({event}[{END}] - {event}[{START}])"

    def _spans(self, variable: str) -> str:
        """The times of the events of a variable, in order: of what was before, then what comes."""
        some = [
            node.leaves(event, spans_text([variable]), self.reading)
            for side, (node, event) in sorted(self.sides.items(), key=lambda one: one[0] != 2)
            if side < _ACROSS
        ]
        some = [one for one in some if one != "()"]
        return f"({' + '.join(some)})" if some else "()"

    def constant(self, constant: Constant, form: Form) -> str:
        text, number = f"c[{constant.place}]", form is Form.NUMBER
        if constant.number is number:
            return text
        return f"number_of({text})" if number else f"number_text({text})"

    def fresh(self) -> str:
        return self.reading.fresh()
