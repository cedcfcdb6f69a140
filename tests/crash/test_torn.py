"""A state whose last pages are torn, or whose bytes have changed: it continues from a whole
transaction, and all that follows is found again, or it is refused and left as it is."""

from __future__ import annotations

import random
import signal
from collections.abc import Callable
from pathlib import Path
from shutil import copytree, rmtree

import pytest

from tests import drawn
from tests.commands import xscl
from tests.crash.harness import STATE, Undisturbed, reported, turn

MORE = (*STATE, "-o", "out.jsonl")
STATES = ("s.duckdb", "s.duckdb.wal")

Damage = Callable[[bytes, random.Random], bytes]


def cut(content: bytes, random_: random.Random) -> bytes:
    """Its end was not written: a few bytes, a page, or more."""
    less = random_.choice([1, 8, 100, 512, 4_096, len(content) // 3])
    return content[: max(1, len(content) - less - random_.randrange(8))]


def page_of_zeros(content: bytes, random_: random.Random) -> bytes:
    """The file is as long as it should be, its last page is none."""
    start = (len(content) - 1) // 4_096 * 4_096
    return content[:start] + bytes(len(content) - start)


def overwritten(content: bytes, random_: random.Random) -> bytes:
    """Some bytes anywhere are others."""
    start = random_.randrange(len(content) - 64)
    return content[:start] + random_.randbytes(64) + content[start + 64 :]


def more(content: bytes, random_: random.Random) -> bytes:
    """What follows its end is of another file."""
    return content + random_.randbytes(random_.choice([10, 4_096]))


SEEDED = [(overwritten, seed) for seed in drawn.turn(range(4))]


@pytest.fixture(scope="module")
def backup(undisturbed: Undisturbed, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that was killed after some transactions, which are in the log; before it, one that
    ended, so that there is something in the file, too."""
    place = tmp_path_factory.mktemp("torn")
    folder = undisturbed.with_same_input(place / "run")
    whole = (folder / "e.jsonl").read_bytes().splitlines(keepends=True)
    (folder / "e.jsonl").write_bytes(b"".join(whole[:500]))
    assert turn((*undisturbed.run, *MORE), folder, None).returncode == 0
    (folder / "e.jsonl").write_bytes(b"".join(whole))
    done = turn((*undisturbed.run, *MORE), folder, "after commit:3")
    assert done.returncode == -signal.SIGKILL
    return Path(copytree(folder, place / "backup"))


@pytest.fixture
def folder(backup: Path) -> Path:
    """That run's folder, as it was: a state knows what it reads and writes by its place."""
    place = backup.with_name("run")
    rmtree(place)
    return Path(copytree(backup, place))


@pytest.mark.drawn
@pytest.mark.parametrize(("damage", "seed"), [(cut, 1), (page_of_zeros, 0), (more, 0), *SEEDED])
@pytest.mark.parametrize("name", STATES)
def test_nothing_is_lost_without_a_word(
    undisturbed: Undisturbed, folder: Path, name: str, damage: Damage, seed: int
) -> None:
    file = folder / name
    file.write_bytes(damage(file.read_bytes(), random.Random(seed)))
    before = {one: (folder / one).read_bytes() for one in (*STATES, "out.jsonl")}
    done = xscl(*undisturbed.run, *MORE, at=folder)
    if done.returncode == 0:
        # The batches are others than in the undisturbed run, and with them the order of matches.
        assert sorted((folder / "out.jsonl").read_bytes().splitlines()) == sorted(undisturbed.lines)
        assert reported(folder) == undisturbed.numbers
    else:
        assert done.returncode == 1
        assert "Traceback" not in done.stderr
        assert "xscl: s.duckdb cannot be read " in done.stderr
        assert "it is left as it is: restore it from a copy" in done.stderr
        assert {one: (folder / one).read_bytes() for one in before} == before


@pytest.mark.drawn
@pytest.mark.parametrize("seed", drawn.turn(range(3)))
def test_a_log_without_its_end_goes_back_to_a_whole_transaction(
    undisturbed: Undisturbed, folder: Path, seed: int
) -> None:
    log = folder / "s.duckdb.wal"
    log.write_bytes(cut(log.read_bytes(), random.Random(seed)))
    done = xscl(*undisturbed.run, *MORE, at=folder)
    assert done.returncode == 0, done.stderr
    assert sorted((folder / "out.jsonl").read_bytes().splitlines()) == sorted(undisturbed.lines)
