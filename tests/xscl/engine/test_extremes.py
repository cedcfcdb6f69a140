"""The deepest, widest and longest documents: an answer or a clear refusal, within seconds.

The guard is generous, for a machine that has other things to do.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

import xscl

MANY = 30_000
"""So many that what takes their square takes minutes."""
GUARD = 60.0


@contextmanager
def in_time() -> Iterator[None]:
    start = monotonic()
    yield
    assert monotonic() - start < GUARD


def answer(queries: str, *documents: Any, stream: str = "S") -> list[xscl.Match] | str:
    """The matches of all documents, or the reason why one was refused; nothing else may happen."""
    with in_time(), xscl.Engine() as engine:
        engine.load(queries)
        found: list[xscl.Match] = []
        try:
            for number, document in enumerate(documents):
                found += engine.publish(stream, document, id=str(number), timestamp=number)
        except xscl.DocumentError as refused:
            assert engine.skipped.malformed == 1
            return refused.problem
        return found


def together(queries: Iterable[str]) -> str:
    """Queries that are subscribed together: each has its place in this list for a name."""
    return ";\n".join(f"-- name: {number}\n{query}" for number, query in enumerate(queries))


def deep_xml(levels: int) -> str:
    return "<a>" * levels + "x" + "</a>" * levels


def deep_json(levels: int, *, array: bool = False) -> Any:
    value: Any = "x"
    for _ in range(levels - 1):
        value = [value] if array else {"a": value}
    return value


# The deepest.

DEEP_QUERIES = [
    "S//*[not(*)]",
    "S//*->x[. = 'x']",
    "S//*->x JOIN {x = y} S//*->y",
    "S//*->x//*->y",
    "S//*[.//*][*]",
    "SELECT <r>{x}</r> FROM S/*->x",
    "SELECT {\"x\": x} FROM S/*->x",
    f"S{'/*' * 256}",
]  # fmt: skip


@pytest.mark.parametrize("query", DEEP_QUERIES)
@pytest.mark.parametrize("kind", ["xml", "objects", "arrays"])
def test_256_levels_are_accepted(query: str, kind: str) -> None:
    document = {
        "xml": deep_xml(256),
        "objects": deep_json(256),
        "arrays": deep_json(256, array=True),
    }[kind]
    found = answer(query, document)
    assert not isinstance(found, str), found
    for match in found[:3]:
        assert json.dumps(match.to_dict())


def test_many_ways_to_each_of_256_levels() -> None:
    assert len(answer(f"S{'//*' * 4}", deep_xml(256))) == 256 - 3


@pytest.mark.parametrize("levels", [257, 300, 5_000, 1_000_000])
def test_deeper_xml_is_refused(levels: int) -> None:
    assert "it is deeper than 256 elements" in str(answer("S//a", deep_xml(levels)))
    assert "it is deeper than 256 elements" in str(answer("S//a", deep_xml(levels).encode()))


@pytest.mark.parametrize("array", [True, False])
@pytest.mark.parametrize("levels", [257, 300, 5_000, 100_000])
def test_deeper_json_is_refused(levels: int, array: bool) -> None:
    document = deep_json(levels, array=array)
    assert "it is deeper than 256 elements" in str(answer("S//a", document))
    while isinstance(document, list | dict) and document:
        # Python itself processes such a value by recursion.
        document = document.pop() if isinstance(document, list) else document.popitem()[1]


def test_deep_and_never_closed() -> None:
    assert "line 1, column" in str(answer("S//a", "<a>" * 1_000_000))


# The widest.


def siblings(name: str, number: int = MANY, *, distinct: bool = True) -> str:
    leaves = "".join(
        f'<n k="{i % 7}">{i if distinct else "v"}</n>' for i in range(number)
    )  # fmt: skip
    return f"<{name}>{leaves}</{name}>"


SIBLING_FILTERS: list[tuple[str, int | None]] = [
    ("S//n[. = '77']", 1),
    ("S//n[@k = '3'][contains(., '777')]", None),
    ("S//n[1]", 1),
    ("S//n[last()]", 1),
    ("S//n[@k = '6'][last()]", 1),
    ("S/a[n = '29999']", 1),
    ("S/a[count(n) = 30000]", 1),
    ("S/a[.//n[ends-with(., '9999')]]", 1),
    ("S/a[not(n = 'none')]", 1),
    ("S/a/n[matches(., '^[12]?9999$')]", 3),
    ("S/a[n/@k = '3' and n > 29993]", 1),
    ("SELECT x/n[last()] FROM S/a->x", 1),
]


def test_many_siblings_and_filters() -> None:
    found = answer(together(query for query, _ in SIBLING_FILTERS), siblings("a"))
    assert not isinstance(found, str), found
    counts = Counter(match.query for match in found)
    for number, (query, matches) in enumerate(SIBLING_FILTERS):
        assert matches in (None, counts[str(number)]), query
    assert all(match.result for match in {match.query: match for match in found}.values())


SIBLING_JOINS = [
    ("S/a[n->x] FOLLOWED BY {x = y} S/b[n->y]", 1),
    ("S/a[n->x] FOLLOWED BY {x = y AND x > 29998} S/b[n->y]", 1),
    ("S/a->v FOLLOWED BY {v/n = w/n} S/b->w", 1),
    ("S/a[n->x] FOLLOWED BY {x = y AND x = '7'} S/b[n->y]", 1),
    ("S/a[n->x] FOLLOWED BY {number(x) = y OR lower-case(x) = y} S/b[n->y]", 1),
    ("SELECT x FROM S/a[n->x] FOLLOWED BY {x = y} S/b[n->y[. > 29990]]", 9),
    ("SELECT x, y FROM S/a[n->x] FOLLOWED BY {x = y AND x > 29990} S/b[n->y]", 9),
    ("S/a[n/@k->x] FOLLOWED BY {x = y} S/b[n[. = '1']/@k->y]", 1),
]


def test_many_siblings_and_joins() -> None:
    found = answer(together(query for query, _ in SIBLING_JOINS), siblings("a"), siblings("b"))
    assert not isinstance(found, str), found
    counts = Counter(match.query for match in found)
    for number, (query, pairs) in enumerate(SIBLING_JOINS):
        assert counts[str(number)] == pairs, query


def test_many_siblings_of_json() -> None:
    query = "SELECT x FROM S/json/a->x[. > 29990] FOLLOWED BY {x = y} S/json/b->y"
    found = answer(query, {"a": list(range(MANY))}, {"b": list(range(MANY))})
    assert not isinstance(found, str), found
    assert [match.result for match in found] == [{"a": n} for n in range(29_991, MANY)]


def test_many_matches_in_one_document() -> None:
    with in_time(), xscl.Engine() as engine:
        engine.subscribe("S//n", name="all")
        assert dict(engine.count([{"xml": siblings("a")}])) == {"all": MANY}


def test_many_attributes() -> None:
    attributes = " ".join(f'k{i}="{i}"' for i in range(20_000))
    found = answer("S/a[@*->x] FOLLOWED BY {x = y} S/b->y", f"<a {attributes}/>", "<b>77</b>")
    assert isinstance(found, str) or len(found) == 1


def test_many_names() -> None:
    names = "".join(f"<n{i}/>" for i in range(MANY))
    found = answer("S//n777", f"<a>{names}</a>")
    assert not isinstance(found, str), found
    assert len(found) == 1
    keys = answer("S//'key 777'", {f"key {i}": i for i in range(MANY)})
    assert not isinstance(keys, str), keys
    assert [match.result for match in keys] == [777]


# The longest.

LONG = "x" * 12_000_000
"""Longer than a text node that libxml2 takes, of 10,000,000 bytes."""
LONG_QUERIES = [
    "S//t[. = 'x']",
    "S//t[contains(., 'xy')]",
    "S//t[matches(., '^(x|x)*y$')]",
    "S//t[lower-case(.) = 'x']",
    "S//t[normalize-space(.) = 'x']",
    "S//t[number(.) = 1]",
    "S//t->x FOLLOWED BY {x = y} S//t->y",
    "S//t->x FOLLOWED BY {x < y} S//t->y",
    "S//t->x FOLLOWED BY {lower-case(x) = normalize-space(y)} S//t->y",
    "S//t->x FOLLOWED BY {number(x) = number(y)} S//t->y",
    "S//t",
    "SELECT <r k='{x}'>{x}{string(x)}</r> FROM S//t->x",
]


def pieces() -> str:
    """A text of nodes each of which is short enough."""
    return f"<a><t>{'<i/>'.join([LONG[:3_000_000]] * 4)}</t></a>"


@pytest.mark.parametrize("document", [pieces, lambda: {"t": LONG}], ids=["pieces", "json"])
def test_a_long_text(document: Callable[[], Any]) -> None:
    one = document()
    found = answer(together(LONG_QUERIES), one, one)
    assert not isinstance(found, str), found
    assert all(match.result for match in {match.query: match for match in found}.values())


@pytest.mark.parametrize("query", ["S//t", LONG_QUERIES[0], LONG_QUERIES[-1]])
@pytest.mark.parametrize(
    "document", [f"<a><t>{LONG}</t></a>", f'<a><t k="{LONG}"/></a>'], ids=["element", "attribute"]
)
@pytest.mark.parametrize("encoded", [False, True])
def test_a_node_that_is_too_long_is_refused(query: str, document: str, encoded: bool) -> None:
    found = answer(query, document.encode() if encoded else document)
    assert isinstance(found, str), found
    assert "line 1, column" in found
    assert len(found) < 300


def test_long_strings_that_join() -> None:
    query = "S//t->x FOLLOWED BY {x = y} S//u->y"
    found = answer(query, {"t": LONG}, {"u": LONG}, {"u": LONG[:-1]})
    assert not isinstance(found, str), found
    assert len(found) == 1


def test_long_names() -> None:
    name = "n" * 40_000
    found = answer(f"S//{name}", f"<{name}/>")
    assert not isinstance(found, str), found
    assert len(found) == 1
    key = "k " * 100_000
    keys = answer(f"S//'{key}'", {key: 1})
    assert isinstance(keys, str) or len(keys) == 1


def test_a_name_that_is_too_long_is_refused() -> None:
    name = "n" * 1_000_000
    found = answer("S//a", f"<{name}/>")
    assert found == [] or "line 1" in str(found)


def test_numbers_beyond_32_bits(tmp_path: Path) -> None:
    """An engine that has seen more than 2,147,483,647 documents, results and composites goes on,
    and can be reopened."""
    state = tmp_path / "s.duckdb"
    expected = []
    for first in (0, 2**31 - 7):
        with xscl.Engine(state, lateness=0) as engine:
            keeper = engine._transactions.keeper
            assert keeper is not None
            # As if so many had come, and been written.
            engine._intake.next_number = keeper._first = first
            engine.load("S/i->a JOIN {1 h} T/i->b; S/i->a JOIN {1 h} T/i->b JOIN {1 h} U/i->c")
            found = [len(engine.publish(one, "<i/>", id=one, timestamp=1)) for one in "STU"]
            many = [
                {"stream": stream, "id": f"{stream}{n}", "timestamp": 2, "xml": "<i/>"}
                for n in range(40)
                for stream in "ST"
            ]
            found.append(len(engine.publish_many(many)))
            found.append(len(engine.subscribe("S/i->a JOIN {2 h} U/i->b", history=True).found))
        with xscl.Engine(state) as engine:
            found.append(len(engine.publish("T", "<i/>", id="again", timestamp=3)))
        state.unlink()
        expected.append(found)
    assert expected[0] == expected[1]
