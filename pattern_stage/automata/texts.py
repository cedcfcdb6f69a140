"""Fences and transfers as Python functions over a list of runs.

What a fence asks of the event alone is a function of its own, the *gate*: where it fails, no run is
looked at.  Arcs that differ in constants share their compiled text.  A field that must equal
something is looked for in a column of the list.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import count
from typing import Any

from xscl.pattern_stage.algebra.functions import NAMES as FUNCTIONS
from xscl.pattern_stage.automata.program import Arc, Program
from xscl.pattern_stage.automata.run_lists import Run, RunList, RunShape, Shift
from xscl.pattern_stage.gates import Comparator
from xscl.pattern_stage.layouts import END, Event, Layouts
from xscl.pattern_stage.values.numbers import NAMES as NUMBERS
from xscl.pattern_stage.values.numbers import number_of
from xscl.pattern_stage.values.terms import (
    And,
    Arithmetic,
    Comparison,
    Constant,
    Form,
    Predicate,
    Read,
    Register,
    Slot,
    Term,
    Truth,
    leaves,
)
from xscl.pattern_stage.values.texts import TermTexts

__all__ = ["Asked", "CompiledArc", "Gate", "compiled_arc", "integral_in", "shape_of"]

Asked = tuple[int, Comparator, str | float]
"""A place in events, how the value there is compared, and with what."""

_MIRRORED: dict[Comparator, Comparator] = {
    "=": "=",
    "!=": "!=",
    "<": ">",
    "<=": ">=",
    ">": "<",
    ">=": "<=",
}

_LARGEST = 2.0**31
"""Integers that are added so often as may be stay exact."""


def _filled(number: float) -> float | None:
    """A number as a register keeps it."""
    return number if number == number else None


# `min` and `max` of arcs are of any number of values, as in FUNCTIONS.
_SPACE = {**NUMBERS, **FUNCTIONS, "number_of": number_of, "filled": _filled}


@dataclass(frozen=True, slots=True, eq=False)
class Gate:
    """Whether an event lets any run pass: of one event, and of each of many."""

    of: Callable[[Event], bool]
    each: Callable[[Iterable[Event]], list[bool]]


@dataclass(frozen=True, slots=True, eq=False)
class CompiledArc:
    """The functions of an arc.

    Equal gates of several arcs are one; None: every event passes.  `take(runs, event, shift, link)`
    gives the runs beyond the arc of those whose fence holds; with `keep`, `link` appends the event
    to a chain.  `delta` is what is added to the fields of all runs alike, where that is all that
    the arc does.  `sought` is a field with the value, as of `event` and `shift`, that it must have.
    Where the arc `stays`, runs beyond it have the shift of those before, as of an ignorable arc;
    `distinct` says whether two different runs never become the same.
    """

    arc: Arc
    gate: Gate | None
    take: Callable[..., list[Run]]
    delta: Shift | None
    sought: tuple[int, Callable[[Event, Shift], Any]] | None
    stays: bool
    distinct: bool
    asked: tuple[Asked | None, ...] = ()
    """What the gate's conjuncts compare, None for those that are no such comparison."""

    def beyond(self, runs: RunList, event: Any, shape: RunShape, link: Any = None) -> RunList:
        """The runs beyond the arc of some that the gate lets pass."""
        if self.delta is not None:
            return runs.shifted(self.delta)
        rest, shift = runs.rest, runs.shift
        if rest is not None:
            rest = self.beyond(rest, event, shape, link)
            if rest is shape.empty:
                rest = None
        if self.sought is None:
            some = runs.plain
        else:
            field, value = self.sought
            some = runs.having(field, value(event, shift))
        found = self.take(some, event, shift, link) if some else []
        if not self.distinct:
            found = [*dict.fromkeys(found)]
        return shape.listed(found, shift if self.stays else None, rest)


