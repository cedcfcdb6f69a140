"""What a join's predicate may say, on documents: OR, literals, functions, paths, nothing at all."""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import pytest

import xscl


def a(*values: str, name: str = "a") -> str:
    """An element with a leaf `n` for each value."""
    return f"<{name}>{''.join(f'<n>{value}</n>' for value in values)}</{name}>"


def b(*values: str) -> str:
    return a(*values, name="b")


def pairs(query: str, *documents: str | dict[str, Any]) -> list[str]:
    """The pairs of documents that match, numbered from 0."""
    (found,) = pairs_of([query], *documents)
    return found


def pairs_of(queries: Sequence[str], *documents: str | dict[str, Any]) -> list[list[str]]:
    """The pairs of each query of one engine; counted equally, one by one and together."""
    envelopes = [
        {"id": str(n), "timestamp": n, "json" if isinstance(document, dict) else "xml": document}
        for n, document in enumerate(documents)
    ]
    with xscl.Engine() as singly, xscl.Engine() as together, xscl.Engine() as counting:
        for number, query in enumerate(queries):
            for engine in (singly, together, counting):
                engine.subscribe(query, name=str(number))
        found = [match for envelope in envelopes for match in singly.publish_many([envelope])]
        together = together.publish_many(envelopes)
        assert {match.id for match in found} == {match.id for match in together}
        counts = Counter(match.query for match in found)
        assert counts == Counter(m.query for m in together) == +counting.count(envelopes)
    return [
        sorted("".join(match.documents) for match in found if match.query == str(number))
        for number in range(len(queries))
    ]


def pairs_by(
    query: str, parts: Iterable[str], *documents: str | dict[str, Any]
) -> dict[str, list[str]]:
    """The pairs by the part that replaces %s in a query; all queries are of one engine."""
    parts = list(parts)
    return dict(zip(parts, pairs_of([query % part for part in parts], *documents), strict=True))


# OR.


DISJUNCTS = {
    "x = y": ["02"],
    "x = y OR x = z": ["02", "03"],
    "x = y OR x = z OR x = y": ["02", "03"],
    "x = y AND x = z": [],
    "x = y OR x = z AND x = y": ["02"],
    "(x = y OR x = z) AND x = '1'": ["02", "03"],
    "(x = y OR x = z) AND (x = z OR z = '2')": ["02", "03"],
    "x = y OR x != y": ["02", "03", "12", "13"],
    "x = '1' OR x = '9'": ["02", "03", "12", "13"],
    "'1' = '2' OR x = y": ["02"],
    "'1' = '2'": [],
    "'1' = '1' OR x = y": ["02", "03", "12", "13"],
    "y < z OR y > z": ["02", "03", "12", "13"],
}


def test_or() -> None:
    documents = [a("1"), a("9"), "<b><y>1</y><z>2</z></b>", "<b><y>2</y><z>1</z></b>"]
    query = "S/a[n->x] JOIN {%s} S/b[y->y][z->z]"
    assert pairs_by(query, DISJUNCTS, *documents) == DISJUNCTS


def test_a_match_of_several_disjuncts_is_one() -> None:
    """Also where each disjunct holds by other nodes, and by several."""
    query = "S/a[n->x] JOIN {x = y OR x != y OR x < y OR x <= y OR lower-case(x) = y} S/b[n->y]"
    assert pairs(query, a("1", "2"), b("1", "2", "2")) == ["01"]


def test_disjuncts_agree_on_the_selected_nodes_only() -> None:
    query = "SELECT x FROM S/a[n->x] JOIN {x = y OR x < y} S/b[n->y]"
    assert pairs(query, a("1", "2"), b("1", "2", "2")) == ["01", "01"]
    query = "SELECT x, y FROM S/a[n->x] JOIN {x = y OR x <= y} S/b[n->y]"
    assert pairs(query, a("1", "2"), b("1", "2", "2")) == ["01"] * 5


