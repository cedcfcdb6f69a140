"""Sequence construction as one Python function: SASE's DFS over stacks (Wu et al.  2006, section
4).

From an event of the last component backwards, a loop for each component before it, from the newest
event to the oldest.  Each comparison is in the loop where all its values are first known (dynamic
filtering), each loop ends with the window, and iterates only over events that have the required
equal values (PAIS).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from xscl.pattern_stage.automaton import EachOf, GateOf, StackPlan
from xscl.pattern_stage.compiler.bound import conjunction
from xscl.pattern_stage.compiler.conditions import Edge
from xscl.pattern_stage.compiler.gating import gate_of
from xscl.pattern_stage.compiler.terms import ComponentTexts
from xscl.pattern_stage.layouts import END
from xscl.pattern_stage.pattern import Conjunct, Strategy
from xscl.pattern_stage.values.terms import Form, Read, Slot, leaves

if TYPE_CHECKING:
    from xscl.pattern_stage.compiler.moves import Compiler

__all__ = ["sequence_of"]


_LONGEST = 16
"""Python nests no more than 20 loops."""


def sequence_of(compiler: Compiler) -> StackPlan | None:
    """The plan of a pattern without a Kleene plus, in which any event may be skipped; None for one
    that is left to runs."""
    pattern = compiler.pattern
    if (
        pattern.strategy is not Strategy.SKIP_TILL_ANY_MATCH
        or any(one.kleene for one in pattern.components)
        or len(compiler.positive) > _LONGEST
    ):
        return None
    return _Planner(compiler).sequence()


class _Reads(ComponentTexts):
    """Reads of events by their component."""

    def read(self, leaf: Read, form: Form) -> str:
        return self.texts.slot(leaf.component, Slot(leaf.attribute, form), f"e{leaf.component}")


class _Planner:
    def __init__(self, compiler: Compiler) -> None:
        self.compiler, self.texts = compiler, compiler.texts
        self.positive, self.without = compiler.positive, compiler.without
        self.reads = _Reads(compiler.texts)
        self.first, self.last = self.positive[0], self.positive[-1]
        self.stacked = "active instance stacks" not in self.without
        self.gates: list[GateOf | EachOf] = []
        # By component: the text of own values, and of those of later events that they equal.
        self.keys: dict[int, list[tuple[str, str]]] = {place: [] for place in self.positive}
        self.tested: dict[int, list[str]] = {place: [] for place in self.positive}
        self.gated: dict[int, list[tuple[str, int]]] = {place: [] for place in self.positive}

    def at(self, places: Iterable[int], switch: str = "dynamic filtering") -> int:
        """The component in whose loop a condition on these is tested: the first of them."""
        return self.first if switch in self.without else min(places, default=self.last)

    def sequence(self) -> StackPlan:
        self.test_equivalence()
        tests = len(self.keys[self.last])
        scans = []
        for place in self.positive:
            of_event, rest = self.compiler.conditions.of_event(place, Edge.BEGIN)
            if "single predicates in scan" in self.without:
                of_event, rest = [], [*of_event, *rest]
            scans.append(self.compiler.scan_of(place, of_event, Edge.BEGIN))
            for conjunct in rest:
                self.compare(conjunct)
        keys = tuple(self.key(place) for place in self.positive)
        construct = self.construction()
        return StackPlan(self.positive, tuple(scans), keys, construct, tuple(self.gates), tests)

    def compare(self, conjunct: Conjunct) -> None:
        """Adds a conjunct where it is tested."""
        components = {leaf.component for leaf in leaves(conjunct) if isinstance(leaf, Read)}
        place = self.at(components)

        def function(seen: ComponentTexts, before: str, result: str) -> str:
            return self.texts.function(before + ", ".join(events), result) if before else result

        events = [f"e{one}" for one in sorted(components)]
        gate = gate_of(conjunct, lambda: _Reads(self.texts), function)
        if isinstance(gate, GateOf):
            # Its value is computed in the loop itself.
            self.gated[place].append((gate.value, len(self.gates)))
            self.gates.append(replace(gate, value=""))
            return
        if gate is not None:
            given = "".join(f"{one}, " for one in events)
            self.gated[place].append((f"({given})", len(self.gates)))
            self.gates.append(gate)
            return
        equal = self.equality(conjunct)
        if equal is not None and self.stacked and "dynamic filtering" not in self.without:
            self.keys[place].append(equal)
        else:
            self.tested[place].append(self.reads.conjunct(conjunct))

    def equality(self, conjunct: Conjunct) -> tuple[str, str] | None:
        """The values that must be equal of an event and of one later in the sequence."""
        if len(conjunct) != 1 or conjunct[0].operator != "=":
            return None
        sides = []
        for term in (conjunct[0].left, conjunct[0].right):
            if not isinstance(term, Read) or term.number or self.texts.wild(term.component):
                return None
            sides.append((term.component, self.reads.read(term, Form.TEXT)))
        (one, own), (other, their) = sorted(sides)
        return None if one == other else (own, their)

    def test_equivalence(self) -> None:
        """Adds the tests `[x]` where they are tested, or to keys."""
        partitioned = self.stacked and not self.compiler.together and "PAIS" not in self.without
        for _, slot in self.compiler.tests:
            text = {place: self.texts.slot(place, slot, f"e{place}") for place in self.positive}
            for place in self.positive:
                wild = self.texts.wild(place)
                if partitioned:
                    self.keys[place].append((text[place], text[self.last]))
                    continue
                if not wild:
                    self.tested[self.at((place,))].append(f"{text[place]} is not None")
                for later in self.positive[self.positive.index(place) + 1 :]:
                    missing = [text[one] for one in (place, later) if self.texts.wild(one)]
                    same = [
                        *(f"{one} is None" for one in missing),
                        f"{text[place]} == {text[later]}",
                    ]
                    self.tested[self.at((place,))].append(f"({' or '.join(same)})")

    def key(self, place: int) -> str | None:
        """The function for an event's key; None for one that lacks a required value."""
        own = [one.replace(f"e{place}[", "e[") for one, _ in self.keys[place]]
        if not own:
            return None
        there = conjunction(f"{one} is not None" for one in own)
        return self.texts.function("e", f"(({', '.join(own)},) if {there} else None)")

    def construction(self) -> str:
        """The function that goes back from an event of the last component."""
        within = self.compiler.pattern.within
        lines = list[str]()
        indent = ""

        def put(line: str) -> None:
            lines.append(indent + line)

        for place in reversed(self.positive):
            leave, mask = ("return", "m") if place == self.last else ("continue", f"m{place}")
            if place == self.last:
                if within is not None:
                    put(f"floor = e{place}[{END}] - {within}")
            else:
                later = self.positive[self.positive.index(place) + 1]
                keys = [their for _, their in self.keys[place]]
                put(
                    f"found = stacks[{place}].get(({', '.join(keys)},))"
                    if keys
                    else f"found = stacks[{place}].get(())"
                )
                put("if found is not None:")
                indent += "    "
                put(f"times{place}, entries{place} = found")
                put(f"i{place} = bisect_left(times{place}, e{later}[{END}])")
                put(f"while i{place}:")
                indent += "    "
                put(f"i{place} -= 1")
                if within is not None and "windows in construction" not in self.without:
                    put(f"if times{place}[i{place}] <= floor: break")
                above = "m" if later == self.last else f"m{later}"
                put(f"e{place}, m{place} = entries{place}[i{place}]")
                if "active instance stacks" in self.without:
                    put(f"if m{place}[0] != {place}: continue")
                    put(f"m{place} = m{place}[1]")
                put(f"m{place} &= {above}")
                put(f"if not m{place}: continue")
            if self.tested[place]:
                put(f"if not ({conjunction(self.tested[place])}): {leave}")
            for value, gate in self.gated[place]:
                put(f"v = {value}")
                put(f"if v is None: {leave}")
                put("if v is not PASS:")
                put(f"    {mask} &= gates[{gate}](v)")
                put(f"    if not {mask}: {leave}")
        if within is not None and "windows in construction" in self.without:
            leave = "continue" if len(self.positive) > 1 else "return"
            put(f"if e{self.first}[{END}] <= floor: {leave}")
        chain = "".join(f"({place}, e{place}), " for place in self.positive)
        final = "m" if self.first == self.last else f"m{self.first}"
        put(f"emit({final}, ({chain}), e{self.last}[{END}])")
        parameters = f"e{self.last}, m, stacks, gates, emit"
        return self.texts.function(parameters, "None", *lines)
