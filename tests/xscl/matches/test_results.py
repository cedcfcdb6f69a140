"""Result documents: what each kind of SELECT makes of a match."""

from __future__ import annotations

import pytest
from lxml import etree

import xscl

POST = (
    '<post lang="en" xmlns:d="urn:d"><title>T &amp; <em>U</em></title> tail'
    '<by a="1">Ann</by><by a="2">Bob</by><d:note d:k="v">n</d:note><empty/><!--c--></post>'
)


def results(query: str, *documents: str) -> list[str]:
    with xscl.Engine() as engine:
        engine.subscribe(f"DECLARE NAMESPACE d = 'urn:d'; {query}")
        envelopes = [{"xml": text, "timestamp": n} for n, text in enumerate(documents or [POST])]
        return [match.result for match in engine.publish_many(envelopes)]


@pytest.mark.parametrize(
    ("query", "result"),
    [
        pytest.param("S//by[1]", '<by xmlns:d="urn:d" a="1">Ann</by>', id="no SELECT"),
        pytest.param("SELECT * FROM S//by[2]", '<by xmlns:d="urn:d" a="2">Bob</by>', id="star"),
        pytest.param(
            "S//title", '<title xmlns:d="urn:d">T &amp; <em>U</em></title>', id="without the tail"
        ),
        pytest.param("S//@lang", "<lang>en</lang>", id="an attribute is an element"),
        pytest.param("S//@d:k", '<d:k xmlns:d="urn:d">v</d:k>', id="a qualified attribute"),
        pytest.param("S//em", '<em xmlns:d="urn:d">U</em>', id="inside mixed content"),
    ],
)
def test_copies(query: str, result: str) -> None:
    """Namespaces in scope may be declared on the copy; nothing else is added."""
    (found,) = results(query)
    assert canonical(found) == canonical(result)


@pytest.mark.parametrize(
    ("select", "result"),
    [
        ("x/by", '<by a="1">Ann</by><by a="2">Bob</by>'),
        ("x/by AS name", "<name>Ann</name><name>Bob</name>"),
        ("x/title AS t", "<t>T &amp; U</t>"),
        ("x//@a", "<a>1</a><a>2</a>"),
        ("x/by[@a = '2']/@a AS n", "<n>2</n>"),
        ("x/none, x/empty", "<empty/>"),
        ("x/empty AS e", "<e/>"),
        ("x/@lang AS l, x/by[last()]", '<l>en</l><by a="2">Bob</by>'),
        ("x//*[@*]", None),
        ("x/d:note/@d:k", '<d:k xmlns:d="urn:d">v</d:k>'),
    ],
)
def test_lists(select: str, result: str | None) -> None:
    (found,) = results(f"SELECT {select} FROM S/post->x")
    if result is None:
        assert [child.tag for child in etree.fromstring(found)] == ["by", "by", "{urn:d}note"]
    else:
        assert canonical(found) == canonical(f"<result>{result}</result>")


@pytest.mark.parametrize(
    ("constructor", "result"),
    [
        ("<r/>", "<r/>"),
        ("<r>{x/by}</r>", '<r><by a="1">Ann</by><by a="2">Bob</by></r>'),
        ("<r>{string(x/by)}</r>", "<r>Ann Bob</r>"),
        ("<r by='{x/by}!'/>", '<r by="Ann Bob!"/>'),
        ("<r by='{x/none}'>{x/none}</r>", '<r by=""/>'),
        ("<r>a{x/empty}b{x/empty}c</r>", "<r>a<empty/>b<empty/>c</r>"),
        ("<r> <s> {x/empty} </s> </r>", "<r><s><empty/></s></r>"),
        ("<r>{{{string(x/title)}}}</r>", "<r>{T &amp; U}</r>"),
        ("<r>&lt;{x/empty}&#38;<![CDATA[{x}]]></r>", "<r>&lt;<empty/>&amp;{x}</r>"),
        ("<r><!-- {x} --><?p {x}?></r>", "<r><!-- {x} --><?p {x}?></r>"),
        ("<e:r xmlns:e='urn:e' e:k='1'><e:s/></e:r>", "<e:r xmlns:e='urn:e' e:k='1'><e:s/></e:r>"),
        ("<r xmlns='urn:e'>{x/empty}</r>", "<r xmlns='urn:e'><empty xmlns=''/></r>"),
        ("<d:r k='{x/@lang}'/>", "<d:r xmlns:d='urn:d' k='en'/>"),
    ],
)
def test_constructors(constructor: str, result: str) -> None:
    (found,) = results(f"SELECT {constructor} FROM S/post->x")
    assert canonical(found) == canonical(result)


def test_a_join_puts_its_output_nodes_side_by_side() -> None:
    query = "S/a->x[k->p]/b JOIN {p = q} S/c[k->q]/@d"
    one, other = "<a><k>1</k><b>B</b></a>", '<c d="D"><k>1</k></c>'
    assert results(query, one, other) == ["<result><b>B</b><d>D</d></result>"]


def test_a_path_from_an_attribute_leads_nowhere() -> None:
    assert results("SELECT k/a, k FROM S/post/@lang->k") == ["<result><lang>en</lang></result>"]


def test_copies_are_new_at_each_call() -> None:
    with xscl.Engine() as engine:
        engine.subscribe("SELECT <r>{x}{x}</r> FROM S//em->x")
        (match,) = engine.publish("S", POST)
        first = match.xml()
        first.clear()
        assert len(match.xml()) == 2
        assert etree.tostring(match.xml(), encoding="unicode") == match.result


def test_results_hold_what_bytes_and_references_said() -> None:
    document = "<?xml version='1.0' encoding='iso-8859-1'?><a>é&#x41;</a>".encode("latin-1")
    with xscl.Engine() as engine:
        engine.subscribe("S//a")
        (match,) = engine.publish("S", document)
        with pytest.raises(xscl.DocumentError, match="only the five entities"):
            engine.publish("S", '<!DOCTYPE a [<!ENTITY e "<b/>x">]><a>&e;</a>')
    assert match.result == "<a>éA</a>"


def canonical(text: str) -> str:
    """Exclusive canonical XML: declarations that nothing uses do not matter."""
    tree = etree.fromstring(text)
    return etree.tostring(tree, method="c14n", exclusive=True, with_comments=True).decode()