def test_disjuncts_of_one_query_do_not_count_for_another() -> None:
    with xscl.Engine() as engine:
        engine.load(
            "-- name: both\nS/a[n->x] JOIN {x = y OR x <= y} S/b[n->y];\n"
            "-- name: first\nS/a[n->x] JOIN {x = y} S/b[n->y];\n"
            "-- name: second\nS/a[n->x] JOIN {x <= y} S/b[n->y]"
        )
        envelopes = [{"xml": text} for text in (a("1"), b("1"), b("2"), b("0"))]
        assert dict(engine.count(envelopes)) == {"both": 2, "first": 1, "second": 2}


def test_a_cancelled_query_takes_all_of_its_disjuncts_along() -> None:
    with xscl.Engine() as engine:
        query = engine.subscribe("S/a[n->x] JOIN {x = y OR x < y} S/b[n->y]")
        engine.publish("S", a("1"))
        assert len(engine.publish("S", b("1"))) == 1
        query.cancel()
        assert engine.publish("S", b("1")) == []
        engine.subscribe("S/a[n->x] JOIN {x = y OR x < y} S/b[n->y]")
        engine.publish("S", a("1"))
        assert len(engine.publish("S", b("2"))) == 1


def test_a_query_that_never_matches_is_a_query() -> None:
    with xscl.Engine() as engine:
        engine.subscribe("S/a->x JOIN {'a' = 'b'} S/b->y", name="never")
        assert engine.publish("S", a("1")) == []
        assert engine.publish("S", b("1")) == []
        assert dict(engine.count([{"xml": a("1")}])) == {"never": 0}
        assert "never holds" in engine.explain("never")
        engine.cancel("never")


# Literals.

NUMBERS = [a("9"), a("10"), a("9a"), a("7.0"), a("7"), a("NaN"), a(" 9 "), a("")]


LITERALS = [
    ("x = '9'", "0"),
    ("'9' = x", "0"),
    ("x = 9", "0"),
    ("x = 7", "4"),
    ("x = 7.0", "4"),
    ("x = '7.0'", "3"),
    ("x != 9", "1234567"),
    ("x > 8", "0126"),
    ("8 < x", "0126"),
    ("x < 10", "03467"),
    ("10 > x", "03467"),
    ("x >= '9'", "0126"),
    ("'9' <= x", "0126"),
    ("x < '9a'", "013467"),
    ("number(x) = 9", "06"),
    ("9 = number(x)", "06"),
    ("number(x) != 9", "123457"),
    ("number(x) > 8", "016"),
    ("x = 'NaN'", "5"),
    ("x = number('NaN')", ""),
    ("x != number('NaN')", "01234567"),
    ("number(x) = 'NaN'", ""),
    ("number(x) < 'x'", "01346"),
    ("normalize-space(x) = '9'", "06"),
    ("x = ''", "7"),
    ("lower-case(x) = lower-case('NAN')", "5"),
]
"""Tests of NUMBERS, and those that each holds for."""


def test_literals() -> None:
    """Pushed into the block, on either side; by number where both sides are."""
    expected = [those for _, those in LITERALS]
    left = [f"S/a[n->x] FOLLOWED BY {{{test}}} S/z" for test, _ in LITERALS]
    found = pairs_of(left, *NUMBERS, "<z/>")
    assert ["".join(pair[0] for pair in each) for each in found] == expected
    right = [f"S/z FOLLOWED BY {{{test}}} S/a[n->x]" for test, _ in LITERALS]
    found = pairs_of(right, "<z/>", *NUMBERS)
    assert ["".join(str(int(pair[1]) - 1) for pair in each) for each in found] == expected


def test_literals_with_quotes_of_either_kind() -> None:
    query = "S/a[n->x] JOIN {x = 'it''s \"so\"'} S/z"
    assert pairs(query, a('it\'s "so"'), a("it's"), "<z/>") == ["02"]


