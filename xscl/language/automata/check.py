"""What a description says that cannot be meant (docs/semantics.md#refused-automata)."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from xscl.language.automata.blocks import block_of
from xscl.language.automata.description import Arc, Automaton, BadDescription
from xscl.language.automata.expressions import read_fence, read_transfer
from xscl.language.checks.closest import closest
from xscl.language.checks.names import VARIABLE, is_name
from xscl.language.problems import Problem
from xscl.language.syntax import Call, Compared, Parameter, Read
from xscl.language.values.walk import atoms, leaves
from xscl.times import duration, from_timestamp

__all__ = ["arc_problems", "initial_of", "is_number_field", "life_of", "problems", "within_of"]

_NAME = re.compile(f"{VARIABLE}'*")
_KINDS = ("consume", "ignore", "epsilon", "end", "start")
_WITHOUT_EVENT = ("epsilon", "end", "start")
_TAKEN = ("event", "reg")

_LEVEL = re.compile(r"(?i:strong|weak|middle\s*(\((?P<window>[^()]*)\))?)")


def problems(automaton: Automaton) -> Iterator[BadDescription]:
    """The problems of a description."""
    yield from _Checking(automaton).all()


def arc_problems(
    automaton: Automaton, arc: Arc, others: Iterable[Arc], states: Sequence[str], pointer: str
) -> Iterator[BadDescription]:
    """The problems of an arc that is to be one of an automaton, which has these `others` and these
    states."""
    checking = _Checking(automaton, states)
    some = [*checking.arc(arc, pointer)]
    yield from some or checking.circle([*others, arc], pointer)


def is_number_field(initial: object) -> bool:
    """Whether a field of the register is a number, by its description."""
    if isinstance(initial, Mapping):
        return initial.get("type") == "number"
    return not isinstance(initial, str)


def initial_of(described: object) -> str | float | None:
    """The initial value of a field, None where it is missing."""
    initial: Any = described.get("initial") if isinstance(described, Mapping) else described
    return initial if initial is None or isinstance(initial, str) else float(initial)


def within_of(automaton: Automaton) -> int | None:
    """The lifetime of a run in microseconds."""
    within = automaton.within
    if within is None:
        return None
    return duration(within) if isinstance(within, str) else round(within * 1_000_000)


def life_of(arc: Arc) -> tuple[float, float]:
    """The life of an arc in microseconds."""
    at = float("-inf") if arc.at is None else from_timestamp(arc.at)
    return at, float("inf") if arc.until is None else from_timestamp(arc.until)


class _Checking:
    """A description, what it names, and its problems."""

    def __init__(self, automaton: Automaton, states: Sequence[str] = ()) -> None:
        self.automaton = automaton
        self.states = states or automaton.states
        self.fields = dict.fromkeys((*automaton.by, *automaton.register))

    def bad(self, pointer: str, problem: str, text: str = "", at: int = 0) -> BadDescription:
        """A problem at a place."""
        name = str(self.automaton.name)
        return BadDescription(problem, query=name, pointer=pointer, text=text, at=at)

    def all(self) -> Iterator[BadDescription]:
        """All problems."""
        whole = self.automaton
        if not isinstance(whole.name, str) or not whole.name:
            yield self.bad("/name", "a name is a string that is not empty")
        yield from self.input()
        yield from self.registers()
        if whole.within is not None:
            yield from self.within()
        if whole.consistency is not None and not _is_level(whole.consistency):
            problem = "a level is `strong`, `middle`, `middle(5 s)` or `weak`"
            yield self.bad("/consistency", problem)
        publish = whole.publish
        if publish is not None and not (isinstance(publish, str) and is_name(publish)):
            yield self.bad("/publish", "a stream is a name, as after PUBLISH")
        if not isinstance(whole.keep, bool):
            yield self.bad("/keep", "write true for matches that have their documents, or false")
        if whole.sequence is not None and not (isinstance(whole.sequence, str) and whole.sequence):
            yield self.bad("/sequence", "a sequence is the name of an attribute")
        if not whole.arcs:
            yield self.bad("/arcs", "an automaton has at least one arc")
        if not whole.final:
            yield self.bad("/final", "an automaton has at least one final state")
        names: dict[str | None, int] = {}
        for number, arc in enumerate(whole.arcs):
            pointer = f"/arcs/{number}"
            before = names.setdefault(arc.name, number)
            if before != number:
                problem = f"/arcs/{before} is named `{arc.name}`, too; rename one of them"
                yield self.bad(f"{pointer}/name", problem)
            yield from self.arc(arc, pointer)
        yield from self.circle(whole.arcs)
        reached = _reached(whole)
        if whole.arcs and whole.final and not reached.intersection(whole.final):
            problem = f"no final state can be reached from the start `{whole.start}`"
            yield self.bad("/final", problem)

    def input(self) -> Iterator[BadDescription]:
        """Event types, and what splits the input."""
        whole = self.automaton
        if not whole.events:
            yield self.bad("/events", "an automaton has at least one event type")
        for name, block in whole.events.items():
            pointer = f"/events/{name}"
            yield from self.named(pointer, name, "an event type")
            found = block_of(block) if isinstance(block, str) else Problem(0, "a block is a string")
            if isinstance(found, Problem):
                yield self.bad(pointer, found.text, str(block), found.at)
        for number, name in enumerate(whole.by):
            yield from self.named(f"/by/{number}", name, "a field")

    def named(self, pointer: str, name: object, what: str) -> Iterator[BadDescription]:
        """The problem of a name of a type or a field."""
        if not isinstance(name, str) or _NAME.fullmatch(name) is None:
            yield self.bad(
                pointer, f"{name!r} does not name {what}: it is a name without `-` and `.`"
            )
        elif name in _TAKEN:
            yield self.bad(pointer, f"`{name}` is taken and cannot name {what}")

    def registers(self) -> Iterator[BadDescription]:
        """The fields of the register."""
        for name, described in self.automaton.register.items():
            pointer = f"/register/{name}"
            yield from self.named(pointer, name, "a field")
            if name in self.automaton.by:
                yield self.bad(pointer, f"`{name}` splits the input and cannot be a field, too")
            initial = described.get("initial") if isinstance(described, Mapping) else described
            if isinstance(initial, int) and abs(initial) > sys.float_info.max:
                yield self.bad(pointer, "the initial value is too large for a number")
                continue
            if isinstance(described, Mapping):
                if described.get("type") not in ("number", "string"):
                    yield self.bad(f"{pointer}/type", "the types are `number` and `string`")
                    continue
                unknown = [one for one in described if one not in ("type", "initial")]
                if unknown:
                    yield self.bad(f"{pointer}/{unknown[0]}", f"`{unknown[0]}` is no member")
                text = described["type"] == "string"
                if initial is None or isinstance(initial, str) is text:
                    continue
            if isinstance(initial, bool) or not isinstance(initial, int | float | str):
                yield self.bad(pointer, "an initial value is a number or a string")
            elif isinstance(described, Mapping):
                yield self.bad(f"{pointer}/initial", f"found no {described['type']}, expected one")

    def within(self) -> Iterator[BadDescription]:
        """The lifetime of a run."""
        within = self.automaton.within
        try:
            length = within_of(self.automaton)
        except (TypeError, ValueError, OverflowError):
            problem = f"{within!r} is no duration; write for example `7 s`, or a number of seconds"
            yield self.bad("/within", problem)
            return
        if length is None or length <= 0:
            yield self.bad(
                "/within", "the lifetime of a run is longer than 0; leave it out for none"
            )

    # Arcs

    def arc(self, arc: Arc, pointer: str) -> Iterator[BadDescription]:
        """The problems of one arc."""
        whole = self.automaton
        for member, state in (("from", arc.source), ("to", arc.target)):
            if not isinstance(state, str):
                yield self.bad(f"{pointer}/{member}", f"a state is a string, not {state!r}")
            elif whole.states and state not in self.states and not arc.final:
                yield self.bad(f"{pointer}/{member}", _unknown("state", state, self.states))
        if arc.kind not in _KINDS:
            yield self.bad(f"{pointer}/kind", _unknown("kind", str(arc.kind), _KINDS))
            return
        if arc.kind in _WITHOUT_EVENT:
            if arc.event is not None:
                yield self.bad(f"{pointer}/event", f"an arc of kind `{arc.kind}` takes no event")
        elif arc.event is None:
            yield self.bad(pointer, f"an arc of kind `{arc.kind}` names its `event`")
        elif arc.event != "*" and arc.event not in whole.events:
            yield self.bad(f"{pointer}/event", _unknown("event type", arc.event, whole.events))
        if arc.kind == "ignore":
            if arc.set is not None:
                yield self.bad(f"{pointer}/set", "an ignorable arc sets nothing")
            if arc.source != arc.target:
                yield self.bad(f"{pointer}/to", "an ignorable arc leads back to its state")
        if arc.kind in ("start", "end") and whole.within is None:
            problem = f"an arc of kind `{arc.kind}` needs the automaton's `within`"
            yield self.bad(f"{pointer}/kind", problem)
        if arc.kind == "start" and arc.source != whole.start:
            problem = f"an arc of kind `start` leaves the start state `{whole.start}`"
            yield self.bad(f"{pointer}/from", problem)
        yield from self.life(arc, pointer)
        if arc.when is not None:
            text = str(arc.when)
            fence, found = read_fence(text)
            compared = (atom for atom in atoms(fence) if isinstance(atom, Compared))
            sides = [side for atom in compared for side in (atom.left, atom.right)]
            for one in (*found, *self.reads(arc, sides)):
                yield self.bad(f"{pointer}/when", one.text, text, one.at)
        if arc.set is not None:
            yield from self.transfer(arc, pointer)

    def life(self, arc: Arc, pointer: str) -> Iterator[BadDescription]:
        """The life of an arc."""
        for member, value in (("at", arc.at), ("until", arc.until)):
            try:
                from_timestamp(0 if value is None else value)
            except (TypeError, ValueError, OverflowError):
                problem = f"{value!r} is no time; write seconds, or ISO 8601"
                yield self.bad(f"{pointer}/{member}", problem)
                return
        at, until = life_of(arc)
        if at >= until:
            yield self.bad(f"{pointer}/until", "an arc ends after its `at`")

    def transfer(self, arc: Arc, pointer: str) -> Iterator[BadDescription]:
        """The transfer of an arc."""
        text = str(arc.set)
        assignments, found = read_transfer(text)
        some = [*found]
        written: set[str] = set()
        for one in assignments or ():
            name = one.field.text
            if name in written:
                some.append(Problem(one.field.at, f"`{name}` is set twice"))
            elif name in self.automaton.by:
                some.append(Problem(one.field.at, f"`{name}` splits the input and is never set"))
            elif name not in self.automaton.register:
                known = self.automaton.register
                some.append(Problem(one.field.at, _unknown("field", name, known)))
            written.add(name)
            some += self.reads(arc, [one.value])
        yield from (self.bad(f"{pointer}/set", one.text, text, one.at) for one in sorted(some))

    def reads(self, arc: Arc, values: Iterable[Any]) -> Iterator[Problem]:
        """The problems of what values read."""
        for value in values:
            for leaf in leaves(value):
                if isinstance(leaf, Call):
                    yield from self.call(arc, leaf)
                elif isinstance(leaf, Read):
                    yield from self.read(arc, leaf)
                elif isinstance(leaf, Parameter):
                    problem = f"the parameter `:{leaf.name}` is not bound; write its value"
                    yield Problem(leaf.at, problem)

    def call(self, arc: Arc, call: Call) -> Iterator[Problem]:
        """The problems of a function."""
        many = len(call.arguments)
        if call.function == "abs" and many != 1:
            yield Problem(call.at, f"`abs()` takes 1 argument, found {many}")
        elif call.function != "abs" and many < 2:
            yield Problem(call.at, f"`{call.function}()` takes 2 arguments or more, found {many}")
        yield from self.reads(arc, call.arguments)

    def read(self, arc: Arc, read: Read) -> Iterator[Problem]:
        """The problems of a field or an attribute."""
        assert read.variable is not None
        name = read.variable.text
        if read.attribute is None:
            if name not in self.fields:
                yield Problem(read.at, _unknown("field", name, self.fields))
        elif name == "reg":
            names = read.attribute.steps
            if (
                read.attribute.attribute is not None
                or len(names) != 1
                or names[0] not in self.fields
            ):
                field = "/".join(names)
                yield Problem(read.attribute.at, _unknown("field", field, self.fields))
        elif arc.kind in _WITHOUT_EVENT:
            yield Problem(read.at, f"an arc of kind `{arc.kind}` reads no event")
        elif name != "event" and name not in self.automaton.events:
            yield Problem(read.at, _unknown("event type", name, self.automaton.events))
        elif name not in ("event", arc.event):
            of = "any event" if arc.event == "*" else f"events `{arc.event}`"
            yield Problem(read.at, f"the arc takes {of} and cannot read `{name}`; write `event`")

    def circle(self, arcs: Iterable[Arc], pointer: str = "/arcs") -> Iterator[BadDescription]:
        """A circle of ε-arcs that live at one time."""
        epsilon = [arc for arc in arcs if arc.kind == "epsilon"]
        try:
            lives = {id(arc): life_of(arc) for arc in epsilon}
        except (TypeError, ValueError, OverflowError):
            return
        for since in sorted({at for at, _ in lives.values()}):
            after: dict[str, list[str]] = {}
            for arc in epsilon:
                at, until = lives[id(arc)]
                if at <= since < until:
                    after.setdefault(arc.source, []).append(arc.target)
            circle = _circle(after)
            if circle:
                problem = f"ε-arcs form a circle: {' → '.join(circle)}"
                yield self.bad(pointer, problem)
                return


def _unknown(what: str, name: str, known: Iterable[str]) -> str:
    some = [*known]
    near = closest(name, some)
    instead = f"did you mean `{near}`?" if near else f"there are {', '.join(some) or 'none'}"
    return f"`{name}` is no {what}; {instead}"


def _reached(automaton: Automaton) -> set[str]:
    reached = {automaton.start or ""}
    left = [*reached]
    while left:
        state = left.pop()
        for arc in automaton.arcs:
            if arc.source == state and arc.target not in reached:
                reached.add(arc.target)
                left.append(arc.target)
    # An arc may enter the start state again.
    return reached if any(arc.target in reached for arc in automaton.arcs) else set()


def _circle(after: Mapping[str, list[str]]) -> list[str] | None:
    """A way from a state back to it."""
    for first in after:
        ways = [[first]]
        seen = set[str]()
        while ways:
            way = ways.pop()
            for state in after.get(way[-1], ()):
                if state == first:
                    return [*way, first]
                if state not in seen:
                    seen.add(state)
                    ways.append([*way, state])
    return None


def _is_level(text: object) -> bool:
    """Whether a text is a level of consistency."""
    found = _LEVEL.fullmatch(text) if isinstance(text, str) else None
    if found is None or found["window"] is None:
        return found is not None
    try:
        duration(found["window"])
    except ValueError:
        return False
    return True
