"""Statements as syntax trees (docs/semantics.md#joins)."""

from __future__ import annotations

import pytest

from xscl.language import parse
from xscl.language.syntax import (
    Binary,
    Block,
    Comparison,
    Condition,
    Conjunction,
    Function,
    Join,
    Literal,
    Negative,
    Parameter,
    Path,
    Query,
    Step,
    VariablePath,
)


def good(text: str) -> list[Query]:
    queries, errors = parse(text)
    assert not errors, "\n\n".join(map(str, errors))
    return queries


def one(text: str) -> Query:
    [query] = good(text)
    return query


def block(text: str) -> Block:
    source = one(text).source
    assert isinstance(source, Block)
    return source


def shown_step(step: Step) -> str:
    variable = f"->{step.variable.text}" if step.variable else ""
    return step.test + variable + "".join(f"[{shown(f)}]" for f in step.filters)


def shown_steps(steps: tuple[Step, ...]) -> str:
    return "".join(step.axis + shown_step(step) for step in steps)


def shown(condition: Condition) -> str:
    """A condition with all its parentheses."""
    match condition:
        case Path(steps):
            return shown_steps(steps)[1:]
        case Literal(value):
            return repr(value) if isinstance(value, str) else f"{value:g}"
        case Function(name, arguments):
            return f"{name}({', '.join(map(shown, arguments))})"
        case Parameter(name):
            return f":{name}"
        case Negative(operand):
            return f"-({shown(operand)})"
        case Binary(operator, left, right):
            return f"({shown(left)} {operator} {shown(right)})"


def test_the_first_query_of_the_thesis() -> None:
    query = one(
        "S//book->x1[./author->x2][./title->x3] "
        "FOLLOWED BY {x2=x5 AND x3=x6, 7 days} S//blog->x4[./author->x5][./title->x6]"
    )
    source = query.source
    assert isinstance(source, Join)
    assert isinstance(source.left, Block)
    assert isinstance(source.right, Block)
    assert query.select is None
    assert query.name == "q1"
    assert query.named_at is None
    assert source.operator == "FOLLOWED BY"
    assert source.window.length == 7 * 86_400_000_000
    assert shown_steps(source.left.steps) == "//book->x1[./author->x2][./title->x3]"
    assert shown_steps(source.right.steps) == "//blog->x4[./author->x5][./title->x6]"
    assert isinstance(source.predicate, Conjunction)
    compared = [
        (c.left.variable.text, c.operator, c.right.variable.text)
        for c in source.predicate.parts
        if isinstance(c, Comparison)
        and isinstance(c.left, VariablePath)
        and isinstance(c.right, VariablePath)
    ]
    assert compared == [("x2", "=", "x5"), ("x3", "=", "x6")]


def test_places_are_offsets_in_the_whole_text() -> None:
    text = "T;  (: c :) S//a->$x[./b = 'v'] JOIN {$x = y, 5 s} S//dc:c AS y"
    query = good(text)[1]
    source = query.source
    assert isinstance(source, Join)
    assert isinstance(source.left, Block)
    assert isinstance(source.right, Block)
    [step] = source.left.steps
    assert step.variable is not None
    comparison = source.predicate
    assert isinstance(comparison, Comparison)
    [condition] = step.filters
    assert query.at == source.at == text.index("S//a")
    assert query.text == text
    assert step.at == text.index("a->")
    assert (step.variable.text, step.variable.at) == ("x", text.index("$x["))
    assert condition.at == text.index("./b")
    assert comparison.at == text.index("$x =")
    assert comparison.right.at == text.index("y, 5")
    assert source.window.at == text.index("5 s")
    assert source.right.steps[0].at == text.index("dc:c")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("S", ""),
        ("S/a//b/@k", "/a//b/@k"),
        ("S//*[@*]/*:b/@*:k", "//*[@*]/{*}b/@{*}k"),
        ("S//dc:a/@xml:lang", "//{http://purl.org/dc/elements/1.1/}a"
         "/@{http://www.w3.org/XML/1998/namespace}lang"),
        ("S//'dc creator'->x[./'a''b']", "//dc creator->x[./a'b]"),
        ("S//'1st'/\"x y\"/'name'", "//1st/x y/name"),
        ("S//'@type'/'*'/'.'", "//{}@type/{}*/{}."),
        ("S / a // b -> x [ b ]", "/a//b->x[b]"),
        ("S//a->x''[b AS x']", "//a->x''[b->x']"),
        ("S//a-b.c->x-1", "//a-b.c->x-1"),
        ("S//é·->ñ", "//é·->ñ"),
        ("S//by AS as[@as = 'inf']", "//by->as[(@as = 'inf')]"),
        ("S//a[meta->m/info/@lang->l]", "//a[meta->m/info/@lang->l]"),
        ("S//a[./b->y[./c->z]][.->s]", "//a[./b->y[./c->z]][.->s]"),
        ("S//@k->x[. != '']", "//@k->x[(. != '')]"),
        ("S//a[.//b][b//@k][.]", "//a[.//b][b//@k][.]"),
    ],
)  # fmt: skip
def test_paths(text: str, expected: str) -> None:
    assert shown_steps(block(text).steps) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("or and not(div) or mod", "((or and not(div)) or mod)"),
        ("a or b and c = d < e + f * - g", "(a or (b and (c = (d < (e + (f * -(g)))))))"),
        ("a - b - c", "((a - b) - c)"),
        ("(a or b) and ((c))", "((a or b) and c)"),
        ("a or b or c or d", "((a or b) or (c or d))"),
        ("* * * div 2 mod .5", "(((* * *) div 2) mod 0.5)"),
        ("a -b", "(a - b)"),
        ("a-b", "a-b"),
        ("5 = a and last() != 2.", "((5 = a) and (last() != 2))"),
        ("1", "1"),
        ("a[2] = 'it''s'", "(a[2] = \"it's\")"),
        ('"a""b" = .', "('a\"b' = .)"),
        ("a/text() = 'w' or text()", "((a/text() = 'w') or text())"),
        ("contains(a, 'x') and starts-with(., substring-after(b[1], ' '))",
         "(contains(a, 'x') and starts-with(., substring-after(b[1], ' ')))"),
        ("string-length() > count( .//a )", "(string-length() > count(.//a))"),
        ("number (a) >= number()", "(number(a) >= number())"),
        ("author->x and title->t and @k = 'v'", "((author->x and title->t) and (@k = 'v'))"),
        ("text = 'v'", "(text = 'v')"),
        ("ends-with(a, 'v') and matches(b, '^[a-z]+$')",
         "(ends-with(a, 'v') and matches(b, '^[a-z]+$'))"),
        ("lower-case(a) = upper-case(.//b)", "(lower-case(a) = upper-case(.//b))"),
        ("exists(a[b]) and not(empty(@k))", "(exists(a[b]) and not(empty(@k)))"),
        ("And and OR or Or", "((And and OR) or Or)"),
        ("a(: c :)= (: d :) b", "(a = b)"),
        (":p", ":p"),
        ("b = :p and :q < - :p", "((b = :p) and (:q < -(:p)))"),
        ("a div:p mod :p.q-r", "((a div :p) mod :p.q-r)"),
        ("contains(dc:a, :dc) or ( :a)",
         "(contains({http://purl.org/dc/elements/1.1/}a, :dc) or :a)"),
        ("matches(., :pattern)", "matches(., :pattern)"),
    ],
)  # fmt: skip
def test_filters(text: str, expected: str) -> None:
    [condition] = block(f"S//a[{text}]").steps[0].filters
    assert shown(condition) == expected


