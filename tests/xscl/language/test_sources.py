"""Chains, groups, sub-queries and PUBLISH (docs/semantics.md#statements-and-names,
#times-and-durations)."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xscl.language import parse
from xscl.language.syntax import Block, Element, Item, JSONObject, Query, Source, SubQuery


def one(text: str) -> Query:
    queries, errors = parse(text)
    assert not errors, "\n\n".join(map(str, errors))
    [query] = queries
    return query


def shown(source: Source) -> str:
    """A source with a parenthesis for each operator, and those of sub-queries in brackets."""
    match source:
        case Block(stream, steps):
            return stream.text + "".join(step.axis + step.test for step in steps)
        case SubQuery(query, steps):
            return f"[{shown_query(query)}]" + "".join(step.axis + step.test for step in steps)
        case _:
            operator = {"JOIN": "&", "FOLLOWED BY": ">"}[source.operator]
            return f"({shown(source.left)} {operator} {shown(source.right)})"


def shown_query(query: Query) -> str:
    published = f" !{query.publish.text}" if query.publish else ""
    return shown(query.source) + published


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A JOIN {} B FOLLOWED BY {} C JOIN {} D", "(((A & B) > C) & D)"),
        ("A JOIN {} (B FOLLOWED BY {} C) JOIN {} D", "((A & (B > C)) & D)"),
        ("(((A)) JOIN {} ((B JOIN {} (C))))", "(A & (B & C))"),
        ("(A)", "A"),
        ("(A/b)/c", "[A/b]/c"),
        ("((A/b))//@c", "[A/b]//@c"),
        ("(A JOIN {} B)/result/b FOLLOWED BY {} C/d", "([(A & B)]/result/b > C/d)"),
        ("(SELECT * FROM A)", "[A]"),
        ("A JOIN {} (SELECT x FROM B/b->x)", "(A & [B/b])"),
        ("(A PUBLISH p)", "[A !p]"),
        ("((A PUBLISH p)/a PUBLISH q)/b PUBLISH r", "[[A !p]/a !q]/b !r"),
        ("A PUBLISH p", "A !p"),
        ("A/b->x [c] PUBLISH publish", "A/b !publish"),
        ("(A) PUBLISH p", "A !p"),
        ("(SELECT)", "SELECT"),
        ("SELECT PUBLISH x", "SELECT !x"),
        ("DECLARE PUBLISH x", "DECLARE !x"),
        ("(SELECT PUBLISH x) JOIN {} (select//a)", "([SELECT !x] & select//a)"),
        ("SELECT publish FROM S//publish->publish", "S//publish"),
        ("SELECT publish FROM publish//a->publish PUBLISH publish", "publish//a !publish"),
        ("(SELECT from FROM from//a->from PUBLISH from)", "[from//a !from]"),
        ("select join {} declare JOIN {} (publish) JOIN {} from",
         "(((select & declare) & publish) & from)"),
        ("S(: a :)JOIN{}(: b :)((: c :)T(: d :))(: e :)/a", "(S & [T]/a)"),
    ],
)  # fmt: skip
def test_sources(text: str, expected: str) -> None:
    assert shown_query(one(text)) == expected


def test_each_query_has_its_own_constructor() -> None:
    query = one(
        'SELECT <a k="{x}">;</a> FROM (SELECT {"b": y} FROM S//a->y)/json/b->x'
        " JOIN {x = z} (SELECT z AS v FROM (SELECT <c>(</c> FROM S)/c->z PUBLISH p)/result/v->z"
    )
    inner = [part.query for part in (query.source.left, query.source.right)]  # type: ignore[union-attr]
    assert isinstance(query.select, Element)
    assert (query.select.tag, query.select.content) == ("a", (";",))
    assert isinstance(inner[0].select, JSONObject)
    assert isinstance(inner[1].select, tuple)
    assert isinstance(inner[1].select[0], Item)
    assert isinstance(inner[1].source, SubQuery)
    innermost = inner[1].source.query.select
    assert isinstance(innermost, Element)
    assert innermost.content == ("(",)


def test_a_sub_query_and_the_query_around_it() -> None:
    text = "S;\n-- name: outer\n (SELECT x FROM (S//a->x) PUBLISH p)//a->y PUBLISH q"
    query = parse(text)[0][1]
    assert isinstance(query.source, SubQuery)
    inner = query.source.query
    assert query.publish is not None
    assert inner.publish is not None
    assert (query.name, query.named_at) == ("outer", text.index("outer"))
    assert (inner.name, inner.named_at, inner.text) == ("outer", None, text)
    assert query.at == query.source.at == text.index("(")
    assert inner.at == text.index("SELECT")
    assert (inner.publish.at, query.publish.at) == (text.index("p)"), text.index("q", 40))
    assert query.source.steps[0].at == text.index("a->y")


def test_a_query_is_renamed_with_its_sub_queries() -> None:
    query = one("S JOIN {} (T JOIN {} ((SELECT * FROM S)/a)/b)").renamed("n")
    assert "name='q1'" not in repr(query)
    assert repr(query).count("name='n'") == 3


# Which variables a predicate sees: known from how the source was made, not from its tree.

Shape = None | list["Shape"]  # a block, or a chain


@dataclass
class Written:
    """A chain as text, with the variable of each operator's predicate that is out of reach."""

    choices: st.DataObject
    pieces: list[str] = field(default_factory=list)
    blocks: int = 0
    compared: list[tuple[int, int]] = field(default_factory=list)

    def write(self, text: str) -> int:
        self.pieces.append(text)
        return sum(map(len, self.pieces))

    def operand(self, shape: Shape, most: int) -> None:
        if shape is None:
            self.write(f"S//a->v{self.blocks}")
            self.blocks += 1
            return
        self.write("(")
        self.chain(shape, most)
        self.write(")")

    def chain(self, shapes: list[Shape], most: int) -> None:
        self.operand(shapes[0], most)
        for shape in shapes[1:]:
            variable = self.choices.draw(st.integers(0, most - 1))
            column = self.write(" JOIN {") + 1
            self.write(f"v{variable} = 'v'}} ")
            self.operand(shape, most)
            if variable >= self.blocks:
                self.compared.append((column, variable))


def size(shape: Shape) -> int:
    return 1 if shape is None else sum(map(size, shape))


@given(
    st.lists(
        st.recursive(st.none(), lambda s: st.lists(s, min_size=1, max_size=3), max_leaves=6),
        min_size=1,
        max_size=4,
    ),
    st.data(),
)
def test_a_predicate_sees_what_is_to_its_left(shapes: list[Shape], data: st.DataObject) -> None:
    written = Written(data)
    written.chain(shapes, size(shapes))
    _, errors = parse("".join(written.pieces))
    assert [error.column for error in errors] == sorted(column for column, _ in written.compared)
    assert all("is bound only to the right" in error.problem for error in errors)


def test_variables_of_a_sub_query_do_not_clash() -> None:
    one(
        "SELECT x, y FROM (SELECT x FROM S//a->x JOIN {x = y} (SELECT x FROM S//b->x)/result->y)"
        "/result/a->x JOIN {x = y} (SELECT y FROM S//c->y)/result/c->y"
    )
