"""An automaton as a value: in Python, as JSON and in a query file the same."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from typing import Any
from typing import Literal as OneOf

from xscl.errors import QueryError
from xscl.language.checks.closest import closest

__all__ = ["Arc", "Automaton", "BadDescription"]

Kind = OneOf["consume", "ignore", "epsilon", "end", "start"]


class BadDescription(QueryError):
    """A description of an automaton that says something impossible: `pointer` is the JSON pointer
    to the member, `line` and `column` are a place in it."""

    def __init__(self, problem: str, *, query: str, pointer: str, text: str = "", at: int = 0):
        super().__init__(problem, query=query, text=text, at=at)
        self.pointer = pointer

    def __str__(self) -> str:
        where = self.pointer or "/"
        if not self.source:
            return f"automaton {self.query!r}, {where}: {self.problem}"
        caret = " " * (self.column - 1) + "^"
        place = f"{where}, column {self.column}"
        return f"automaton {self.query!r}, {place}: {self.problem}\n    {self.source}\n    {caret}"


@dataclass(frozen=True, slots=True)
class Arc:
    """An arc from a state to a state.

    `event` is a type of the automaton, `*` any; `when` the fence and `set` the transfer; it lives
    from `at` until before `until`, in seconds, as text of ISO 8601 or as a datetime.  `final` says
    of an arc that is inserted that the state it leads to, which is new, is a final one.
    """

    source: str
    target: str
    event: str | None = None
    when: str | None = None
    set: str | None = None
    kind: Kind = "consume"
    name: str | None = None
    at: float | str | datetime | None = None
    until: float | str | datetime | None = None
    final: bool = False

    def to_dict(self) -> dict[str, Any]:
        """The members of its description."""
        members = {"from": self.source, "to": self.target}
        for one in fields(self)[2:]:
            value = getattr(self, one.name)
            if value != one.default:
                members[one.name] = value.isoformat() if isinstance(value, datetime) else value
        return members

    @classmethod
    def from_dict(cls, members: object, *, query: str = "", pointer: str = "") -> Arc:
        """The arc that a description says; raises QueryError."""
        given = _object(members, query, pointer)
        known = ["from", "to", *(one.name for one in fields(cls)[2:])]
        _known(given, known, query, pointer)
        for name in ("from", "to"):
            if name not in given:
                raise BadDescription(
                    f"the member `{name}` is missing", query=query, pointer=pointer
                )
        values = {**given, "source": given["from"], "target": given["to"]}
        del values["from"], values["to"]
        arc = cls(**values)
        arc.check(query, pointer)
        return arc

    def check(self, query: str, pointer: str) -> None:
        """Raises BadDescription for a member that is no string and has to be one."""
        for member, state in (("from", self.source), ("to", self.target)):
            if not isinstance(state, str):
                problem = f"a state is a string, not {state!r}"
                raise BadDescription(problem, query=query, pointer=f"{pointer}/{member}")
        for member in ("event", "name", "kind"):
            value = getattr(self, member)
            if not isinstance(value, str | None):
                problem = f"found {value!r}, expected a string"
                raise BadDescription(problem, query=query, pointer=f"{pointer}/{member}")


@dataclass(frozen=True, slots=True)
class Automaton:
    """An automaton.

    `events` names event types, each a block; `by` are the attributes that split the input into
    parts; `register` gives each field its initial value, a number or a string, or
    `{"type": …, "initial": …}`; `within` is the lifetime of a run, a number of seconds or a
    duration.  With `keep`, matches have their documents; `sequence` is an attribute that numbers
    the events of each part without gaps.

    It is checked when it is made: QueryError, or an ExceptionGroup of several.
    """

    name: str
    events: Mapping[str, str]
    final: Sequence[str]
    arcs: Sequence[Arc]
    start: str | None = None
    states: Sequence[str] = ()
    by: Sequence[str] = ()
    register: Mapping[str, object] = field(default_factory=dict)
    within: float | str | None = None
    keep: bool = False
    sequence: str | None = None
    consistency: str | None = None
    publish: str | None = None

    def __post_init__(self) -> None:
        from xscl.language.automata.check import problems

        self._check_kinds()
        arcs = tuple(
            one
            if isinstance(one, Arc)
            else Arc.from_dict(one, query=str(self.name), pointer=f"/arcs/{i}")
            for i, one in enumerate(self.arcs)
        )
        for number, arc in enumerate(arcs):
            arc.check(str(self.name), f"/arcs/{number}")
        object.__setattr__(
            self,
            "arcs",
            tuple(
                one if one.name is not None else replace(one, name=f"a{number}")
                for number, one in enumerate(arcs)
            ),
        )
        for name in ("final", "states", "by"):
            value = getattr(self, name)
            object.__setattr__(self, name, (value,) if isinstance(value, str) else tuple(value))
        if self.start is None and self.arcs:
            object.__setattr__(self, "start", self.arcs[0].source)
        found = [*problems(self)]
        if len(found) == 1:
            raise found[0]
        if found:
            raise ExceptionGroup("bad automaton", found)

    def _check_kinds(self) -> None:
        """Raises BadDescription for a member of another kind than what follows reads."""

        def bad(member: str, expected: str) -> BadDescription:
            problem = f"found {getattr(self, member)!r}, expected {expected}"
            return BadDescription(problem, query=str(self.name), pointer=f"/{member}")

        for member in ("events", "register"):
            if not isinstance(getattr(self, member), Mapping):
                raise bad(member, "an object")
        for member in ("arcs", "final", "states", "by"):
            value = getattr(self, member)
            if isinstance(value, str) and member != "arcs":
                continue
            if isinstance(value, str | Mapping) or not isinstance(value, Iterable):
                raise bad(member, "an array")
            object.__setattr__(self, member, tuple(value))
            if member != "arcs" and not all(isinstance(one, str) for one in getattr(self, member)):
                raise bad(member, "strings")
        if not isinstance(self.start, str | None):
            raise bad("start", "a string")

    def __hash__(self) -> int:
        return hash(self.to_json())

    def to_dict(self) -> dict[str, Any]:
        """The members of its description."""
        members: dict[str, Any] = {}
        for one in fields(self):
            value = getattr(self, one.name)
            if one.name == "arcs":
                value = [arc.to_dict() for arc in self.arcs]
            elif isinstance(value, Mapping):
                value = dict(value)
            elif isinstance(value, tuple):
                value = list(value)
            if value or one.name in ("events", "final", "start"):
                members[one.name] = value
        return members

    @property
    def statement(self) -> str:
        """The query that it is in a query file."""
        return f"AUTOMATON {self.to_json()}"

    def to_json(self) -> str:
        """Its description."""
        return json.dumps(self.to_dict(), ensure_ascii=False)

    @classmethod
    def from_dict(cls, members: object, *, name: str | None = None) -> Automaton:
        """The automaton that a description says, which has the `name` unless it gives one; raises
        QueryError."""
        query = name or "?"
        given = _object(members, query, "")
        if isinstance(given.get("name"), str):
            query = given["name"]
        known = [one.name for one in fields(cls)]
        _known(given, known, query, "")
        for needed in ("events", "final", "arcs"):
            if needed not in given:
                raise BadDescription(f"the member `{needed}` is missing", query=query, pointer="")
        return cls(**{"name": query, **given})


def _object(members: object, query: str, pointer: str) -> Mapping[str, Any]:
    if not isinstance(members, Mapping):
        raise BadDescription("found no object, expected one", query=query, pointer=pointer)
    return members


def _known(given: Mapping[str, Any], known: Sequence[str], query: str, pointer: str) -> None:
    for name in given:
        if name not in known:
            near = closest(name, known)
            instead = f"; did you mean `{near}`?" if near else f"; there are {', '.join(known)}"
            problem = f"`{name}` is no member{instead}"
            raise BadDescription(problem, query=query, pointer=f"{pointer}/{name}")
