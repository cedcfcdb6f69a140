"""What becomes of a query: its dissection, as text for people and as JSON for programs."""

from __future__ import annotations

from collections.abc import Sequence

from join_stage import ConjunctiveQuery
from templates import JoinGraph
from xscl.dissect import Dissection, Part
from xscl.times import to_seconds

__all__ = ["as_json", "as_text"]


def as_json(parts: Dissection) -> dict[str, object]:
    """The `explain --format json` entry of a query: its template's id (null without a join, a
    list for several disjuncts), the number of its value joins and its variables."""
    templates = [part.plan.template.id for part in parts.parts]
    template: object = templates[0] if len(templates) == 1 else templates
    return {
        "name": parts.query.name,
        "template": template if len(parts.streams) == 2 else None,
        "value_joins": sum(len(part.graph.value_joins) for part in parts.parts),
        "variables": list(parts.variables),
    }


def as_text(parts: Dissection, others: Sequence[Dissection] = ()) -> str:
    """A query's tree patterns, join graph, minor and template, its conjunctive query and what
    its evaluation costs; `others` are the queries it may share a template with."""
    lines = [parts.query.name]
    for index, part in enumerate(parts.parts):
        if len(parts.parts) > 1:
            lines.append(f"  disjunct {index + 1} of {len(parts.parts)}")
        for block, stream in enumerate(parts.streams):
            lines.append(f"  tree pattern of block {block + 1}, stream {stream}")
            lines += (f"    {line}" for line in _pattern(part, block))
        if len(parts.streams) == 2:
            lines += _join(parts, part, others)
        lines.append("  conjunctive query")
        query: ConjunctiveQuery = part.plan.query(part.plan.outputs)
        lines += (f"    {line}" for line in str(query).splitlines())
    lines += (f"  note: {note}" for note in _notes(parts))
    return "\n".join(lines)


def _join(parts: Dissection, part: Part, others: Sequence[Dissection]) -> list[str]:
    operator = "FOLLOWED BY" if parts.constraint.after else "JOIN"
    window = parts.constraint.window
    within = "any time" if window is None else f"{to_seconds(window):g} s"
    lines = [f"  join graph: {operator} within {within}"]
    for edge in part.graph.edges:
        left, right = (_name(part, node) for node in (edge.left, edge.right))
        lines.append(f"    {left} {edge.operator} {right}")
    lines.append(f"  minor: {_minor(part)}")
    template = part.plan.template.id
    sharing = [
        other.query.name
        for other in others
        if other.query.name != parts.query.name
        and any(one.plan.template.id == template for one in other.parts)
    ]
    shared = f", shared with {', '.join(sharing[:5])}" if sharing else ""
    more = f" and {len(sharing) - 5} more" if len(sharing) > 5 else ""
    return [*lines, f"  template {template}{shared}{more}"]


def _pattern(part: Part, block: int) -> list[str]:
    """A block's tree pattern, indented; output nodes are marked."""
    lines = []
    depth: dict[int, int] = {}
    for node in part.patterns:
        if node.block != block:
            continue
        depth[node.number] = 0 if node.parent is None else depth[node.parent] + 1
        variables = "".join(f" -> {name}" for name in node.variables)
        under = "".join(f" under {function}()" for function in node.functions)
        filters = f" with {len(node.conditions)} filter(s)" if node.conditions else ""
        output = "  (output)" if node.number in part.outputs else ""
        step = f"{node.step.axis}{node.step.test}"
        lines.append(f"{'  ' * depth[node.number]}{step}{variables}{under}{filters}{output}")
    return lines


def _minor(part: Part) -> str:
    """The nodes of the minor by name, children in parentheses."""
    minor: JoinGraph = part.plan.minor
    children = minor.children()

    def tree(node: int) -> str:
        name = _name(part, part.assignment[node])
        below = ", ".join(tree(child) for child in children[node])
        return f"{name}({below})" if below else name

    roots = [node for node in minor.nodes if node.parent is None]
    return " | ".join(tree(node.number) for node in roots) or "empty"


def _name(part: Part, number: int) -> str:
    """What a node is called: a variable, else the way to it from one."""
    node = part.patterns[number]
    if node.variables:
        return node.variables[0]
    step = "" if node.step.test == "." else f"{node.step.axis}{node.step.test}"
    name = step if node.parent is None else f"{_name(part, node.parent)}{step}"
    for function in node.functions:
        name = f"{function}({name})"
    return name


def _notes(parts: Dissection) -> list[str]:
    """What a query costs that its writer may not have meant."""
    if not parts.parts:
        return ["its predicate never holds: it matches nothing"]
    notes = []
    window = parts.constraint.window
    if len(parts.streams) == 2:
        if any(not part.graph.value_joins for part in parts.parts):
            within = "of all time" if window is None else f"within {to_seconds(window):g} s"
            notes.append(f"no equality between the blocks: a cross product {within}")
        if window is None:
            notes.append("no window: its documents are kept for good")
    return notes
