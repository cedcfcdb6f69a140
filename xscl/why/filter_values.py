"""What a filter found: the values of its sides and paths, and what all but met it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

from xscl.counts import counted
from xscl.language.conditions import counts_positions, paths_of
from xscl.language.syntax import Binary, Condition, Function, Literal, Path
from xscl.language.unparse import Wording
from xscl.why.findings import Finding, values_of
from xscl.why.near_names import lost
from xscl.why.near_values import Group, Near, near_equal, near_text
from xscl.why.trees import Node, Tree, strings
from xscl.xpath_stage import double_of

__all__ = ["explained"]

_MOST_NODES = 1_000
_TEXTUAL: dict[str, Callable[[str, str], bool]] = {
    "contains": lambda text, part: part in text,
    "starts-with": str.startswith,
    "ends-with": str.endswith,
}
_ORDERS = ("<", "<=", ">", ">=")


def explained(
    finding: Finding, tree: Tree, condition: Condition, nodes: Sequence[Node], wording: Wording
) -> Finding:
    """A filter's finding with what its condition found at the nodes that its step leads to."""
    if counts_positions(condition):
        return replace(finding, note=_counted(nodes))
    nodes = nodes[:_MOST_NODES]
    near = None
    sides, several = _sides(condition), list[int]()
    if sides is not None:
        groups = [(strings(node, sides[0]), strings(node, sides[1])) for node in nodes]
        if isinstance(condition, Function):
            several = [len(some) for group in groups for some in group if len(some) > 1]
            groups = [(left[:1], right[:1]) for left, right in groups]
        left, right = ([value for group in groups for value in group[side]] for side in (0, 1))
        near = _near(condition, groups)
        firsts = (None, None) if near is None else (near.left, near.right)
        finding = replace(
            finding, left=values_of(left, firsts[0]), right=values_of(right, firsts[1])
        )
    if near is not None:
        return replace(finding, near=near.words)
    if sides is not None or isinstance(condition, Path):
        for path in paths_of(condition):
            hint = lost(tree, nodes, path.steps)
            if hint is not None:
                return replace(finding, near=hint[0], note=f"{wording.path(path.steps)}: {hint[1]}")
    if sides is None:
        return replace(finding, note=_values_of_paths(condition, nodes, wording))
    if several:
        return replace(finding, note=f"the first of {counted(several[0], 'node')} alone counts")
    return replace(finding, note=_order_note(condition, (*left, *right)))


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
        case Binary("=", left, right):
            sides = (side for side, one in enumerate((left, right)) if isinstance(one, Literal))
            return near_equal(groups, written=next(sides, None))
        case Function(name) if name in _TEXTUAL:
            return near_text(groups, _TEXTUAL[name])
    return None


def _values_of_paths(condition: Condition, nodes: Sequence[Node], wording: Wording) -> str | None:
    """The values of each path in a condition, in words."""
    found = []
    for path in dict.fromkeys(paths_of(condition)):
        values = values_of(value for node in nodes for value in strings(node, path))
        shown = ", ".join(f"'{value}'" for value in values.shown) or "nothing"
        more = f" and {values.more} more" if values.more else ""
        found.append(f"{wording.path(path.steps)}: {shown}{more}")
    return "; ".join(found) or None


def _counted(nodes: Sequence[Node]) -> str:
    """How many nodes a position was looked for among."""
    parents = Counter(
        node.element.getparent() if node.attribute is None else node.element for node in nodes
    )
    most = max(parents.values(), default=0)
    return f"at most {counted(most, 'node')} below one parent"


def _order_note(condition: Condition, values: Sequence[str]) -> str | None:
    """An order in a filter is one of numbers, of which any other text is no part."""
    if isinstance(condition, Binary) and condition.operator in _ORDERS:
        for value in values:
            if double_of(value) is None:
                return f"'{value}' is no number"
    return None