class _RunTexts(TermTexts):
    """The texts over the event `e` and the fields `f0`, `f1` … of a register."""

    def __init__(self, shape: RunShape, types: tuple[int, ...], layouts: Layouts) -> None:
        self._shape, self._types, self._layouts = shape, types, layouts
        self._fresh = count()

    def read(self, leaf: Read | Register, form: Form) -> str:
        if isinstance(leaf, Register):
            field = f"f{leaf.place}"
            if leaf.place in self._shape.integral:
                field = f"({field} + d{leaf.place})"
                return field if form is Form.NUMBER else f"number_text({field})"
            if leaf.number is (form is Form.NUMBER):
                return field
            cast = "number_of" if form is Form.NUMBER else "number_text"
            return f"(None if {field} is None else {cast}({field}))"
        if leaf.attribute.own == "timestamp":
            time = f"(e[{END}] / 1000000)"
            return time if form is Form.NUMBER else f"number_text({time})"
        return f"e[{self._layouts.place(self._types, Slot(leaf.attribute, form))}]"

    def present(self, leaf: Any) -> bool:
        integral = isinstance(leaf, Register) and leaf.place in self._shape.integral
        return integral or super().present(leaf)

    def computed(self, leaf: Any) -> str:
        raise TypeError(leaf)

    def constant(self, constant: Constant, form: Form) -> str:
        text, number = f"c{constant.place}", form is Form.NUMBER
        if constant.number is number:
            return text
        return f"number_of({text})" if number else f"number_text({text})"

    def fresh(self) -> str:
        return f"v{next(self._fresh)}"


def compiled_arc(
    arc: Arc, program: Program, shape: RunShape, types: tuple[int, ...], layouts: Layouts
) -> CompiledArc:
    """The functions of an arc; `types` are the engine's numbers of the types of its event."""
    texts = _RunTexts(shape, types, layouts)
    of_event, of_run = _split(arc.fence)
    names = ", ".join(f"c{place}" for place in range(len(arc.constants)))
    gate = None
    if of_event:
        gate = _gate(names, texts.condition(of_event), arc.constants)
    consuming = program.keep and arc.kind == "consume"
    stays = not arc.transfer and not consuming
    delta = None if of_run or consuming else _delta(arc, shape)
    values = [_kept(place, shape) for place in range(shape.width)]
    for place, term in arc.transfer:
        number = program.register[place - len(program.by)].number
        values[place] = texts.filled(term) if number else texts.text(term)
    fields = [f"f{place}" for place in range(shape.width)]
    chain = ["k"] if program.keep else []
    result = "r" if stays else _tuple("s", values, ["link(k)"] if consuming else chain)
    where = f" if {texts.condition(of_run)}" if of_run else ""
    taken = f" for {_tuple('s', fields, chain)} in (r,)" if stays else ""
    each = "r" if stays else _tuple("s", fields, chain)
    text = f"[{result} for {each} in runs{taken}{where}]" if where or not stays else "runs[:]"
    take = _made(names, "runs, e, d, link=None", text, _unpacked(shape))(*arc.constants)
    sought = None
    for one in of_run:
        if (field := _sought(one)) is not None:
            place, of_number, value = field
            key = texts.number(value) if of_number else texts.text(value)
            key += f" - d{place}" if place in shape.integral else ""
            find = _made(names, "e, d", key, _unpacked(shape))(*arc.constants)
            sought = place + 1, find
            break
    asked = tuple([_asked(one, arc.constants, types, layouts) for one in of_event])
    distinct = stays or _is_distinct(arc)
    return CompiledArc(arc, gate, take, delta, sought, stays, distinct, asked)


def integral_in(
    program: Program, arcs: Iterable[Arc], among: Collection[int] | None = None
) -> frozenset[int]:
    """The fields that are integral, given all arcs of an automaton: first an integer, and set to
    nothing but an integer, or to itself and an integer; they are `among` these."""
    by = len(program.by)
    integral = {
        place + by
        for place, field in enumerate(program.register)
        if isinstance(field.initial, float) and _is_integer(field.initial)
        if among is None or place + by in among
    }
    for arc in arcs:
        for place, term in arc.transfer:
            if place in integral and _added(place, term, arc.constants) is None:
                fixed = isinstance(term, Constant) and term.number
                if not (fixed and _is_integer(arc.constants[term.place])):  # type: ignore[union-attr]
                    integral.discard(place)
    return frozenset(integral)


def shape_of(program: Program, integral: frozenset[int]) -> RunShape:
    """The shape of an automaton's runs, given its integral fields."""
    width = len(program.by) + len(program.register)
    sums = "".join(f"a[{at}] + b[{at}], " for at in range(len(integral)))
    add = _made("", "a, b", f"({sums})")()
    shape = RunShape(width, [*integral], lambda runs, shift: [*runs], add)
    fields, chain = [f"f{place}" for place in range(width)], ["k"] if program.keep else []
    values = [_kept(place, shape) for place in range(width)]
    made, each = _tuple("s", values, chain), _tuple("s", fields, chain)
    shape.absolute = _made("", "runs, d", f"[{made} for {each} in runs]", _unpacked(shape))()
    return shape


