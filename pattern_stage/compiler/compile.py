"""A pattern to its automaton: NFA^b of SASE+ (Agrawal et al. 2008, section 3), constants apart.

Each positive component is a state that waits for it, and of a Kleene one also the loop at `p[i]`.
A run leaves a loop only together with the event that begins what follows (peeking).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from pattern_stage.automaton import START, Automaton, Finish, GateOf, Ignoring, Move, Negated, Scan
from pattern_stage.compiler.bound import (
    BoundReads,
    bound_function,
    conjunction,
    every,
    overlap_function,
    reads_of,
    same_test,
)
from pattern_stage.compiler.conditions import Edge, compared, placed
from pattern_stage.compiler.registers import Column, RegisterReads, carried, unpacked
from pattern_stage.compiler.sequences import sequence_of
from pattern_stage.compiler.terms import (
    Reads,
    conjunct_text,
    is_number,
    missing_texts,
    number_text,
)
from pattern_stage.compiler.texts import Texts
from pattern_stage.layouts import Layouts
from pattern_stage.pattern import (
    Conjunct,
    Constant,
    Form,
    Index,
    Pattern,
    Read,
    Slot,
    Strategy,
    Term,
)

__all__ = ["automaton_of"]

_IGNORING = {
    Strategy.STRICT_CONTIGUITY: Ignoring.NONE,
    Strategy.PARTITION_CONTIGUITY: Ignoring.NONE_OF_PARTITION,
    Strategy.SKIP_TILL_NEXT_MATCH: Ignoring.UNMOVED,
    Strategy.SKIP_TILL_ANY_MATCH: Ignoring.ALL,
}


def reads_alone(conjunct: Conjunct, component: int) -> bool:
    """Whether a conjunct reads events of one component alone, which is not a Kleene plus."""
    return all(
        isinstance(leaf, Constant) or (isinstance(leaf, Read) and leaf.component == component)
        for leaf in reads_of(conjunct)
    )


def automaton_of(
    pattern: Pattern,
    types: tuple[tuple[int, ...], ...],
    layouts: Layouts,
    without: frozenset[str] = frozenset(),
) -> Automaton:
    """The automaton of a pattern whose components have these types."""
    return Compiler(pattern, types, layouts, without).automaton()


class Compiler:
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
        self.names: dict[Column, str] = {}
        self.needs: dict[int, set[Column]] = {}

    def name(self, column: Column) -> str:
        return self.names.setdefault(column, f"r{len(self.names)}")

    # States: where a run waits for the component at a place, and where it loops there.

    def waiting(self, place: int) -> int:
        return 2 * place

    def loop(self, place: int) -> int:
        return 2 * place + 1

    def kleene(self, place: int) -> bool:
        return self.pattern.components[self.positive[place]].kleene

    def target(self, place: int) -> int:
        return self.loop(place) if self.kleene(place) else self.waiting(place + 1)

    def edges(self) -> list[tuple[int, int, int, Edge]]:
        """(source, target, place, edge) of each move."""
        found = list[tuple[int, int, int, Edge]]()
        for place in range(len(self.positive)):
            if place == 0 or not self.kleene(place - 1):
                found.append((self.waiting(place), self.target(place), place, Edge.BEGIN))
            else:
                found.append((self.loop(place - 1), self.target(place), place, Edge.PROCEED))
            if self.kleene(place):
                found.append((self.loop(place), self.loop(place), place, Edge.TAKE))
        return found

    # The columns of states

    def reads(self, place: int | None, edge: Edge) -> RegisterReads:
        taken = None if place is None else self.positive[place]
        index = Index.EACH if edge is Edge.TAKE else Index.FIRST
        return RegisterReads(self.pattern, self.texts, self.name, taken, index)

    def fence(self, place: int, edge: Edge) -> list[Conjunct]:
        """The conjuncts over register and event of a move."""
        kind = Edge.TAKE if edge is Edge.TAKE else Edge.BEGIN
        rest = self.conditions.alone(self.positive[place], kind)[1]
        if edge is Edge.PROCEED:
            rest = [*self.conditions.edges.get((self.positive[place - 1], edge), ()), *rest]
        return rest

    def test_texts(self, source: int, place: int) -> tuple[list[str], set[Column]]:
        """The tests `[x]` of a move where partitions are together, and what they read."""
        found, used = list[str](), set[Column]()
        component = self.positive[place]
        for number, slot in self.tests if self.together else ():
            new = self.texts.slot(component, slot)
            wild = self.texts.wild(component)
            if source == START:
                if not wild:
                    found.append(f"{new} is not None")
                continue
            column = Column("test", number, slot)
            used.add(column)
            old = self.name(column)
            same = f"({old} is None or {old} == {new})"
            found.append(
                f"({new} is None or {same})" if wild else f"({new} is not None and {same})"
            )
        return found, used

    @property
    def finishing(self) -> list[Conjunct]:
        """The conjuncts that a run must satisfy that ends in a loop."""
        return self.conditions.edges.get((self.positive[self.last], Edge.PROCEED), [])

    def columns_needed(self) -> None:
        """`needs`: for each state the columns that later moves read, to a fixed point."""
        loop = self.loop(self.last)
        self.needs = {loop: self.read_by(None, Edge.PROCEED, self.finishing)}
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
                if self.together and self.pattern.strategy is Strategy.PARTITION_CONTIGUITY:
                    tests = (Column("test", number, slot) for number, slot in self.tests)
                    self.needs.setdefault(target, set()).update(tests)

    def read_by(self, place: int | None, edge: Edge, conjuncts: list[Conjunct]) -> set[Column]:
        """The columns that conjuncts read."""
        reads = self.reads(place, edge)
        for conjunct in conjuncts:
            conjunct_text(conjunct, reads)
        return reads.columns

    def layout(self, state: int) -> list[Column]:
        return sorted(self.needs.get(state, ()), key=self.name)

    # Functions

    def gate(
        self, conjunct: Conjunct, reads: RegisterReads, parameters: str, layout: list[Column]
    ) -> GateOf | None:
        """A conjunct as a gate, if it is a comparison with a constant."""
        turned = compared(conjunct)
        if turned is None:
            return None
        comparison, constant = turned
        value = self.value(comparison.left, constant, comparison.operator, reads)
        statement = unpacked(layout, reads.columns, self.name)
        name = self.texts.function(parameters, value, statement)
        number = is_number(comparison.left) or constant.number
        return GateOf(name, comparison.operator, number, constant.place)

    def gated(
        self,
        conjuncts: Iterable[Conjunct],
        reads: Callable[[], RegisterReads],
        parameters: str,
        layout: list[Column],
    ) -> tuple[tuple[GateOf, ...], list[str], set[Column]]:
        """Conjuncts as gates, and the text of the others with the columns that it reads."""
        gates, texts, others = list[GateOf](), list[str](), reads()
        for conjunct in conjuncts:
            gate = self.gate(conjunct, reads(), parameters, layout)
            if gate is not None:
                gates.append(gate)
            else:
                texts.append(conjunct_text(conjunct, others))
        return tuple(gates), texts, others.columns

    def value(self, term: Term, constant: Constant, operator: str, reads: Reads) -> str:
        """The text of a value that a gate compares: None if missing, PASS if that passes."""
        if is_number(term) or constant.number:
            plain, wild = missing_texts(term, reads, Form.NUMBER)
            text = number_text(term, reads)
        else:
            assert isinstance(term, Read)
            plain, wild = missing_texts(term, reads, Form.TEXT)
            text = reads.read(term, Form.TEXT)
            if operator not in ("=", "!="):
                text = f"({text}, {reads.read(term, Form.NUMBER)})"
        guarded = plain != [text]
        if guarded and plain:
            text = f"({text} if {conjunction(f'{one} is not None' for one in plain)} else None)"
        if wild:
            missing = " or ".join(f"{one} is None" for one in wild)
            text = f"(PASS if {missing} else {text})"
        return text

    def scan_of(self, component: int, conjuncts: Iterable[Conjunct], edge: Edge) -> Scan:
        """A scan for what conjuncts ask of an event alone."""
        index = Index.EACH if edge is Edge.TAKE else Index.FIRST

        def reads() -> RegisterReads:
            return RegisterReads(self.pattern, self.texts, self.name, component, index)

        gates, texts, _ = self.gated(conjuncts, reads, "e", [])
        return Scan(self.texts.function("e", conjunction(texts)) if texts else None, gates)

    def move(self, source: int, target: int, place: int, edge: Edge) -> Move:
        component = self.positive[place]
        kind = Edge.TAKE if edge is Edge.TAKE else Edge.BEGIN
        layout = self.layout(source)
        gates, texts, used = self.gated(
            self.fence(place, edge), lambda: self.reads(place, edge), "V, e", layout
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
            self.scan_of(component, self.conditions.alone(component, kind)[0], kind),
            step,
            edge is not Edge.PROCEED,
            gates,
            self.walk(walks),
            self.finish(target),
        )

    def walk(self, conjuncts: list[Conjunct]) -> str | None:
        """A function of the events so far, for conjuncts that need them all."""
        if not conjuncts:
            return None
        reads = BoundReads(self.texts)
        return bound_function(self.texts, conjunction(every(one, reads) for one in conjuncts))

    def finish(self, target: int) -> Finish | None:
        """How a run is a match that has moved to a state."""
        if target == self.waiting(self.last + 1):
            return Finish()
        if target != self.loop(self.last):
            return None
        layout = self.layout(target)
        gates, texts, used = self.gated(
            self.finishing, lambda: self.reads(None, Edge.PROCEED), "V", layout
        )
        test = None
        if texts:
            statement = unpacked(layout, used, self.name)
            test = self.texts.function("V", conjunction(texts), statement)
        walks = self.conditions.walks.get((self.positive[self.last], Edge.PROCEED), [])
        return Finish(test, gates, self.walk(walks))

    # Partitions

    def keys(self) -> dict[int, str]:
        """For each component the function that gives an event's partition."""
        if self.together or not self.tests:
            return {}
        return {place: self.key(self.texts.types[place]) for place in self.positive}

    def key(self, types: tuple[int, ...]) -> str:
        """The function that gives the partition of an event of some types, None if it has none."""
        texts = [self.texts.slot_of(types, slot) for _, slot in self.tests]
        there = conjunction(f"{one} is not None" for one in texts)
        key = texts[0] if len(texts) == 1 else f"(({', '.join(texts)}) if {there} else None)"
        return self.texts.function("e", key)

    def partition(self) -> tuple[dict[int, str], dict[int, tuple[GateOf, ...]]]:
        """For each type, the partition of its events, and the gates that these pass."""
        keys, gates = dict[int, str](), dict[int, tuple[GateOf, ...]]()
        for type_ in {one for types in self.texts.types for one in types}:
            if self.tests:
                keys[type_] = self.key((type_,))
            constant = list[GateOf]()
            for test in self.pattern.tests:
                if test.constant is not None:
                    form = Form.NUMBER if test.constant.number else Form.TEXT
                    value = self.texts.slot_of((type_,), Slot(test.attribute, form))
                    name = self.texts.function("e", value)
                    number = test.constant.number
                    constant.append(GateOf(name, "=", number, test.constant.place))
            gates[type_] = tuple(constant)
        return keys, gates

    def same_partition(self, type_: int, state: int) -> str:
        """The function that says whether an event is in the partition of a run."""
        texts, used = list[str](), set[Column]()
        for number, slot in self.tests:
            column = Column("test", number, slot)
            used.add(column)
            new, old = self.texts.slot_of((type_,), slot), self.name(column)
            texts.append(f"{new} is not None and ({old} is None or {old} == {new})")
        statement = unpacked(self.layout(state), used, self.name)
        return self.texts.function("V, e", conjunction(texts), statement)

    # Negation

    def negated(self, component: int) -> Negated:
        """A negated component with its place, its scan, its index and the rest."""
        conjuncts = self.conditions.negated[component]
        alone = [one for one in conjuncts if reads_alone(one, component)]
        reads = BoundReads(self.texts, component)
        holds = [every(one, reads) for one in conjuncts if one not in alone]
        plain = [place for place in self.positive if not self.texts.wild(place)]
        keys, keys_of = list[str](), list[str]()
        for _, slot in self.tests:
            if plain and not self.texts.wild(component):
                first = "[0]" if self.pattern.components[plain[0]].kleene else ""
                keys.append(self.texts.slot(component, slot))
                keys_of.append(self.texts.slot(plain[0], slot, f"b{plain[0]}{first}"))
            else:
                holds.append(same_test(self.texts, self.pattern, component, slot))
        key = key_of = None
        if keys:
            there = conjunction(f"{one} is not None" for one in keys)
            key = self.texts.function("e", f"(({', '.join(keys)},) if {there} else None)")
            key_of = bound_function(self.texts, f"({', '.join(keys_of)},)")
        before = [place for place in self.positive if place < component]
        after = [place for place in self.positive if place > component]
        return Negated(
            component,
            before[-1] if before else None,
            after[0] if after else None,
            self.scan_of(component, alone, Edge.BEGIN),
            key,
            key_of,
            bound_function(self.texts, conjunction(holds), negated=True) if holds else None,
        )

    # The whole

    def automaton(self) -> Automaton:
        """All of it."""
        pattern = self.pattern
        self.columns_needed()
        self.texts.fixed.clear()
        moves = tuple(self.move(*edge) for edge in self.edges())
        negated = tuple(
            self.negated(place) for place, one in enumerate(pattern.components) if one.negated
        )
        contiguous = pattern.strategy is Strategy.PARTITION_CONTIGUITY
        belongs, partition = self.partition() if contiguous else ({}, {})
        states = {move.target for move in moves}
        together = contiguous and self.together
        same_partition = {
            (state, type_): self.same_partition(type_, state)
            for state in (states if together else ())
            for type_ in belongs
        }
        overlap = None
        strict = pattern.strategy is Strategy.STRICT_CONTIGUITY
        if pattern.non_overlapping and self.tests and not strict:
            overlap = overlap_function(self.texts, pattern)
        keys = self.keys()
        kleene = any(one.kleene for one in pattern.components)
        any_ = pattern.strategy is Strategy.SKIP_TILL_ANY_MATCH
        sequence = sequence_of(self) if any_ and not kleene else None
        walked = any(move.walk or (move.finish and move.finish.walk) for move in moves)
        make, source = self.texts.compiled()
        return Automaton(
            make,
            moves,
            negated,
            _IGNORING[pattern.strategy],
            pattern.within,
            tuple(one.kleene for one in pattern.components),
            tuple(one.name for one in pattern.components),
            self.texts.types,
            keys,
            belongs,
            partition,
            same_partition,
            overlap,
            not walked and "merging" not in self.without,
            tuple(sorted(self.texts.fixed)),
            sequence,
            source,
        )
