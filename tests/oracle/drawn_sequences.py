"""Draws EVENT and PATTERN queries with their texts, and documents for them.

Both are made twice: as data for the oracle (sequences.py), and as input of an engine.  Few types,
values and times, so that collisions are common: simultaneous events, missing attributes, and texts
that are no numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from tests.oracle.sequences import (
    STRATEGIES,
    Aggregate,
    Arithmetic,
    Block,
    Comparison,
    Component,
    Event,
    Length,
    Negative,
    Number,
    Query,
    Read,
    Term,
    Test,
    Text,
)

__all__ = ["Node", "Scene", "drawn_document", "drawn_query", "scenes", "selecting", "text_of"]

STREAMS = ["A", "B", "Shelf-Reading"]
ATTRIBUTES = ["k", "p", "v", "n/s", "@k"]


@dataclass(frozen=True)
class Scene:
    """Queries, and the documents that they meet: as envelopes, and as events of each block."""

    queries: list[Query]
    envelopes: list[dict[str, Any]]
    select: Callable[[Block], Sequence[Event]]

    @property
    def text(self) -> str:
        return ";\n".join(f"-- name: {query.name}\n{text_of(query)}" for query in self.queries)


# Documents


@st.composite
def _item(draw: st.DrawFn) -> dict[str, str]:
    """The fields of an item: k, p, v, f, s; some lack."""
    fields = {
        "k": draw(st.sampled_from(["u", "u", "u", "w", None])),
        "p": draw(st.sampled_from(["1", "2", "3", "4", "odd", None])),
        "v": draw(st.sampled_from(["1", "1.5", "2", "3", None])),
        "f": draw(st.sampled_from(["x", "y"])),
        "s": draw(st.sampled_from(["u", "w", None])),
    }
    return {name: value for name, value in fields.items() if value is not None}


@dataclass(frozen=True)
class Node:
    """An item in a document: its place, and what is read of it."""

    stream: str
    number: int
    document: str
    time: float
    values: dict[str, str]
    key: int | None


def _json(fields: dict[str, str]) -> dict[str, object]:
    value: dict[str, object] = {name: text for name, text in fields.items() if name != "s"}
    for name in ("p", "v"):
        if name in value and value[name] != "odd":
            number = float(fields[name])
            value[name] = int(number) if number.is_integer() else number
    if "s" in fields:
        value["n"] = {"s": fields["s"]}
    return value


def _markup(tag: str, fields: dict[str, str], attributes: frozenset[str]) -> str:
    within = "".join(
        f"<{name}>{text}</{name}>"
        for name, text in fields.items()
        if name not in attributes and name != "s"
    )
    if "s" in fields:
        within += f"<n><s>{fields['s']}</s></n>"
    given = "".join(f' {name}="{fields[name]}"' for name in fields if name in attributes)
    return f"<{tag}{given}>{within}</{tag}>"


def _values(fields: dict[str, str], attributes: frozenset[str]) -> dict[str, str]:
    values = {("n/s" if name == "s" else name): text for name, text in fields.items()}
    return values | {f"@{name}": fields[name] for name in attributes if name in fields}


@st.composite
def drawn_document(
    draw: st.DrawFn, name: str, time: float
) -> tuple[dict[str, Any], list[tuple[str, Node]]]:
    """An envelope, with its nodes by path: the whole, and the items in it."""
    stream = draw(st.sampled_from(STREAMS))
    envelope: dict[str, Any] = {"stream": stream, "id": name, "timestamp": time}
    is_json, nested = draw(st.booleans()), draw(st.booleans())
    items = [draw(_item()) for _ in range(draw(st.integers(1, 2)) if nested else 1)]
    attributes = frozenset(draw(st.sets(st.sampled_from("kpvf")))) if not is_json else frozenset()
    number = 1 if nested else 0
    nodes = []
    for fields in items:
        order = [one for one in fields if one not in attributes and one != "s"]
        key = number + 1 + order.index("k") if "k" in order else None
        node = Node(stream, number, name, time, _values(fields, attributes), key)
        nodes.append(("//item" if nested else "", node))
        number += 1 + len(order) + (2 if "s" in fields else 0)
    if is_json:
        values = [_json(fields) for fields in items]
        envelope["json"] = (
            {"item": values if len(values) > 1 else values[0]} if nested else values[0]
        )
    elif nested:
        envelope["xml"] = f"<r>{''.join(_markup('item', one, attributes) for one in items)}</r>"
    else:
        envelope["xml"] = _markup("e", items[0], attributes)
    return envelope, nodes


def selecting(nodes: Sequence[tuple[str, Node]]) -> Callable[[Block], list[Event]]:
    """What a block selects among some nodes."""

    def select(block: Block) -> list[Event]:
        events = []
        for path, node in nodes:
            if node.stream != block.stream:
                continue
            if not block.path:
                if path:
                    # The whole of a document with items in it, of which none is read here.
                    node = Node(node.stream, 0, node.document, node.time, {}, None)
            elif block.path != path or (block.filtered and not _has_f(node)):
                continue
            bound: tuple[int, ...] = ()
            values = dict(node.values)
            if block.keyed:
                if node.key is None:
                    continue
                bound, values["key"] = (node.key,), values["k"]
            event = Event(node.document, node.time, node.number, bound, values)
            if event not in events:
                events.append(event)
        return events

    return select


def _has_f(node: Node) -> bool:
    # The filter is of children.
    return node.values.get("f") == "x" and "@f" not in node.values


# Queries


@st.composite
def _block(draw: st.DrawFn, nested: bool) -> Block:
    stream = draw(st.sampled_from(STREAMS))
    if not nested:
        return Block(stream)
    return Block(stream, "//item", draw(st.booleans()), draw(st.sampled_from([False, False, True])))


def _read(
    draw: st.DrawFn, component: Component, indices: Sequence[Any], attributes: Sequence[str]
) -> Read:
    index = draw(st.sampled_from(indices)) if component.kleene else None
    return Read(component.name, draw(st.sampled_from(attributes)), index)


@st.composite
def _term(draw: st.DrawFn, of: list[Component], running: str | None) -> Term:
    component = draw(st.sampled_from(of))
    indices = ["1", "LEN"] + (["i", "i-1"] if running == component.name else [])
    kinds = ["read"] * 4 + ["number", "text", "sum"]
    if component.kleene:
        kinds += ["aggregate"] * 3 + ["length"]
    match draw(st.sampled_from(kinds)):
        case "number":
            return Number(draw(st.sampled_from([0.0, 1.0, 2.0, 2.5, 6.0])))
        case "text":
            return Text(draw(st.sampled_from(["u", "w", "2", "odd"])))
        case "sum":
            sign = draw(st.sampled_from("+-*/%"))
            left = _read(draw, component, indices, ["p", "v", "timestamp"])
            right: Term = Number(draw(st.sampled_from([0.0, 1.0, 2.0])))
            if draw(st.booleans()):
                right = _read(draw, draw(st.sampled_from(of)), ["1"], ["p", "v"])
            whole = Arithmetic(sign, left, right)
            return Negative(whole) if draw(st.booleans()) else whole
        case "length":
            return Length(component.name)
        case "aggregate":
            function: Any = draw(st.sampled_from(["avg", "sum", "min", "max", "count"]))
            attribute = draw(st.sampled_from(["p", "v"]))
            if function == "count" and draw(st.booleans()):
                attribute = None
            previous = running == component.name and draw(st.booleans())
            return Aggregate(function, component.name, attribute, previous)
    return _read(draw, component, indices, [*ATTRIBUTES, "timestamp", "document"])


@st.composite
def _comparison(draw: st.DrawFn, of: list[Component], running: str | None) -> Comparison:
    sign = draw(st.sampled_from(["=", "!=", "<", "<=", ">", ">="]))
    return Comparison(sign, draw(_term(of, running)), draw(_term(of, running)))


@st.composite
def _conjunct(draw: st.DrawFn, components: Sequence[Component]) -> tuple[Comparison, ...]:
    of = [one for one in components if not one.negated]
    if negated := [one for one in components if one.negated and draw(st.booleans())]:
        of.append(negated[0])
    kleene = [one.name for one in of if one.kleene]
    running = draw(st.sampled_from(kleene)) if kleene and draw(st.booleans()) else None
    return tuple(draw(_comparison(of, running)) for _ in range(draw(st.sampled_from([1, 1, 2]))))


@st.composite
def drawn_query(draw: st.DrawFn, name: str) -> Query:
    """A query, now and then with an absence at both of its ends."""
    event, nested = draw(st.booleans()), draw(st.sampled_from([False, False, True]))
    components = []
    count = draw(st.integers(1, 4))
    ends = count > 2 and draw(st.sampled_from([False, False, True]))
    for place in range(count):
        many = draw(st.sampled_from([1, 1, 1, 2]))
        blocks = tuple(draw(_block(nested)) for _ in range(many))
        negated = draw(st.sampled_from([False, False, True]))
        if ends and place in (0, count - 1):
            negated = True
        kleene = not event and not negated and draw(st.booleans())
        anyhow = many > 1 or draw(st.sampled_from([False, False, False, True]))
        components.append(Component(f"x{place}", blocks, kleene, negated, anyhow))
    if all(component.negated for component in components):
        components.append(Component("y", (draw(_block(nested)),)))
    within = draw(st.sampled_from([None, 2.0, 4.5, 6.0]))
    if components[-1].negated:
        within = within or 3.0
    tests = tuple(draw(st.lists(_test(), max_size=2, unique=True)))
    strategy = "skip_till_any_match" if event else draw(st.sampled_from(STRATEGIES))
    if strategy == "partition_contiguity" and not tests:
        tests = (Test("k"),)
    conjuncts = tuple(draw(st.lists(_conjunct(components), max_size=2)))
    overlapping = draw(st.sampled_from([True, True, False]))
    return Query(name, tuple(components), strategy, conjuncts, tests, within, not overlapping)


@st.composite
def _test(draw: st.DrawFn) -> Test:
    attribute = draw(st.sampled_from(["k", "k", "k", "p", "n/s"]))
    constant = draw(st.sampled_from([None, None, Text("u"), Number(2.0)]))
    return Test(attribute, constant)


@st.composite
def scenes(draw: st.DrawFn, queries: int = 2, documents: int = 9) -> Scene:
    """Some queries, and documents in an order of arrival that is not that of time."""
    count = draw(st.integers(1, documents))
    times = [draw(st.integers(0, 16)) / 2 for _ in range(count)]
    drawn = [draw(drawn_document(f"d{i}", time)) for i, time in enumerate(times)]
    nodes = [node for _, some in drawn for node in some]
    return Scene(
        [draw(drawn_query(f"Q{i}")) for i in range(queries)],
        [envelope for envelope, _ in drawn],
        selecting(nodes),
    )


# Texts


def text_of(query: Query) -> str:
    """A query's text; a PATTERN where it has a strategy or a Kleene plus that EVENT lacks."""
    kleene = any(component.kleene for component in query.components)
    is_event = query.strategy == "skip_till_any_match" and not kleene
    components = ", ".join(map(_component, query.components))
    parts = [f"{'EVENT' if is_event else 'PATTERN'} SEQ({components})"]
    kleenes = {component.name for component in query.components if component.kleene}
    conditions = [_test_text(test) for test in query.tests] + [
        "(" + " OR ".join(_comparison_text(one, kleenes) for one in conjunct) + ")"
        for conjunct in query.conjuncts
    ]
    condition = " AND ".join(conditions)
    if not is_event:
        parts.append(f"WHERE {query.strategy} {{ {condition} }}")
    elif condition:
        parts.append(f"WHERE {condition}")
    if query.within is not None:
        parts.append(f"WITHIN {query.within:g} s")
    if query.non_overlapping:
        parts.append("OUTPUT NON OVERLAPPING")
    return " ".join(parts)


