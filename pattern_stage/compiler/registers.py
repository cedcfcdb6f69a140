"""Columns of a run's register: which a pattern's terms read, how each begins and grows.

A column is information on the events of a run for later moves: an attribute of the first or the
last event of a component, their number, an aggregate over them, the value of an equivalence test.
The columns of a state are those that some later move reads.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Literal

from xscl.pattern_stage.compiler.terms import ComponentTexts
from xscl.pattern_stage.compiler.texts import Texts
from xscl.pattern_stage.values.terms import Aggregate, Form, Index, Length, Read, Slot

__all__ = ["Field", "RegisterReads", "carried", "unpacked"]

Kind = Literal["first", "last", "length", "sum", "number", "min", "max", "test"]

_GROWN: dict[Kind, str] = {
    "sum": "({old} if {new} is None else {old} + {new})",
    "number": "({old} if {new} is None else {old} + 1)",
    "min": "least({old}, {new})",
    "max": "greatest({old}, {new})",
}
_BEGUN: dict[Kind, str] = {
    "sum": "(0.0 if {new} is None else {new})",
    "number": "(0 if {new} is None else 1)",
}


@dataclass(frozen=True, slots=True)
class Field:
    """A column; of kind `test` `component` is the place of the test."""

    kind: Kind
    component: int
    slot: Slot | None = None


def carried(
    column: Field,
    component: int,
    begins: bool,
    texts: Texts,
    name: Callable[[Field], str],
) -> tuple[str, Collection[Field]]:
    """A column after an event of a component, as text, and the columns that this reads."""
    old = name(column)
    if column.kind == "test":
        slot = column.slot
        assert slot is not None
        new = texts.slot(component, slot)
        if begins and component == texts.positive[0]:
            return new, ()
        if texts.wild(component):
            return f"({new} if {old} is None else {old})", (column,)
        return new, ()
    if column.component != component:
        return old, (column,)
    if column.kind == "length":
        return ("1", ()) if begins else (f"{old} + 1", (column,))
    assert column.slot is not None
    new = texts.slot(component, column.slot)
    if column.kind == "last" or begins:
        return _BEGUN.get(column.kind, "{new}").format(new=new), ()
    if column.kind == "first":
        return old, (column,)
    return _GROWN[column.kind].format(old=old, new=new), (column,)


def unpacked(
    layout: Iterable[Field],
    used: Collection[Field],
    name: Callable[[Field], str],
) -> str:
    """A statement that names the columns of register `V`."""
    names = [name(column) if column in used else "_" for column in layout]
    return f"{', '.join(names)}, = V" if used else "pass"


class RegisterReads(ComponentTexts):
    """Reads of an edge: the event that is taken, and columns for all before; records these."""

    def __init__(
        self,
        texts: Texts,
        name: Callable[[Field], str],
        taken: int | None,
        index: Index | None,
    ) -> None:
        super().__init__(texts)
        self.columns = set[Field]()
        self._name = name
        self._taken, self._index = taken, index

    def _column(self, column: Field) -> str:
        self.columns.add(column)
        return self._name(column)

    def read(self, leaf: Read, form: Form) -> str:
        slot = Slot(leaf.attribute, form)
        if leaf.component == self._taken and leaf.index in (None, self._index):
            return self.texts.slot(leaf.component, slot)
        last = leaf.index in (Index.LAST, Index.PREVIOUS)
        return self._column(Field("last" if last else "first", leaf.component, slot))

    def aggregate(self, aggregate: Aggregate) -> str:
        component, function = aggregate.component, aggregate.function
        if aggregate.attribute is None:
            return self._column(Field("length", component))
        slot = Slot(aggregate.attribute, Form.NUMBER)
        match function:
            case "avg":
                total = self._column(Field("sum", component, slot))
                return f"average({total}, {self._column(Field('number', component, slot))})"
            case "sum":
                return self._column(Field("sum", component, slot))
            case "count":
                return self._column(Field("number", component, slot))
            case _:
                value = self._column(Field(function, component, slot))
                return f"(nan if {value} is None else {value})"

    def length(self, length: Length) -> str:
        return self._column(Field("length", length.component))
