"""Chains and groups: composites in time, their documents, and the left parts that they share."""

from __future__ import annotations

import itertools

import pytest

import xscl


def matches(query: str, *documents: tuple[str, float, str]) -> list[tuple[str, ...]]:
    """The documents of each match, fed one by one, in one batch and in reverse: all the same."""
    envelopes = [
        {"stream": stream, "id": f"d{number}", "timestamp": time, "xml": xml}
        for number, (stream, time, xml) in enumerate(
            ((xml[1], time, xml) for _, time, xml in documents), start=1
        )
    ]
    found = []
    for batches in ([envelopes], [[one] for one in envelopes], [[one] for one in envelopes[::-1]]):
        with xscl.Engine() as engine:
            engine.subscribe(query)
            rows = [match.documents for batch in batches for match in engine.publish_many(batch)]
            assert len(rows) == len(set(rows))
            found.append(sorted(rows))
    assert found[0] == found[1] == found[2]
    return found[0]


def at(time: float, xml: str) -> tuple[str, float, str]:
    return "S", time, xml


def test_a_chain_of_three() -> None:
    query = "a//k->x FOLLOWED BY {x = y, 5} b//k->y FOLLOWED BY {y = z, 5} c//k->z"
    a, b, c = "<a><k>1</k></a>", "<b><k>1</k></b>", "<c><k>1</k></c>"
    assert matches(query, at(1, a), at(5, b), at(10, c)) == [("d1", "d2", "d3")]
    assert matches(query, at(1, a), at(5, b), at(11, c)) == []
    assert matches(query, at(1, a), at(7, b), at(8, c)) == []
    assert matches(query, at(1, a), at(5, b), at(5, c)) == []
    assert matches(query, at(1, a), at(5, b), at(8, "<c><k>2</k></c>")) == []


def test_a_composite_runs_from_its_earliest_to_its_latest_document() -> None:
    group = "a FOLLOWED BY {, 5} (b JOIN {, 3} c)"
    assert matches(group, at(1, "<a/>"), at(2, "<b/>"), at(5, "<c/>")) == [("d1", "d2", "d3")]
    # The later of the two is in time, the earlier is not after `a`.
    assert matches(group, at(2, "<a/>"), at(2, "<b/>"), at(5, "<c/>")) == []
    assert matches(group, at(1, "<a/>"), at(4, "<b/>"), at(7, "<c/>")) == []
    join = "(a JOIN {, 3} b) JOIN {, 1} c"
    assert matches(join, at(1, "<a/>"), at(4, "<b/>"), at(5, "<c/>")) == [("d1", "d2", "d3")]
    assert matches(join, at(1, "<a/>"), at(4, "<b/>"), at(2, "<c/>")) == []


def test_both_sides_may_be_composites() -> None:
    query = "(a//k->v JOIN {v = w} b//k->w) FOLLOWED BY {w = y} (c//k->x JOIN {x = y} d//k->y)"
    documents = [at(t, f"<{n}><k>1</k></{n}>") for t, n in enumerate("abcd")]
    assert matches(query, *documents) == [("d1", "d2", "d3", "d4")]
    assert matches(query, *documents[:2], at(0.5, documents[2][2]), documents[3]) == []


def test_the_documents_of_a_match_are_different() -> None:
    query = "a//k->x JOIN {x = y} a//k->y JOIN {y = z} a//k->z"
    documents = [at(t, f"<a><k>1</k><n>{t}</n></a>") for t in range(3)]
    permutations = sorted(itertools.permutations(("d1", "d2", "d3")))
    assert matches(query, *documents) == permutations
    assert matches(query, *documents[:2]) == []
    four = "(a//k->x JOIN {x = y} a//k->y) JOIN {y = z} (a//k->z JOIN {z = u} a//k->u)"
    assert matches(four, *documents) == []
    found = matches(four, *documents, at(3, "<a><k>1</k></a>"))
    assert found == sorted(itertools.permutations(("d1", "d2", "d3", "d4")))


SAME = {
    "left": "(S//a->x JOIN {x = y} S//b->y) JOIN {y = z} S//c->z",
    "right": "S//c->z JOIN {z = x} (S//a->x JOIN {x = y} S//b->y)",
    "both": "(S//a->x JOIN {x = y} S//b->y) JOIN {y = z} (S//c->z JOIN {z = u} S//d->u)",
}
"""A composite on one side or on both; the same document may have leaves for either side."""


