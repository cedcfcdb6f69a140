"""What a filter that is false found: the values of its sides and paths, and what all but met it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from xpath_stage import double_of
from xscl.dissection.xpath_text import filters_of
from xscl.language.syntax import Binary, Condition, Function, Negative, Path, Step
from xscl.language.unparse import Wording
from xscl.why.findings import Values, values_of
from xscl.why.near_names import near_node
from xscl.why.near_values import Group, Near, near_equal, near_text
from xscl.why.trees import Node, Tree, along, strings

__all__ = ["FilterValues", "filter_values"]

_MOST_NODES = 1_000
_TEXTUAL: dict[str, Callable[[str, str], bool]] = {
    "contains": lambda text, part: part in text,
    "starts-with": str.startswith,
    "ends-with": str.endswith,
}
_ORDERS = ("<", "<=", ">", ">=")


@dataclass(frozen=True, slots=True)
class FilterValues:
    """The values on both sides of a filter, the near miss and what else is to be said."""

    left: Values | None = None
    right: Values | None = None
    near: str | None = None
    note: str | None = None


def filter_values(
    tree: Tree, step: Step, condition: Condition, nodes: Sequence[Node], wording: Wording
) -> FilterValues:
    """What a condition found at the nodes that its step leads to."""
    if any(found.positional for found in filters_of(step, (condition,))):
        return FilterValues(note=_counted(nodes))
    nodes = nodes[:_MOST_NODES]
    sides = _sides(condition)
    if isinstance(condition, Path):
        words, note = _missing(tree, condition, nodes, wording) or (None, None)
        return FilterValues(near=words, note=note)
    if sides is None:
        return FilterValues(note=_values_of_paths(condition, nodes, wording))
    groups = [(strings(node, sides[0]), strings(node, sides[1])) for node in nodes]
    left, right = ([value for group in groups for value in group[side]] for side in (0, 1))
    near = _near(condition, groups)
    if near is not None:
        return FilterValues(values_of(left, near.left), values_of(right, near.right), near.words)
    words, note = _missing(tree, condition, nodes, wording) or (
        None,
        _order_note(condition, left, right),
    )
    return FilterValues(values_of(left), values_of(right), words, note)


def _sides(condition: Condition) -> tuple[Condition, Condition] | None:
    """The sides of a comparison, or of a function that tests one text for another."""
    match condition:
        case Binary(operator, left, right) if operator in ("=", "!=", *_ORDERS):
            return left, right
        case Function(name, (left, right)) if name in _TEXTUAL or name == "matches":
            return left, right
    return None


def _near(condition: Condition, groups: Sequence[Group]) -> Near | None:
    match condition:
        case Binary("="):
            return near_equal(groups)
        case Function(name) if name in _TEXTUAL:
            return near_text(groups, _TEXTUAL[name])
    return None


def _missing(
    tree: Tree, condition: Condition, nodes: Sequence[Node], wording: Wording
) -> tuple[str | None, str] | None:
    """Of the first path that leads nowhere: the near miss and what is to be said of it."""
    for path in _paths(condition):
        contexts: Sequence[Node] = nodes
        for step in path.steps:
            found = [node for context in contexts for node in along(context, (step,))]
            if not found:
                near = near_node(tree, contexts, step)
                written = wording.path(path.steps)
                if near is None:
                    return None, f"{written}: no such node"
                return near.words, f"{written}: {near.note}"
            contexts = found
    return None


def _values_of_paths(condition: Condition, nodes: Sequence[Node], wording: Wording) -> str | None:
    """The values of each path in a condition, in words."""
    told = []
    for path in dict.fromkeys(_paths(condition)):
        values = values_of(value for node in nodes for value in strings(node, path))
        shown = ", ".join(f"'{value}'" for value in values.shown) or "nothing"
        more = f" and {values.more} more" if values.more else ""
        told.append(f"{wording.path(path.steps)}: {shown}{more}")
    return "; ".join(told) or None


def _paths(condition: Condition) -> Iterator[Path]:
    match condition:
        case Path():
            yield condition
        case Binary():
            yield from _paths(condition.left)
            yield from _paths(condition.right)
        case Negative():
            yield from _paths(condition.operand)
        case Function():
            for argument in condition.arguments:
                yield from _paths(argument)


def _counted(nodes: Sequence[Node]) -> str:
    """How many nodes a position was looked for among."""
    parents: dict[object, int] = {}
    for node in nodes:
        parent = node.element.getparent() if node.attribute is None else node.element
        parents[parent] = parents.get(parent, 0) + 1
    most = max(parents.values(), default=0)
    return f"at most {most} such node{'s' if most != 1 else ''} below one parent"


def _order_note(condition: Condition, left: Sequence[str], right: Sequence[str]) -> str | None:
    """An order in a filter is one of numbers: what is no number is in none."""
    if isinstance(condition, Binary) and condition.operator in _ORDERS:
        for value in (*left, *right):
            if double_of(value) is None:
                return f"'{value}' is no number"
    return None
