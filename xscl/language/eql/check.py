"""What an EQL query that parses says that cannot be meant (docs/semantics.md#refused-eql-queries):
of its variables, its qualifications, its SELECT."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import cast

from xscl.language.checks.closest import closest
from xscl.language.eql.scopes import (
    Excluded,
    Scopes,
    bound_again,
    chained,
    inner_parts,
    is_variable,
)
from xscl.language.eql.walk import name_of
from xscl.language.events.check import size_problems
from xscl.language.patterns.check import level_problems
from xscl.language.problems import Problem, enumerated
from xscl.language.syntax import (
    Compared,
    Composition,
    Contained,
    Every,
    Item,
    Literal,
    Name,
    Occurring,
    Parameter,
    Qualified,
    Quantified,
    Query,
    Read,
    Repeated,
    Selected,
    Star,
    Structure,
    Value,
)
from xscl.language.values.walk import atoms, leaves
from xscl.language.walk import selected_values

__all__ = ["composition_problems", "conjuncts", "unbound", "variables_of"]

_MOST_ITERATIONS = 8
_NO_NAME = "what is computed has no name of its own; write one, as in `… AS total`"


def composition_problems(query: Query, *, inner: bool) -> Iterator[Problem]:
    """The problems of an EQL query without its sub-queries; `inner` says whether it is one."""
    source = query.source
    if not isinstance(source, Composition):
        return
    yield from level_problems(source.consistency, inner=inner)
    comparisons = (atom for one in source.qualifications for atom in atoms(one.condition))
    yield from size_problems(comparisons, query.select)
    for event in bound_again(source.pattern):
        at = event.at if event.variable is None else event.variable.at
        problem = f"the variable `{name_of(event)}` is bound already; rename one (only branches of "
        yield Problem(at, problem + "one `|` may share it)")
    for iteration in _too_deep(source.pattern, 0):
        problem = f"`+` is in more than {_MOST_ITERATIONS} others; leave out those that change "
        yield Problem(iteration.at, problem + "nothing, or publish the inner ones")
    checking = _Checking(Scopes(source.pattern))
    for part, _ in conjuncts(source):
        yield from checking.conjunct(part)
    yield from checking.select(query)


def _too_deep(structure: Structure, depth: int) -> Iterator[Structure]:
    """The iterations that are in more others than they may; a plan has each twice."""
    operands, exceptions = chained(structure)
    for one in operands:
        inner = depth + isinstance(one, Repeated)
        if inner > _MOST_ITERATIONS:
            yield one
            continue
        for part in inner_parts(one):
            yield from _too_deep(part, inner)
    for right, _ in exceptions:
        yield from _too_deep(right, depth)


def conjuncts(source: Composition) -> Iterator[tuple[Qualified, bool]]:
    """The parts of a pattern's qualifications, each of which stands alone, and whether it is in
    FILTER."""
    for one in source.qualifications:
        parts = one.condition.parts if isinstance(one.condition, Every) else (one.condition,)
        for part in parts:
            yield part, one.filters


def variables_of(condition: Qualified) -> frozenset[str]:
    """The variables that a condition reads."""
    return frozenset(name.text for name in _names(condition))


def unbound(query: Query) -> Iterator[Name]:
    """The variables that an EQL query reads and has not."""
    source = query.source
    assert isinstance(source, Composition)
    scopes = Scopes(source.pattern)
    names = [name for one in source.qualifications for name in _names(one.condition)]
    for selected in selected_values(query.select):
        names += [_read(leaf).variable for leaf in leaves(selected.value) if _is_read(leaf)]  # type: ignore[misc]
    return (name for name in names if not scopes.has(name.text))


def _names(condition: Qualified) -> Iterator[Name]:
    """The variables of a condition, in the order of the text."""
    for atom in atoms(condition):
        match atom:
            case Occurring(one, other):
                yield one
                yield other
            case Contained(left, right) | Compared(_, left, right):
                for side in (left, right):
                    for leaf in leaves(side):
                        if _is_read(leaf):
                            yield cast(Name, _read(leaf).variable)


def _is_read(leaf: object) -> bool:
    return isinstance(leaf, Read | Quantified)


def _read(leaf: Read | Quantified) -> Read:
    return leaf.read if isinstance(leaf, Quantified) else leaf


class _Checking:
    """The qualifications and the SELECT of a pattern with these variables."""

    def __init__(self, scopes: Scopes) -> None:
        self.scopes = scopes
        self.known = sorted(filter(is_variable, scopes.matched | scopes.exceptions.keys()))

    def conjunct(self, condition: Qualified) -> Iterator[Problem]:
        """The problems of a part of a qualification."""
        names = [*_names(condition)]
        if not names:
            problem = "found no variable in this predicate, expected a field such as `A.x` in it"
            yield Problem(condition.at, problem)
        for atom in atoms(condition):
            yield from self._atom(atom)
        unknown = [one for one in names if not self.scopes.has(one.text)]
        if not unknown:
            yield from self._scope(names)

    def _atom(self, atom: Compared[Value] | Contained | Occurring) -> Iterator[Problem]:
        match atom:
            case Occurring(one, other, window):
                for name in (one, other):
                    if not self.scopes.has(name.text):
                        yield Problem(name.at, self._unknown(name))
                if window.length is None and window.parameter is None:
                    yield Problem(window.at, "found `INF`, expected a duration such as `12 hours`")
            case Compared(_, left, right):
                yield from self._value(left)
                yield from self._value(right)
            case Contained(left, right):
                if isinstance(left, Read | Quantified):
                    yield from self._value(left)
                else:
                    problem = "`CONTAINS` has a field on its left, as in `A.x CONTAINS 'text'`"
                    yield Problem(left.at, problem)
                string = isinstance(right, Literal) and isinstance(right.value, str)
                if not (string or isinstance(right, Parameter)):
                    problem = "`CONTAINS` has a string on its right, as in `A.x CONTAINS 'text'`"
                    yield Problem(right.at, problem)

    def _value(self, value: object) -> Iterator[Problem]:
        """The problems of the reads of a value that has fields alone."""
        for leaf in leaves(value):
            if not _is_read(leaf):
                continue
            read = _read(leaf)
            name = cast(Name, read.variable)
            if not self.scopes.has(name.text):
                yield Problem(read.at, self._unknown(name, bare=read.attribute is None))
            elif read.attribute is None:
                problem = f"`{name.text}` is an event; write which attribute, as in `{name.text}.x`"
                yield Problem(read.at, problem)

    def _unknown(self, name: Name, *, bare: bool = False) -> str:
        if name.text in self.scopes.matched or name.text in self.scopes.exceptions:
            return f"`{name.text}` is no variable; give the stream one, as in `{name.text} A`"
        known = ", ".join(f"`{one}`" for one in self.known)
        near = closest(name.text, self.known)
        if bare and near is None:
            shown = f"{self.known[0]}.{name.text}" if self.known else f"A.{name.text}"
            return f"found `{name.text}` without a variable: write of which event, as in `{shown}`"
        meant = "" if near is None else f"; did you mean `{near}`?"
        return f"the variable `{name.text}` is not bound in this pattern{meant} (bound: {known})"

    def _scope(self, names: list[Name]) -> Iterator[Problem]:
        """The problem of a comparison with what an exception does not know."""
        exceptions = self.scopes.exceptions
        excluded = [one for one in names if one.text in exceptions]
        if not excluded:
            return
        first = max(excluded, key=lambda one: exceptions[one.text].depth)
        scope = exceptions[first.text]
        for one in names:
            if one.text in scope.own | scope.before:
                continue
            if one.text in scope.chain:
                problem = f"`{one.text}` comes after what `{first.text}` is an exception of; "
                yield Problem(one.at, problem + _comparable(first, scope))
            else:
                at = first.at if one.text in self.scopes.matched else one.at
                problem = (
                    f"`{first.text}` is of an exception, which knows nothing of `{one.text}`; "
                )
                yield Problem(at, problem + _comparable(first, scope))
            return

    def select(self, query: Query) -> Iterator[Problem]:
        """The problems of what a SELECT reads."""
        for selected in selected_values(query.select):
            yield from self._selected(selected)
        for item in query.select if isinstance(query.select, tuple) else ():
            yield from _unnamed(item)

    def _selected(self, selected: Selected) -> Iterator[Problem]:
        value = selected.value
        if isinstance(value, Star):
            problem = "`*` is what there is without a list; leave it or the list out"
            yield Problem(value.at, problem)
            return
        for leaf in leaves(value):
            if not _is_read(leaf):
                continue
            read = _read(leaf)
            name = cast(Name, read.variable).text
            if isinstance(leaf, Quantified) and leaf.quantifier == "ALL":
                problem = "`ALL` is of predicates; a field of several events gives all that it has"
                yield Problem(leaf.at, problem)
            if name in self.scopes.exceptions:
                yield Problem(read.at, f"`{name}` is of an exception: no match has an event of it")
            elif not self.scopes.has(name):
                yield Problem(read.at, self._unknown(cast(Name, read.variable)))
            elif read.attribute is None and leaf is not value:
                problem = f"`{name}` is an event; write which attribute, as in `{name}.x`"
                yield Problem(read.at, problem)


def _comparable(first: Name, scope: Excluded) -> str:
    others: Collection[str] = sorted((scope.own | scope.before) - {first.text})
    written = enumerated([f"`{one}`" for one in others])
    return f"compare it with {written}" if others else "compare it with constants"


def _unnamed(item: Item) -> Iterator[Problem]:
    """The problem of an item that has no name of its own."""
    path = item.path
    named = isinstance(path, Selected) and isinstance(path.value, Read | Quantified | Star)
    if item.alias is None and not named:
        yield Problem(path.at, _NO_NAME)
