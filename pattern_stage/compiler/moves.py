"""The states and moves of a pattern: NFA^b of SASE+ (Agrawal et al.  2008, section 3).

Each positive component is a state in which a run expects it, and a Kleene one also the loop at
`p[i]`.  A run leaves a loop only together with the event that begins the next component (peeking).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from xscl.pattern_stage.automaton import (
    START,
    Epsilon,
    Finish,
    Gated,
    Move,
    Scan,
)
from xscl.pattern_stage.compiler.bound import (
    BoundReads,
    bound_function,
    conjunction,
    every,
)
from xscl.pattern_stage.compiler.conditions import Edge, placed
from xscl.pattern_stage.compiler.gating import gated
from xscl.pattern_stage.compiler.registers import Field, RegisterReads, carried, unpacked
from xscl.pattern_stage.compiler.terms import ComponentTexts
from xscl.pattern_stage.compiler.texts import Texts
from xscl.pattern_stage.layouts import Layouts
from xscl.pattern_stage.pattern import Conjunct, Pattern, Strategy
from xscl.pattern_stage.values.terms import Form, Index, Read, Slot

__all__ = ["Compiler"]


class Compiler:
    """A pattern during its compilation to an automaton."""

    def __init__(
        self,
        pattern: Pattern,
        types: tuple[tuple[int, ...], ...],
        layouts: Layouts,
        without: frozenset[str],
    ) -> None:
        self.pattern, self.without = pattern, without
        self.texts = Texts(pattern, types, layouts)
        self.positive = self.texts.positive
        self.last = len(self.positive) - 1
        self.conditions = placed(pattern)
        self.tests = [
            (place, Slot(test.attribute, Form.TEXT))
            for place, test in enumerate(pattern.tests)
            if test.constant is None
        ]
        self.together = bool(self.tests) and any(map(self.texts.wild, self.positive))
        self.names: dict[Field, str] = {}
        self.needs: dict[int, set[Field]] = {}

    def name(self, column: Field) -> str:
        return self.names.setdefault(column, f"r{len(self.names)}")

    @property
    def peeking(self) -> bool:
        """Whether a run leaves a Kleene plus only together with the event that begins the next
        component; where any event may be skipped it need not."""
        any_ = self.pattern.strategy is Strategy.SKIP_TILL_ANY_MATCH
        return not (any_ and "peeking" in self.without)

    # States: where a run expects the component at a place, and where it loops there.

    def expecting(self, place: int) -> int:
        return 2 * place

    def loop(self, place: int) -> int:
        return 2 * place + 1

    def kleene(self, place: int) -> bool:
        return self.pattern.components[self.positive[place]].kleene

    def target(self, place: int) -> int:
        return self.loop(place) if self.kleene(place) else self.expecting(place + 1)

    def edges(self) -> list[tuple[int, int, int, Edge]]:
        """(source, target, place, edge) of each move."""
        found = list[tuple[int, int, int, Edge]]()
        for place in range(len(self.positive)):
            if place == 0 or not self.kleene(place - 1) or not self.peeking:
                found.append((self.expecting(place), self.target(place), place, Edge.BEGIN))
            else:
                found.append((self.loop(place - 1), self.target(place), place, Edge.PROCEED))
            if self.kleene(place):
                found.append((self.loop(place), self.loop(place), place, Edge.TAKE))
        return found

    # The columns of states

    def reads(self, place: int | None, edge: Edge) -> RegisterReads:
        taken = None if place is None else self.positive[place]
        index = Index.EACH if edge is Edge.TAKE else Index.FIRST
        return RegisterReads(self.texts, self.name, taken, index)

    def fence(self, place: int, edge: Edge) -> list[Conjunct]:
        """The conjuncts over register and event of a move."""
        kind = Edge.TAKE if edge is Edge.TAKE else Edge.BEGIN
        rest = self.conditions.of_event(self.positive[place], kind)[1]
        if edge is Edge.PROCEED:
            rest = [*self.leaving(place - 1), *rest]
        return rest

    def test_texts(self, source: int, place: int) -> tuple[list[str], set[Field]]:
        """The tests `[x]` of a move where partitions are together, and what they read."""
        found, used = list[str](), set[Field]()
        component = self.positive[place]
        for number, slot in self.tests if self.together else ():
            new = self.texts.slot(component, slot)
            wild = self.texts.wild(component)
            if source == START:
                if not wild:
                    found.append(f"{new} is not None")
                continue
            column = Field("test", number, slot)
            used.add(column)
            old = self.name(column)
            same = f"({old} is None or {old} == {new})"
            found.append(
                f"({new} is None or {same})" if wild else f"({new} is not None and {same})"
            )
        return found, used

    def leaving(self, place: int) -> list[Conjunct]:
        """The conjuncts that a run must satisfy to leave a loop, or to end in it."""
        return self.conditions.edges.get((self.positive[place], Edge.PROCEED), [])

    def columns_needed(self) -> None:
        """`needs`: for each state the columns that later moves read, to a fixed point."""
        loop = self.loop(self.last)
        self.needs = {loop: self.read_by(None, Edge.PROCEED, self.leaving(self.last))}
        before = None
        while before != self.needs:
            before = {state: {*columns} for state, columns in self.needs.items()}
            for source, target, place, edge in self.edges():
                needed = self.read_by(place, edge, self.fence(place, edge))
                needed |= self.test_texts(source, place)[1]
                for column in self.needs.get(target, ()):
                    needed.update(
                        carried(
                            column,
                            self.positive[place],
                            edge is not Edge.TAKE,
                            self.texts,
                            self.name,
                        )[1]
                    )
                self.needs.setdefault(source, set()).update(needed)
                if target == self.loop(place) and place != self.last and not self.peeking:
                    passed = self.needs.get(self.expecting(place + 1), ())
                    left = self.read_by(None, Edge.PROCEED, self.leaving(place))
                    self.needs.setdefault(target, set()).update(left, passed)
                if self.together and self.pattern.strategy is Strategy.PARTITION_CONTIGUITY:
                    tests = (Field("test", number, slot) for number, slot in self.tests)
                    self.needs.setdefault(target, set()).update(tests)

    def read_by(self, place: int | None, edge: Edge, conjuncts: list[Conjunct]) -> set[Field]:
        """The columns that conjuncts read."""
        reads = self.reads(place, edge)
        for conjunct in conjuncts:
            reads.conjunct(conjunct)
        return reads.columns

    def layout(self, state: int) -> list[Field]:
        return sorted(self.needs.get(state, ()), key=self.name)

    # Functions

    def gated(
        self,
        conjuncts: Iterable[Conjunct],
        reads: Callable[[], RegisterReads],
        parameters: str,
        layout: list[Field],
    ) -> tuple[Gated, list[str], set[Field]]:
        """Conjuncts as gates, and the text of the others with the columns that it reads."""

        def function(seen: ComponentTexts, before: str, result: str) -> str:
            assert isinstance(seen, RegisterReads)
            statement = unpacked(layout, seen.columns, self.name)
            return self.texts.function(before + parameters, result, statement)

        gates, others = gated(conjuncts, reads, function)
        seen = reads()
        return gates, [*map(seen.conjunct, others)], seen.columns

    def scan_of(self, component: int, conjuncts: Iterable[Conjunct], edge: Edge) -> Scan:
        """A scan for the conjuncts that read an event only."""
        index = Index.EACH if edge is Edge.TAKE else Index.FIRST

        def reads() -> RegisterReads:
            return RegisterReads(self.texts, self.name, component, index)

        gates, texts, _ = self.gated(conjuncts, reads, "e", [])
        return Scan(self.texts.function("e", conjunction(texts)) if texts else None, gates)

    def move(self, source: int, target: int, place: int, edge: Edge) -> Move:
        component = self.positive[place]
        kind = Edge.TAKE if edge is Edge.TAKE else Edge.BEGIN
        layout = self.layout(source)
        fence = self.fence(place, edge)
        equal = {one: sides for one in fence if (sides := self.equality(one, place, edge))}
        gates, texts, used = self.gated(
            [one for one in fence if one not in equal],
            lambda: self.reads(place, edge),
            "V, e",
            layout,
        )
        tests, tested = self.test_texts(source, place)
        used = {*used, *tested}
        results = list[str]()
        for column in self.layout(target):
            text, old = carried(column, component, edge is not Edge.TAKE, self.texts, self.name)
            results.append(text)
            used.update(old)
        result = f"({', '.join(results)},)" if results else "()"
        conditions = [*tests, *texts]
        if conditions:
            result = f"{result} if {conjunction(conditions)} else None"
        step = None
        if conditions or results != [self.name(column) for column in layout]:
            step = self.texts.function("V, e", result, unpacked(layout, used, self.name))
        walks = self.conditions.walks.get((component, kind), [])
        if edge is Edge.PROCEED:
            walks = [*self.conditions.walks.get((self.positive[place - 1], edge), ()), *walks]
        return Move(
            source,
            target,
            component,
            self.scan_of(component, self.conditions.of_event(component, kind)[0], kind),
            step,
            edge is not Edge.PROCEED,
            self.equal([*equal.values()], layout),
            gates,
            self.walk(walks),
            self.finish(target),
            self.epsilon(target, place),
        )

    def equality(self, conjunct: Conjunct, place: int, edge: Edge) -> tuple[str, Field] | None:
        """The values of the event that a move takes and of the register that must be equal, if a
        conjunct requires two texts to be equal."""
        contiguous = self.pattern.strategy is Strategy.PARTITION_CONTIGUITY
        if len(conjunct) != 1 or conjunct[0].operator != "=" or contiguous:
            return None
        own = their = None
        for term in (conjunct[0].left, conjunct[0].right):
            if not isinstance(term, Read) or term.number or self.texts.wild(term.component):
                return None
            reads = self.reads(place, edge)
            text = reads.read(term, Form.TEXT)
            if reads.columns:
                (their,) = reads.columns
            else:
                own = text
        return None if own is None or their is None else (own, their)

    def equal(self, sides: list[tuple[str, Field]], layout: list[Field]) -> tuple[str, str] | None:
        """The functions of the values that must be equal of event and register."""
        if not sides:
            return None
        own = [text for text, _ in sides]
        there = conjunction(f"{one} is not None" for one in own)
        columns = [column for _, column in sides]
        names = ", ".join(self.name(column) for column in columns)
        return (
            self.texts.function("e", f"(({', '.join(own)},) if {there} else None)"),
            self.texts.function("V", f"({names},)", unpacked(layout, columns, self.name)),
        )

    def epsilon(self, target: int, place: int) -> Epsilon | None:
        """The further move of a run that has just moved into a loop, where it does not peek."""
        if self.peeking or target != self.loop(place) or place == self.last:
            return None
        layout, left = self.layout(target), self.layout(self.expecting(place + 1))
        gates, texts, used = self.gated(
            self.leaving(place), lambda: self.reads(None, Edge.PROCEED), "V", layout
        )
        step = None
        if texts or layout != left:
            result = "".join(f"{self.name(column)}, " for column in left)
            test = f" if {conjunction(texts)} else None" if texts else ""
            statement = unpacked(layout, {*used, *left}, self.name)
            step = self.texts.function("V", f"({result}){test}", statement)
        walks = self.conditions.walks.get((self.positive[place], Edge.PROCEED), [])
        return Epsilon(self.expecting(place + 1), step, gates, self.walk(walks))

    def walk(self, conjuncts: list[Conjunct]) -> str | None:
        """A function of the events so far, for conjuncts that need them all."""
        if not conjuncts:
            return None
        reads = BoundReads(self.texts)
        return bound_function(self.texts, conjunction(every(one, reads) for one in conjuncts))

    def finish(self, target: int) -> Finish | None:
        """The condition for a run that has moved to a state to be a match."""
        if target == self.expecting(self.last + 1):
            return Finish()
        if target != self.loop(self.last):
            return None
        layout = self.layout(target)
        gates, texts, used = self.gated(
            self.leaving(self.last), lambda: self.reads(None, Edge.PROCEED), "V", layout
        )
        test = None
        if texts:
            statement = unpacked(layout, used, self.name)
            test = self.texts.function("V", conjunction(texts), statement)
        walks = self.conditions.walks.get((self.positive[self.last], Edge.PROCEED), [])
        return Finish(test, gates, self.walk(walks))
