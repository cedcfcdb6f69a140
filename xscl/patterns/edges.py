"""Where the conjuncts of a pattern stand: on the edge of the last thing that each reads (SASE+,
section 3; patterns-sase.md, section 4)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

from xscl.language.patterns.names import component_names
from xscl.language.patterns.normal_form import Clause, conjuncts
from xscl.language.patterns.reads import is_length
from xscl.language.patterns.walk import reads
from xscl.language.syntax import Aggregate, Compared, Equivalence, EventPattern, Read

__all__ = ["Edge", "Placed", "Placement"]


class Edge(IntEnum):
    """The edges of a component's states on which conjuncts stand, in order."""

    BEGIN = 0
    TAKE = 1
    PROCEED = 2


Place = tuple[int, Edge]
"""A component by its place, and an edge of its states."""


@dataclass(frozen=True, slots=True)
class Placed:
    """One thing that a conjunct reads, and the edge from which on it is known."""

    place: Place
    read: Read
    aggregate: Aggregate | None


class Placement:
    """The condition of one pattern: `tests`, what each edge has to hold (`positive`), and what
    makes an event of a negated component count (`negative`, by its place)."""

    def __init__(self, source: EventPattern) -> None:
        self.source = source
        self.names = component_names(source)
        self._places = {name: place for place, name in enumerate(self.names)}
        self.tests: list[Equivalence] = []
        self.positive: dict[Place, list[Clause]] = {}
        self.negative: dict[int, list[Clause]] = {}
        first = next(at for at, one in enumerate(source.components) if not one.negated)
        for clause in conjuncts(source.condition):
            if isinstance(clause[0], Equivalence):
                self.tests.append(clause[0])
                continue
            read = list(self.reads(clause))
            negated = [one for one in read if source.components[one.place[0]].negated]
            if negated:
                self.negative.setdefault(negated[0].place[0], []).append(clause)
            else:
                last = max((one.place for one in read), default=(first, Edge.BEGIN))
                self.positive.setdefault(last, []).append(clause)

    def reads(self, clause: Clause) -> Iterator[Placed]:
        """What a conjunct reads, in the order of the text."""
        for atom in clause:
            if isinstance(atom, Compared):
                for side in (atom.left, atom.right):
                    for read, aggregate in reads(side):
                        yield Placed(self._place(read, aggregate), read, aggregate)

    def _place(self, read: Read, aggregate: Aggregate | None) -> Place:
        name = "" if read.variable is None else read.variable.text
        place = self._places.get(name, 0)
        if not self.source.components[place].plus or read.index == "1":
            return place, Edge.BEGIN
        running = read.index in ("i", "i-1", "..i-1")
        whole = not running or (aggregate is None and read.index is None and is_length(read))
        return place, Edge.PROCEED if whole else Edge.TAKE
