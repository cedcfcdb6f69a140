"""A pattern to its automaton: moves, partitions, negated components, and where it has one the plan
of a sequence; constants apart."""

from __future__ import annotations

from pattern_stage.automaton import Automaton, GateOf, Ignoring, Negated
from pattern_stage.compiler.bound import (
    BoundReads,
    bound_function,
    conjunction,
    every,
    overlap_function,
    reads_of,
    runs_over,
    same_test,
)
from pattern_stage.compiler.conditions import Edge
from pattern_stage.compiler.moves import Compiler
from pattern_stage.compiler.registers import Column, unpacked
from pattern_stage.compiler.sequences import sequence_of
from pattern_stage.layouts import Layouts
from pattern_stage.pattern import Conjunct, Constant, Form, Pattern, Read, Slot, Strategy

__all__ = ["automaton_of"]

_IGNORING = {
    Strategy.STRICT_CONTIGUITY: Ignoring.NONE,
    Strategy.PARTITION_CONTIGUITY: Ignoring.NONE_OF_PARTITION,
    Strategy.SKIP_TILL_NEXT_MATCH: Ignoring.UNMOVED,
    Strategy.SKIP_TILL_ANY_MATCH: Ignoring.ALL,
}


def automaton_of(
    pattern: Pattern,
    types: tuple[tuple[int, ...], ...],
    layouts: Layouts,
    without: frozenset[str] = frozenset(),
) -> Automaton:
    """The automaton of a pattern whose components have these types."""
    return _automaton(Compiler(pattern, types, layouts, without))


# The whole


def _automaton(compiler: Compiler) -> Automaton:
    """All of it."""
    pattern = compiler.pattern
    compiler.columns_needed()
    compiler.texts.fixed.clear()
    moves = tuple(compiler.move(*edge) for edge in compiler.edges())
    negated = tuple(
        _negated(compiler, place) for place, one in enumerate(pattern.components) if one.negated
    )
    contiguous = pattern.strategy is Strategy.PARTITION_CONTIGUITY
    belongs, partition = _partition(compiler) if contiguous else ({}, {})
    states = {move.target for move in moves}
    together = contiguous and compiler.together
    same_partition = {
        (state, type_): _same_partition(compiler, type_, state)
        for state in (states if together else ())
        for type_ in belongs
    }
    overlap = None
    strict = pattern.strategy is Strategy.STRICT_CONTIGUITY
    if pattern.non_overlapping and compiler.tests and not strict:
        overlap = overlap_function(compiler.texts, pattern)
    keys = _keys(compiler)
    sequence = sequence_of(compiler)
    # Runs that a walk may tell apart later do not behave alike, whatever their registers are.
    walked = any(
        one is not None and one.walk is not None
        for move in moves
        for one in (move, move.finish, move.epsilon)
    )
    make, source = compiler.texts.compiled()
    return Automaton(
        make,
        moves,
        negated,
        _IGNORING[pattern.strategy],
        pattern.within,
        tuple(one.kleene for one in pattern.components),
        tuple(one.name for one in pattern.components),
        compiler.texts.types,
        keys,
        belongs,
        partition,
        same_partition,
        overlap,
        not walked and not compiler.without & {"merging", "shared buffer"},
        tuple(sorted(compiler.texts.fixed)),
        sequence,
        source,
    )


# Partitions


def _keys(compiler: Compiler) -> dict[int, str]:
    """For each component the function that gives an event's partition."""
    if compiler.together or not compiler.tests:
        return {}
    return {place: _key(compiler, compiler.texts.types[place]) for place in compiler.positive}


def _key(compiler: Compiler, types: tuple[int, ...]) -> str:
    """The function that gives the partition of an event of some types, None if it has none."""
    texts = [compiler.texts.slot_of(types, slot) for _, slot in compiler.tests]
    there = conjunction(f"{one} is not None" for one in texts)
    key = texts[0] if len(texts) == 1 else f"(({', '.join(texts)}) if {there} else None)"
    return compiler.texts.function("e", key)


