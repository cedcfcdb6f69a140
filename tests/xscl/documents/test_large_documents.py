"""Large documents: the same matches as of small ones, in memory that does not grow with them."""

from __future__ import annotations

import json
import multiprocessing
import random
import resource
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import xscl
from tests.drawn import drawn
from tests.xpath_stage.drawing import documents
from tests.xscl.queries.test_shared_query import TEXTS, row
from tests.xscl.queries.test_shared_query import document as some_document
from xscl.cli.main import cli
from xscl.documents import bodies

LEAVES_AND_RECORDS = """\
-- name: leaves
SELECT r, i FROM S//record->r[./id->i] JOIN {i = k} R//key->k;
-- name: records
S//record->r[price > 90 and not(old)][./link->l] JOIN {l = m} R//key->m
"""
QUERIES = (
    LEAVES_AND_RECORDS
    + """;
-- name: attributes
SELECT a AS at FROM S//record/@n->a JOIN {a = n} R/key->n
"""
)


def records(number: int) -> Iterator[bytes]:
    """A document of that many records, some 500 bytes each."""
    yield b'<?xml version="1.0"?><!-- records --><all xmlns:p="urn:p">\n'
    for n in range(number):
        yield (
            f'<record n="n{n}"><id>{n}</id><p:name>Number {n}</p:name><price>{n % 100}</price>'
            f"<link>http://example.org/{n}</link><text>{'lorem ipsum ' * 30}</text></record>"
            "<!-- between -->\n"
        ).encode()
    yield b"</all>"


def write(path: Path, number: int) -> Path:
    with path.open("wb") as file:
        file.writelines(records(number))
    return path


def run(publish: Callable[[xscl.Engine], object], keys: list[str]) -> list[dict[str, Any]]:
    with xscl.Engine() as engine:
        engine.load(QUERIES)
        publish(engine)
        matches = [
            match
            for n, key in enumerate(keys)
            for match in engine.publish("R", f"<key>{key}</key>", id=f"r{n}", timestamp=n)
        ]
    return [match.to_dict() for match in matches]


KEYS = ["7", "95", "http://example.org/95", "http://example.org/96", "n3", "n3", "x"]


@pytest.mark.parametrize("form", ["text", "bytes", "file"])
def test_a_large_document_has_the_matches_of_a_small_one(
    form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / "records.xml", 100)
    document: object = {"text": path.read_text(), "bytes": path.read_bytes(), "file": path}[form]

    def publish(engine: xscl.Engine) -> object:
        return engine.publish("S", document, id="s", timestamp=0)

    small = run(publish, KEYS)
    assert [match["query"] for match in small] == [
        "leaves",
        "leaves",
        "records",
        "records",
        "attributes",
        "attributes",
    ]
    monkeypatch.setattr(bodies, "LARGE", 1000)
    assert run(publish, KEYS) == small


@given(st.lists(documents, min_size=2, max_size=4))
@drawn(60)
def test_results_are_the_same_copies(texts: list[str]) -> None:
    query = "SELECT <r k='{x/@k}'>{x}{y}{string(x)}{x/b}</r> FROM S//a->x JOIN {x = y} S//b->y"
    found = []
    for largest in (bodies.LARGE, 10):
        with pytest.MonkeyPatch.context() as patched, xscl.Engine() as engine:
            patched.setattr(bodies, "LARGE", largest)
            engine.subscribe(query, name="q")
            matches = [
                match
                for n, text in enumerate(texts)
                for match in engine.publish("S", text, id=f"d{n}", timestamp=n)
            ]
            found.append([match.to_dict() for match in matches])
    assert found[0] == found[1]


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
def test_queries_that_are_the_same_up_to_constants_have_the_same_matches(text: str) -> None:
    """Constants hold at the same nodes, be they elements or attributes."""
    random_ = random.Random(text)
    rows = [row(random_) for _ in range(12)]
    some = [some_document(random_) for _ in range(12)]
    found = []
    for largest in (bodies.LARGE, 10):
        with pytest.MonkeyPatch.context() as patched, xscl.Engine() as engine:
            patched.setattr(bodies, "LARGE", largest)
            engine.subscribe_many(text, rows)
            found.append(
                [
                    match.to_dict()
                    for n, document in enumerate(some)
                    for match in engine.publish("S", document, id=f"d{n}", timestamp=n)
                ]
            )
    assert found[0] == found[1]


