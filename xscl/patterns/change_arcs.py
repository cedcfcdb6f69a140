"""The arcs of an automaton before a change -> those after it, in versions with lives
(docs/semantics.md#changing-arcs).

Arcs come and go after the watermark only, so that nothing changes that was known by then.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from math import isfinite

from xscl.language.automata.changes import ArcChange
from xscl.language.automata.check import arc_problems
from xscl.language.automata.description import Arc, Automaton, BadDescription
from xscl.pattern_stage.automata.program import Life
from xscl.patterns.compile_automaton import (
    Arcs,
    CompiledAutomaton,
    Version,
    compile_arc,
    described,
)
from xscl.times import moment

__all__ = ["arcs_in", "changed_arcs", "needed_arcs", "reads_no_more", "text_of_arcs"]

_FIRST, _LAST = float("-inf"), float("inf")

_KNOWN = 1024
"""So many arcs are remembered that may come again."""


def changed_arcs(
    compiled: CompiledAutomaton,
    arcs: Arcs,
    change: ArcChange,
    newest: int | None,
    watermark: int | None,
    *,
    weak: bool = False,
    eager: bool = False,
) -> tuple[Arcs, float]:
    """The arcs after a change, and from when on they differ; without an `at`, and at the earliest
    where the automaton is `weak`, that is after `newest`, the watermark or the latest document
    (None: nothing has come).  `eager` is an automaton that reports for
    good what the numbers of its events decide: what has come is not changed.
    Raises BadDescription, or an ExceptionGroup of several.
    """
    automaton, at = compiled.automaton, change.at
    if at is not None and watermark is not None and at <= watermark and not weak:
        problem = (
            f"{moment(at)} is not after the watermark, {moment(watermark)}, up to which all is "
            "final; give a later time, or leave `at` out for a change from now on"
        )
        raise _bad(automaton, "/at", problem)
    if at is not None and eager and newest is not None and at <= newest:
        problem = (
            f"{moment(at)} is not after the newest document, {moment(newest)}; by `sequence` what "
            "has come is reported for good: give a later time, or leave `at` out"
        )
        raise _bad(automaton, "/at", problem)
    after_now = _FIRST if newest is None else newest + 1
    since = after_now if at is None else max(at, after_now) if weak else at
    versions = arcs.versions
    if change.name is not None:
        if since == _FIRST:
            problem = "no event has come, so that there is no now; say `at`"
            raise _bad(automaton, f"/{change.kind}", problem)
        versions = _ended(automaton, versions, change, since)
    after = replace(arcs, versions=versions, changed=True)
    if change.arc is not None:
        until = _LAST if change.until is None else change.until
        arc = _checked(compiled, after, change, (since, until))
        if since >= until:
            # It would end before it begins: nothing happens.
            return arcs, _LAST
        after = _with(compiled, after, arc, (since, until))
    return after, since


def needed_arcs(compiled: CompiledAutomaton, passed: int | None) -> Arcs:
    """The arcs that an automaton has, without those that no run needs which may still come to
    anything, given up to when runs have been taken."""
    arcs = compiled.now
    if passed is None or compiled.within is None:
        return arcs
    oldest = passed - compiled.within
    return replace(arcs, versions=tuple([one for one in arcs.versions if one.life[1] > oldest]))


def reads_no_more(compiled: CompiledAutomaton, before: Arcs, after: Arcs) -> bool:
    """Whether a change reads nothing of events that is not read for certain: what it inserts is the
    same up to constants as an arc that is there for good, and of a kind that no time fires."""
    if after.count == before.count or not after.versions:
        return True
    new = after.versions[-1].compiled
    return new.kind in ("consume", "ignore") and any(
        one.compiled.fence is new.fence
        and one.compiled.transfer is new.transfer
        and one.compiled.type == new.type
        and one.life[1] == _LAST
        for one in compiled.now.versions
    )


def _ended(
    automaton: Automaton, versions: tuple[Version, ...], change: ArcChange, since: float
) -> tuple[Version, ...]:
    """The versions without that of a name that lives longest, from a time on."""
    of_name = [one for one in versions if one.arc.name == change.name]
    if not of_name:
        names = ", ".join(dict.fromkeys(str(one.arc.name) for one in versions)) or "none"
        problem = f"no arc is named `{change.name}`; there are {names}"
        raise _bad(automaton, f"/{change.kind}", problem)
    longest = max(of_name, key=lambda one: one.life[1])
    first, last = longest.life
    if last <= since:
        problem = f"the arc `{change.name}` lives only until {moment(int(last))}"
        raise _bad(automaton, f"/{change.kind}", f"{problem}; there is nothing to end")
    shorter = (replace(longest, life=(first, since)),) if first < since else ()
    return (*(one for one in versions if one is not longest), *shorter)


def _checked(compiled: CompiledAutomaton, arcs: Arcs, change: ArcChange, life: Life) -> Arc:
    """The arc that a change brings, with its name; raises what is wrong with it."""
    automaton = compiled.automaton
    assert change.arc is not None
    arc = replace(change.arc, name=change.name or change.arc.name or _free_name(arcs))
    lives = change.at is None or life[0] < life[1]
    right = lives and _was_right(compiled, arc)
    problems = [] if right else [*_problems(automaton, arcs, change, arc, life)]
    if change.kind == "insert":
        for one in arcs.versions:
            if one.arc.name == arc.name and one.life[0] < life[1] and life[0] < one.life[1]:
                problem = f"an arc is named `{arc.name}` already; name it otherwise, or `replace`"
                problems.append(_bad(automaton, f"{change.pointer}/name", problem))
                break
    if len(problems) == 1:
        raise problems[0]
    if problems:
        raise ExceptionGroup("bad arc", problems)
    return arc


def _was_right(compiled: CompiledAutomaton, arc: Arc) -> bool:
    """Whether an arc that nothing else makes wrong has been checked before."""
    try:
        return arc.kind != "epsilon" and not arc.final and arc in compiled.known
    except TypeError:
        return False


def _problems(
    automaton: Automaton, arcs: Arcs, change: ArcChange, arc: Arc, life: Life
) -> Iterator[BadDescription]:
    epsilon = [described(one.arc, one.life) for one in arcs.versions if one.arc.kind == "epsilon"]
    # A life that would end before it begins is one that does not matter, unless `at` was given.
    judged = described(
        arc, life if change.at is not None or life[0] < life[1] else (_FIRST, _FIRST)
    )
    return arc_problems(automaton, judged, epsilon, arcs.states, change.pointer)


def _with(compiled: CompiledAutomaton, arcs: Arcs, arc: Arc, life: Life) -> Arcs:
    """The arcs with one more."""
    states, final = tuple(dict.fromkeys((*arcs.states, arc.source, arc.target))), arcs.final
    if arc.final and arc.target not in arcs.states:
        final |= {states.index(arc.target)}
    known = compiled.known.get(arc)
    if known is None:
        if len(compiled.known) >= _KNOWN:
            compiled.known.clear()
        known = compiled.known[arc] = compile_arc(compiled.automaton, arc, states)
    version = Version(arc, life, known)
    return Arcs((*arcs.versions, version), states, final, True, arcs.count + 1)


def _free_name(arcs: Arcs) -> str:
    """`aN` by the number of arcs that there have been, or a later one that nobody has."""
    taken = {one.arc.name for one in arcs.versions}
    return next(name for number in count(arcs.count) if (name := f"a{number}") not in taken)


def _bad(automaton: Automaton, pointer: str, problem: str) -> BadDescription:
    return BadDescription(problem, query=automaton.name, pointer=pointer)


# Over a restart.


def text_of_arcs(arcs: Arcs) -> str:
    """The arcs as they are kept."""
    versions = [
        [one.arc.to_dict(), *(int(bound) if isfinite(bound) else None for bound in one.life)]
        for one in arcs.versions
    ]
    kept = {"arcs": versions, "states": arcs.states, "final": [*arcs.final], "count": arcs.count}
    return json.dumps(kept)


def arcs_in(text: str, automaton: Automaton) -> Arcs:
    """The arcs of a text."""
    kept = json.loads(text)
    states = tuple(kept["states"])
    versions = []
    for members, at, until in kept["arcs"]:
        arc = Arc.from_dict(members)
        life = _FIRST if at is None else at, _LAST if until is None else until
        versions.append(Version(arc, life, compile_arc(automaton, arc, states)))
    return Arcs(tuple(versions), states, frozenset(kept["final"]), True, kept["count"])