def _partition(compiler: Compiler) -> tuple[dict[int, str], dict[int, tuple[GateOf, ...]]]:
    """For each type, the partition of its events, and the gates that these pass."""
    keys, gates = dict[int, str](), dict[int, tuple[GateOf, ...]]()
    for type_ in {one for types in compiler.texts.types for one in types}:
        if compiler.tests:
            keys[type_] = _key(compiler, (type_,))
        constant = list[GateOf]()
        for test in compiler.pattern.tests:
            if test.constant is not None:
                form = Form.NUMBER if test.constant.number else Form.TEXT
                value = compiler.texts.slot_of((type_,), Slot(test.attribute, form))
                name = compiler.texts.function("e", value)
                number = test.constant.number
                constant.append(GateOf(name, "=", number, test.constant.place))
        gates[type_] = tuple(constant)
    return keys, gates


def _same_partition(compiler: Compiler, type_: int, state: int) -> str:
    """The function that says whether an event is in the partition of a run."""
    texts, used = list[str](), set[Column]()
    for number, slot in compiler.tests:
        column = Column("test", number, slot)
        used.add(column)
        new, old = compiler.texts.slot_of((type_,), slot), compiler.name(column)
        texts.append(f"{new} is not None and ({old} is None or {old} == {new})")
    statement = unpacked(compiler.layout(state), used, compiler.name)
    return compiler.texts.function("V, e", conjunction(texts), statement)


# Negation


def _negated(compiler: Compiler, component: int) -> Negated:
    """A negated component with its place, its scan, its index and the rest."""
    conjuncts = compiler.conditions.negated[component]
    alone = [one for one in conjuncts if _reads_alone(one, component)]
    reads = BoundReads(compiler.texts, component)
    rest = [one for one in conjuncts if one not in alone]
    equal = {one: sides for one in rest if (sides := _equality(compiler, one, component, reads))}
    holds = [every(one, reads) for one in rest if one not in equal]
    plain = [place for place in compiler.positive if not compiler.texts.wild(place)]
    keys = [own for own, _ in equal.values()]
    keys_of = [their for _, their in equal.values()]
    for _, slot in compiler.tests:
        if plain and not compiler.texts.wild(component):
            first = "[0]" if compiler.pattern.components[plain[0]].kleene else ""
            keys.append(compiler.texts.slot(component, slot))
            keys_of.append(compiler.texts.slot(plain[0], slot, f"b{plain[0]}{first}"))
        else:
            holds.append(same_test(compiler.texts, compiler.pattern, component, slot))
    key = key_of = None
    if keys:
        there = conjunction(f"{one} is not None" for one in keys)
        key = compiler.texts.function("e", f"(({', '.join(keys)},) if {there} else None)")
        key_of = bound_function(compiler.texts, f"({', '.join(keys_of)},)")
    before = [place for place in compiler.positive if place < component]
    after = [place for place in compiler.positive if place > component]
    return Negated(
        component,
        before[-1] if before else None,
        after[0] if after else None,
        compiler.scan_of(component, alone, Edge.BEGIN),
        key,
        key_of,
        bound_function(compiler.texts, conjunction(holds), negated=True) if holds else None,
    )


def _equality(
    compiler: Compiler, conjunct: Conjunct, component: int, reads: BoundReads
) -> tuple[str, str] | None:
    """The values that must be equal of a negated event and a match, where a conjunct says so."""
    if len(conjunct) != 1 or conjunct[0].operator != "=" or runs_over(conjunct) is not None:
        return None
    own = their = None
    for term in (conjunct[0].left, conjunct[0].right):
        if not isinstance(term, Read) or term.number or compiler.texts.wild(term.component):
            return None
        if term.component == component:
            own = reads.read(term, Form.TEXT).replace("n[", "e[")
        else:
            their = reads.read(term, Form.TEXT)
    return None if own is None or their is None else (own, their)


def _reads_alone(conjunct: Conjunct, component: int) -> bool:
    """Whether a conjunct reads events of one component alone, which is not a Kleene plus."""
    return all(
        isinstance(leaf, Constant) or (isinstance(leaf, Read) and leaf.component == component)
        for leaf in reads_of(conjunct)
    )
