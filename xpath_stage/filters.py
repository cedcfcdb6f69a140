"""Filters, tested on nodes: compiled once, evaluated once per distinct filter and node.

Filters are a whitelisted subset of XPath 1.0 (docs/laws.md#bounded-work), which libxml2 evaluates.
A positional filter depends on the node's siblings.  So it is evaluated from the parent, once for
all of them.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, cast

from lxml import etree

from xscl.xpath_stage.constants import Constant, number_of
from xscl.xpath_stage.functions import EXTENSIONS
from xscl.xpath_stage.parsing.documents import string_value
from xscl.xpath_stage.patterns import Family, Filter, Test
from xscl.xpath_stage.work import Work

__all__ = ["FilterTests", "Plain", "plain", "plain_name"]

_NAME = re.compile(r"[^\W\d][\w.-]*")
"""A path that is one step to children with a name without a namespace."""


_PLAIN = re.compile(
    rf"(?P<name>\.|(?:\./)?{_NAME.pattern}) (?P<operator>=|!=|<|<=|>|>=) "
    r"(?:'(?P<one>[^']*)'|\"(?P<two>[^\"]*)\"|(?P<number>-?\d+(?:\.\d+)?))"
)
"""A comparison of child elements, or of the node itself, with a constant."""

_COMPARED: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class Plain(NamedTuple):
    """A filter that compares the values of the children of a name (`.`: of the node itself) with a
    constant; it holds if that is true of one of them."""

    name: str
    operator: str
    constant: str | float

    def holds(self, values: Iterable[str]) -> bool:
        """Whether it holds for these values."""
        compared, constant = _COMPARED[self.operator], self.constant
        if isinstance(constant, str):
            return any(compared(value, constant) for value in values)
        return any(compared(number_of(value), constant) for value in values)


@lru_cache(maxsize=100_000)
def plain(filter: Filter) -> Plain | None:
    """A filter as a comparison; None if it is more than that.

    >>> plain(Filter("kind = 'k1'"))
    Plain(name='kind', operator='=', constant='k1')
    """
    found = None if filter.positional else _PLAIN.fullmatch(filter.expression)
    if found is None:
        return None
    name, sign, number = found["name"].removeprefix("./"), found["operator"], found["number"]
    if number is not None:
        return Plain(name, sign, number_of(number))
    constant: str = found["two"] if found["one"] is None else found["one"]
    # An order compares texts as numbers.
    return Plain(name, sign, constant) if sign in ("=", "!=") else None


class FilterTests:
    """The filters of one document's nodes; results of the positional ones are cached by parent."""

    __slots__ = ("_selected", "_work")

    def __init__(self, work: Work) -> None:
        self._work = work
        self._selected: dict[tuple[Filter, etree._Element | None], frozenset[object]] = {}

    def holds(self, filter: Filter, element: etree._Element, attribute: str | None) -> bool:
        """Whether a filter holds at an element, or at its attribute of that Clark name."""
        if filter.positional:
            context = element.getparent() if attribute is None else element
            key = (filter, context)
            selected = self._selected.get(key)
            if selected is None:
                self._work.evaluate(filter, element if context is None else context)
                selected = self._selected[key] = _select(filter, element, context, attribute)
            return (element if attribute is None else attribute) in selected
        self._work.evaluate(filter, element)
        return bool(_condition(filter, attribute)(element))

    def equal(
        self, texts: Mapping[str, Mapping[str, int]], tests: Sequence[Test], element: etree._Element
    ) -> Iterator[int]:
        """The places, by name and text, of the filters that hold at an element."""
        for name, places in texts.items():
            self._work.evaluate(cast(Filter, tests[next(iter(places.values()))]), element)
            some = [element] if name == "." else element.iterchildren(name)
            for text in dict.fromkeys(map(string_value, some)):
                if (place := places.get(text)) is not None:
                    yield place

    def values(self, family: Family, element: etree._Element, attribute: str | None) -> list[str]:
        """The string values that a family compares with its constants, at an element, or at its
        attribute of that Clark name (where the path is `.`)."""
        if attribute is not None:
            return [str(element.get(attribute))]
        self._work.evaluate(family.values, element)
        return _reader(family.values)(element)

    def holds_with(
        self, family: Family, element: etree._Element, attribute: str | None, constant: Constant
    ) -> bool:
        """Whether a family's condition holds of a constant, at an element or at its attribute."""
        self._work.evaluate(family.values, element)
        variables = {
            f"c{i}": value for i, value in enumerate(cast(tuple[str | float, ...], constant))
        }
        return bool(_condition(family.values, attribute)(element, **variables))


def _select(
    filter: Filter,
    element: etree._Element,
    parent: etree._Element | None,
    attribute: str | None,
) -> frozenset[object]:
    if parent is None:
        return frozenset(cast(list[object], _positions(filter, "/")(element.getroottree())))
    # A path yields a list of nodes; attributes come as strings that know their name.
    found = cast(list[Any], _positions(filter, "")(parent))
    if attribute is None:
        return frozenset(found)
    return frozenset(value.attrname for value in found)


@lru_cache(maxsize=100_000)
def _positions(filter: Filter, prefix: str) -> etree.XPath:
    namespaces = dict(filter.namespaces)
    return etree.XPath(prefix + filter.expression, namespaces=namespaces, extensions=EXTENSIONS)


@lru_cache(maxsize=100_000)
def plain_name(path: Filter) -> str | None:
    """The name of the child elements that a path selects, `.` for the element itself; None of a
    path that is more than that."""
    expression = path.expression.removeprefix("./")
    return expression if expression == "." or _NAME.fullmatch(expression) else None


@lru_cache(maxsize=100_000)
def _reader(path: Filter) -> Callable[[etree._Element], list[str]]:
    """A reader of the string values of a path's nodes; a plain name is read without XPath."""
    tag = plain_name(path)
    if tag == ".":
        return lambda element: [string_value(element)]
    if tag is not None:
        return lambda element: [string_value(child) for child in element.iterchildren(tag)]
    nodes = _positions(path, "")

    def read(element: etree._Element) -> list[str]:
        found = cast(list[Any], nodes(element))
        return [
            string_value(node) if isinstance(node, etree._Element) else str(node) for node in found
        ]

    return read


@lru_cache(maxsize=100_000)
def _condition(filter: Filter, attribute: str | None) -> etree.XPath:
    namespaces = dict(filter.namespaces)
    expression = f"boolean({filter.expression})"
    if attribute is not None:
        uri, _, local = attribute.rpartition("}")
        name = local
        if uri:
            namespaces["the-attribute"] = uri[1:]
            name = f"the-attribute:{local}"
        expression = f"boolean(@{name}[{filter.expression}])"
    return etree.XPath(
        expression, namespaces=namespaces, extensions=EXTENSIONS, smart_strings=False
    )