def test_keywords_are_names_where_names_are() -> None:
    queries = good(
        "SELECT from FROM S//from->from;"
        "S//select->select JOIN {select = join} publish//join->join;"
        "SELECT as AS by FROM S//by AS as; select//a; declare; select followed by {} declare;"
        "SELECT join FROM S//a->join; SELECT declare FROM declare//a->declare"
    )
    streams = [q.source.stream.text for q in queries if isinstance(q.source, Block)]
    assert streams == ["S", "S", "select", "declare", "S", "declare"]


def test_keywords_are_ascii() -> None:
    assert [q.name for q in good("\u017felect//a; \u017f")] == ["q1", "q2"]
    assert parse("\u017fELECT <a/> FROM S")[1]


def test_a_select_list() -> None:
    select = one(
        "SELECT x1, $x4/title, x1//@href AS dc:link, x1/a[b = 'v']/'full name' AS as"
        " FROM S//a->x1[b->x4]"
    ).select
    assert isinstance(select, tuple)
    assert [
        (i.path.variable.text, shown_steps(i.path.steps), i.alias.text if i.alias else None)
        for i in select
    ] == [
        ("x1", "", None),
        ("x4", "/title", None),
        ("x1", "//@href", "{http://purl.org/dc/elements/1.1/}link"),
        ("x1", "/a[(b = 'v')]/full name", "as"),
    ]


@pytest.mark.parametrize("text", ["SELECT * FROM S", "S", "select*from S"])
def test_a_copy_of_the_output_node(text: str) -> None:
    assert one(text).select is None


def test_queries_are_counted_and_named() -> None:
    text = """
        DECLARE NAMESPACE z = "urn:z";
        S//z:a; -- name: two
        S//b[;;
        S//c[;
        DECLARE NAMESPACE z = "urn:y";
        S//z:d
    """
    queries, errors = parse(text, first=7)
    assert [q.name for q in queries] == ["q7", "q10"]
    assert [e.query for e in errors] == ["two", "q9"]
    tests = [q.source.steps[0].test for q in queries if isinstance(q.source, Block)]
    assert tests == ["{urn:z}a", "{urn:y}d"]


def test_a_name_before_a_declaration_is_the_next_query_s() -> None:
    text = "-- name: one\nDECLARE NAMESPACE z = 'u';\nS//z:a"
    query = one(text)
    assert (query.name, query.named_at) == ("one", text.index("one"))


def test_a_declaration_overrides() -> None:
    assert block("DECLARE NAMESPACE dc = 'urn:dc'; S/dc:a").steps[0].test == "{urn:dc}a"


def test_long_chains_make_no_deep_trees() -> None:
    good("S//a[" + " or ".join(["b = 'x'"] * 5_000) + "]")
    good("S//a[" + "(" * 2_000 + "b" + ")" * 2_000 + "]")
    good("S" + "//a[b]" * 255)
    good("S//a" + "[b = 'v' and not(c)]" * 500)
