"""A change of an automaton's arcs, as a line among the events says it
(docs/semantics.md#changing-arcs)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from xscl.language.automata.description import Arc, BadDescription
from xscl.times import from_timestamp

__all__ = ["ArcChange"]

_KINDS = ("insert", "delete", "replace")
_OTHERS = ("automaton", "with", "at", "until", "id", "stream")


@dataclass(frozen=True, slots=True)
class ArcChange:
    """An arc that is inserted, deleted by its `name`, or both; `at` and `until` are in
    microseconds, None where the line does not say them.  `pointer` leads to the arc."""

    automaton: str
    kind: Literal["insert", "delete", "replace"]
    name: str | None
    arc: Arc | None
    at: int | None
    until: int | None
    pointer: str

    @classmethod
    def of(cls, line: Mapping[str, Any]) -> ArcChange:
        """The change of a line; raises BadDescription."""
        query = line["automaton"]
        if not isinstance(query, str):
            raise _bad("?", "/automaton", f"{query!r} is no name of an automaton")
        kinds = [kind for kind in _KINDS if kind in line]
        if len(kinds) != 1:
            found = " and ".join(f"`{kind}`" for kind in kinds) or "none"
            raise _bad(query, "", f"found {found}, expected `insert`, `delete` or `replace`")
        (kind,) = kinds
        for member in line:
            if member not in (*kinds, *_OTHERS) or (member == "with" and kind != "replace"):
                raise _bad(query, f"/{member}", f"`{member}` is no member of `{kind}`")
        name, arc, pointer = None, None, f"/{kind}"
        if kind == "insert":
            arc = Arc.from_dict(line[kind], query=query, pointer=pointer)
        else:
            name = line[kind]
            if not isinstance(name, str):
                raise _bad(query, pointer, f"{name!r} is no name of an arc")
        if kind == "replace":
            pointer = "/with"
            if "with" not in line:
                raise _bad(query, "", "the member `with` is missing, the arc in place of that one")
            arc = Arc.from_dict(line["with"], query=query, pointer=pointer)
        if arc is not None and arc.name is not None:
            if not isinstance(arc.name, str) or not arc.name:
                raise _bad(query, f"{pointer}/name", "a name is a string that is not empty")
            if name is not None and name != arc.name:
                problem = f"found `{arc.name}`, but the name stays `{name}`; leave it out"
                raise _bad(query, f"{pointer}/name", problem)
        if kind == "delete" and "until" in line:
            raise _bad(query, "/until", "`until` is no member of `delete`")
        times: dict[str, int | None] = {}
        for member in ("at", "until"):
            given = line.get(member)
            of_arc = None if arc is None else getattr(arc, member)
            if given is not None and of_arc is not None:
                raise _bad(query, f"/{member}", f"the arc has its `{member}` already; say it once")
            where = f"/{member}" if of_arc is None else f"{pointer}/{member}"
            times[member] = _time(query, where, given if of_arc is None else of_arc)
        if arc is not None:
            arc = replace(arc, at=None, until=None)
        return cls(query, kind, name, arc, times["at"], times["until"], pointer)  # type: ignore[arg-type]


def _time(query: str, pointer: str, value: Any) -> int | None:
    try:
        return None if value is None else from_timestamp(value)
    except (TypeError, ValueError, OverflowError):
        problem = f"{value!r} is no time; write seconds, or ISO 8601"
        raise _bad(query, pointer, problem) from None


def _bad(query: str, pointer: str, problem: str) -> BadDescription:
    return BadDescription(problem, query=query, pointer=pointer)