def test_a_literal_and_an_equality() -> None:
    query = "S/a[n->x] JOIN {x = y AND y != '1' AND x < 5} S/b[n->y]"
    assert pairs(query, a("1"), a("2"), a("7"), b("1", "2", "7")) == ["13"]


def test_a_literal_on_an_attribute_and_on_an_output_node() -> None:
    query = "S/a/@k->x JOIN {x = 'v' AND y = 'w'} S/b->y"
    assert pairs(query, '<a k="v"/>', '<a k="w"/>', "<b>w</b>", "<b>v</b>") == ["02"]


# Functions.


CALLS = {
    "lower-case(x) = y": ["04", "24"],
    "lower-case(x) = lower-case(y)": ["04", "05", "24", "25"],
    "x = lower-case(y)": ["24", "25"],
    "normalize-space(x) = y": ["24", "35"],
    "lower-case(normalize-space(x)) = lower-case(normalize-space(y))": [
        "04",
        "05",
        "24",
        "25",
        "34",
        "35",
    ],
    "normalize-space(lower-case(x)) = normalize-space(lower-case(y))": [
        "04",
        "05",
        "24",
        "25",
        "34",
        "35",
    ],
    "lower-case(x) != y": ["05", "14", "15", "25", "34", "35"],
    "lower-case(x) = y AND x = y": ["24"],
    "lower-case(x) = y AND x != y": ["04"],
}


def test_functions() -> None:
    documents = [a("TITLE"), a("other"), a("title"), a(" Title\n"), b("title"), b("Title")]
    assert pairs_by("S/a[n->x] JOIN {%s} S/b[n->y]", CALLS, *documents) == CALLS


def test_numbers_join_by_value_and_nan_with_nothing() -> None:
    values = ["7", "7.0", " 7 ", "070e-1", "x", "NaN", "", "INF"]
    documents = [*(a(value) for value in values), *(b(value) for value in values)]
    found = pairs(
        "SELECT x, y FROM S/a[n->x] JOIN {number(x) = number(y)} S/b[n->y]", *documents[:4], b("7")
    )
    assert found == ["04", "14", "24", "34"]
    each = [f"S/a[n->x] JOIN {{number(x) {one} number(y)}} S/b[n->y]" for one in OPERATORS]
    for value in ("x", "NaN", ""):
        assert pairs_of(each, a(value), b(value)) == [[], ["01"], [], [], [], []]
    infinite = "S/a[n->x] JOIN {number(x) = number(y)} S/b[n->y]"
    assert pairs(infinite, a("INF"), b(" INF "), b("1e999"), b("-INF")) == ["01", "02"]


OPERATORS = ("=", "!=", "<", "<=", ">", ">=")
COMPARED = [
    ("9", "10", "< <= !="),
    ("9", "9.0", "<= >= !="),
    ("9", "10a", "> >= !="),
    ("NaN", "NaN", "="),
    ("NaN", "1", "!="),
    ("INF", "1", "> >= !="),
    ("-INF", "INF", "< <= !="),
    (" 9 ", "9", "<= >= !="),
    ("", "", "= <= >="),
    ("", "0", "< <= !="),
    ("é", "z", "> >= !="),
]
"""Two values, and what holds between them."""


def test_nodes_compare_as_numbers_where_both_are() -> None:
    documents = [
        a(value, name=f"{side}{number}")
        for number, (left, right, _) in enumerate(COMPARED)
        for side, value in (("a", left), ("b", right))
    ]
    cases = [(n, one) for n in range(len(COMPARED)) for one in OPERATORS]
    queries = [f"S/a{n}[n->x] JOIN {{x {one} y}} S/b{n}[n->y]" for n, one in cases]
    for (n, one), found in zip(cases, pairs_of(queries, *documents), strict=True):
        assert bool(found) == (one in COMPARED[n][2].split()), (COMPARED[n], one)


