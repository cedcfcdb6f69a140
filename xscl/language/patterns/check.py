"""What a pattern that parses says that cannot be meant (docs/semantics.md#refused-patterns): of its
components, its strategy, its reads, its conjuncts and tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import cast

from xscl.language.patterns.names import component_names
from xscl.language.patterns.normal_form import MOST_CONJUNCTS, Clause, conjuncts, count
from xscl.language.patterns.reads import NO_TEST_OF_TWO, Reading
from xscl.language.patterns.walk import reads
from xscl.language.problems import Problem, enumerated
from xscl.language.syntax import (
    Attribute,
    Compared,
    Component,
    Consistency,
    Demand,
    Described,
    Either,
    Equivalence,
    EventPattern,
    Query,
    Read,
    Value,
)
from xscl.language.values.walk import atoms
from xscl.language.walk import selected_values
from xscl.times import NO_LENGTH

__all__ = ["level_problems", "pattern_problems"]

_OF_INNER = "a sub-query goes by the level of the query around it; write CONSISTENCY there"

_RUNNING = ("i", "i-1", "..i-1")


def pattern_problems(query: Query, *, inner: bool) -> Iterator[Problem]:
    """The problems of a query's own pattern, if its source is one; `inner` says whether it is a
    sub-query."""
    source = query.source
    described = source.automaton if isinstance(source, Described) else None
    if inner and described is not None and described.consistency is not None:
        yield Problem(source.at, _OF_INNER)
    if not isinstance(source, EventPattern):
        return
    yield from _components(source)
    yield from _strategy(source)
    yield from _elsewhere(source, inner=inner)
    names = component_names(source)
    reading = Reading(dict(zip(names, source.components, strict=True)))
    yield from _tests_under_or(source.condition)
    for atom in atoms(source.condition):
        if isinstance(atom, Compared):
            for side in (atom.left, atom.right):
                for read, aggregate in reads(side):
                    yield from reading.in_condition(read, aggregate)
        elif isinstance(atom.constant, Attribute):
            yield Problem(atom.at, NO_TEST_OF_TWO)
    if count(source.condition) > MOST_CONJUNCTS:
        assert source.condition is not None
        problem = f"the condition has more than {MOST_CONJUNCTS:,} conjuncts (the parts of OR "
        yield Problem(source.condition.at, problem + "multiply); write several queries")
    else:
        for clause in conjuncts(source.condition):
            yield from _conjunct(clause, reading.components)
    for selected in selected_values(query.select):
        for read, aggregate in reads(cast(Value, selected.value)):
            yield from reading.in_select(read, aggregate)
    if isinstance(query.select, tuple):
        for item in query.select:
            yield from reading.unnamed(item)


def _components(source: EventPattern) -> Iterator[Problem]:
    components = source.components
    if all(one.negated for one in components):
        problem = "found no component that occurs, expected one without `!` at least"
        yield Problem(components[0].at, problem)
    elif source.window is None or (source.window.length is None and not source.window.parameter):
        for component in reversed(components):
            if not component.negated:
                break
            yield Problem(
                component.at,
                "what may not follow at the end needs a time for how long: write `WITHIN 1 hour`",
            )
    for component in components:
        if component.plus and source.kind == "EVENT":
            yield Problem(component.at, "`+` belongs to PATTERN; write `PATTERN` for `EVENT`")
        if component.plus and component.negated:
            yield Problem(component.at, "`+` cannot follow `!`; one event forbids as many do")
        if component.brackets and not component.plus:
            yield Problem(component.at, "`[]` is of several events; write `+` behind the type")
    yield from _names(source)


def _names(source: EventPattern) -> Iterator[Problem]:
    unnamed = {
        name
        for name, one in zip(component_names(source), source.components, strict=True)
        if one.variable is None
    }
    bound = set[str]()
    for component in source.components:
        if component.variable is None:
            continue
        name = component.variable.text
        if name in bound:
            yield Problem(component.at, f"the variable `{name}` is bound already; rename one")
        elif name in unnamed:
            problem = f"`{name}` is the name of component {name[1:]}, which has none of its own"
            yield Problem(component.at, f"{problem}; rename this one")
        bound.add(name)


def _strategy(source: EventPattern) -> Iterator[Problem]:
    selection = source.selection
    if selection is None:
        return
    if source.kind == "EVENT":
        problem = "a strategy belongs to PATTERN; write `PATTERN` for `EVENT`"
        yield Problem(selection.at, problem)
    tests = (isinstance(one, Equivalence) for one in atoms(source.condition))
    if selection.strategy == "partition_contiguity" and not any(tests):
        problem = "partition_contiguity needs a test that makes partitions, such as `[id]`"
        yield Problem(selection.at, problem)
    if selection.listed is not None:
        names = component_names(source)
        listed = [name.text for name in selection.listed]
        positive = [
            name for name, one in zip(names, source.components, strict=True) if not one.negated
        ]
        if listed not in (names, positive):
            expected = ", ".join(positive)
            found = ", ".join(listed)
            problem = f"found `({found})`, expected the pattern's variables in order"
            yield Problem(selection.at, f"{problem}, `({expected})`")


def _elsewhere(source: EventPattern, *, inner: bool) -> Iterator[Problem]:
    window = source.window
    if window is not None and window.length == 0:
        yield Problem(window.at, NO_LENGTH)
    yield from level_problems(source.consistency, inner=inner)


def level_problems(consistency: Consistency | None, *, inner: bool) -> Iterator[Problem]:
    """The problem of a level that matches cannot be of; `inner` says whether it is that of a
    sub-query."""
    if consistency is None:
        return
    if inner:
        yield Problem(consistency.at, _OF_INNER)
    elif consistency.level != "middle" and consistency.window is not None:
        problem = f"`{consistency.level}` has no duration; write it alone"
        yield Problem(consistency.at, problem)


def _tests_under_or(condition: Demand | None, under: bool = False) -> Iterator[Problem]:
    match condition:
        case None | Compared():
            return
        case Equivalence():
            if under:
                problem = "a test is not allowed under OR; it is over all events of a match"
                yield Problem(condition.at, f"{problem}: write a comparison, or two queries")
        case _:
            for part in condition.parts:
                yield from _tests_under_or(part, under or isinstance(condition, Either))


def _conjunct(clause: Clause, components: Mapping[str, Component]) -> Iterator[Problem]:
    read = [
        read
        for atom in clause
        if isinstance(atom, Compared)
        for side in (atom.left, atom.right)
        for read, _ in reads(side)
    ]
    at = clause[0].at
    negated = _variables(read, components, lambda read, component: component.negated)
    if len(negated) > 1:
        problem = f"{enumerated(negated, 'and')} are both negated: what one forbids says nothing "
        yield Problem(at, problem + "of the other; compare each with what occurs")
    running = _variables(read, components, lambda read, component: read.index in _RUNNING)
    if len(running) > 1:
        problem = f"`i` runs over {enumerated(running, 'and')}; in one conjunct it is of one"
        yield Problem(at, f"{problem}: write `[1]` for the other, or its last, such as `[a.LEN]`")


def _variables(
    read: Sequence[Read],
    components: Mapping[str, Component],
    which: Callable[[Read, Component], bool],
) -> list[str]:
    """The variables, in backquotes, of the reads of a kind, each once."""
    return list(
        dict.fromkeys(
            f"`{one.variable.text}`"
            for one in read
            if one.variable is not None
            and one.variable.text in components
            and which(one, components[one.variable.text])
        )
    )
