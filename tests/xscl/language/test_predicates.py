"""Predicates and windows of joins (docs/semantics.md#predicates)."""

from __future__ import annotations

import pytest

from xscl.language import parse
from xscl.language.syntax import (
    Comparison,
    Conjunction,
    Disjunction,
    Join,
    Literal,
    Parameter,
    Predicate,
    Side,
    VariablePath,
    Wrapped,
)


def join(text: str) -> Join:
    queries, errors = parse(f"S//a->x[b->inf][c->or] Join {text} S//a->y[b->x'][c->x'']")
    assert not errors, "\n\n".join(map(str, errors))
    [query] = queries
    assert isinstance(query.source, Join)
    return query.source


def shown(predicate: Predicate | None) -> str:
    """A predicate with all its parentheses."""
    match predicate:
        case None:
            return ""
        case Comparison(operator, left, right):
            return f"{side(left)} {operator} {side(right)}"
        case Conjunction(parts):
            return f"({' AND '.join(map(shown, parts))})"
        case Disjunction(parts):
            return f"({' OR '.join(map(shown, parts))})"


def side(side_: Side) -> str:
    match side_:
        case VariablePath(variable, steps):
            return variable.text + "".join(
                s.axis + s.test + f"[{len(s.filters)}]" * bool(s.filters) for s in steps
            )
        case Literal(value):
            return repr(value)
        case Parameter(name):
            return f":{name}"
        case Wrapped(function, operand):
            return f"{function}({side(operand)})"


@pytest.mark.parametrize(
    ("text", "predicate", "length"),
    [
        ("{}", "", None),
        ("{x=y}", "x = y", None),
        ("{x=y, INF}", "x = y", None),
        ("{inf}", "", None),
        ("{inf = inf, inf}", "inf = inf", None),
        ("{7 days}", "", 604_800_000_000),
        ("{,2}", "", 2_000_000),
        ("{7 = x}", "7.0 = x", None),
        ("{x = 7, 20}", "x = 7.0", 20_000_000),
        ("{7 = x, 7}", "7.0 = x", 7_000_000),
        ("{1.5h}", "", 5_400_000_000),
        ("{7days}", "", 604_800_000_000),
        ("{1 WEEK}", "", 604_800_000_000),
        ("{.1 ms}", "", 100),
        ("{0.1 s}", "", 100_000),
        ("{3 mins}", "", 180_000_000),
        ("{0.0000019}", "", 1),
        ("{0}", "", 0),
        ("{x=y, 1 (: a :) hour}", "x = y", 3_600_000_000),
    ],
)
def test_constraints(text: str, predicate: str, length: int | None) -> None:
    source = join(text)
    assert shown(source.predicate) == predicate
    assert source.window.length == length


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x=y and y!=x AND x<y AnD x<=y AND x>y AND x>=y",
         "(x = y AND y != x AND x < y AND x <= y AND x > y AND x >= y)"),
        ("x = y OR x != y AND x < y", "(x = y OR (x != y AND x < y))"),
        ("x = y AND x != y or x < y", "((x = y AND x != y) OR x < y)"),
        ("(x = y OR x != y) AND x < y", "((x = y OR x != y) AND x < y)"),
        ("x = y OR (x = y OR x = y) OR x = y", "(x = y OR x = y OR x = y OR x = y)"),
        ("((x = y AND (x = y)) AND x = y)", "(x = y AND x = y AND x = y)"),
        ("((((x = y))))", "x = y"),
        ("$x' = x'' AND x'='v'", "(x' = x'' AND x' = 'v')"),
        ("or = inf OR inf = or", "(or = inf OR inf = or)"),
        ("x/b = y//c/@k", "x/b = y//c/@k"),
        ("x//dc:a[b and c = 'AND'][1] = y/*/'a name'",
         "x//{http://purl.org/dc/elements/1.1/}a[2] = y/*/a name"),
        ("x/and = y/or AND x/OR[a or b] = y", "(x/and = y/or AND x/OR[1] = y)"),
        ("x = 'it''s' AND \"v\" != y", "(x = \"it's\" AND 'v' != y)"),
        ("x > -1.5 AND - 2 < y AND x = .5", "(x > -1.5 AND -2.0 < y AND x = 0.5)"),
        ("'a' = 'b'", "'a' = 'b'"),
        ("lower-case(x) = lower-case( 'V' )", "lower-case(x) = lower-case('V')"),
        ("normalize-space (lower-case(x/b)) = y", "normalize-space(lower-case(x/b)) = y"),
        ("number(x) < 5 OR number(inf) = number(-5)",
         "(number(x) < 5.0 OR number(inf) = number(-5.0))"),
        (":p = x AND lower-case( :p) != x/b[c = :p]", "(:p = x AND lower-case(:p) != x/b[1])"),
        ("(lower-case(x) = y AND x = y) OR x = y", "((lower-case(x) = y AND x = y) OR x = y)"),
    ],
)  # fmt: skip
def test_predicates(text: str, expected: str) -> None:
    for constraint in (f"{{{text}}}", f"{{{text}, 7 days}}"):
        assert shown(join(constraint).predicate) == expected


