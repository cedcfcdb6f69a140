"""From the text of `AUTOMATON { … }` to its description."""

from __future__ import annotations

import json
import re

from xscl.language.automata.blocks import block_of
from xscl.language.automata.description import Automaton, BadDescription
from xscl.language.build import Builder
from xscl.language.checks.closest import closest
from xscl.language.problems import Unreadable
from xscl.language.syntax import Attribute, Block, Described, Item, Name, Read, Selected

__all__ = ["build_described", "selected_fields"]

_LEVEL = re.compile(r"\s*(?:(?ai:CONSISTENCY)\s+(?P<level>\w+(?:\s*\([^()]*\))?)\s*)?\Z")


def build_described(builder: Builder, text: str, scanned: str, start: int, end: int) -> Described:
    """The automaton whose description begins at a place of a text, which is `scanned`, too; its
    problems are noted, each at that place, with a JSON pointer to the member, and it is None then.
    Raises Unreadable for what follows a description and means nothing."""
    try:
        members, at = json.JSONDecoder().raw_decode(text, start)
    except RecursionError as error:
        # The stack may be deeper here than where the text was scanned.
        problem = "the description of the automaton is nested too deeply"
        raise Unreadable(start, problem) from error
    tail = _LEVEL.match(scanned, at, end)
    if tail is None:
        found = scanned[at:end].strip()
        raise Unreadable(at, f"found `{found[:40]}`, expected `CONSISTENCY`, `PUBLISH` or `;`")
    level = tail["level"]
    if level is not None:
        before = members.setdefault("consistency", level.lower())
        if before != level.lower():
            builder.note(at, f"CONSISTENCY {level} where the description says {before!r}")
    try:
        automaton = Automaton.from_dict(members, name="?")
    except (BadDescription, ExceptionGroup) as bad:
        problems = bad.exceptions if isinstance(bad, ExceptionGroup) else (bad,)
        for one in problems:
            assert isinstance(one, BadDescription)
            column = f", column {one.column}" if one.source else ""
            builder.note(start, f"{one.pointer or '/'}{column}: {one.problem}")
        return Described(None, (), start)
    blocks = tuple(block_of(one) for one in automaton.events.values())
    return Described(automaton, tuple(one for one in blocks if isinstance(one, Block)), start)


def selected_fields(
    builder: Builder, items: tuple[Item, ...], automaton: Automaton | None
) -> tuple[tuple[str, str], ...]:
    """The fields of a register that a SELECT lists, each with its name in a result; what names
    none is noted."""
    known = None if automaton is None else (*automaton.by, *automaton.register)
    found: dict[str, str] = {}
    for item in items:
        assert isinstance(item.path, Selected)
        at, field = item.path.at, _field(item.path.value)
        if field is None:
            builder.note(at, "SELECT lists fields of the register; a transfer computes them")
            continue
        if known is not None and field not in known:
            near = closest(field, known)
            there = f"there are {', '.join(known) or 'none'}"
            builder.note(
                at, f"`{field}` is no field; {f'did you mean `{near}`?' if near else there}"
            )
        name = field if item.written is None else item.written
        if name in found:
            builder.note(at, f"`{name}` is selected twice; rename one with AS")
        found[name] = field
    return tuple((field, name) for name, field in found.items())


def _field(value: object) -> str | None:
    """The field that `n` or `reg.n` reads; None of anything else."""
    match value:
        case Read(Name(text), None, None):
            return text
        case Read(None | Name("reg"), None, Attribute((text,), None)):
            return text
    return None
