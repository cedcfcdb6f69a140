"""A block judged on a document: which of its steps and filters hold, and what they leave.

A condition holds if some node of its item is part of an assignment of all the conditions that hold
so far.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from lxml import etree

from xscl.documents.document import Document
from xscl.language.syntax import Block
from xscl.language.unparse import Wording
from xscl.why.conditions import Side
from xscl.why.filter_values import explained
from xscl.why.findings import Finding, values_of
from xscl.why.near_names import lost, names_there, near_node
from xscl.why.near_values import near_equal
from xscl.why.patterns import Pattern, pattern_of
from xscl.why.relations import Relation, without
from xscl.why.trees import Node, Tree

__all__ = ["NOT_TOGETHER", "JudgedBlock", "judge_events", "judge_stream"]

_NOTHING: Mapping[int, tuple[int, str | None]] = {}

_Place = tuple[etree._Element, str | None]

NOT_TOGETHER = "holds for some nodes, but not for those for which the conditions above hold"


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


@dataclass(frozen=True, slots=True)
class JudgedBlock:
    """A block on a document, or (None) on none: the nodes that each condition leaves of its item,
    None where nothing was left to judge it on, and the conditions that hold, by their places."""

    pattern: Pattern
    tree: Tree | None
    found: tuple[list[Node] | None, ...]
    held: tuple[int, ...]

    @classmethod
    def of(cls, pattern: Pattern, document: Document | None) -> JudgedBlock:
        """Judges a block; raises DocumentError for a document that cannot be read."""
        tree = None if document is None else Tree.of(document)
        found: list[list[Node] | None] = []
        held: tuple[int, ...] = ()
        for place, condition in enumerate(pattern.conditions):
            trial = (*held, place)
            judged = tree is not None and condition.item in pattern.there(trial)
            found.append(pattern.nodes(tree, condition.item, trial) if tree and judged else None)
            held = trial if found[-1] else held
        return cls(pattern, tree, tuple(found), held)

    @property
    def holds(self) -> list[bool | None]:
        """Whether each condition holds."""
        return [None if nodes is None else bool(nodes) for nodes in self.found]

    def finding(self, place: int, wording: Wording) -> Finding:
        """The finding of a condition, with values on both sides, and what it nearly met."""
        condition, left = self.pattern.conditions[place], self.found[place]
        number, tree = self.pattern.number, self.tree
        if left is None or tree is None:
            return Finding(condition.kind, number, condition.text, None)
        finding = Finding(condition.kind, number, condition.text, bool(left), satisfied=len(left))
        item = self.pattern.items[condition.item]
        held = tuple(other for other in self.held if other < place)
        elsewhere = not left and self.pattern.nodes(tree, item.number, (*held, place), alone=True)
        if condition.condition is not None:
            nodes = left or self.pattern.nodes(tree, item.number, held)
            finding = explained(finding, tree, condition.condition, nodes, wording)
            if left:
                return replace(finding, near=None, note=None)
            return replace(finding, note=NOT_TOGETHER) if elsewhere else finding
        if left:
            # Of an inner node the string is all that is below it, which says little.
            leaves = [node.string() for node in left if node.leaf]
            return replace(finding, left=values_of(leaves) if item.variable and leaves else None)
        if elsewhere:
            return replace(finding, note=NOT_TOGETHER)
        parent = item.parent
        contexts = None if parent is None else self.pattern.nodes(tree, parent, held)
        near = near_node(tree, contexts, item.step)
        words, note = near or (None, names_there(contexts, tree))
        return replace(finding, near=words, note=note)

    def nodes(self, side: Side) -> list[Node]:
        """All nodes of a side's variable for which the conditions on the way to them hold."""
        number = self._variables.get(side.variable)
        if number is None or self.tree is None:
            return []
        return self.pattern.nodes(self.tree, number, self.held, alone=True)

    def lost(self, side: Side) -> tuple[str | None, str] | None:
        """Where a side's path leads nowhere, what it all but leads to, and a note."""
        return None if self.tree is None else lost(self.tree, self.nodes(side), side.steps)

    def relations(
        self, sides: Iterable[Side], fixed: Mapping[int, tuple[int, str | None]] = _NOTHING
    ) -> list[Relation]:
        """What all conditions that hold leave of some sides: of each item that they are at or
        below, its nodes by those of its parent, which are then joined away.  `fixed` are items
        of which only one node counts: the element of a number, or its attribute of a name."""
        if self.tree is None:
            return []
        items = self.pattern.there(self.held)
        asked: dict[int, list[Side]] = {number: [] for number in fixed if number in items}
        for side in sides:
            number = self._variables.get(side.variable)
            if number is not None:
                asked.setdefault(number, []).append(side)
        every = self._with_those_above(asked)
        relations = []
        live: dict[int | None, set[Node]] = {}
        for number in every:
            parent, own = items[number].parent, asked.get(number, ())
            links: list[tuple[Node, ...]]
            if parent is None:
                links = [(node,) for node in self._nodes_below(None, number)]
            else:
                links = [(n, found) for n in live[parent] for found in self._nodes_below(n, number)]
            if number in fixed:
                place, attribute = fixed[number]
                only = self.tree.elements[place], attribute
                links = [link for link in links if (link[-1].element, link[-1].attribute) == only]
            live[number] = {link[-1] for link in links}
            cells = {node: tuple(side.cell(node) for side in own) for node in live[number]}
            columns: list[str | int] = [] if parent is None else [parent]
            columns += [number, *(side.text for side in own)]
            relations.append(Relation(tuple(columns), {link + cells[link[-1]] for link in links}))
        for number in reversed(every):
            relations = without(relations, number)
        return relations

    def events(self) -> Iterator[tuple[_Place, Mapping[str, _Place]]]:
        """Each assignment of the node that it puts out and of its variables, once."""
        assert self.tree is not None
        items, variables = self.pattern.there(self.held), self._variables
        asked = self.pattern.output, *variables.values()
        rows: list[dict[int | None, Node]] = [{}]
        for number in self._with_those_above(asked):
            rows = [
                {**row, number: node}
                for row in rows
                for node in self._nodes_below(row.get(items[number].parent), number)
            ]
        for output, *bound in dict.fromkeys(tuple(row[one] for one in asked) for row in rows):
            places = ((node.element, node.attribute) for node in bound)
            yield (output.element, output.attribute), dict(zip(variables, places, strict=True))

    def _nodes_below(self, parent: Node | None, number: int) -> list[Node]:
        """The nodes of an item below one of its parent item, or of one that has none."""
        assert self.tree is not None
        if parent is None:
            return self.pattern.nodes(self.tree, number, self.held)
        return self.pattern.below(parent, number, self.held)

    def _with_those_above(self, numbers: Iterable[int]) -> list[int]:
        """Items by number with all that they are below, the uppermost first."""
        items, found = self.pattern.there(self.held), set[int]()
        for number in numbers:
            above: int | None = number
            while above is not None and above not in found:
                found.add(above)
                above = items[above].parent
        return sorted(found)

    @property
    def _variables(self) -> dict[str, int]:
        """The items that bind variables, of those that have nodes."""
        items = self.pattern.there(self.held).values()
        return {item.variable: item.number for item in items if item.variable is not None}


def judge_events(
    number: int, block: Block, wording: Wording, document: Document
) -> tuple[list[Finding], JudgedBlock | None]:
    """The findings of a block of events, which has a number, on a document; the judged block where
    all of them hold."""
    pattern = replace(pattern_of(1, block, wording), number=number)
    findings = [judge_stream(pattern, document.stream)]
    if not findings[0].holds:
        return findings, None
    judged = JudgedBlock.of(pattern, document)
    findings += (judged.finding(place, wording) for place in range(len(judged.found)))
    return findings, judged if all(finding.holds for finding in findings) else None