@pytest.mark.parametrize(
    ("text", "name", "unit"),
    [
        ("{:n}", "n", "s"),
        ("{x = :n, :n days}", "n", "days"),
        ("{:days days}", "days", "days"),
        ("{ , :n(: c :)H}", "n", "H"),
    ],
)
def test_the_number_of_a_window_may_be_a_parameter(text: str, name: str, unit: str) -> None:
    window = join(text).window
    assert window.length is None
    assert window.parameter is not None
    assert (window.parameter.name, window.unit) == (name, unit)


def test_places() -> None:
    text = "S//a->x JOIN {(x = y AND (x/b < lower-case(y) OR x = -5))} S//b->y"
    [query], _ = parse(text)
    assert isinstance(query.source, Join)
    both = query.source.predicate
    assert isinstance(both, Conjunction)
    either = both.parts[1]
    assert isinstance(either, Disjunction)
    first, second = either.parts
    assert isinstance(first, Comparison)
    assert isinstance(second, Comparison)
    assert both.at == text.index("x =")
    assert either.at == first.at == first.left.at == text.index("x/b")
    assert first.right.at == text.index("lower")
    assert isinstance(first.right, Wrapped)
    assert first.right.operand.at == text.index("y)")
    assert second.right.at == text.index("-5")


def test_the_number_of_disjuncts_is_bounded() -> None:
    either = "(x = y OR x/b = y)"
    assert join(f"{{{' AND '.join([either] * 8)}}}")
    for text in (" AND ".join([either] * 9), " OR ".join(["x = y"] * 257)):
        [error] = parse(f"S//a->x JOIN {{{text}}} S//b->y")[1]
        assert "256" in error.problem
        assert error.column == len("S//a->x JOIN {") + 1 + text.startswith("(")


def test_long_chains_are_flat() -> None:
    predicate = join(f"{{{' AND '.join(['x = y'] * 32)}}}").predicate
    assert isinstance(predicate, Conjunction)
    assert len(predicate.parts) == 32


@pytest.mark.parametrize(
    "predicate",
    [
        "(" * 2_000 + "x = y" + ")" * 2_000,
        "(" * 2_000 + "x = y",
        "(x = y AND " * 2_000 + "x = y" + ")" * 2_000,
        "(x = y OR (x = y AND " * 1_000 + "x = y" + "))" * 1_000,
        "lower-case(" * 2_000 + "x" + ")" * 2_000 + " = y",
        "lower-case(x = " * 2_000,
        "x/b" + "[c" * 2_000 + "]" * 2_000 + " = y",
        " OR ".join(["x = y"] * 20_000),
        " AND ".join(["(x = y OR x = y)"] * 10_000),
        " AND ".join(f"u{i} = v{i}" for i in range(10_000)),
        "x = '" + "v" * 1_000_000 + "'",
        "x = " + "9" * 1_000_000,
    ],
    ids=lambda predicate: predicate[:12],
)
def test_extremes(predicate: str) -> None:
    # Were the time not linear, this would not end.
    queries, errors = parse(f"S//a->x JOIN {{{predicate}}} S//b->y")
    assert queries or errors
    for error in errors[:100]:
        str(error)
