"""Stage 1 over a large document's events: the same witnesses as of the walk over its tree.

What a node's path says is known where the node starts; not so which of its filters hold, nor its
string value.  So a node that one of these is asked of is kept whole until it has ended, with all
below it, and one whose children are counted (`a[2]`); everything else goes as it comes.  The
memory that a document takes is that of its largest such subtree and of its witnesses.
"""

from __future__ import annotations

from lxml import etree

from xpath_stage.evaluator import Witnesses, XPathEvaluator
from xpath_stage.filters import FilterTests
from xpath_stage.pruned import PrunedDocument
from xpath_stage.work import Work

__all__ = ["evaluate_events"]


def evaluate_events(
    evaluator: XPathEvaluator,
    stream: str,
    source: PrunedDocument,
    document: int,
    to: Witnesses,
    *,
    times: float = 1,
) -> None:
    """Appends the witnesses of one document, whose number is `document`, to a batch's; it may
    cause `times` as much work as another.

    Raises MalformedDocument for one that cannot be read and ExcessiveDocument for one that causes
    too much work; nothing is appended then.
    """
    before = len(to.documents), len(to.chains), len(to.held)
    walk = _Walk(evaluator, stream, document, to, Work(times))
    try:
        for event, element in source:
            if event == "end":
                if element is source.kept:
                    walk.subtree(element)
                else:
                    walk.end()
            elif walk.asks_for_all_of(element):
                source.keep(element)
            else:
                walk.alone(element)
    except Exception:
        to.cut(*before)
        raise


class _Walk:
    """The open elements of a document, by their paths and numbers."""

    def __init__(
        self, evaluator: XPathEvaluator, stream: str, document: int, to: Witnesses, work: Work
    ) -> None:
        if evaluator._spines.stale:
            evaluator._spines.show()
        self._evaluator = evaluator
        self._table = evaluator.paths
        self._document = document
        self._to = to
        self._work = work
        self._tests = FilterTests(work)
        self._paths = [self._table.root(stream)]
        self._nodes: list[int] = []
        self._node = 0
        self._counting: dict[int, bool] = {}

    def asks_for_all_of(self, element: etree._Element) -> bool:
        """Whether it takes all of an element, which has just started, to say what it leaves."""
        table = self._table
        if self._counts(self._paths[-1]) and not self._nodes:
            return True
        path = table.transitions[self._paths[-1]][element.tag]
        if path < 0 or self._counts(path):
            return True
        return any(leaf.functions is not None for leaf in table.leaves[path])

    def alone(self, element: etree._Element) -> None:
        """An element starts of whose content nothing is asked, nor need be there."""
        self._tests = FilterTests(self._work)
        self.start(element)

    def start(self, element: etree._Element) -> None:
        """An element starts, with all of its content that is asked for."""
        table, evaluator, node = self._table, self._evaluator, self._node
        path = table.transitions[self._paths[-1]][element.tag]
        if path < 0:
            path = evaluator._choose(
                self._paths[-1], path, self._tests, element, None, self._document, node, self._to
            )
        for leaf in table.leaves[path]:
            chain = [*self._nodes, node]
            evaluator._leave(leaf, element, None, self._document, chain, self._work, self._to)
        if table.attributes[path]:
            evaluator._attributes(
                element,
                path,
                self._nodes,
                node,
                self._document,
                self._tests,
                self._work,
                self._to,
            )
        self._paths.append(path)
        self._nodes.append(node)
        self._node += 1

    def end(self) -> None:
        """The last element that started ends."""
        self._paths.pop()
        self._nodes.pop()

    def subtree(self, element: etree._Element) -> None:
        """An element that was kept whole, with all below it."""
        self._work.next_part()
        self._tests = FilterTests(self._work)
        for event, below in etree.iterwalk(element, events=("start", "end")):
            if event == "start":
                self.start(below)
            else:
                self.end()

    def _counts(self, path: int) -> bool:
        """Whether the children of a path's nodes may be counted."""
        counting = self._counting.get(path)
        if counting is None:
            states = self._table.paths[path]
            counting = self._table.automaton.counts_positions(states.active, states.waiting)
            self._counting[path] = counting
        return counting
