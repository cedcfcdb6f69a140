"""Trees of documents are remembered within the engine's memory, and by that engine alone."""

from __future__ import annotations

import gc
import threading
import weakref

import pytest

import xscl
from xscl.documents.document import Document
from xscl.documents.trees import Trees

MIB = 1024 * 1024
ROWS = 60_000


def large(tag: str, rows: int = ROWS) -> str:
    return f"<{tag}>" + "".join(f"<r><k>{n}</k><v>v{n}</v></r>" for n in range(rows)) + f"</{tag}>"


@pytest.mark.parametrize("json", [False, True])
def test_trees_keep_within_the_engines_memory(json: bool) -> None:
    """Of JSON, whose trees have no parts, the last tree stays."""
    with xscl.Engine(memory=64 * MIB) as engine:
        engine.subscribe("S//r[k = '7']")
        rows = 10_000
        trees = engine._intake.trees
        for n in range(3):
            value = {"r": [{"k": str(n), "v": f"v{n}"} for n in range(rows)]}
            document = value if json else large("d", rows)
            (match,) = engine.publish("S", document, id=str(n))
            expected = {"k": "7", "v": "v7"} if json else "<r><k>7</k><v>v7</v></r>"
            assert match.result == expected
            assert match.result == expected
            assert trees.size <= (16 * MIB if json else trees.share)
        assert trees.share == 4 * MIB


def test_long_texts_of_few_elements_count() -> None:
    trees = Trees(share=MIB)
    for n in range(30):
        text = f"<d><t a='{n}'>{'.' * 100_000}</t></d>"
        trees.nodes(Document(n, "S", str(n), 0, text, json=False), 0)
        assert len(trees._nodes) <= 10
    assert 900_000 < trees.size <= trees.share


def test_nodes_of_a_document_read_in_parts_are_those_of_its_tree() -> None:
    text = "<d>" + "".join(f"<r n='{n}'>t<k>{n}</k>u<!-- c --></r>" for n in range(300)) + "</d>"
    whole, parts = Trees(), Trees(share=20_000)
    assert parts.share < 300 * 2 * 420
    document = Document(1, "S", "d", 0, text, json=False)
    for number in (5, 1, 2, 599, 598, 0, 300, 301, 4):
        one = whole.nodes(document, number).element(number)
        other = parts.nodes(document, number).element(number)
        assert (one.tag, one.attrib, one.text, [*one.itertext()]) == (
            other.tag,
            other.attrib,
            other.text,
            [*other.itertext()],
        )
        assert parts.size <= parts.share


def test_closing_one_engine_leaves_the_trees_of_another() -> None:
    with xscl.Engine() as one:
        one.subscribe("S//r[k = '7']")
        (match,) = one.publish("S", large("d", 100))
        assert match.result
        size = one._intake.trees.size
        assert size
        with xscl.Engine() as other:
            other.subscribe("S//r[k = '7']")
            (reported,) = other.publish("S", large("d", 100))
            assert reported.result
        assert one._intake.trees.size == size
        assert other._intake.trees.size == 0
        # A match can be read as long as there is a reference to it.
        assert reported.result == match.result


def test_a_match_does_not_hold_its_engine() -> None:
    engine = xscl.Engine()
    engine.subscribe("S//r[k = '7']")
    (match,) = engine.publish("S", large("d", 10))
    gone = weakref.ref(engine)
    engine.close()
    del engine
    gc.collect()
    assert gone() is None
    assert match.result == "<r><k>7</k><v>v7</v></r>"


def test_threads_read_results_of_the_same_documents() -> None:
    with xscl.Engine(memory=64 * MIB) as engine:
        engine.subscribe("S//r[k = '7']")
        matches = [engine.publish("S", large("d", 3_000), id=str(n))[0] for n in range(6)]
        wrong: list[object] = []

        def read() -> None:
            for match in matches * 3:
                if match.result != "<r><k>7</k><v>v7</v></r>":
                    wrong.append(match)

        readers = [threading.Thread(target=read) for _ in range(4)]
        for reader in readers:
            reader.start()
        for reader in readers:
            reader.join()
        assert wrong == []
