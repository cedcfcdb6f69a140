"""From what SELECT names of a pattern's match to nodes of its events, or a value computed over them
(patterns-sase.md, section 5)."""

from __future__ import annotations

from dataclasses import dataclass

from pattern_stage import pattern as stage
from xscl.language import syntax
from xscl.language.syntax import EventPattern, Selected
from xscl.patterns.compile import Terms, attribute

__all__ = ["Computed", "Nodes", "Outputs"]


@dataclass(frozen=True, slots=True)
class Nodes:
    """Nodes of the events of a component: of the first event or the last, or, where `each`, of all
    of them in order.  Of an attribute without steps they are the output nodes themselves."""

    component: int
    attribute: stage.Attribute
    last: bool = False
    each: bool = False


@dataclass(frozen=True, slots=True)
class Computed:
    """A number, or a time or an id of a document: a term over a match and its constants."""

    term: stage.Term
    constants: tuple[str | float, ...]


class Outputs:
    """What SELECT can name of one pattern."""

    def __init__(self, source: EventPattern) -> None:
        self._source = source

    def of(self, selected: Selected) -> Nodes | Computed:
        """What one item or expression is.

        >>> from xscl.language import parse
        >>> [query], _ = parse("SELECT b[].p, a.p + 1 AS more FROM PATTERN SEQ(A a, B+ b[])")
        >>> [Outputs(query.source).of(item.path) for item in query.select][0]
        Nodes(component=1, attribute=Attribute(steps=('p',), attribute=None, own=None), \
last=False, each=True)
        """
        terms, value = Terms(self._source), selected.value
        if isinstance(value, syntax.Read):
            named = value.attribute
            if value.index == "" and value.variable is not None:
                return Nodes(terms.places[value.variable.text], attribute(named), each=True)
            read = terms.read(value)
            if isinstance(read, stage.Read) and read.attribute.own is None:
                last = read.index is stage.Index.LAST
                return Nodes(read.component, read.attribute, last)
        return Computed(terms.term(value), tuple(terms.constants))
