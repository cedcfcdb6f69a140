"""Stage 1, the XPath Evaluator: a parsed document into the witnesses of all tree patterns.

One walk over the elements, with one lookup in the path table for each; only a node whose path
accepts a spine leaves a row (law 2: rows are of paths, never of variables).  These rows are the
thesis' R_docW and R_binW in one: (document, node, path, string value, nodes from the root).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import cast

from lxml import etree

from xpath_stage.automaton import Automaton
from xpath_stage.constants import Constants, Held
from xpath_stage.documents import ATTRIBUTE, string_value
from xpath_stage.filters import FilterTests
from xpath_stage.leaf_paths import Changes, LeafPath
from xpath_stage.paths import PathTable
from xpath_stage.patterns import Family, Spine
from xpath_stage.registered import RegisteredSpines
from xpath_stage.strings import Strings
from xpath_stage.transitions import DEAD, SKIP
from xpath_stage.values import apply
from xpath_stage.work import ExcessiveDocument, Work

__all__ = ["Witnesses", "XPathEvaluator"]


@dataclass(slots=True)
class Witnesses:
    """The witnesses of a batch of documents, one row for each node of an accepting path.

    Columns of equal length: `documents` (numbers), `nodes` (codes), `paths` (numbers of leaf
    paths), `strings` (number of the string value, None where no spine asks for it) and `chains`,
    the codes of the nodes from the root to the row's own, one after the other: row i's end at
    `ends[i]`.  Beside these rows, `held` says what of filter families holds where a definition
    asks for it: (document, node, number of the family, what holds).
    """

    documents: list[int] = field(default_factory=list)
    nodes: list[int] = field(default_factory=list)
    paths: list[int] = field(default_factory=list)
    strings: list[int | None] = field(default_factory=list)
    chains: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    held: list[tuple[int, int, int, Held]] = field(default_factory=list)

    def cut(self, rows: int, chains: int, held: int) -> None:
        """Drops all rows but the first ones, whose chains have so many nodes, and all but the
        first entries of `held`."""
        for column in (self.documents, self.nodes, self.paths, self.strings, self.ends):
            del column[rows:]
        del self.chains[chains:], self.held[held:]


class XPathEvaluator:
    """All registered spines, evaluated together on each document."""

    def __init__(self, strings: Strings) -> None:
        self.strings = strings
        self.constants = Constants()
        self.attribute_names: list[str] = [""]
        self._spines = RegisteredSpines()
        self._table = self._spines.settle()
        self._attribute_numbers: dict[str, int] = {}

    @property
    def automaton(self) -> Automaton:
        """The states of the registered spines."""
        return self._spines.automaton

    @property
    def paths(self) -> PathTable:
        """The paths that documents have shown, as the registered spines tell them apart."""
        return self._spines.settle()

    def register(self, spine: Spine) -> int:
        """The number of a spine; documents evaluated from now on are matched against it.

        An equal spine has the same number, and is registered as often as this was called.
        """
        return self._spines.register(spine)

    def release(self, number: int) -> None:
        """Takes one registration of a spine back; with the last one the spine goes, and what
        there was for it alone.  Raises KeyError if no spine has the number."""
        self._spines.release(number)

    @property
    def changed(self) -> bool:
        """Whether `take_changes` may have anything to tell."""
        return self._spines.changed

    def take_changes(self) -> Changes:
        """What became of spines and leaf paths since the last call."""
        return self._spines.take_changes()

    def spines_of(self, leaf: int) -> tuple[int, ...]:
        """The spines that a leaf path accepts; none if it is no more."""
        return self.paths.leaf_paths.spines(leaf)

    def attribute_name(self, node: int) -> str | None:
        """The Clark name of an attribute's node code, None for an element's."""
        return self.attribute_names[node // ATTRIBUTE] or None

    def evaluate(self, stream: str, root: etree._Element, document: int, to: Witnesses) -> None:
        """Appends the witnesses of one document, whose number is `document`, to a batch's.

        Raises ExcessiveDocument for one that causes too much work; nothing is appended then.
        """
        if self._spines.stale:
            self._spines.show()
        before = len(to.documents), len(to.chains), len(to.held)
        try:
            self._walk(stream, root, document, to)
        except ExcessiveDocument:
            to.cut(*before)
            raise

    def _walk(self, stream: str, root: etree._Element, document: int, to: Witnesses) -> None:
        table = self._table
        transitions, leaves, attributes = table.transitions, table.leaves, table.attributes
        work = Work()
        tests = FilterTests(work)
        # The open elements: their paths, their numbers, and how many nodes each has to come.
        open_paths = [table.root(stream)]
        open_nodes: list[int] = []
        to_come = [1]
        node = 0
        for element in root.iter():
            while not to_come[-1]:
                to_come.pop()
                open_paths.pop()
                open_nodes.pop()
            to_come[-1] -= 1
            path = transitions[open_paths[-1]][element.tag]
            if path < 0:
                if path == SKIP:
                    continue
                path = self._choose(open_paths[-1], path, tests, element, None, document, node, to)
            children = len(element)
            for leaf in leaves[path]:
                self._leave(leaf, element, None, document, [*open_nodes, node], work, to)
            if attributes[path]:
                self._attributes(element, path, open_nodes, node, document, tests, work, to)
            if children:
                open_paths.append(path)
                open_nodes.append(node)
                to_come.append(children)
            node += 1

    def _leave(
        self,
        leaf: LeafPath,
        element: etree._Element,
        attribute: str | None,
        document: int,
        chain: list[int],
        work: Work,
        to: Witnesses,
    ) -> None:
        """Leaves a row for a node: an element, or its attribute of a value."""
        string = None
        if leaf.functions is not None:
            value: str | None = string_value(element) if attribute is None else attribute
            assert value is not None
            work.take_string(value)
            if leaf.functions:
                value = apply(leaf.functions, value)
            strings = self.strings
            string = strings.unequal() if value is None else strings.intern(value)
        if work.counts() and not work.keeps(leaf.number, string, [chain[d] for d in leaf.depths]):
            return
        to.documents.append(document)
        to.nodes.append(chain[-1])
        to.paths.append(leaf.number)
        to.strings.append(string)
        to.chains += chain
        to.ends.append(len(to.chains))

    def _attributes(
        self,
        element: etree._Element,
        parent: int,
        open_nodes: list[int],
        node: int,
        document: int,
        tests: FilterTests,
        work: Work,
        to: Witnesses,
    ) -> None:
        table = self._table
        for name, text in cast(Iterable[tuple[str, str]], element.items()):
            path = table.transitions[parent]["@" + name]
            if path < 0:
                code = node + ATTRIBUTE * self._attribute_number(name)
                path = self._choose(parent, path, tests, element, name, document, code, to)
            if table.leaves[path]:
                chain = [*open_nodes, node, node + ATTRIBUTE * self._attribute_number(name)]
                for leaf in table.leaves[path]:
                    self._leave(leaf, element, text, document, chain, work, to)

    def _choose(
        self,
        parent: int,
        target: int,
        tests: FilterTests,
        element: etree._Element,
        attribute: str | None,
        document: int,
        code: int,
        to: Witnesses,
    ) -> int:
        """The path of a node that reaches states with filters."""
        choice = self._table.choices[target]
        # Each filter is tested once, and only where a state depends on it.
        held: list[bool | None] = [None] * len(choice.tests)
        active = set(choice.free)
        for state, places in choice.filtered:
            for place in places:
                holds = held[place]
                if holds is None:
                    test = choice.tests[place]
                    if isinstance(test, Family):
                        found = self._held(test, tests, element, attribute)
                        holds = found is not None
                        if found is not None:
                            to.held.append((document, code, *found))
                    else:
                        holds = tests.holds(test, element, attribute)
                    held[place] = holds
                if not holds:
                    break
            else:
                active.add(state)
        if attribute is not None and not active:
            return DEAD
        return self._table.intern(parent, frozenset(active))

    def _held(
        self, family: Family, tests: FilterTests, element: etree._Element, attribute: str | None
    ) -> tuple[int, Held] | None:
        """The number of a family and what of it holds at a node, if anything does."""
        if family.operator == "holds":
            holds = partial(tests.holds_with, family, element, attribute)
            return self.constants.holding(family, holds)
        return self.constants.held(family, tests.values(family, element, attribute))

    def _attribute_number(self, name: str) -> int:
        number = self._attribute_numbers.get(name)
        if number is None:
            number = self._attribute_numbers[name] = len(self.attribute_names)
            self.attribute_names.append(name)
        return number