# Paths from variables.

NESTED = '<a><m k="1"><n>1</n><n>2</n></m><m k="3"><o><n>3</n></o></m></a>'


PATHS = {
    "x/m/n = y": ["01", "02"],
    "x//n = y": ["01", "02", "03"],
    "y = x//n": ["01", "02", "03"],
    "x/m/@k = y": ["01", "03"],
    "x//@k = y": ["01", "03"],
    "x/m/*/n = y": ["03"],
    "x/m[@k = '1']/n = y": ["01", "02"],
    "x/m[n]//n[last()] = y": ["02"],
    "x/none = y": [],
    "x/m/@k = y AND x//n = y": ["01", "03"],
    "lower-case(x/m/o) = y/text": [],
    "x//n != y": ["01", "02", "03", "04"],
    "x//n < y": ["02", "03", "04"],
    "x/m/@k > 2": ["01", "02", "03", "04"],
}


def test_paths_from_variables() -> None:
    query = "S/a->x JOIN {%s} S/b[n->y]"
    assert pairs_by(query, PATHS, NESTED, b("1"), b("2"), b("3"), b("4")) == PATHS
    with pytest.raises(xscl.QueryError):
        pairs(query % "x//n = y/../n")


def test_each_occurrence_of_a_path_has_its_own_nodes() -> None:
    """`x/n = y AND x/n = z` may hold by two nodes, a variable that is bound only by one."""
    document = "<b><y>1</y><z>2</z></b>"
    fresh = "S/a->x JOIN {x/n = y AND x/n = z} S/b[y->y][z->z]"
    bound = "S/a[n->n] JOIN {n = y AND n = z} S/b[y->y][z->z]"
    assert pairs(fresh, a("1", "2"), document) == ["01"]
    assert pairs(bound, a("1", "2"), document) == []
    contradiction = "S/a->x JOIN {x/n = y/n AND x/n != y/n} S/b->y"
    assert pairs(contradiction, a("1", "2"), b("1")) == ["01"]
    assert pairs(contradiction, a("1"), b("1")) == []


def test_nodes_of_paths_multiply_no_matches() -> None:
    assert pairs("S/a->x JOIN {x/n = y/n} S/b->y", a("1", "1", "2"), b("1", "2", "1")) == ["01"]


def test_paths_hang_on_the_node_of_their_variable() -> None:
    """Two items of one document: title and author must be of the same one."""
    query = "S//i->x JOIN {x/t = y/t AND x/u = y/u} S/b->y"
    document = "<a><i><t>1</t><u>2</u></i><i><t>2</t><u>1</u></i></a>"
    assert pairs(query, document, "<b><t>1</t><u>2</u></b>", "<b><t>1</t><u>1</u></b>") == ["01"]


def test_a_path_from_an_attribute_has_no_nodes() -> None:
    assert pairs("S/a/@k->x JOIN {x/n = y} S/b[n->y]", '<a k="1"><n>1</n></a>', b("1")) == []


def test_paths_under_functions_from_both_sides() -> None:
    query = "S/a->x JOIN {lower-case(x//n) = normalize-space(y/m/@k)} S/b->y"
    assert pairs(query, a("V"), '<b><m k=" v "/></b>', '<b><m k="V"/></b>') == ["01"]


# No equality.


CROSSED = {
    "JOIN {}": ["02", "03", "12", "13"],
    "FOLLOWED BY {}": ["02", "03", "12", "13"],
    "JOIN {1 s}": ["12"],
    "FOLLOWED BY {2 s}": ["02", "12", "13"],
    "JOIN {x != y}": ["02", "03", "13"],
    "JOIN {x < y, 2 s}": ["02", "13"],
    "JOIN {x/n != y/n OR x/n > y/n, 1 s}": [],
    "JOIN {'1' = '1'}": ["02", "03", "12", "13"],
}


