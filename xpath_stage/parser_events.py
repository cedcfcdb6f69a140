"""Stage 1 over a large document's parser events: the witnesses that the walk over its tree finds.

A node's path is known where the node starts; its filters and its string value are not.  So a node
with filters, with a value or with children that are counted (`a[2]`) is kept whole until it has
ended, with all below it; everything else is evaluated event by event.  The memory that a document
takes is that of its largest such subtree and of its witnesses.
"""

from __future__ import annotations

from lxml import etree

from xscl.xpath_stage.evaluator import Filtering, XPathEvaluator
from xscl.xpath_stage.layouts import Layout, Witnesses
from xscl.xpath_stage.parsing.pruned import PrunedDocument
from xscl.xpath_stage.work import Work

__all__ = ["evaluate_parser_events"]


def evaluate_parser_events(
    evaluator: XPathEvaluator,
    stream: str,
    source: PrunedDocument,
    document: int,
    to: Witnesses,
    *,
    times: float = 1,
) -> Layout:
    """Appends the witnesses of the document with number `document` to those of a batch; the
    document may cause `times` the usual work.  Returns its layout.

    Raises MalformedDocument for one that cannot be read and ExcessiveDocument for one that causes
    too much work; nothing is appended then.
    """
    walk = _Walk(evaluator, stream, Filtering(Work(times)))
    for event, element in source:
        if event == "end":
            if element is source.kept:
                walk.subtree(element)
            else:
                walk.end()
        elif walk.needs_whole(element):
            source.keep(element)
        else:
            walk.start_unread(element)
    return evaluator.leave(document, walk.trace, walk.strings, walk.filtering, to)


class _Walk:
    """The open elements of a document, by their paths; its trace and strings so far."""

    def __init__(self, evaluator: XPathEvaluator, stream: str, filtering: Filtering) -> None:
        self._evaluator = evaluator
        self._table = evaluator.settle()
        self._paths = [self._table.root(stream)]
        self._node = 0
        self._counting: dict[int, bool] = {}
        self.trace: list[int] = []
        self.strings: list[int] = []
        self.filtering = filtering

    def needs_whole(self, element: etree._Element) -> bool:
        """Whether an element that has just started is needed whole to compute its witnesses."""
        table = self._table
        if self._counts(self._paths[-1]) and len(self._paths) == 1:
            return True
        path = table.transitions[self._paths[-1]][element.tag]
        if path < 0 or self._counts(path):
            return True
        return any(leaf.functions is not None for leaf in table.leaves[path])

    def start_unread(self, element: etree._Element) -> None:
        """Starts an element whose content no query needs, so that it may be missing."""
        self.filtering.begin()
        self.start(element)

    def start(self, element: etree._Element) -> None:
        """Starts an element that has all the content that queries need."""
        table, evaluator = self._table, self._evaluator
        below = table.transitions[self._paths[-1]]
        path = below[element.tag]
        if path < 0:
            path = evaluator.choose(below, path, self.filtering, element, None, self._node)
        self.trace.append(path)
        if table.reads[path]:
            node, trace, strings = self._node, self.trace, self.strings
            evaluator.read(element, path, node, self.filtering, trace, strings)
        self._paths.append(path)
        self._node += 1

    def end(self) -> None:
        """Ends the element that started last."""
        self._paths.pop()

    def subtree(self, element: etree._Element) -> None:
        """Evaluates an element that was kept whole, with all below it."""
        self.filtering.work.next_part()
        self.filtering.begin()
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
            counting = self._table.automaton.counts_positions(states.active, states.pending)
            self._counting[path] = counting
        return counting