def _kept(place: int, shape: RunShape) -> str:
    """The text of a field that is not set."""
    return f"f{place} + d{place}" if place in shape.integral else f"f{place}"


def _unpacked(shape: RunShape) -> str:
    """The statement that names the shifts of fields."""
    shifts = "".join(f"d{at}, " for at in shape.integral)
    return f"({shifts}) = d" if shifts else "pass"


def _tuple(start: str, values: list[str], chain: list[str]) -> str:
    return f"({', '.join([start, *values, *chain])},)"


def _delta(arc: Arc, shape: RunShape) -> Shift | None:
    """What an arc adds to all runs, None where it does something else."""
    if not arc.transfer:
        return shape.zero
    delta = dict.fromkeys(shape.integral, 0.0)
    for place, term in arc.transfer:
        added = _added(place, term, arc.constants) if place in delta else None
        if added is None:
            return None
        delta[place] = added
    return tuple(delta.values())


def _added(place: int, term: Term, constants: Sequence[str | float]) -> float | None:
    """The integer that a term adds to the field that it sets, None where it is another term."""
    match term:
        case Arithmetic("+" | "-" as sign, Register(at), Constant(of, True)) if at == place:
            added = constants[of]
            if isinstance(added, float) and _is_integer(added):
                return added if sign == "+" else -added
    return None


def _is_integer(number: str | float) -> bool:
    return isinstance(number, float) and number.is_integer() and abs(number) < _LARGEST


def _split(fence: Predicate) -> tuple[list[Predicate], list[Predicate]]:
    """The conjuncts over the event alone, and the others."""
    conjuncts = fence.parts if isinstance(fence, And) else (fence,)
    of_event, of_run = list[Predicate](), list[Predicate]()
    for one in conjuncts:
        if one == Truth(True):
            continue
        reads = {type(leaf) for leaf in leaves(one)}
        (of_run if Register in reads else of_event).append(one)
    return of_event, of_run


def _sought(one: Predicate) -> tuple[int, bool, Term] | None:
    """The field that must equal something, whether as a number, and what."""
    match one:
        case Comparison("=", left, right, mode):
            for field, other in ((left, right), (right, left)):
                if (
                    isinstance(field, Register)
                    and field.number is (mode == "number")
                    and not any(isinstance(leaf, Register) for leaf in leaves(other))
                ):
                    return field.place, field.number, other
    return None


def _asked(
    one: Predicate, constants: Sequence[str | float], types: tuple[int, ...], layouts: Layouts
) -> Asked | None:
    """The place of the value that a conjunct compares with a constant, the operator and this."""
    match one:
        case Comparison(operator, Read() as read, Constant() as constant, mode):
            pass
        case Comparison(operator, Constant() as constant, Read() as read, mode):
            operator = _MIRRORED[operator]
        case _:
            return None
    number = mode == "number"
    if mode == "either" or read.attribute.own is not None or constant.number is not number:
        return None
    slot = Slot(read.attribute, Form.NUMBER if number else Form.TEXT)
    return layouts.place(types, slot), operator, constants[constant.place]


def _is_distinct(arc: Arc) -> bool:
    """Whether different registers stay different: each field that is set is itself and something
    that the register has no part in, and so is no field lost."""
    return all(_moves(place, term) for place, term in arc.transfer)


def _moves(place: int, term: Term) -> bool:
    match term:
        case Arithmetic("+" | "-", Register(at), other):
            return at == place and not any(isinstance(one, Register) for one in leaves(other))
    return False


@lru_cache(maxsize=10_000)
def _gate(names: str, condition: str, constants: tuple[str | float, ...]) -> Gate:
    of = _made(names, "e", condition)
    each = _made(names, "events", f"[{condition} for e in events]")
    return Gate(of(*constants), each(*constants))


@lru_cache(maxsize=10_000)
def _made(
    constants: str, parameters: str, result: str, statement: str = "pass"
) -> Callable[..., Any]:
    """What makes a function of constants; its text is made of places and of names of our own,
    never of what a user wrote."""
    names: dict[str, Any] = {}
    body = f"        {statement}\n        return {result}\n"
    text = f"def make({constants}):\n    def f({parameters}):\n{body}    return f\n"
    exec(compile(text, "<automaton>", "exec"), _SPACE, names)
    return names["make"]  # type: ignore[no-any-return]
