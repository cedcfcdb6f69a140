"""The nodes of a match's documents that its equalities hold for: what is to be marked in them.

As in `joined_values` the output nodes and the variables of the match are held fast, here by the
numbers of their elements, as its JSON has them.  What is left of each variable's nodes is narrowed
until every node has one with an equal value on the other side of each of its equalities, and one
of each variable above and below it.  That is what an assignment of the whole query needs, and of
documents of which many values agree it may be a little more than one has.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from xscl.documents.document import Document, is_small
from xscl.why.blocks import JudgedBlock
from xscl.why.conditions import Conditions, Conjunct, Side
from xscl.why.joined_values import Place
from xscl.why.trees import Node, along
from xscl.xpath_stage import apply

__all__ = ["JoinedNodes", "joined_nodes"]


@dataclass(frozen=True, slots=True)
class JoinedNodes:
    """An equality between documents, as it is written, the values for which it holds, and the
    nodes of each block that have them."""

    text: str
    values: tuple[str, ...]
    nodes: tuple[frozenset[Place], ...]


def joined_nodes(
    conditions: Conditions,
    documents: Sequence[Document],
    outputs: Sequence[int],
    variables: Mapping[str, int],
) -> list[JoinedNodes]:
    """The joined nodes of a match, given the document and the number of the output node of each
    block and the numbers of some variables' nodes; none where a document, or the query, is too
    large to be judged unasked."""
    if not (conditions.few and all(map(is_small, documents))):
        return []
    blocks = zip(conditions.patterns, documents, strict=True)
    judged = [JudgedBlock.of(pattern, document) for pattern, document in blocks]
    for disjunct in conditions.disjuncts:
        equalities = [c for c in disjunct if c.operator == "=" and c.block is None]
        equalities = [c for c in equalities if len(c.operands) == 2]
        left = [
            _Left(one, conditions.sides(number), outputs[number], variables)
            for number, one in enumerate(judged)
        ]
        if _narrowed(equalities, left):
            return [_joined(one, left) for one in equalities]
    return []


class _Left:
    """What is left of the nodes of a block's variables, each below one of its parent item's."""

    def __init__(
        self,
        judged: JudgedBlock,
        sides: Iterable[Side],
        output: int,
        variables: Mapping[str, int],
    ) -> None:
        assert judged.tree is not None
        pattern, held = judged.pattern, judged.held
        items = pattern.there(held)
        fixed = {pattern.output: output}
        fixed |= {
            item.number: variables[item.variable]
            for item in items.values()
            if item.variable is not None and item.variable in variables
        }
        self._items = {item.variable: item.number for item in items.values() if item.variable}
        waiting = [*fixed, *(self._items[s.variable] for s in sides if s.variable in self._items)]
        asked = set[int]()
        while waiting:
            number = waiting.pop()
            if number in items and number not in asked:
                asked.add(number)
                parent = items[number].parent
                waiting += [] if parent is None else [parent]
        self.numbers = {element: n for n, element in enumerate(judged.tree.elements)}
        self._parents = {number: items[number].parent for number in sorted(asked)}
        self._links: dict[int, list[tuple[Node | None, Node]]] = {}
        live: dict[int | None, set[Node]] = {}
        for number, parent in self._parents.items():
            links: list[tuple[Node | None, Node]]
            if parent is None:
                links = [(None, node) for node in pattern.nodes(judged.tree, number, held)]
            else:
                links = [(n, one) for n in live[parent] for one in pattern.below(n, number, held)]
            if number in fixed:
                links = [link for link in links if self.numbers[link[1].element] == fixed[number]]
            self._links[number] = links
            live[number] = {node for _, node in links}
        self.settle()

    def having(self, side: Side) -> dict[Node, tuple[str | None, ...]]:
        """The nodes of a side's variable, each with the values that the side has for it."""
        links = self._links.get(self._items.get(side.variable, -1), [])
        return {node: side.cell(node) for _, node in links}

    def keep(self, side: Side, nodes: set[Node]) -> bool:
        """Keeps only some nodes of a side's variable; returns whether others went."""
        number = self._items[side.variable]
        before = self._links[number]
        self._links[number] = [link for link in before if link[1] in nodes]
        return len(self._links[number]) < len(before)

    def settle(self) -> None:
        """Lets nodes go that have none of another variable above or below them."""
        for number, parent in reversed(self._parents.items()):
            if parent is not None:
                above = {up for up, _ in self._links[number]}
                self._links[parent] = [one for one in self._links[parent] if one[1] in above]
        for number, parent in self._parents.items():
            if parent is not None:
                live = {node for _, node in self._links[parent]}
                self._links[number] = [one for one in self._links[number] if one[0] in live]


def _narrowed(equalities: Sequence[Conjunct], left: Sequence[_Left]) -> bool:
    """Narrows what is left by all equalities; whether each holds for some nodes."""
    changed = True
    while changed:
        changed = False
        for equality in equalities:
            common = _common(equality, left)
            if not common:
                return False
            for side in equality.operands:
                block = _of(side, left)
                nodes = {n for n, cell in block.having(side).items() if common.intersection(cell)}
                if block.keep(side, nodes):
                    block.settle()
                    changed = True
    return True


def _common(equality: Conjunct, left: Sequence[_Left]) -> set[str]:
    """The values that both sides of an equality have."""
    one, other = (
        {value for cell in _of(side, left).having(side).values() for value in cell}
        for side in equality.operands
    )
    return {value for value in one & other if value is not None}


def _joined(equality: Conjunct, left: Sequence[_Left]) -> JoinedNodes:
    common = _common(equality, left)
    nodes: list[set[Place]] = [set() for _ in left]
    for side in equality.operands:
        assert side.block is not None
        block = left[side.block]
        for node in block.having(side):
            for found in along(node, side.steps):
                if apply(side.functions, found.string()) in common:
                    attribute = None if found.attribute == "text()" else found.attribute
                    nodes[side.block].add((block.numbers[found.element], attribute))
    return JoinedNodes(equality.text, tuple(sorted(common)), tuple(map(frozenset, nodes)))


def _of(side: Side, left: Sequence[_Left]) -> _Left:
    assert side.block is not None
    return left[side.block]
