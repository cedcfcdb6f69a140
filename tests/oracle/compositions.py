r"""EQL by brute force, from its definitions: sets of composites of whole scenes, successors among
all candidates, each conjunct of WHERE placed by the path to the smallest part that has its
variables.

Patterns are tuples: ("event", stream, variable), ("or", patterns), ("then", patterns), ("plus",
pattern), ("except", left, right).  Conditions: ("compare", value, operator, value), ("contains",
value, text), ("within", variable, variable, seconds), ("not", condition), ("and", conditions),
("or", conditions).  Values: ("number", x), ("text", x), ("field", variable, name), ("PREV", …),
("ALL", …), ("+", value, value), ("/", …), ….  A qualification is (condition, whether it filters).

A composite is a tuple of (variable, event), an event (id, start, end, attributes) with a tuple of
pairs.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Event", "composites", "text_of"]

Event = tuple[str, int, int, tuple[tuple[str, Any], ...]]
Composite = tuple[tuple[str, Event], ...]
Scene = Mapping[str, list[Event]]
Condition = tuple[Any, ...]


# Text.


def text_of(pattern: Any, qualifications: Iterable[tuple[Condition, bool]]) -> str:
    """A query."""
    where = [f"FILTER({_said(one)})" if skips else _said(one) for one, skips in qualifications]
    return f"SELECT * FROM ({_written(pattern)})" + (f" WHERE {', '.join(where)}" if where else "")


def _written(pattern: Any) -> str:
    kind, *rest = pattern
    if kind == "event":
        return f"{rest[0]} {rest[1]}"
    if kind == "plus":
        return f"({_written(rest[0])})+"
    if kind == "except":
        return rf"({_written(rest[0])}) \ ({_written(rest[1])})"
    sign = " | " if kind == "or" else "; "
    return sign.join(f"({_written(one)})" for one in rest[0])


def _said(condition: Any) -> str:
    kind, *rest = condition
    match kind:
        case "compare":
            return f"{_valued(rest[0])} {rest[1]} {_valued(rest[2])}"
        case "contains":
            return f"{_valued(rest[0])} CONTAINS '{rest[1]}'"
        case "within":
            return f"({rest[0]}, {rest[1]}) OCCURS WITHIN {rest[2]} s"
        case "not":
            return f"NOT ({_said(rest[0])})"
    return "(" + f" {kind.upper()} ".join(f"({_said(one)})" for one in rest[0]) + ")"


def _valued(value: Any) -> str:
    kind, *rest = value
    match kind:
        case "number":
            return str(rest[0])
        case "text":
            return f"'{rest[0]}'"
        case "field":
            return f"{rest[0]}.{rest[1]}"
        case "PREV" | "ALL":
            return f"{kind}({rest[0]}.{rest[1]})"
    return f"({_valued(rest[0])} {kind} {_valued(rest[1])})"


# Normal form.


@dataclass(eq=False)
class Part:
    """A part of the normal form, and the conjuncts that decide at it."""

    kind: str
    parts: list[Part] = field(default_factory=list)
    stream: str = ""
    variable: str = ""
    exceptions: list[tuple[Part, int, int, list[Condition]]] = field(default_factory=list)
    skips: dict[int, list[Condition]] = field(default_factory=dict)
    fails: dict[int, list[Condition]] = field(default_factory=dict)
    meets: list[Condition] = field(default_factory=list)

    def variables(self) -> set[str]:
        """Those of its composites."""
        if self.kind == "event":
            return {self.variable}
        return set().union(*[one.variables() for one in self.parts])

    def every(self) -> set[str]:
        """Those of its exceptions, too."""
        own = {self.variable} if self.kind == "event" else set()
        inner = [*self.parts, *(one for one, *_ in self.exceptions)]
        return own.union(*[one.every() for one in inner])


def _normal(pattern: Any) -> Part:
    kind, *rest = pattern
    if kind == "event":
        return Part("event", stream=rest[0], variable=rest[1])
    if kind == "or":
        found = []
        for one in rest[0]:
            branch = _normal(one)
            found += branch.parts if branch.kind == "or" else [branch]
        return Part("or", found)
    if kind == "plus":
        return Part("plus", [_normal(rest[0])])
    chain = Part("chain")
    if kind == "except":
        left = _normal(rest[0])
        chain.parts = left.parts if left.kind == "chain" else [left]
        chain.exceptions = [*left.exceptions, (_normal(rest[1]), 0, len(chain.parts), [])]
        return chain
    for one in rest[0]:
        operand, before = _normal(one), len(chain.parts)
        if operand.kind == "chain":
            chain.parts += operand.parts
            chain.exceptions += [
                (inner, low + before, high + before, [])
                for inner, low, high, _ in operand.exceptions
            ]
        else:
            chain.parts.append(operand)
    return chain if len(chain.parts) > 1 or chain.exceptions else chain.parts[0]


def _split(condition: Condition) -> Iterator[Condition]:
    if condition[0] == "and":
        for one in condition[1]:
            yield from _split(one)
    else:
        yield condition


def _names(condition: Any, kinds: tuple[str, ...]) -> set[str]:
    kind, *rest = condition
    own = set()
    if kind in kinds:
        own = {rest[0], rest[1]} if kind == "within" else {rest[0]}
    inner = [one for one in rest if isinstance(one, tuple)]
    inner += [each for one in rest if isinstance(one, list) for each in one]
    return own.union(*[_names(one, kinds) for one in inner])


def _place(root: Part, condition: Condition, skips: bool) -> None:
    wanted = _names(condition, ("field", "PREV", "ALL", "within"))
    looks_back = _names(condition, ("PREV", "ALL", "within"))
    path = [root]
    while True:
        here = path[-1]
        inner = [*here.parts, *(one for one, *_ in here.exceptions)]
        under = [one for one in inner if wanted <= one.every()]
        if here.kind == "or" and sum(bool(wanted & one.every()) for one in here.parts) > 1:
            under = []
        if not under:
            break
        if under[0] not in here.parts:
            # Within an exception it is by itself.
            path = [under[0]]
        else:
            path.append(under[0])
    here = path[-1]
    if here.kind == "chain":
        for inner, _, _, conditions in here.exceptions:
            if inner.every() & wanted:
                conditions.append(condition)
                return
        steps = [place for place, one in enumerate(here.parts) if one.every() & wanted]
        before = set().union(*[one.variables() for one in here.parts[: steps[-1]]])
        if looks_back and not looks_back <= before and _around(path, condition, skips):
            return
        (here.skips if skips else here.fails).setdefault(steps[-1], []).append(condition)
        return
    if looks_back and _around(path, condition, skips):
        return
    above = path[-2] if len(path) > 1 else None
    if above is not None and above.kind == "plus":
        (above.skips if skips else above.fails).setdefault(0, []).append(condition)
    elif above is not None and above.kind == "chain" and above.parts.index(here) and not skips:
        above.fails.setdefault(above.parts.index(here), []).append(condition)
    else:
        here.meets.append(condition)


def _around(path: list[Part], condition: Condition, skips: bool) -> bool:
    for one in reversed(path[:-1]):
        if one.kind == "plus":
            (one.skips if skips else one.fails).setdefault(0, []).append(condition)
            return True
    return False


# Conditions.


def _holds(condition: Any, c: Composite, e: Composite, own: set[str], iterates: bool) -> bool:
    """Whether a condition holds of a composite and what occurs after it, whose variables are
    `own`."""
    kind, *rest = condition
    match kind:
        case "not":
            return not _holds(rest[0], c, e, own, iterates)
        case "and":
            return all(_holds(one, c, e, own, iterates) for one in rest[0])
        case "or":
            return any(_holds(one, c, e, own, iterates) for one in rest[0])
        case "within":
            first, second = ([x for v, x in (*c, *e) if v == name] for name in rest[:2])
            if not first or not second:
                return False
            both = first + second
            return max(x[2] for x in both) - min(x[1] for x in both) <= rest[2]
        case "contains":
            return _contain(_combinations(rest[0], c, e, own, iterates), rest[1])
    left, right = (_combinations(one, c, e, own, iterates) for one in (rest[0], rest[2]))
    return all(_compares(one, rest[1], other) for one, other in itertools.product(left, right))


def _contain(values: list[Any], text: str) -> bool:
    """Whether all values have a text in them."""
    return all(one is not None and text in str(one) for one in values)


def _combinations(
    value: Any, c: Composite, e: Composite, own: set[str], iterates: bool
) -> list[Any]:
    """The values that a value has; none where PREV or ALL is of no event."""
    kind, *rest = value
    match kind:
        case "number" | "text":
            return [rest[0]]
        case "field":
            some = [x for v, x in e if v == rest[0]] or [x for v, x in c if v == rest[0]]
            return [dict(some[-1][3]).get(rest[1]) if some else None]
        case "PREV" | "ALL":
            inside = rest[0] in own and not iterates
            some = [x for v, x in (e if inside else c) if v == rest[0]]
            if kind == "PREV":
                some = some[-2:-1] if inside else some[-1:]
            return [dict(x[3]).get(rest[1]) for x in some]
    both = (_combinations(one, c, e, own, iterates) for one in rest)
    return [_calculated(kind, one, other) for one, other in itertools.product(*both)]


def _calculated(kind: str, one: Any, other: Any) -> float | None:
    if one is None or other is None:
        return None
    try:
        one, other = float(one), float(other)
        match kind:
            case "+":
                return one + other
            case "-":
                return one - other
            case "*":
                return one * other
        return one / other
    except (ValueError, ZeroDivisionError):
        return None


_OPERATORS: Mapping[str, Callable[[Any, Any], bool]] = {
    "=": lambda a, b: a == b,
    "<>": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    ">=": lambda a, b: a >= b,
}


def _compares(one: Any, operator: str, other: Any) -> bool:
    return one is not None and other is not None and _OPERATORS[operator](one, other)


# Composites.


def composites(
    pattern: Any, qualifications: Iterable[tuple[Condition, bool]], scene: Scene
) -> set[Composite]:
    """The matches of a query."""
    root = _normal(pattern)
    for condition, skips in qualifications:
        for one in _split(condition):
            _place(root, one, skips)
    return _found(root, scene)


def _history(c: Composite) -> list[int]:
    return [time for _, event in c for time in event[1:3]]


def _earlier(s: list[int], t: list[int]) -> bool:
    for one, other in zip(reversed(s), reversed(t), strict=False):
        if one != other:
            return one < other
    return len(s) > len(t)


def _successors(c: Composite, candidates: Iterable[Composite]) -> list[Composite]:
    last = _history(c)[-1]
    after = [one for one in candidates if _history(one)[0] > last]
    return [
        one for one in after if not any(_earlier(_history(other), _history(one)) for other in after)
    ]


def _found(part: Part, scene: Scene) -> set[Composite]:
    found: set[Composite]
    if part.kind == "event":
        found = {((part.variable, event),) for event in scene.get(part.stream, ())}
    elif part.kind == "or":
        found = set().union(*[_found(one, scene) for one in part.parts])
    elif part.kind == "plus":
        found = _iterated(part, scene)
    else:
        found = _chained(part, scene)
    own = part.variables()
    return {e for e in found if all(_holds(one, (), e, own, False) for one in part.meets)}


def _iterated(part: Part, scene: Scene) -> set[Composite]:
    events, own = _found(part.parts[0], scene), part.parts[0].variables()

    def holds(conditions: list[Condition], c: Composite, e: Composite) -> bool:
        return all(_holds(one, c, e, own, True) for one in conditions)

    skips, fails = part.skips.get(0, []), part.fails.get(0, [])
    found = {e for e in events if holds(skips, (), e) and holds(fails, (), e)}
    left = [*found]
    while left:
        c = left.pop()
        for e in _successors(c, [one for one in events if holds(skips, c, one)]):
            if holds(fails, c, e) and c + e not in found:
                found.add(c + e)
                left.append(c + e)
    return found


def _chained(part: Part, scene: Scene) -> set[Composite]:
    first, *others = part.parts
    lines = [(e,) for e in _found(first, scene)]
    lines = _left(part, 1, lines, scene)
    for place, operand in enumerate(others, 1):
        events, own = _found(operand, scene), operand.variables()
        skips, fails = part.skips.get(place, []), part.fails.get(place, [])
        longer = []
        for line in lines:
            c = tuple(itertools.chain(*line))
            some = [e for e in events if all(_holds(one, c, e, own, False) for one in skips)]
            for e in _successors(c, some):
                if all(_holds(one, c, e, own, False) for one in fails):
                    longer.append((*line, e))
        lines = _left(part, place + 1, longer, scene)
    return {tuple(itertools.chain(*line)) for line in lines}


def _left(
    part: Part, reached: int, lines: list[tuple[Composite, ...]], scene: Scene
) -> list[tuple[Composite, ...]]:
    """The lines of operands that no exception kills."""
    for inner, low, high, conditions in part.exceptions:
        if high != reached:
            continue
        events, own = _found(inner, scene), inner.variables()
        left = []
        for line in lines:
            c = tuple(itertools.chain(*line))
            begin = _history(line[low - 1])[-1] if low else _history(line[0])[0]
            end = _history(line[high - 1])[-1]
            if not any(
                begin < _history(x)[0]
                and _history(x)[-1] < end
                and all(_holds(one, c, x, own, False) for one in conditions)
                for x in events
            ):
                left.append(line)
        lines = left
    return lines
