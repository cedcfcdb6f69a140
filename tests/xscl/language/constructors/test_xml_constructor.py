"""XML constructors (docs/semantics.md#result-documents)."""

from __future__ import annotations

import pytest

from xscl.language import parse
from xscl.language.syntax import Element, Insert

DC = "http://purl.org/dc/elements/1.1/"
ATOM = "http://www.w3.org/2005/Atom"


def construct(text: str, before: str = "") -> Element:
    queries, errors = parse(f"{before} SELECT {text} FROM S//a->x[./b->y]")
    assert not errors, "\n\n".join(map(str, errors))
    select = queries[0].select
    assert isinstance(select, Element)
    return select


def shown(part: object) -> object:
    """Inserts as text in braces, elements as (tag, attributes, content)."""
    match part:
        case Insert(path, string):
            steps = "".join(s.axis + s.test for s in path.steps)
            inner = path.variable.text + steps
            return f"{{string({inner})}}" if string else f"{{{inner}}}"
        case Element(tag, _, attributes, content):
            values = {name: [shown(v) for v in value] for name, value in attributes}
            return (tag, values, [shown(c) for c in content])
    return part


def test_the_constructor_of_the_language_page() -> None:
    text = '<promo by="{x}"><t>{string(y)}</t>{x/a/@k} {string(x//b)}</promo>'
    assert shown(construct(text)) == (
        "promo",
        {"by": ["{x}"]},
        [("t", {}, ["{string(y)}"]), "{x/a/@k}", "{string(x//b)}"],
    )


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("\n  {x}\n  ", ["{x}"]),
        ("{x} {y}", ["{x}", "{y}"]),
        (" a {x} ", [" a ", "{x}"]),
        ("&#32;", [" "]),
        ("{x}&#x20;{y}", ["{x}", " ", "{y}"]),
        (" <![CDATA[ ]]> ", ["   "]),
        ("<![CDATA[<{x}>]]>", ["<{x}>"]),
        ("<b/> <!-- {c} --> <?p d ?> <b/>",
         [("b", {}, []), ("comment", " {c} "), ("pi", "p", "d "), ("b", {}, [])]),
        (" {{ ", [" { "]),
        ("{{{x}}}", ["{", "{x}", "}"]),
        ("&lt;&amp;&#233;", ["<&é"]),
        ("-- a; (: b :) 'c", ["-- a; (: b :) 'c"]),
        ("{x[b = '}']}".replace("[b = '}']", "/c[b = '}']"), ["{x/c}"]),
        ("{ $x / c }", ["{x/c}"]),
        ("\ue000{x}\ue000", ["\ue000", "{x}", "\ue000"]),
        ("&#xE000;{x}", ["\ue000", "{x}"]),
    ],
)  # fmt: skip
def test_content(content: str, expected: list[object]) -> None:
    element = construct(f"<a>{content}</a>")
    assert [shown(part) for part in element.content] == expected


def test_attributes() -> None:
    element = construct(
        """<a b="x{y}z" c='{x/@k} {string(y)}' d="" e='"' f="{{}}" g="&lt;&#10;"/>"""
    )
    assert {name: [shown(v) for v in value] for name, value in element.attributes} == {
        "b": ["x", "{y}", "z"],
        "c": ["{x/@k}", " ", "{string(y)}"],
        "d": [],
        "e": ['"'],
        "f": ["{}"],
        "g": ["<\n"],
    }


def test_namespaces() -> None:
    element = construct("<dc:a xmlns='u' p:k='1' xmlns:p='v'><b xmlns='' atom:k='2'/></dc:a>")
    assert element.tag == f"{{{DC}}}a"
    assert element.namespaces == ((None, "u"), ("p", "v"), ("atom", ATOM), ("dc", DC))
    assert element.attributes == (("{v}k", ("1",)),)
    [inner] = element.content
    assert inner == Element("b", ((None, ""),), ((f"{{{ATOM}}}k", ("2",)),), ())


def test_a_declared_prefix() -> None:
    element = construct("<z:a><z:b xmlns:z='w'/></z:a>", "DECLARE NAMESPACE z = 'urn:z';")
    assert element.tag == "{urn:z}a"
    assert element.namespaces == (("z", "urn:z"),)
    [inner] = element.content
    assert inner == Element("{w}b", (("z", "w"),), (), ())


def test_a_prefix_that_only_text_mentions_is_not_declared() -> None:
    assert construct("<a k='dc:b'>atom:c</a>").namespaces == ()


def test_an_insert_s_place() -> None:
    text = "SELECT <a>\n{string(x)} é {y}</a> FROM S//a->x[./b->y]"
    [query], _ = parse(text)
    assert isinstance(query.select, Element)
    places = [p.path.at for p in query.select.content if isinstance(p, Insert)]
    assert places == [text.index("x)"), text.index("y}")]


def test_names_that_xml_reserves_take_expressions() -> None:
    construct("<a xml:id='{x}' xml:lang='{y}' xml:base='{x}'/>")


def test_a_bad_constructor_leaves_the_next_query_alone() -> None:
    for bad in ("<a><b></a>", "<a></b>", "<a>{x</a>", "<a>}</a>", "<a &b/>", "<a>{{x}</a>"):
        queries, errors = parse(f"SELECT {bad} FROM S//a->x; S//b")
        assert [q.name for q in queries] == ["q2"], bad
        assert [e.query for e in errors] == ["q1"], bad


@pytest.mark.parametrize(
    ("inner", "problem"),
    [
        ("string(x", "found `}`, expected `)`"),
        ("string(x) + 1", "found `+`, expected `}`"),
        ("string(x))", "found `)`"),
        ("string()", "found"),
    ],
)
@pytest.mark.parametrize(
    "source", ["EVENT SEQ(A x, B y) WITHIN 3 s", "FILTER{x > 1}(A)", "(A x; B y)"]
)
def test_what_is_wrong_in_a_string_of_events_is_a_mistake_of_that_query(
    inner: str, problem: str, source: str
) -> None:
    text = (
        f"SELECT <b>{{string(x)}}</b> FROM {source}; SELECT <a>{{{inner}}}</a> FROM {source}; S//a"
    )
    queries, errors = parse(text)
    assert [problem in one.problem for one in errors] == [True], errors
    assert [one.name for one in queries][-1] == "q3"
