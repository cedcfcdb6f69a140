"""What keeps a query that has found nothing from matching, in a sentence.

First the names that its paths ask for are looked up among those that documents have shown to stage
1, which knows of all documents; then the documents that are held are counted through the query's
conditions (`funnel`).  Nothing is gathered for it while documents come.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from difflib import get_close_matches
from typing import Protocol

from xscl.language.syntax import Binary, Condition, Function, Negative, Path, Step
from xscl.why.conditions import Conditions
from xscl.why.findings import Tally, instead
from xscl.why.patterns import Pattern
from xscl.why.report import Funnel
from xscl.why.trees import local_name

__all__ = ["Names", "missing_name", "where_lost"]

_LIKENESS = 0.6
_SHOWN = 6
_OF_FEEDS = {"rss", "channel", "feed", "entry", "RDF", "rdf"}
_ITEM = "item"

Places = Collection[int]


class Names(Protocol):
    """The paths that documents have shown, as the table of stage 1 has them."""

    def root(self, stream: str) -> int:
        """The path of a stream's document nodes."""

    def names_below(self, paths: Iterable[int], *, deep: bool) -> dict[str, set[int]]:
        """The names below some paths, each with the paths of its nodes."""


def missing_name(patterns: Iterable[Pattern], names: Names) -> str | None:
    """The first name of a query that no document has shown where it is asked for, and what it may
    have been meant for; None if all were seen."""
    for pattern in patterns:
        if pattern.stream is None:
            continue
        top = names.root(pattern.stream)
        roots = names.names_below([top], deep=False)
        if not roots:
            return f"no document of stream `{pattern.stream}` has come"
        found = _missing_in(pattern, names, top)
        if found is None:
            continue
        step, above, there = found
        if not above and _label(step.test) in _OF_FEEDS and _ITEM in roots:
            return (
                f"items of feeds are `{pattern.stream}/item`, whatever the feed's format: "
                f"no document of {pattern.stream} had `{_label(step.test)}`"
            )
        below = f" below `{above}`" if above else ""
        missed = f"no document of {pattern.stream} had `{_label(step.test)}`{below}"
        return f"{missed}{_instead(step, there, names)}"
    return None


def where_lost(
    conditions: Conditions, held: Funnel, sample: Callable[[], Funnel] | None = None
) -> tuple[str, bool] | None:
    """The first condition that nothing came through: of a block among a `sample` of documents,
    since what no block matches is not held, of an operator among those held; and whether it is of
    the sample."""
    through: dict[int | None, int] = {}
    for tally in held.conditions:
        if tally.passed or tally.capped:
            through[tally.block] = tally.passed
        elif tally.block is None:
            numbers = [through.get(one.number, 0) for one in conditions.patterns]
            return _apart(tally, numbers), False
        else:
            # Where some of a sample meet what those held do not, nothing is known.
            for one in (held if sample is None else sample()).conditions:
                if one.block == tally.block and not one.passed:
                    pattern = conditions.patterns[tally.block - 1]
                    return _unmet(one, pattern), sample is not None
            return None
    return None


def _apart(tally: Tally, numbers: Sequence[int]) -> str:
    """What keeps documents that the blocks match from being a match."""
    matched = f"{' and '.join(f'{number:,}' for number in numbers)} documents match the blocks, but"
    near = _near(tally)
    if tally.kind == "documents":
        return f"{matched} they are the same one, and a match is of different ones"
    if tally.kind == "time":
        return f"{matched} none of them within {tally.text}{near}"
    equal = re.search(r"(?<![!<>])=", tally.text) is not None
    what = "have no value in common" if equal else "none meet the condition"
    return f"{matched} {what} (`{tally.text}`){near}"


