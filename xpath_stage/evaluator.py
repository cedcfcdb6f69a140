"""Stage 1, the XPath Evaluator: a parsed document into the witnesses of all tree patterns.

One walk over the elements, with one lookup in the path table for each, leaves a trace (`layouts`).
The walk does not depend on the rows of that trace, nor on the number of patterns that they witness
(docs/laws.md#label-paths; docs/laws.md#path-rows: rows are of paths, never of variables).  These
rows are the thesis' R_docW and R_binW in one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from itertools import chain
from typing import NamedTuple, cast

from lxml import etree

from xscl.xpath_stage.automaton import Automaton
from xscl.xpath_stage.constants import Constants, Satisfied
from xscl.xpath_stage.equal_leaves import MANY_ROWS, bounded
from xscl.xpath_stage.filters import FilterTests, Plain, plain, plain_name
from xscl.xpath_stage.layouts import Layout, Witnesses
from xscl.xpath_stage.leaf_paths import Changes
from xscl.xpath_stage.live.registered import RegisteredSpines
from xscl.xpath_stage.parsing.documents import ATTRIBUTE, string_value
from xscl.xpath_stage.paths import TEXT, PathTable
from xscl.xpath_stage.patterns import Family, Spine, Test
from xscl.xpath_stage.strings import Strings
from xscl.xpath_stage.traces import lay_out
from xscl.xpath_stage.transitions import DEAD, SKIP, Transitions
from xscl.xpath_stage.values import apply
from xscl.xpath_stage.work import Work

__all__ = ["Decided", "Filtering", "XPathEvaluator"]


_MOST_DECIDED = 64
"""A document with more tests of filters is not compared with others."""


class Decided(NamedTuple):
    """A test that has decided which path a document takes, at an element with that code, and
    whether it, or any of a family, holds there."""

    test: Family | Plain
    element: etree._Element
    code: int
    holds: bool


class Filtering:
    """The filters of one document: their tests, what holds of families at its nodes, and the work
    that they cause.

    `decided` are the tests that have chosen a path, in order; None where one of them is more than a
    comparison of an element or its children, or where there are many.
    """

    __slots__ = ("decided", "satisfied", "tests", "work")

    def __init__(self, work: Work | None = None) -> None:
        self.work = work or Work()
        self.decided: list[Decided] | None = []
        self.satisfied: list[tuple[int, int, Satisfied]] = []
        self.begin()

    def note(
        self, test: Test, element: etree._Element, attribute: str | None, code: int, holds: bool
    ) -> None:
        """Notes a test that was made."""
        decided = self.decided
        if decided is None:
            return
        compared: Family | Plain | None
        if isinstance(test, Family):
            compared = test if test.operator != "holds" and plain_name(test.values) else None
        else:
            compared = plain(test)
        if compared is None or attribute is not None or len(decided) >= _MOST_DECIDED:
            self.decided = None
        else:
            decided.append(Decided(compared, element, code, holds))

    def begin(self) -> None:
        """Begins with a tree, or with the next part of one."""
        self.tests = FilterTests(self.work)


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
        """The paths that documents have shown, as far as the registered spines distinguish them."""
        return self._spines.settle()

    def register(self, spine: Spine) -> int:
        """The number of a spine; documents evaluated from now on are matched against it.

        An equal spine has the same number, and is registered as often as this was called.
        """
        return self._spines.register(spine)

    def release(self, number: int) -> None:
        """Removes one registration of a spine; the last one removes the spine and all that only it
        needed.  Raises KeyError if no spine has the number."""
        self._spines.release(number)

    @property
    def changed(self) -> bool:
        """Whether `take_changes` may return any changes."""
        return self._spines.changed

    def take_changes(self) -> Changes:
        """The changes of spines and leaf paths since the last call."""
        return self._spines.take_changes()

    def spines_of(self, leaf: int) -> tuple[int, ...]:
        """The spines that a leaf path accepts; none if the leaf path was removed."""
        return self.paths.leaf_paths.spines(leaf)

    def attribute_name(self, node: int) -> str | None:
        """The Clark name of an attribute's node code, None for an element's."""
        return self.attribute_names[node // ATTRIBUTE] or None

    def evaluate(self, stream: str, root: etree._Element, document: int, to: Witnesses) -> Layout:
        """Appends the witnesses of the document with number `document` to those of a batch; returns
        its layout.

        Raises ExcessiveDocument for one that causes too much work; nothing is appended then.
        """
        self.settle()
        trace: list[int] = []
        strings: list[int] = []
        filtering = self.walk(stream, root, trace, strings)
        return self.leave(document, trace, strings, filtering, to)

    def settle(self) -> PathTable:
        """The path table, ready for a document."""
        if self._spines.stale:
            self._spines.show()
        return self._table

    def leave(
        self,
        document: int,
        trace: Sequence[int],
        strings: list[int],
        filtering: Filtering | None,
        to: Witnesses,
    ) -> Layout:
        """Appends the result of a walk to the witnesses of a batch; returns the layout.  Raises
        ExcessiveDocument."""
        layout = lay_out(self._table, tuple(trace))
        if len(layout.paths) > MANY_ROWS:
            layout, strings = bounded(layout, strings)
        if layout.paths:
            to.leave(document, layout, strings)
        if filtering is not None:
            to.satisfied += ((document, *satisfied) for satisfied in filtering.satisfied)
        return layout

    def walk(
        self,
        stream: str,
        root: etree._Element,
        trace: list[int],
        strings: list[int],
    ) -> Filtering | None:
        """Computes the trace of a document and the strings that queries need; returns the outcomes
        of its filters, None if only names and the texts of leaves were read."""
        table, numbers = self._table, self.strings.numbers
        transitions, reads = table.transitions, table.reads
        filtering: Filtering | None = None
        of_attributes = 0
        # The open elements: the transitions for their children's names, and how many children are
        # to come.
        opened: list[tuple[Transitions, int]] = []
        below: Transitions = transitions[table.root(stream)]
        to_come = 1
        for element in root.iter():
            while not to_come:
                below, to_come = opened.pop()
            to_come -= 1
            path = below[element.tag]
            if path < 0:
                if path == SKIP:
                    continue
                if filtering is None:
                    filtering = Filtering()
                node = len(trace) - of_attributes
                path = self.choose(below, path, filtering, element, None, node)
            trace.append(path)
            children = len(element)
            if reads[path]:
                if reads[path] == TEXT and not children:
                    strings.append(numbers[element.text or ""])
                else:
                    if filtering is None:
                        filtering = Filtering()
                    node = len(trace) - of_attributes - 1
                    of_attributes -= len(trace)
                    self.read(element, path, node, filtering, trace, strings)
                    of_attributes += len(trace)
            if children:
                opened.append((below, to_come))
                below, to_come = transitions[path], children
        return filtering

    def read(
        self,
        element: etree._Element,
        path: int,
        node: int,
        filtering: Filtering,
        trace: list[int],
        strings: list[int],
    ) -> None:
        """Reads the values and attributes of an element that queries need."""
        table = self._table
        asked = [leaf.functions for leaf in table.leaves[path] if leaf.functions is not None]
        if asked:
            self._take(string_value(element), asked, filtering.work, strings)
        if not table.attributes[path]:
            return
        for name, text in cast(Iterable[tuple[str, str]], element.items()):
            below = table.transitions[path]
            reached = below["@" + name]
            if reached < 0:
                code = node + ATTRIBUTE * self._attribute_number(name)
                reached = self.choose(below, reached, filtering, element, name, code)
            if leaves := table.leaves[reached]:
                trace += (~self._attribute_number(name), reached)
                asked = [leaf.functions for leaf in leaves if leaf.functions is not None]
                self._take(text, asked, filtering.work, strings)

    def _take(
        self, value: str, asked: Sequence[tuple[str, ...]], work: Work, to: list[int]
    ) -> None:
        """Adds a string value under some functions."""
        strings = self.strings
        for functions in asked:
            work.take_string(value)
            of = apply(functions, value) if functions else value
            to.append(strings.unequal() if of is None else strings.intern(of))

    def choose(
        self,
        below: Transitions,
        target: int,
        filtering: Filtering,
        element: etree._Element,
        attribute: str | None,
        code: int,
    ) -> int:
        """The path of a node that reaches states with filters."""
        choice = self._table.choices[target]
        # Each filter is tested once, and only where a state depends on it.
        satisfied: list[bool | None] = [None] * len(choice.tests)
        active = set(choice.free)
        filtered: Iterable[tuple[int, tuple[int, ...]]] = choice.filtered
        if choice.texts and attribute is None:
            # The values are looked up, whatever number of filters there is.
            filtering.decided = None
            equal = [*filtering.tests.equal(choice.texts, choice.tests, element)]
            for place in equal:
                satisfied[place] = True
            filtered = chain(choice.others, *(choice.of_text.get(place, ()) for place in equal))
        for state, places in filtered:
            for place in places:
                holds = satisfied[place]
                if holds is None:
                    test = choice.tests[place]
                    if isinstance(test, Family):
                        found = self._satisfied(test, filtering.tests, element, attribute)
                        holds = found is not None
                        if found is not None:
                            filtering.satisfied.append((code, *found))
                    else:
                        holds = filtering.tests.holds(test, element, attribute)
                    satisfied[place] = holds
                    filtering.note(choice.tests[place], element, attribute, code, holds)
                if not holds:
                    break
            else:
                active.add(state)
        if attribute is not None and not active:
            return DEAD
        return self._table.intern(below.path, frozenset(active))

    def _satisfied(
        self, family: Family, tests: FilterTests, element: etree._Element, attribute: str | None
    ) -> tuple[int, Satisfied] | None:
        """The number of a family and what of it holds at a node, if anything does."""
        if family.operator == "holds":
            holds = partial(tests.holds_with, family, element, attribute)
            return self.constants.satisfied_conditions(family, holds)
        return self.constants.satisfied(family, tests.values(family, element, attribute))

    def _attribute_number(self, name: str) -> int:
        number = self._attribute_numbers.get(name)
        if number is None:
            number = self._attribute_numbers[name] = len(self.attribute_names)
            self.attribute_names.append(name)
        return number
