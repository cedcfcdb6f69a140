"""A pattern to its automaton: moves, partitions, negated components, and, if it has one, the plan
of a sequence; constants are separate."""

from __future__ import annotations

from xscl.pattern_stage.automaton import Automaton, GateOf, Ignoring, Negated
from xscl.pattern_stage.compiler.bound import (
    BoundReads,
    bound_function,
    conjunction,
    every,
    overlap_function,
    runs_over,
    same_test,
)
from xscl.pattern_stage.compiler.conditions import Edge
from xscl.pattern_stage.compiler.moves import Compiler
from xscl.pattern_stage.compiler.registers import Field, unpacked
from xscl.pattern_stage.compiler.sequences import sequence_of
from xscl.pattern_stage.layouts import Layouts
from xscl.pattern_stage.pattern import Conjunct, Pattern, Strategy
from xscl.pattern_stage.values.terms import Constant, Form, Read, Slot, leaves

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
    """The whole automaton."""
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
    # Runs that a walk may distinguish later are not equivalent, whatever their registers are.
    walked = any(
        one is not None and one.walk is not None
        for move in moves
        for one in (move, move.finish, move.epsilon)
    )
    make, source = compiler.texts.compiled()
    return Automaton(
        make=make,
        moves=moves,
        negated=negated,
        ignoring=_IGNORING[pattern.strategy],
        within=pattern.within,
        kleene=tuple(one.kleene for one in pattern.components),
        names=tuple(one.name for one in pattern.components),
        types=compiler.texts.types,
        keys=keys,
        belongs=belongs,
        partition=partition,
        same_partition=same_partition,
        overlap=overlap,
        merging=not walked and not compiler.without & {"merging", "shared buffer"},
        fixed=tuple(sorted(compiler.texts.fixed)),
        sequence=sequence,
        source=source,
    )


# Partitions


def _keys(compiler: Compiler) -> dict[int, str]:
    """For each component the function for an event's partition."""
    if compiler.together or not compiler.tests:
        return {}
    return {place: _key(compiler, compiler.texts.types[place]) for place in compiler.positive}


def _key(compiler: Compiler, types: tuple[int, ...]) -> str:
    """The function for the partition of an event of some types, None if it has none."""
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
    """The function that tests whether an event is in the partition of a run."""
    texts, used = list[str](), set[Field]()
    for number, slot in compiler.tests:
        column = Field("test", number, slot)
        used.add(column)
        new, old = compiler.texts.slot_of((type_,), slot), compiler.name(column)
        texts.append(f"{new} is not None and ({old} is None or {old} == {new})")
    statement = unpacked(compiler.layout(state), used, compiler.name)
    return compiler.texts.function("V, e", conjunction(texts), statement)


# Negation


def _negated(compiler: Compiler, component: int) -> Negated:
    """A negated component with its place, its scan, its index and the rest."""
    conjuncts = compiler.conditions.negated[component]
    of_event = [one for one in conjuncts if _reads_only(one, component)]
    reads = BoundReads(compiler.texts, component)
    rest = [one for one in conjuncts if one not in of_event]
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
        compiler.scan_of(component, of_event, Edge.BEGIN),
        key,
        key_of,
        bound_function(compiler.texts, conjunction(holds), negated=True) if holds else None,
    )


def _equality(
    compiler: Compiler, conjunct: Conjunct, component: int, reads: BoundReads
) -> tuple[str, str] | None:
    """The values that must be equal of a negated event and a match, if a conjunct requires this."""
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


def _reads_only(conjunct: Conjunct, component: int) -> bool:
    """Whether a conjunct reads events of only one component, which is not a Kleene plus."""
    return all(
        isinstance(leaf, Constant) or (isinstance(leaf, Read) and leaf.component == component)
        for leaf in leaves(conjunct)
    )
