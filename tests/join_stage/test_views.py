"""The thesis' relations over the engine's own: table 6.4, and the same on random documents."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

import xscl
from tests.drawn import drawn
from tests.join_stage.entities import Feeder, Query, composite, document
from tests.join_stage.views import Views, views_of
from tests.templates.graphs import graph
from xscl.join_stage import TimeConstraint

BOOK = (
    "<book><publisher>Wrox</publisher><author>Danny Ayers</author><author>Andrew Watt</author>"
    "<title>Beginning RSS and Atom Programming</title>"
    "<category>Scripting &amp; Programming</category>"
    "<category>Web Site Development</category></book>"
)
BLOG = (
    "<blog><url>http://blog.example/1</url><author>Danny Ayers</author>"
    "<title>Beginning RSS and Atom Programming</title><category>Book Announcement</category>"
    "<category>Scripting &amp; Programming</category><description>Out now.</description></blog>"
)
TABLE_6_2 = """
-- name: Q1
S//book->x1[./author->x2][./title->x3] FOLLOWED BY {x2=x5 AND x3=x6, 7 days}
S//blog->x4[./author->x5][./title->x6];
-- name: Q2
S//book->x1[./author->x2][./category->x7] FOLLOWED BY {x2=x5 AND x7=x8, 8 days}
S//blog->x4[./author->x5][./category->x8];
-- name: Q3
S//blog->x4[./author->x5][./title->x6] FOLLOWED BY {x5=x5' AND x6=x6', 9 days}
S//blog->x4'[./author->x5'][./title->x6'];
"""
DAY = 86_400.0


def test_table_6_4() -> None:
    with xscl.Engine() as engine:
        engine.load(TABLE_6_2)
        assert engine.publish("S", BOOK, id="d1", timestamp=1) == []
        views = views_of(engine)
        (template,) = views.templates
        # (a) R_T
        r_t = views.r_t(template)
        assert r_t.columns == ("qid", "var1", "var2", "var3", "var4", "var5", "var6", "wl")
        assert r_t.rows == [
            ("Q1", "x1", "x2", "x3", "x4", "x5", "x6", 7 * DAY),
            ("Q2", "x1", "x2", "x7", "x4", "x5", "x8", 8 * DAY),
            ("Q3", "x4", "x5", "x6", "x4", "x5", "x6", 9 * DAY),
        ]
        # (b) R_doc after d1; the publisher is bound to nothing
        assert views.r_doc().columns == ("docid", "node", "strVal")
        assert views.r_doc().rows == [
            ("d1", 0, None),
            ("d1", 2, "Danny Ayers"),
            ("d1", 3, "Andrew Watt"),
            ("d1", 4, "Beginning RSS and Atom Programming"),
            ("d1", 5, "Scripting & Programming"),
            ("d1", 6, "Web Site Development"),
        ]
        # (c) R_bin after d1
        assert views.r_bin().columns == ("docid", "var1", "var2", "node1", "node2")
        assert views.r_bin().rows == [
            ("d1", "x1", "x2", 0, 2),
            ("d1", "x1", "x2", 0, 3),
            ("d1", "x1", "x3", 0, 4),
            ("d1", "x1", "x7", 0, 5),
            ("d1", "x1", "x7", 0, 6),
        ]
        matches = engine.publish("S", BLOG, id="d2", timestamp=2)
        assert [match.query for match in matches] == ["Q1", "Q2"]
        views = views_of(engine)
        # (d) R_docW of d2
        assert views.r_doc_w().rows == [
            ("d2", 0, None),
            ("d2", 2, "Danny Ayers"),
            ("d2", 3, "Beginning RSS and Atom Programming"),
            ("d2", 4, "Book Announcement"),
            ("d2", 5, "Scripting & Programming"),
        ]
        # (e) R_binW of d2
        assert views.r_bin_w().rows == [
            ("d2", "x4", "x5", 0, 2),
            ("d2", "x4", "x6", 0, 3),
            ("d2", "x4", "x8", 0, 4),
            ("d2", "x4", "x8", 0, 5),
        ]
        # (f) R_outT
        r_out = views.r_out(template)
        assert r_out.columns == ("qid", "docid1", *(f"node{i}" for i in range(1, 7)), "wl")
        assert r_out.rows == [
            ("Q1", "d1", 0, 2, 4, 0, 2, 3, 7 * DAY),
            ("Q2", "d1", 0, 2, 5, 0, 2, 5, 8 * DAY),
        ]


VARIABLES = {
    "x1": "//book[./author]",
    "x2": "./author",
    "x3": "./title",
    "x7": "./category",
    "x4": "//blog",
    "x5": "./author",
    "x6": "./title",
    "x8": "./category",
}
BLOCKS = {"x1": ("x2", "x3", "x7"), "x4": ("x5", "x6", "x8")}

leaf = st.builds(
    lambda name, text: f"<{name}>{text}</{name}>",
    st.sampled_from(["author", "title", "category", "other"]),
    st.sampled_from(["a", "b", "c"]),
)
item = st.builds(
    lambda name, leaves: f"<{name}>{''.join(leaves)}</{name}>",
    st.sampled_from(["book", "blog"]),
    st.lists(leaf, max_size=5),
)
items = st.builds(lambda items: f"<all>{''.join(items)}</all>", st.lists(item))
some_document = st.one_of(item, items)


def bindings(text: str, block: str) -> tuple[set[Any], set[Any]]:
    """What lxml binds to a block's variables: (var1, var2, node1, node2) and (node, string)."""
    root = etree.fromstring(text)
    number = {element: i for i, element in enumerate(root.iter())}
    edges: set[Any] = set()
    nodes: set[Any] = set()
    for top in root.xpath({"x1": "//book", "x4": "//blog"}[block]):
        for variable in BLOCKS[block]:
            for node in top.xpath(VARIABLES[variable]):
                edges.add((block, variable, number[top], number[node]))
                nodes |= {(number[top], None), (number[node], "".join(node.itertext()))}
    return edges, nodes