def _unmet(tally: Tally, pattern: Pattern) -> str:
    """What keeps a block from matching any document."""
    of = (
        "no result of the sub-query"
        if pattern.stream is None
        else f"no document of {pattern.stream}"
    )
    if tally.kind == "filter":
        return f"{of} met `{tally.text}`{_near(tally)}"
    for miss in tally.missed:
        note = miss.finding.note or ""
        if miss.finding.near in ("but for spelling", "but for case"):
            return f"{of} had `{tally.text}`; did you mean `{note.rpartition('/')[2]}`?"
        if note:
            return f"{of} had `{tally.text}`; {note}"
    return f"{of} had `{tally.text}`"


def _missing_in(
    pattern: Pattern, names: Names, top: int
) -> tuple[Step, str, dict[str, set[int]]] | None:
    """The step of a block that leads to no name, the name above it, and the names that are there;
    None if each leads somewhere."""
    places: dict[int, Places] = {}
    for item in pattern.items:
        over = item.parent
        while over is not None and pattern.items[over].step.test == ".":
            over = pattern.items[over].parent
        above = None if over is None else pattern.items[over].step
        start = [top] if item.parent is None else places[item.parent]
        missing, reached = _along(names, start, above, (item.step,))
        if missing is not None:
            return missing
        places[item.number] = reached
    for condition in pattern.conditions:
        if condition.condition is not None:
            at, above = places[condition.item], pattern.items[condition.item].step
            for path in _paths(condition.condition):
                missing, _ = _along(names, at, above, path.steps)
                if missing is not None:
                    return missing
    return None


def _along(
    names: Names, places: Places, above: Step | None, steps: Iterable[Step]
) -> tuple[tuple[Step, str, dict[str, set[int]]] | None, Places]:
    for step in steps:
        if step.test == ".":
            continue
        there = names.names_below(places, deep=step.axis == "//")
        if not there or step.test == "text()" or step.test.startswith("@"):
            # Of what no query reads, the names are not known; those of attributes seldom are.
            return None, ()
        reached = {path for name, found in there.items() if _is(step.test, name) for path in found}
        if not reached:
            return (step, "" if above is None else _label(above.test), there), ()
        places, above = reached, step
    return None, places


def _paths(condition: Condition) -> Iterator[Path]:
    """The paths that must lead somewhere for a condition to hold, as far as it is plain."""
    match condition:
        case Path():
            yield condition
        case Binary("or", _, _):
            pass
        case Binary(_, left, right):
            yield from _paths(left)
            yield from _paths(right)
        case Negative(operand):
            yield from _paths(operand)
        case Function(name, arguments) if name in ("contains", "starts-with", "matches", "exists"):
            yield from _paths(arguments[0])


def _is(test: str, name: str) -> bool:
    return test in (name, "{*}" + name.rpartition("}")[2]) or (
        test == "*" and not name.startswith("@")
    )


def _label(test: str) -> str:
    return local_name(test.removeprefix("{*}"))


def _instead(step: Step, there: dict[str, set[int]], names: Names) -> str:
    """What the step may have been meant for, as the end of a sentence."""
    local = _label(step.test)
    for name in there:
        if local_name(name) == local:
            uri = name.rpartition("}")[0].removeprefix("{") or "no namespace"
            return f", but one of {uri}: write `*:{local}`, or declare a prefix"
    deeper = names.names_below({p for some in there.values() for p in some}, deep=True)
    if any(_is(step.test, name) for name in deeper):
        return f" directly, but deeper: write `//{local}`"
    labels = {local_name(name).casefold(): local_name(name) for name in there if name[0] != "@"}
    near = get_close_matches(local.casefold(), labels, n=1, cutoff=_LIKENESS)
    if near:
        return f"; did you mean `{labels[near[0]]}`?"
    shown = ", ".join(f"`{label}`" for label in [*labels.values()][:_SHOWN])
    more = ", …" if len(labels) > _SHOWN else ""
    return f"; there is {shown}{more}" if labels else ""


def _near(tally: Tally) -> str:
    """The nearest miss of a condition."""
    return next(filter(None, (instead(miss.finding) for miss in tally.missed)), "")