@pytest.mark.parametrize("batch", [1, 3])
@pytest.mark.parametrize("signatures", [True, False])
@pytest.mark.parametrize("in_process", [True, False])
@pytest.mark.parametrize("composite", SAME)
def test_no_document_is_on_both_sides(
    composite: str, in_process: bool, signatures: bool, batch: int
) -> None:
    envelopes = [
        {"id": name, "timestamp": time, "xml": xml}
        for time, (name, xml) in enumerate(
            [
                ("ab", "<r><a>1</a><b>1</b></r>"),
                ("bc", "<r><b>1</b><c>1</c></r>"),
                ("cd", "<r><c>1</c><d>1</d></r>"),
                ("da", "<r><d>1</d><a>1</a></r>"),
            ]
        )
    ]
    roles = {"left": "abc", "right": "cab", "both": "abcd"}[composite]
    expected = sorted(
        documents
        for documents in itertools.permutations(("ab", "bc", "cd", "da"), len(roles))
        if all(role in document for role, document in zip(roles, documents, strict=True))
    )
    assert expected
    strategies = xscl.Strategies(in_process=100 if in_process else 0, signatures=signatures)
    for grouped in (False, True):
        with xscl.Engine(strategies=strategies) as engine:
            engine.subscribe(SAME[composite])
            found = [one.documents for one in engine.run(envelopes, batch=batch, grouped=grouped)]
            assert sorted(found) == expected
    with xscl.Engine(strategies=strategies) as engine:
        subscription = engine.subscribe(SAME[composite])
        assert engine.count(envelopes, batch=batch) == {subscription.name: len(expected)}


def test_predicates_reach_over_what_is_between() -> None:
    chain = "a//k->x JOIN {} b//k->y JOIN {x = z AND y != z} c//k->z"
    documents = [at(1, "<a><k>1</k></a>"), at(2, "<b><k>2</k></b>"), at(3, "<c><k>1</k></c>")]
    assert matches(chain, *documents) == [("d1", "d2", "d3")]
    group = "a//k->x JOIN {} (b//k->y JOIN {y != z AND x = z} c//k->z)"
    assert matches(group, *documents) == [("d1", "d2", "d3")]
    assert matches(group, documents[0], documents[1], at(3, "<c><k>2</k></c>")) == []


def test_disjuncts_of_several_operators_agree_on_a_match() -> None:
    query = "a//k->x JOIN {x = y OR x != y} b//k->y JOIN {x = z OR y = z} c//k->z"
    documents = [at(t, f"<{n}><k>1</k></{n}>") for t, n in enumerate("abc")]
    assert matches(query, *documents) == [("d1", "d2", "d3")]


def test_a_value_of_an_inner_node_joins_later() -> None:
    """The element that joins has children that join, too."""
    query = (
        "a//e->x[./k->k] JOIN {k = y} b//k->y FOLLOWED BY {x = z AND lower-case(k) = z2} "
        "c//e->z[./k->z2]"
    )
    documents = [at(1, "<a><e><k>K</k>!</e></a>"), at(2, "<b><k>K</k></b>")]
    assert matches(query, *documents, at(3, "<c><e><k>k</k></e></c>")) == []
    assert matches(query, *documents, at(3, "<c><e>K<k>k</k></e></c>")) == []
    both = at(3, "<c><e>K!<k/></e><e><k>k</k></e></c>")
    assert matches(query, *documents, both) == []
    assert matches(
        query.replace("lower-case(k)", "k"), *documents, at(3, documents[0][2].replace("a>", "c>"))
    ) == [("d1", "d2", "d3")]


def test_results_of_a_chain() -> None:
    with xscl.Engine() as engine:
        engine.subscribe(
            "SELECT z, x AS first FROM a//k->x JOIN {x = y} b//k->y JOIN {y = z} c//k->z",
            name="three",
        )
        for number, name in enumerate("abc"):
            found = engine.publish(name, f"<{name}><k>1</k></{name}>", id=name, timestamp=number)
    (match,) = found
    assert match.to_dict() == {
        "id": match.id,
        "query": "three",
        "stream": None,
        "time": 2.0,
        "documents": ["a", "b", "c"],
        "streams": ["a", "b", "c"],
        "nodes": [1, 1, 1],
        "bindings": {"z": 1, "x": 1},
        "values": {"z": "1", "x": "1"},
        "result": "<result><k>1</k><first>1</first></result>",
    }


def test_counting_a_chain() -> None:
    """Existential variables do not multiply: a match is reported once."""
    with xscl.Engine() as engine:
        engine.subscribe(
            "a/a[.//k->x] JOIN {x = y} b/b[.//k->y] JOIN {y = z} c/c[.//k->z]", name="n"
        )
        texts = [f"<{name}><k>1</k><k>1</k><k>2</k></{name}>" for name in "abc"]
        documents = [{"stream": name, "xml": text} for name, text in zip("abc", texts, strict=True)]
        assert engine.count(documents) == {"n": 1}


