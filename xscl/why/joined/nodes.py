"""The nodes of a match's documents that its equalities and likenesses hold for: what is to be
marked in them.

As in `values` the output nodes and the variables of the match are held fast, here by the
numbers of their elements, as its JSON has them.  What is left of each variable's nodes is narrowed
until every node has one with an equal or alike value on the other side of each of its comparisons,
and one of each variable above and below it.  That is what an assignment of the whole query needs,
and of documents of which many values agree it may be a little more than one has.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from xscl.documents.document import Document, is_small
from xscl.errors import XSCLError
from xscl.why.alike_values import shared_tokens
from xscl.why.blocks import JudgedBlock
from xscl.why.conditions import Conditions, Conjunct, Side
from xscl.why.joined.values import Place
from xscl.why.trees import Node, along
from xscl.xpath_stage import alike_of, apply, compared
from xscl.xpath_stage.texts.shared_tokens import stretches

__all__ = ["JoinedNodes", "joined_nodes"]

_MOST_PAIRS = 100_000
"""The maximal number of pairs of values that are compared by likeness."""


@dataclass(frozen=True, slots=True)
class JoinedNodes:
    """An equality or a likeness between documents, as it is written, the values for which it holds,
    and the nodes of each block that have them.

    Of a likeness, by a `measure`, the values are what those on the left share with those on the
    right, as it is written on the left; `shared` has the tokens that each node shares.
    """

    text: str
    values: tuple[str, ...]
    nodes: tuple[frozenset[Place], ...]
    measure: str | None = None
    shared: tuple[Mapping[Place, frozenset[str]], ...] = ()


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
        joining = [c for c in disjunct if c.joins]
        left = [
            _Left(one, conditions.sides(number), outputs[number], variables)
            for number, one in enumerate(judged)
        ]
        if _narrowed(joining, left):
            return [
                _joined(one, left) if one.operator == "=" else _alike(one, left) for one in joining
            ]
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


def _narrowed(joining: Sequence[Conjunct], left: Sequence[_Left]) -> bool:
    """Narrows what is left by all comparisons; whether each holds for some nodes."""
    changed = True
    while changed:
        changed = False
        for one in joining:
            partners = _partners(one, left)
            if not partners[0]:
                return False
            for side, having in zip(one.operands, partners, strict=True):
                block = _of(side, left)
                nodes = {n for n, cell in block.having(side).items() if having.keys() & cell}
                if block.keep(side, nodes):
                    block.settle()
                    changed = True
    return True


_Partners = Mapping[str | None, Collection[str]]
"""The values of a side that have an equal or alike one on the other side, each with these."""


def _partners(joining: Conjunct, left: Sequence[_Left]) -> tuple[_Partners, _Partners]:
    """The partners of the values of both sides."""
    lefts, rights = (
        {value for cell in _of(side, left).having(side).values() for value in cell} - {None}
        for side in joining.operands
    )
    if joining.operator == "=":
        common: _Partners = {v: (v,) for v in lefts & rights if v is not None}
        return common, common
    if len(lefts) * len(rights) > _MOST_PAIRS:
        raise XSCLError(f"more than {_MOST_PAIRS:,} pairs of values may be alike")
    found: tuple[dict[str | None, set[str]], dict[str | None, set[str]]] = ({}, {})
    for one, other in product(lefts, rights):
        if one is not None and other is not None and compared(one, joining.operator, other):
            found[0].setdefault(one, set()).add(other)
            found[1].setdefault(other, set()).add(one)
    return found


def _joined(equality: Conjunct, left: Sequence[_Left]) -> JoinedNodes:
    common, _ = _partners(equality, left)
    nodes: list[set[Place]] = [set() for _ in left]
    for side in equality.operands:
        assert side.block is not None
        nodes[side.block] |= {place for place, value in _places(side, left) if value in common}
    return JoinedNodes(equality.text, tuple(sorted(map(str, common))), tuple(map(frozenset, nodes)))


def _alike(likeness: Conjunct, left: Sequence[_Left]) -> JoinedNodes:
    asked = alike_of(likeness.operator)
    assert asked is not None
    partners = _partners(likeness, left)
    shared: list[dict[Place, frozenset[str]]] = [{} for _ in left]
    values = dict[str, None]()
    for number, (side, having) in enumerate(zip(likeness.operands, partners, strict=True)):
        assert side.block is not None
        of_block = shared[side.block]
        for place, value in _places(side, left):
            if value is None or value not in having:
                continue
            some = [shared_tokens(asked.measure, value, other) for other in having[value]]
            of_block[place] = of_block.get(place, frozenset()).union(*some)
            if number == 0:
                found = stretches(asked.measure, value, of_block[place])
                values |= dict.fromkeys(value[start:end] for start, end in found)
    nodes = tuple(frozenset(one) for one in shared)
    return JoinedNodes(likeness.text, tuple(values), nodes, asked.measure, tuple(shared))


def _places(side: Side, left: Sequence[_Left]) -> Iterator[tuple[Place, str | None]]:
    """The nodes that are left of a side, each with its value."""
    block = _of(side, left)
    for node in block.having(side):
        for found in along(node, side.steps):
            attribute = None if found.attribute == "text()" else found.attribute
            place = block.numbers[found.element], attribute
            yield place, apply(side.functions, found.string())


def _of(side: Side, left: Sequence[_Left]) -> _Left:
    assert side.block is not None
    return left[side.block]
