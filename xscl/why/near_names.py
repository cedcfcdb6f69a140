"""Nodes that a step all but reaches: of another namespace or case, misspelt, an attribute in
place of an element, deeper, or elsewhere in the document."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from difflib import SequenceMatcher
from functools import lru_cache

from xscl.dissection.xpath_text import tag_test
from xscl.language.syntax import Step
from xscl.why.near_values import but_for
from xscl.why.trees import Node, Tree, along, label, local_name, place

__all__ = ["lost", "names_there", "near_node"]

_SPELLING = 0.75
_MOST_ELEMENTS = 20_000
_WEIGHTS = {
    "the namespace": 10,
    "case": 11,
    "being an attribute": 12,
    "being an element": 12,
    "its depth": 13,
    "its place": 15,
    "spelling": 16,
}
_SHOWN = 8


def near_node(tree: Tree, contexts: Collection[Node] | None, step: Step) -> tuple[str, str] | None:
    """What keeps the node with the fewest differences from being reached by a step, and where it
    is; `contexts` are the nodes that the step is taken from, None for the document."""
    if step.test in (".", "text()"):
        return None
    asked = tag_test(step.test)
    best: tuple[int, tuple[str, ...], Node] | None = None
    for node, tag, where in _nodes(tree, contexts, step):
        names = _name_differences(asked, tag)
        if names is None:
            continue
        differences = (*names, *where)
        weight = sum(_WEIGHTS[difference] for difference in differences)
        if differences and (best is None or weight < best[0]):
            best = weight, differences, node
    if best is None:
        return None
    _, differences, node = best
    uri = _uri(node.element.tag if node.attribute is None else node.attribute)
    of = f" of the namespace {uri or 'none'}" if "the namespace" in differences else ""
    reach = "; `//` reaches it" if differences == ("its depth",) else ""
    return but_for(differences), f"there is {place(node)}{of}{reach}"


def lost(
    tree: Tree, contexts: Collection[Node], steps: Sequence[Step]
) -> tuple[str | None, str] | None:
    """As `near_node`, of the first step of a path that leads nowhere; None if none does."""
    for step in steps:
        found = [node for context in contexts for node in along(context, (step,))]
        if not found:
            return near_node(tree, contexts, step) or (None, "no such node")
        contexts = found
    return None


def names_there(contexts: Collection[Node] | None, tree: Tree) -> str:
    """The names of the nodes below those a step is taken from, a few."""
    names: dict[str, None] = {}
    if contexts is None:
        names[label(str(tree.root.tag))] = None
    for element in (context.element for context in contexts or ()):
        names.update((f"@{name}", None) for name in map(str, element.attrib))
        names.update((label(str(child.tag)), None) for child in element.iterchildren("*"))
    if not names:
        return "there is nothing below"
    shown = ", ".join(list(names)[:_SHOWN])
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"there is {shown}{more}"


def _nodes(
    tree: Tree, contexts: Collection[Node] | None, step: Step
) -> Iterator[tuple[Node, str, tuple[str, ...]]]:
    """The elements and attributes of the document, each with its name and the
    differences in where it stands."""
    owners = None if contexts is None else {c.element for c in contexts if c.attribute is None}
    below: set[object] = set()
    wants_attribute = step.test.startswith("@")
    for element in tree.elements[:_MOST_ELEMENTS]:
        parent = element.getparent()
        child = parent is None if owners is None else parent in owners
        descendant = owners is None or parent in owners or parent in below
        if descendant:
            below.add(element)
        kind = ("being an element",) if wants_attribute else ()
        yield Node(element), str(element.tag), (*kind, *_where(step, child, descendant))
        own = owners is not None and element in owners
        kind = () if wants_attribute else ("being an attribute",)
        for name in map(str, element.attrib):
            where = _where(step, own, descendant or own)
            yield Node(element, name), name, (*kind, *where)


def _where(step: Step, child: bool, descendant: bool) -> tuple[str, ...]:
    if child or (descendant and step.axis == "//"):
        return ()
    return ("its depth",) if descendant else ("its place",)


@lru_cache(maxsize=1000)
def _name_differences(asked: str, tag: str) -> tuple[str, ...] | None:
    """How a name differs from the one that is asked for, None if it is just another."""
    asked_uri, asked_local = _uri(asked), local_name(asked.removeprefix("@"))
    uri, local = _uri(tag), local_name(tag)
    namespace = () if asked_uri in ("*", uri) or asked_local == "*" else ("the namespace",)
    if asked_local in ("*", local):
        return namespace
    if asked_local.casefold() == local.casefold():
        return (*namespace, "case")
    if max(len(asked_local), len(local)) < 3:
        return None
    alike = SequenceMatcher(None, asked_local.casefold(), local.casefold()).ratio() >= _SPELLING
    return (*namespace, "spelling") if alike else None


def _uri(name: str) -> str:
    return name.removeprefix("@").rpartition("}")[0].removeprefix("{")
