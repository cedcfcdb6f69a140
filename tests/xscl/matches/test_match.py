"""The id of a match: the same for the same match, wherever it is found, another for any other."""

from __future__ import annotations

import xscl

PAIR = "SELECT x, y FROM S//a->a[./*->x] JOIN {x = y} R//b->b[./*->y]"
LEFT, RIGHT = "<d><a><k>1</k></a></d>", "<d><b><k>1</k></b></d>"


def ids(
    query: str = PAIR,
    *,
    name: str = "q",
    streams: tuple[str, str] = ("S", "R"),
    documents: tuple[str, str] = (LEFT, RIGHT),
    named: tuple[str, str] = ("s", "r"),
    times: tuple[int, int] = (0, 1),
) -> list[str]:
    with xscl.Engine() as engine:
        engine.subscribe(query, name=name)
        engine.publish(streams[0], documents[0], id=named[0], timestamp=times[0])
        found = engine.publish(streams[1], documents[1], id=named[1], timestamp=times[1])
        return [match.id for match in found]


def test_it_is_the_same_in_every_engine() -> None:
    (one,) = ids()
    assert ids(times=(7, 3)) == [one]
    assert ids(documents=(LEFT.replace("1", "2"), RIGHT.replace("1", "2"))) == [one]
    # What another document brings, and which came first, is no matter of this match.
    assert ids(streams=("R", "S"), documents=(RIGHT, LEFT), named=("r", "s")) == [one]


def test_another_match_has_another() -> None:
    (one,) = ids()
    shifted = "<d><c/><a><k>1</k></a></d>"
    others = {
        "another query": ids(name="p"),
        "another document": ids(named=("t", "r")),
        "another document on the right": ids(named=("s", "t")),
        "documents the other way round": ids(named=("r", "s")),
        "another stream": ids(PAIR.replace("R//", "T//"), streams=("S", "T")),
        "streams the other way round": ids(
            PAIR.replace("R//", "-//").replace("S//", "R//").replace("-//", "S//"),
            streams=("R", "S"),
        ),
        "another node": ids(documents=(shifted, RIGHT)),
        "a node on the right": ids(documents=(LEFT, RIGHT.replace("<b>", "<c/><b>"))),
        "another variable": ids(PAIR.replace("x", "z")),
        "another variable's node": ids(documents=(LEFT.replace("<k>", "<c/><k>"), RIGHT)),
        "fewer variables": ids(PAIR.replace("SELECT x, y FROM ", "SELECT x FROM ")),
    }
    found = [id for some in others.values() for id in some]
    assert [len(some) for some in others.values()] == [1] * len(others)
    assert len({one, *found}) == 1 + len(others)


def test_attributes_of_one_element_are_distinguished() -> None:
    attributes = "<d><a k='1' l='1'/></d>"
    for query in (
        "S//a/@*->x JOIN {x = y} R//b->b[./*->y]",
        "SELECT x FROM S//a->a[./@*->x] JOIN {x = y} R//b->b[./*->y]",
    ):
        found = ids(query, documents=(attributes, RIGHT))
        assert len({*found}) == 2
        (alone,) = ids(query, documents=("<d><a k='1'/></d>", RIGHT))
        assert alone in found


def test_the_values_of_bindings_are_texts() -> None:
    """For elements, attributes and JSON equally; long ones are cut, and an element with child
    elements has no value of its own."""
    long = "x" * 1_001
    with xscl.Engine() as engine:
        engine.subscribe("SELECT a, k, w, l FROM S/p->w[./a->a][./@k->k][./l->l]")
        (match,) = engine.publish("S", f"<p k='1'><a>é<!-- no --> b</a><l>{long}</l></p>")
        assert match.values == {"a": "é b", "k": "1", "l": long[:999] + "…"}
        assert match.to_dict()["values"] == match.values
        engine.subscribe("SELECT n, s, o FROM J/json->o[./n->n][./s->s]")
        (match,) = engine.publish("J", {"n": 1.50, "s": "z", "m": None})
        assert match.values["n"] == "1.5"
        assert set(match.values) == {"n", "s"}
