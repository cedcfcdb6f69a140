"""The condition of a pattern as it was written, by what it was compiled to: each conjunct on the
edge that the compiler places it on (SASE+, section 3; docs/semantics.md#edges-of-the-automaton)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from xscl.language.patterns.normal_form import Clause, conjuncts
from xscl.language.patterns.unparse import PatternWording, value
from xscl.language.patterns.walk import reads
from xscl.language.syntax import Aggregate, Compared, Equivalence, EventPattern, Read
from xscl.language.unparse import Wording
from xscl.pattern_stage.compiler.conditions import Edge, placed
from xscl.pattern_stage.pattern import Conjunct, Pattern
from xscl.pattern_stage.values.terms import Constant, Leaf, leaves

__all__ = ["Place", "Written"]

Place = tuple[int, Edge]
"""A component by its place, and an edge of its states."""


class Written:
    """The condition of one pattern: `tests` as written and as compiled, what each edge requires
    (`positive`), and which events of a negated component count (`negative`, by its place)."""

    def __init__(self, source: EventPattern, text: str, pattern: Pattern) -> None:
        self.wording, self.blocks = PatternWording(text), Wording(text)
        every = conjuncts(source.condition)
        tests = [one for clause in every for one in clause if isinstance(one, Equivalence)]
        self.tests = [*zip(map(self.wording.atom, tests), pattern.tests, strict=True)]
        clauses = [clause for clause in every if not isinstance(clause[0], Equivalence)]
        self._clauses = dict(zip(pattern.conjuncts, clauses, strict=True))
        # A test with a constant is a conjunct to the compiler, and a test to its writer.
        found = placed(replace(pattern, tests=()))
        self.negative = found.negated
        self.positive: dict[Place, list[Conjunct]] = {}
        order = {conjunct: number for number, conjunct in enumerate(self._clauses)}
        for place in sorted({*found.edges, *found.walks}):
            here = [*found.edges.get(place, ()), *found.walks.get(place, ())]
            self.positive[place] = sorted(here, key=order.__getitem__)

    def clause(self, conjunct: Conjunct) -> str:
        """A conjunct."""
        return " OR ".join(map(self.wording.atom, self._clauses[conjunct]))

    def reads(self, conjunct: Conjunct) -> Iterator[tuple[Leaf, str]]:
        """What a conjunct reads, in the order of the text."""
        read = (one for one in leaves(conjunct) if not isinstance(one, Constant))
        return zip(read, map(value, _reads(self._clauses[conjunct])), strict=True)


def _reads(clause: Clause) -> Iterator[Read | Aggregate]:
    for atom in clause:
        if isinstance(atom, Compared):
            for side in (atom.left, atom.right):
                for read, aggregate in reads(side):
                    yield aggregate or read
