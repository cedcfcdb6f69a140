"""A block judged on a document: which of its steps and filters hold, and what they leave.

A tree pattern is judged item by item, parents first.  Of each item are kept the nodes that take
part in some assignment of all the conditions that hold so far: below a parent that has a node for
every one of its items (a full reducer, as for any acyclic conjunctive query).  So a condition
holds if it does for any node that is kept.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from xscl.language.syntax import Condition
from xscl.language.unparse import Wording
from xscl.why.assignments import Operand, factors_of
from xscl.why.filter_values import filter_values
from xscl.why.findings import Finding, values_of
from xscl.why.near_names import names_there, near_node
from xscl.why.near_values import near_equal
from xscl.why.patterns import Item, ItemFilter, Pattern
from xscl.why.relations import Cell, Factor
from xscl.why.trees import Node, Tree, along, select

__all__ = ["NOT_TOGETHER", "JudgedBlock", "judge_block", "judge_stream"]

NOT_TOGETHER = "holds for some nodes, but not for those for which the conditions above hold"


@dataclass(frozen=True, slots=True)
class JudgedBlock:
    """The findings of a block; what the conditions that hold leave, as factors over the
    operands; and the operands' cells over all nodes of their variables.

    An operand whose variable has no node is in none of them.  `hints` says of an operand whose
    path leads nowhere what it all but leads to.
    """

    findings: tuple[Finding, ...]
    factors: tuple[Factor, ...]
    everything: Mapping[str, frozenset[Cell]]
    hints: Mapping[str, tuple[str, str]]


def judge_stream(pattern: Pattern, stream: str) -> Finding:
    """Whether a document comes from the stream that a block reads."""
    assert pattern.stream is not None
    holds = stream == pattern.stream
    near = None if holds else near_equal([([stream], [pattern.stream])])
    return Finding(
        "stream",
        pattern.number,
        pattern.stream,
        holds,
        values_of([stream]),
        values_of([pattern.stream]),
        None if near is None else near.words,
        satisfied=int(holds),
    )


def judge_block(
    pattern: Pattern,
    tree: Tree | None,
    operands: Sequence[Operand],
    wording: Wording,
    *,
    told: bool = True,
) -> JudgedBlock:
    """Judges a block on a document, or (None) on none; values and near misses are looked for only
    where they are to be `told`."""
    if tree is None:
        return JudgedBlock(tuple(_unjudged(pattern, pattern.items)), (), {}, {})
    judging = _Judging(pattern, tree, wording, told)
    for item in pattern.items:
        judging.item(item)
    return judging.result(operands)


def _unjudged(pattern: Pattern, items: Sequence[Item]) -> list[Finding]:
    found = []
    for item in items:
        if item.judged:
            found.append(Finding("step", pattern.number, item.text, None))
        found += (Finding("filter", pattern.number, f"[{f.text}]", None) for f in item.filters)
    return found


class _Judging:
    """The items judged so far: of each that has nodes, those reached from each parent's node."""

    def __init__(self, pattern: Pattern, tree: Tree, wording: Wording, told: bool) -> None:
        self._pattern = pattern
        self._tree = tree
        self._wording = wording
        self._told = told
        self._findings: list[Finding] = []
        self._links: dict[int, dict[Node | None, list[Node]]] = {}
        self._all: dict[int, list[Node]] = {}
        self._live: dict[int, dict[Node, None]] = {}
        self._children: dict[int, list[int]] = {item.number: [] for item in pattern.items}
        for item in pattern.items:
            if item.parent is not None:
                self._children[item.parent].append(item.number)

    # Conditions.

    def item(self, item: Item) -> None:
        """Judges a step and its filters on what is left of its parent's nodes."""
        if item.parent is not None and item.parent not in self._links:
            self._findings += _unjudged(self._pattern, [item])
            return
        contexts: list[Node | None] = [None] if item.parent is None else [*self._live[item.parent]]
        found = {context: self._select(context, item, []) for context in contexts}
        if item.judged:
            self._findings.append(self._step(item, contexts, found))
        if not any(found.values()):
            self._findings += _unjudged(self._pattern, [replace(item, judged=False)])
            return
        conditions: list[Condition] = []
        for filter in item.filters:
            trial = {c: self._select(c, item, [*conditions, filter.condition]) for c in contexts}
            self._findings.append(self._filter(item, filter, conditions, found, trial))
            if any(trial.values()):
                conditions.append(filter.condition)
                found = trial
        self._links[item.number] = found
        every: list[Node | None] = [None] if item.parent is None else [*self._all[item.parent]]
        if every != contexts:
            everywhere = {context: self._select(context, item, conditions) for context in every}
        else:
            everywhere = found
        self._all[item.number] = [*dict.fromkeys(n for ns in everywhere.values() for n in ns)]
        self._reduce()

    def _select(
        self, context: Node | None, item: Item, conditions: Sequence[Condition]
    ) -> list[Node]:
        return select(self._tree, context, item.step, conditions)

    def _step(
        self, item: Item, contexts: list[Node | None], found: Mapping[Node | None, list[Node]]
    ) -> Finding:
        nodes = dict.fromkeys(node for some in found.values() for node in some)
        finding = Finding(
            "step", self._pattern.number, item.text, bool(nodes), satisfied=len(nodes)
        )
        if not self._told:
            return finding
        if nodes:
            # Of an inner node the string is all that is below it, which tells little.
            leaves = [node.string() for node in nodes if node.leaf]
            return replace(finding, left=values_of(leaves) if item.variable and leaves else None)
        if self._anywhere(item, []):
            return replace(finding, note=NOT_TOGETHER)
        below = None if item.parent is None else [c for c in contexts if c is not None]
        near = near_node(self._tree, below, item.step)
        if near is None:
            return replace(finding, note=names_there(below, self._tree))
        return replace(finding, near=near.words, note=near.note)

    def _filter(
        self,
        item: Item,
        filter: ItemFilter,
        before: Sequence[Condition],
        found: Mapping[Node | None, list[Node]],
        trial: Mapping[Node | None, list[Node]],
    ) -> Finding:
        left = dict.fromkeys(node for some in trial.values() for node in some)
        text = f"[{filter.text}]"
        finding = Finding("filter", self._pattern.number, text, bool(left), satisfied=len(left))
        if not self._told:
            return finding
        judged = left or dict.fromkeys(node for some in found.values() for node in some)
        values = filter_values(self._tree, item.step, filter.condition, [*judged], self._wording)
        if left:
            return replace(finding, left=values.left, right=values.right)
        note = NOT_TOGETHER if self._anywhere(item, [*before, filter.condition]) else values.note
        return replace(finding, left=values.left, right=values.right, near=values.near, note=note)

    def _anywhere(self, item: Item, conditions: Sequence[Condition]) -> bool:
        """Whether a condition that is false for the nodes that are left holds for others."""
        if item.parent is None:
            return False
        return any(self._select(node, item, conditions) for node in self._all[item.parent])

    def _reduce(self) -> None:
        """Drops the nodes that are in no assignment of all items judged so far."""
        whole: dict[int, set[Node]] = {}
        for number in reversed(self._links):
            children = [child for child in self._children[number] if child in self._links]
            whole[number] = {
                node
                for some in self._links[number].values()
                for node in some
                if all(
                    any(below in whole[child] for below in self._links[child].get(node, ()))
                    for child in children
                )
            }
        self._live = {}
        for number, links in self._links.items():
            parent = self._pattern.items[number].parent
            above: Sequence[Node | None] = [None] if parent is None else [*self._live[parent]]
            self._live[number] = {
                node: None
                for context in above
                for node in links.get(context, ())
                if node in whole[number]
            }

    # What is left.

    def result(self, operands: Sequence[Operand]) -> JudgedBlock:
        """The findings, and what all conditions that hold leave of the operands."""
        of_item: dict[int, list[Operand]] = {}
        for item in self._pattern.items:
            some = [o for o in operands if o.variable == item.variable]
            if some and item.number in self._links:
                of_item[item.number] = some
        everything, hints = {}, {}
        for number, some in of_item.items():
            for operand in some:
                cells = frozenset(operand.cell(node) for node in self._all[number])
                everything[operand.text] = cells
                if self._told and not any(cells):
                    hint = self._hint(operand, self._all[number])
                    hints.update({} if hint is None else {operand.text: hint})
        parents = {number: self._pattern.items[number].parent for number in self._links}
        factors = factors_of(parents, self._links, self._live, of_item)
        return JudgedBlock(tuple(self._findings), factors, everything, hints)

    def _hint(self, operand: Operand, nodes: Sequence[Node]) -> tuple[str, str] | None:
        contexts = [*nodes]
        for step in operand.steps:
            found = [node for context in contexts for node in along(context, (step,))]
            if not found:
                near = near_node(self._tree, contexts, step)
                return None if near is None else (near.words, near.note)
            contexts = found
        return None
