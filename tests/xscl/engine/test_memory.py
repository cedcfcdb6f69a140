"""A bound on memory: the same matches, and what exceeds it is in temporary files."""

from __future__ import annotations

import multiprocessing
import random
import resource
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import xscl
from tests.drawn import drawn
from tests.oracle.drawn_documents import documents
from tests.oracle.drawn_queries import query_sets
from tests.oracle.terms import Document, Query
from tests.xscl.engine.drawing import TIMES, batches, expected, run
from xscl.cli.main import cli
from xscl.documents.bodies import Bodies, Body
from xscl.memory.relations import Relations

MIB = 2**20
LINKS = (
    "S//item->a[./id->i][./author->u] FOLLOWED BY {i = l AND u = v} "
    "S//item->b[./linked->l][./author->v]"
)


@drawn(6)
@given(st.data(), query_sets("plain"), documents("plain", times=TIMES))
def test_a_bound_changes_no_match(
    data: st.DataObject, queries: list[Query], published: list[Document]
) -> None:
    fed = data.draw(batches(published))
    assert run(queries, fed, memory=64 * MIB) == expected(queries, published)


def items(first: int, last: int, size: int) -> Iterator[dict[str, object]]:
    """Items that each link one of 50 before them, of the same author, that many bytes long."""
    for n in range(first, last):
        xml = (
            f"<item><id>{n}</id><author>{n % 10}</author><linked>{n - 10 * (n % 5 + 1)}</linked>"
            f"<title>Item {n}</title><content>{str(n).ljust(size, '.')}</content></item>"
        )
        yield {"id": f"i{n}", "timestamp": n, "xml": xml}


def test_bodies_beyond_the_share_are_read_back(monkeypatch: pytest.MonkeyPatch) -> None:
    results = []
    for memory in (None, 64 * MIB):
        with xscl.Engine(memory=memory) as engine:
            engine.subscribe(f"SELECT a, b, l AS link FROM {LINKS}")
            found = list(engine.run(items(0, 3000, 5000), batch=500))
            reported: Any = engine.stats(exact=True)["memory"]
            # Read when the engine has gone.
        results.append([match.to_dict() for match in found[::50]])
        assert len(found) == 2970
        if memory is None:
            assert reported["bodies"] == reported["bodies_filed"] == 0
        else:
            assert reported["bodies"] <= 8 * MIB
            assert reported["bodies_filed"] > 5 * MIB
    assert results[0] == results[1]


def test_files_go_when_the_engine_is_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with xscl.Engine(memory=64 * MIB) as engine:
        engine.subscribe(LINKS)
        engine.publish_many(items(0, 10, 10))
        # Nothing is written to the relations that is not needed there.
        assert not list(tmp_path.iterdir())
        engine.stats(exact=True)
        assert list(tmp_path.iterdir())
    assert not list(tmp_path.iterdir())


class Shelf:
    """Bodies of which it is known what each is, within 10,000 bytes of memory."""

    def __init__(self) -> None:
        self.bodies = Bodies(10_000)
        self.retained: list[tuple[Body, str | bytes]] = []

    def put(self, content: str | bytes) -> None:
        self.retained.append((self.bodies.put(content), content))

    def drop(self, index: int) -> None:
        del self.retained[index % len(self.retained)]

    def check(self) -> None:
        self.bodies.shrink()
        assert self.bodies.memory <= 10_000
        assert self.bodies.memory >= 0
        assert all(body.read() == content for body, content in self.retained)
        assert all(
            b"".join(body.pieces()) == (content.encode() if isinstance(content, str) else content)
            for body, content in self.retained
        )


CONTENTS = st.one_of(
    st.text("aé\U0001f600", max_size=20),
    st.binary(max_size=20),
    st.builds(
        lambda byte, times: byte * times, st.binary(min_size=1, max_size=1), st.integers(0, 9000)
    ),
)


@given(st.lists(CONTENTS | st.integers(0, 100), max_size=80))
@drawn(100)
def test_bodies_are_what_was_put(actions: list[str | bytes | int]) -> None:
    shelf = Shelf()
    for action in actions:
        if not isinstance(action, int):
            shelf.put(action)
        elif shelf.retained:
            shelf.drop(action)
        shelf.check()
    shelf.retained.clear()
    shelf.check()
    assert (shelf.bodies.memory, shelf.bodies.filed) == (0, 0)