@pytest.mark.parametrize("select", ["", "SELECT x FROM "])
def test_equal_left_parts_are_computed_once(select: str) -> None:
    left = "a//k->x JOIN {x = y, 10} b//k->y"
    with xscl.Engine() as engine:
        for number in range(20):
            engine.subscribe(f"{select}{left} JOIN {{y = z}} c//k->z[. != '{number + 2}']")
        for name in "abc":
            found = engine.publish(name, f"<{name}><k>1</k></{name}>", timestamp=1)
        assert len(found) == 20
        assert engine.stats(exact=True)["composites"] == 1
        # Another window is another left part.
        engine.subscribe(f"{select}{left.replace('10', '20')} JOIN {{y = z}} c//k->z")
        for name in "ab":
            engine.publish(name, f"<{name}><k>1</k></{name}>", timestamp=1)
        assert engine.stats(exact=True)["composites"] == 4 + 1


def test_a_later_query_does_not_see_what_a_shared_left_part_has_found() -> None:
    query = "a//k->x JOIN {x = y} b//k->y JOIN {y = z} c//k->z"
    with xscl.Engine() as engine:
        engine.subscribe(query, name="first")
        engine.publish("a", "<a><k>1</k></a>", id="a1")
        engine.publish("b", "<b><k>1</k></b>", id="b1")
        engine.subscribe(query, name="second")
        found = engine.publish("c", "<c><k>1</k></c>", id="c1")
        assert [(m.query, m.documents) for m in found] == [("first", ("a1", "b1", "c1"))]
        found = engine.publish("a", "<a><k>1</k></a>", id="a2")
        assert [(m.query, m.documents) for m in found] == [("first", ("a2", "b1", "c1"))]
        found = engine.publish("b", "<b><k>1</k></b>", id="b2")
        seconds = [match.documents for match in found if match.query == "second"]
        assert seconds == [("a2", "b2", "c1")]
        assert len(found) == 3
        assert engine.stats(exact=True)["composites"] == 4


def test_a_composite_hands_on_strings_that_its_readers_do_not_join() -> None:
    """`x` is compared two operators further up, long after its own document has gone by."""
    query = (
        "a//k->x JOIN {x != y, 5} b//k->y FOLLOWED BY {y = z, 100} c//k->z "
        "FOLLOWED BY {x = u, 100} d//k->u"
    )
    with xscl.Engine(lateness=0) as engine:
        engine.subscribe(query)
        for time, name, key in [(0, "a", 1), (1, "b", 2), (50, "c", 9), (60, "c", 2), (90, "d", 9)]:
            text = f"<{name}><k>{key}</k></{name}>"
            assert engine.publish(name, text, id=f"{name}{time}", timestamp=time) == []
            retained = engine.stats(exact=True)
        assert (retained["composites"], retained["documents"]) == (2, 4)
        (match,) = engine.publish("d", "<d><k>1</k></d>", id="d", timestamp=150)
        assert match.documents == ("a0", "b1", "c60", "d")
        engine.publish("d", "<d/>", timestamp=200)
        assert engine.stats(exact=True)["composites"] == 0


def test_documents_are_retained_as_members_of_composites() -> None:
    """Whatever their own windows say; and so they are known as duplicates."""
    with xscl.Engine(lateness=0) as engine:
        engine.subscribe("a JOIN {, 5} b FOLLOWED BY {, 50} c")
        engine.publish("a", "<a/>", id="a", timestamp=0)
        engine.publish("b", "<b/>", id="b", timestamp=2)
        engine.publish("c", "<c/>", id="c", timestamp=40)
        assert engine.publish("a", "<a/>", id="a", timestamp=41) == []
        assert engine.skipped.duplicate == 1
        engine.publish("c", "<c/>", id="c2", timestamp=53)
        assert engine.publish("a", "<a/>", id="a", timestamp=54) == []
        assert engine.skipped.duplicate == 1


def test_matches_of_chains_are_counted_once_where_composites_differ_in_other_leaves() -> None:
    """Of two equal leaves in one document either makes a composite, and both the same match."""
    query = "a/a[k->x] FOLLOWED BY {x = y} (b/b[k->y] FOLLOWED BY {y = z} c/c[k->z])"
    one, two = "<k>1</k>", "<k>1</k><k>1</k>"
    for times, (b, c) in itertools.product((1, 2), itertools.product((one, two), repeat=2)):
        documents = [("a", "<a><k>1</k></a>"), ("b", f"<b>{b}</b>"), ("c", f"<c>{c}</c>")] * times
        envelopes = [
            {"stream": stream, "timestamp": time, "xml": xml}
            for time, (stream, xml) in enumerate(documents)
        ]
        for select in ("", "SELECT y FROM ", "SELECT x, y, z FROM "):
            with xscl.Engine() as engine, xscl.Engine() as other:
                engine.subscribe(select + query, name="chain")
                other.subscribe(select + query, name="chain")
                found = other.publish_many(envelopes)
                assert found
                assert dict(engine.count(envelopes)) == {"chain": len(found)}
