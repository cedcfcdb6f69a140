"""What becomes of a query: its dissection, as text for people and as JSON for programs."""

from __future__ import annotations

from collections.abc import Sequence

from join_stage import ConjunctiveQuery
from templates import JoinGraph
from xscl.dissect import Dissection, PatternNode
from xscl.times import to_seconds

__all__ = ["as_json", "as_text"]


def as_json(parts: Dissection) -> dict[str, object]:
    """The `explain --format json` entry of a query: its template's id (null without a join),
    the number of its value joins and its variables."""
    return {
        "name": parts.query.name,
        "template": parts.plan.template.id if parts.plan.sides == 2 else None,
        "value_joins": len(parts.graph.value_joins),
        "variables": [name for node in parts.patterns for name in node.variables],
    }


def as_text(parts: Dissection, others: Sequence[Dissection] = ()) -> str:
    """A query's tree patterns, join graph, minor and template, its conjunctive query and what
    its evaluation costs; `others` are the queries it may share a template with."""
    lines = [parts.query.name]
    for block, stream in enumerate(parts.streams):
        lines.append(f"  tree pattern of block {block + 1}, stream {stream}")
        lines += (f"    {line}" for line in _pattern(parts, block))
    if parts.plan.sides == 2:
        lines += _join(parts, others)
    lines.append("  conjunctive query")
    query: ConjunctiveQuery = parts.plan.query(parts.plan.outputs)
    lines += (f"    {line}" for line in str(query).splitlines())
    lines += (f"  note: {note}" for note in _notes(parts))
    return "\n".join(lines)


def _join(parts: Dissection, others: Sequence[Dissection]) -> list[str]:
    operator = "FOLLOWED BY" if parts.constraint.after else "JOIN"
    window = parts.constraint.window
    within = "any time" if window is None else f"{to_seconds(window):g} s"
    lines = [f"  join graph: {operator} within {within}"]
    for edge in parts.graph.edges:
        left, right = (_name(parts.patterns[node]) for node in (edge.left, edge.right))
        lines.append(f"    {left} {edge.operator} {right}")
    lines.append(f"  minor: {_minor(parts)}")
    template = parts.plan.template.id
    sharing = [other.query.name for other in others if other.plan.template.id == template]
    sharing = [name for name in sharing if name != parts.query.name]
    shared = f", shared with {', '.join(sharing[:5])}" if sharing else ""
    more = f" and {len(sharing) - 5} more" if len(sharing) > 5 else ""
    return [*lines, f"  template {template}{shared}{more}"]


def _pattern(parts: Dissection, block: int) -> list[str]:
    """A block's tree pattern, indented; output nodes are marked."""
    lines = []
    depth: dict[int, int] = {}
    for node in parts.patterns:
        if node.block != block:
            continue
        depth[node.number] = 0 if node.parent is None else depth[node.parent] + 1
        variables = "".join(f" -> {name}" for name in node.variables)
        filters = f" with {len(node.conditions)} filter(s)" if node.conditions else ""
        output = "  (output)" if node.number in parts.outputs else ""
        step = f"{node.step.axis}{node.step.test}"
        lines.append(f"{'  ' * depth[node.number]}{step}{variables}{filters}{output}")
    return lines


def _minor(parts: Dissection) -> str:
    """The nodes of the minor by name, children in parentheses."""
    minor: JoinGraph = parts.plan.minor
    children = minor.children()

    def tree(node: int) -> str:
        name = _name(parts.patterns[parts.assignment[node]])
        below = ", ".join(tree(child) for child in children[node])
        return f"{name}({below})" if below else name

    roots = [node for node in minor.nodes if node.parent is None]
    return " | ".join(tree(node.number) for node in roots) or "empty"


def _name(node: PatternNode) -> str:
    return node.variables[0] if node.variables else f"{node.step.axis}{node.step.test}"


def _notes(parts: Dissection) -> list[str]:
    """What a query costs that its writer may not have meant."""
    notes = []
    window = parts.constraint.window
    if parts.plan.sides == 2:
        if not parts.graph.value_joins:
            within = "of all time" if window is None else f"within {to_seconds(window):g} s"
            notes.append(f"no equality between the blocks: a cross product {within}")
        if window is None:
            notes.append("no window: its documents are kept for good")
    return notes