def test_joins_without_an_equality() -> None:
    found = pairs_by("S/a->x %s S/b->y", CROSSED, a("1"), a("2"), b("2"), b("3"))
    assert found == CROSSED


def test_a_cross_product_over_one_stream_is_of_different_documents() -> None:
    assert pairs("S/a JOIN {} S/a", a("1"), a("1")) == ["01", "10"]
    assert pairs("S JOIN {} S", a("1"), b("1")) == ["01", "10"]
    assert pairs("S FOLLOWED BY {} S", a("1"), b("1")) == ["01"]


def test_a_join_without_an_equality_says_what_it_costs() -> None:
    with xscl.Engine() as engine:
        engine.subscribe("S/a->x JOIN {x != y, 5 s} S/b->y", name="dear")
        assert "no equality between the blocks: a cross product within 5 s" in engine.explain(
            "dear"
        )


@pytest.mark.parametrize("in_process", [0, 1000])
@pytest.mark.parametrize(
    ("predicate", "matches"),
    [
        ("number(x) = number(x)", 2),
        ("number(normalize-space(x)) = number(normalize-space(x))", 2),
        ("normalize-space(number(x)) = normalize-space(number(x))", 4),
        ("number(x) != number(x)", 2),
        ("number(x) != number(y)", 3),
        ("lower-case(x) = y AND number(x) = number(x)", 1),
        ("lower-case(x) = y AND number(x) != number(x)", 1),
    ],
)
def test_no_number_equals_nothing_not_even_itself(
    predicate: str, matches: int, in_process: int
) -> None:
    texts = "<a>q</a>", "<b>q</b>", "<a>7</a>", "<b>7</b>"
    with xscl.Engine(strategies=xscl.Strategies(in_process=in_process)) as engine:
        engine.subscribe(f"S//a->x JOIN {{{predicate}}} S//b->y")
        assert len(engine.publish_many([{"xml": text} for text in texts])) == matches


ORDERS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


@pytest.mark.parametrize(
    ("query", "compared"),
    [
        ("S//a->a[./x->x][./y->y] JOIN {{x = z AND x {} y}} S//b[./z->z]", "xy"),
        ("S//b[./z->z] JOIN {{x = z AND x {} y}} S//a->a[./x->x][./y->y]", "xy"),
        ("S//b[./z->z] JOIN {{z = x AND y {} x}} S//a->a[./x->x][./y->y]", "yx"),
        ("S//a->a[./x->x][./y->y] JOIN {{x = z AND y {} z}} S//b[./z->z]", "yx"),
        ("S//b[./z->z] JOIN {{x = z AND z {} y}} S//a->a[./x->x][./y->y]", "xy"),
    ],
)
def test_orders_that_differ_in_direction_alone_are_distinguished(query: str, compared: str) -> None:
    """Several queries of one engine, which are equal up to that."""
    documents = {f"{x}{y}": f"<a><x>{x}</x><y>{y}</y></a>" for x in (1, 2, 3) for y in (1, 2, 3)}
    documents |= {f"b{z}": f"<b><z>{z}</z></b>" for z in (1, 2, 3)}
    batch = [{"id": id, "timestamp": 0, "xml": xml} for id, xml in documents.items()]
    with xscl.Engine() as singly, xscl.Engine() as together:
        for engine in (singly, together):
            for order in ORDERS:
                engine.subscribe(query.format(order), name=order)
        found = [match for one in batch for match in singly.publish_many([one])]
        together = together.publish_many(batch)
    assert {match.id for match in found} == {match.id for match in together}
    for order, holds in ORDERS.items():
        expected = {
            f"{x}{y}"
            for x in (1, 2, 3)
            for y in (1, 2, 3)
            if (holds(x, y) if compared == "xy" else holds(y, x))
        }
        some = [{*match.documents} for match in found if match.query == order]
        assert len(some) == len(expected)
        assert {id for one in some for id in one if id[0] != "b"} == expected