def _component(component: Component) -> str:
    blocks = ", ".join(map(_block_text, component.blocks))
    types = f"ANY({blocks})" if component.any else blocks
    plus, brackets = ("+", "[]") if component.kleene else ("", "")
    return f"{'!' if component.negated else ''}{types}{plus} {component.name}{brackets}"


def _block_text(block: Block) -> str:
    filtered = "[f = 'x']" if block.filtered else ""
    keyed = "[./k->key]" if block.keyed else ""
    return f"{block.stream}{block.path}{filtered}{keyed}"


def _test_text(test: Test) -> str:
    constant = "" if test.constant is None else f" = {_term_text(test.constant, set())}"
    return f"[{test.attribute}{constant}]"


def _comparison_text(comparison: Comparison, kleene: set[str]) -> str:
    left, right = (_term_text(one, kleene) for one in (comparison.left, comparison.right))
    return f"{left} {comparison.operator} {right}"


def _term_text(term: Term, kleene: set[str]) -> str:
    match term:
        case Number(value):
            return f"{value:g}"
        case Text(value):
            return f"'{value}'"
        case Read(variable, attribute, index):
            if variable not in kleene:
                return f"{variable}.{attribute}"
            place = f"{variable}.LEN" if index == "LEN" else index
            return f"{variable}[{place}].{attribute}"
        case Length(variable):
            return f"{variable}.LEN"
        case Aggregate(function, variable, attribute, previous):
            index = "..i-1" if previous else ""
            read = "" if attribute is None else f".{attribute}"
            return f"{function}({variable}[{index}]{read})"
        case Arithmetic(sign, left, right):
            return f"({_term_text(left, kleene)} {sign} {_term_text(right, kleene)})"
        case Negative(operand):
            return f"-({_term_text(operand, kleene)})"