@drawn(12)
@given(st.lists(some_document, min_size=1, max_size=4))
def test_relations_of_random_documents(texts: list[str]) -> None:
    with xscl.Engine() as engine:
        engine.load(TABLE_6_2)
        bins: set[Any] = set()
        docs: set[Any] = set()
        for i, text in enumerate(texts):
            engine.publish("S", text, id=f"d{i}", timestamp=i)
            edges: set[Any] = set()
            nodes: set[Any] = set()
            for block in BLOCKS:
                of_block = bindings(text, block)
                edges |= of_block[0]
                nodes |= of_block[1]
            views = views_of(engine)
            assert {row[1:] for row in views.r_bin_w().rows} == edges
            assert {row[1:] for row in views.r_doc_w().rows} == nodes
            bins |= {(f"d{i}", *edge) for edge in edges}
            docs |= {(f"d{i}", *node) for node in nodes}
        assert set(views_of(engine).r_bin().rows) == bins
        assert set(views_of(engine).r_doc().rows) == docs


def test_composites_join_but_are_no_documents() -> None:
    feeder = Feeder()
    feeder.processor.registry.variables[0] = "x"
    ends = graph([(0, None), (1, None)], [(0, "=", 1)], [0, 1])
    for number, composites in enumerate([(False, False), (True, False)]):
        labels = tuple("#0" if derived else "root" for derived in composites)
        feeder.subscribe(number, Query(ends, labels, composites, TimeConstraint(True, None)))
    names = {0: "Q0", 1: "Q1"}
    views = Views(feeder.processor, names)
    (template,) = views.templates
    assert views.r_out(template).rows == []
    a, b, c = (document(number, number, 1, []) for number in range(3))
    feeder.publish([a, b, c])
    feeder.publish([composite(3, [a, b], [(0, 1), (0, 1)])])
    views = Views(feeder.processor, names)
    assert views.r_t(template).rows == [("Q0", "x", "x", None), ("Q1", "x", "x", None)]
    assert views.r_out(template).rows == [("Q1", "d0+d1", 0, 0, None)]
    assert views.r_doc().rows == [("d0", 0, "1"), ("d1", 0, "1"), ("d2", 0, "1")]
    assert views.r_doc_w().rows == []
    assert views.r_bin().rows == []
    feeder.connection.close()