def test_the_file_does_not_grow_with_what_has_gone() -> None:
    shelf = Shelf()
    sizes = random.Random(8)
    for n in range(5000):
        shelf.put(bytes([n % 256]) * sizes.randrange(1000, 1700))
        if n >= 100:
            shelf.drop(0)
        shelf.bodies.shrink()
    shelf.check()
    assert shelf.bodies.length < 2 * shelf.bodies.filed


_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload(["tests.warm", "tests.xscl.engine.test_memory"])


def growth_of(number: int, size: int, memory: int | None, state: Path | None) -> tuple[int, int]:
    """How many matches that many items of a size have in windows without end, in addition to those
    that a state file has, and the MiB that they take."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with xscl.Engine(state, memory=memory) as engine:
        engine.subscribe(LINKS, name="links")
        fed = items(engine.documents, engine.documents + number, size)
        found = sum(1 for _ in engine.run(fed, batch=1000))
    return found, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024


def alone(number: int, size: int, memory: int | None, state: Path | None) -> tuple[int, int]:
    with _FORKS.Pool(1) as pool:
        return pool.apply(growth_of, (number, size, memory, state))


@pytest.mark.parametrize("durable", [False, True])
def test_ten_times_as_many_documents_stay_within_the_bound(durable: bool, tmp_path: Path) -> None:
    """12,500 documents of 10 KB, none of which is ever dropped; the memory of the engine itself,
    with the libraries that its relations need, is what one takes for a few.  A state file takes
    more for as long as it is brought up to date."""
    more = 64 if durable else 0
    states = [tmp_path / f"{n}.duckdb" if durable else None for n in range(3)]
    _, itself = alone(4_500, 5_000, 64 * MIB, states[0])
    _, few = alone(5_000, 5_000, 64 * MIB, states[1])
    found, many = alone(12_500, 10_000, 64 * MIB, states[2])
    assert found == 12_470
    assert many - few < 64 + more
    assert many - itself < 2 * 64 + more
    if durable:
        found, opened = alone(1, 10_000, 64 * MIB, states[2])
        assert found == 1
        assert opened - itself < 2 * 64


def test_a_statement_that_needs_more_has_it_until_the_next() -> None:
    """One value that is larger than the share, which DuckDB cannot keep in files."""
    relations = Relations(32 * MIB)
    execute = relations.connect().execute
    try:
        one = "SELECT len(list(i)) FROM range(6_000_000) t(i)"
        assert execute(one).fetchall() == [(6_000_000,)]
        assert relations.exceeded == 1
        assert execute("SELECT current_setting('memory_limit')").fetchall() == [("32.0 MiB",)]
        assert execute(one).fetchall() == [(6_000_000,)]
        assert relations.exceeded == 2
    finally:
        relations.close()


def test_a_join_that_needs_more_than_its_share_is_whole() -> None:
    """Whether a statement of it exceeds the share or its rows go to files in time is DuckDB's
    matter."""
    ways = xscl.Strategies(in_process=0)
    with xscl.Engine(memory=64 * MIB, strategies=ways) as engine:
        engine.subscribe(
            "S//item->a[./x->x][./y->y] JOIN {x = z AND y = w} S//item->b[./x->z][./y->w]", "all"
        )
        item = "<item><x>{0}</x><y>{0}</y></item>"
        similar = ({"id": str(n), "timestamp": n, "xml": item.format(n % 5)} for n in range(2000))
        counts = engine.count(similar, batch=1000)
        reported: Any = engine.stats(exact=True)["memory"]
        assert counts == {"all": 2000 * 399}
        assert reported["relations_exceeded"] + reported["relations_filed"] > 0
        assert reported["relations"] <= 32 * MIB


@pytest.mark.parametrize("given", ["63 MiB", "0", "much"])
def test_too_little_memory_is_wrong_usage(given: str, tmp_path: Path) -> None:
    (tmp_path / "q.xscl").write_text("S//a")
    arguments = ["run", str(tmp_path / "q.xscl"), "--events", "-", "--memory", given]
    assert CliRunner().invoke(cli, arguments).exit_code == 2


def test_too_little_memory_is_refused() -> None:
    with pytest.raises(xscl.XSCLError, match="give 64 MiB or more"):
        xscl.Engine(memory=2**20)