def test_a_large_document_that_cannot_be_read_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bodies, "LARGE", 1000)
    torn = b"".join(records(10))[:-3]
    with xscl.Engine() as engine:
        engine.load(QUERIES)
        for document in (torn, torn.decode()):
            with pytest.raises(xscl.DocumentError, match="'d' of stream 'S': line 12, col"):
                engine.publish("S", document, id="d")
            # Nor where no query reads it.
            with pytest.raises(xscl.DocumentError, match="line 12"):
                engine.publish("Q", document, id="d")
        with pytest.raises(xscl.DocumentError, match=r"character 1200 is a lone surrogate"):
            engine.publish("S", "<a>" + "x" * 1197 + "\ud800</a>")
        with pytest.raises(xscl.DocumentError, match="No such file"):
            engine.publish("S", tmp_path / "none.xml")
        assert engine.skipped.malformed == 6
        assert engine.stats(exact=True)["documents"] == 0


def test_results_are_read_when_the_document_and_the_engine_have_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bodies, "LARGE", 1000)
    path = write(tmp_path / "records.xml", 20)
    with xscl.Engine(lateness=0) as engine:
        engine.subscribe("SELECT i AS id FROM S//record->r[./id->i] JOIN {i = k, 5} R//key->k")
        engine.publish("S", path, timestamp=0)
        path.unlink()
        later, sooner = (
            engine.publish("R", f"<key>{key}</key>", timestamp=1)[0] for key in (17, 3)
        )
        engine.publish("R", "<key/>", timestamp=100)
        assert engine.stats(exact=True)["documents"] == 1
    assert (sooner.result, later.result) == (
        "<result><id>3</id></result>",
        "<result><id>17</id></result>",
    )


_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload(["tests.warm", "tests.xscl.documents.test_large_documents"])


def alone(function: Callable[..., object], *arguments: object) -> Any:
    """What a function returns in a process of its own."""
    with _FORKS.Pool(1) as pool:
        return pool.apply(function, arguments)


def growth_of(path: str) -> tuple[int, int]:
    """The number of matches that a document has, each read, and the MiB that it took."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with xscl.Engine() as engine:
        engine.load(LEAVES_AND_RECORDS)
        engine.publish("S", Path(path), id="s", timestamp=0)
        found = 0
        for n in range(0, 1000, 100):
            for key in (n, f"http://example.org/{n + 95}"):
                for match in engine.publish("R", f"<key>{key}</key>", timestamp=1):
                    assert match.result
                    found += 1
    return found, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024


def test_memory_is_bounded_by_the_records(tmp_path: Path) -> None:
    """25 MB, of which a leaf of each record is joined, and another of each twelfth."""
    path = write(tmp_path / "large.xml", 51_000)
    assert path.stat().st_size > 25_000_000
    found, grown = alone(growth_of, str(path))
    few, little = alone(growth_of, str(write(tmp_path / "small.xml", 2000)))
    assert found == few == 20
    assert grown - little < 125  # its text and its tree take 140


def test_the_command_line_takes_what_it_is_asked_to(tmp_path: Path) -> None:
    write(tmp_path / "s.xml", 35_000)
    (tmp_path / "r.xml").write_text("<key>n34999</key>")
    (tmp_path / "q.xscl").write_text("SELECT a AS at FROM S//@n->a JOIN {a = n} R/key->n")
    arguments = ["run", str(tmp_path / "q.xscl"), "--docs", f"S={tmp_path}/s.xml"]
    arguments += ["--docs", f"R={tmp_path}/r.xml"]
    refused = CliRunner().invoke(cli, arguments)
    assert "it has more than 16,777,216 bytes; --max-document sets" in refused.stderr
    taken = CliRunner().invoke(cli, [*arguments, "--max-document", "20 MiB"])
    (line,) = taken.stdout.splitlines()
    assert json.loads(line)["result"] == "<result><at>n34999</at></result>"
