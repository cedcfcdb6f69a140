"""What a name in a pattern's condition or SELECT may read: variables, indexes, aggregates
(docs/semantics.md#reading-a-pattern, #refused-patterns)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from xscl.language.checks.closest import closest
from xscl.language.problems import Problem, enumerated
from xscl.language.syntax import Aggregate, Component, Item, Read, Selected

__all__ = ["NO_TEST_OF_TWO", "Reading"]

NO_TEST_OF_TWO = (
    "a test is of one attribute, `[x]`, or of one and a constant, `[x = 'c']`; compare two "
    "attributes outside of brackets, as in `a.x = b.y`"
)


class Reading:
    """The components of a pattern by their names."""

    def __init__(self, components: Mapping[str, Component]) -> None:
        self.components = components

    def in_condition(self, read: Read, aggregate: Aggregate | None) -> Iterator[Problem]:
        """The problem of a read in a condition."""
        component = self._component(read)
        if isinstance(component, str):
            yield Problem(read.at, component)
        elif component is not None:
            name = _name(read)
            if aggregate is not None:
                problem = _aggregated(name, read, aggregate, component, ("", "..i-1", "i-1"))
            else:
                problem = _single(name, read, component, ("1", "i", "i-1"))
            if problem is not None:
                yield Problem(read.at, problem)

    def in_select(self, read: Read, aggregate: Aggregate | None) -> Iterator[Problem]:
        """The problem of a read in SELECT."""
        component = self._component(read)
        if isinstance(component, str):
            yield Problem(read.at, component)
        elif component is not None:
            name = _name(read)
            if component.negated:
                problem: str | None = f"`{name}` is negated: no match has an event of it"
            elif aggregate is not None:
                problem = _aggregated(name, read, aggregate, component, ("",))
            else:
                problem = _single(name, read, component, ("", "1"))
            if problem is not None:
                yield Problem(read.at, problem)

    def unnamed(self, item: Item) -> Iterator[Problem]:
        """The problem of an item of a list that has no name of its own."""
        path = item.path
        computed = isinstance(path, Selected) and not isinstance(path.value, Read | Aggregate)
        if computed and item.alias is None:
            problem = "what is computed has no name of its own; write one, as in `… AS total`"
            yield Problem(path.at, problem)

    def _component(self, read: Read) -> Component | str | None:
        """The component that a read is of, or its problem; None for a bare attribute."""
        if read.variable is not None and read.variable.text in self.components:
            return self.components[read.variable.text]
        bare = read.variable is None or (read.index is None and read.attribute is None)
        names = [*self.components]
        if bare and len(names) == 1:
            if not self.components[names[0]].plus:
                return None
            return f"`{names[0]}` has several events: say of which, as in `{names[0]}[i].x`"
        if bare:
            named = read.attribute.steps if read.variable is None and read.attribute else ()
            name = "/".join(named) if read.variable is None else read.variable.text
            shown = f"{names[0]}.{name}" if name else f"{names[0]}.@x"
            return f"found an attribute without a variable: write of which event, as in `{shown}`"
        assert read.variable is not None
        name = read.variable.text
        problem = f"the variable `{name}` is not bound in this pattern"
        if (close := closest(name, names)) is not None:
            problem += f"; did you mean `{close}`?"
        return f"{problem} (bound: {', '.join(f'`{one}`' for one in names)})"


def _name(read: Read) -> str:
    assert read.variable is not None
    return read.variable.text


def _indexes(name: str, indexes: tuple[str, ...]) -> str:
    return enumerated([*(f"`{name}[{index}]`" for index in indexes), f"`{name}[{name}.LEN]`"])


def _single(name: str, read: Read, component: Component, indexes: tuple[str, ...]) -> str | None:
    """The problem of a read of events one by one."""
    if not component.plus:
        if read.index is None:
            return None
        return f"`{name}` is one event: write `{name}` without brackets, or `+` behind its type"
    if read.index is None:
        if read.attribute is not None and is_length(read):
            return None
        return f"`{name}` has several events: say of which, {_indexes(name, indexes)}"
    if read.index in indexes or read.index.upper() == f"{name}.LEN".upper():
        return None
    if read.index in ("", "..i-1"):
        written = f"{name}[{read.index}]"
        return f"`{written}` is allowed in an aggregate only, as in `avg({written}.x)`"
    return f"found `{name}[{read.index}]`, expected {_indexes(name, indexes)}"


def _aggregated(
    name: str, read: Read, aggregate: Aggregate, component: Component, indexes: tuple[str, ...]
) -> str | None:
    """The problem of what is aggregated."""
    if not component.plus:
        return f"`{name}` is one event; `{aggregate.function}` is over the events of a `+`"
    if read.index not in indexes:
        some = enumerated([f"`{name}[{index}]`" for index in indexes if index != "i-1"])
        written = name if read.index is None else f"{name}[{read.index}]"
        return f"found `{written}` in `{aggregate.function}`, expected {some}"
    if read.attribute is None and aggregate.function != "count":
        return (
            f"`{aggregate.function}` is of an attribute, as in `{aggregate.function}({name}[].x)`"
        )
    return None


def is_length(read: Read) -> bool:
    """Whether a read of a Kleene variable without an index is its `LEN`."""
    named = read.attribute
    return (
        named is not None
        and named.attribute is None
        and not named.quoted
        and len(named.steps) == 1
        and named.steps[0].upper() == "LEN"
    )
