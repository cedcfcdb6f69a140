"""The spool against the list of all that was ever put into it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from tests.drawn import drawn
from xscl.errors import StateError
from xscl.spark.ingestion.bodies import Body, batch_of
from xscl.spark.ingestion.columns import BODIES
from xscl.spark.ingestion.spool import Spool


def bodies(*sizes: int, feed: str = "f") -> list[Body]:
    """Bodies of so many bytes; of a negative number, a problem."""
    return [
        Body(feed, 1.5, ("a", "b"), body=b"x" * size)
        if size >= 0
        else Body(feed, 1.5, problem="no answer")
        for size in sizes
    ]


def numbers(spool: Spool, after: int, upto: int) -> list[int]:
    return [n for batch in spool.read(after, upto) for n in batch["sequence"].to_pylist()]


def spool_in(folder: Path) -> Spool:
    spool = Spool(folder / "spool")
    spool.recover()
    return spool


def test_rows_come_back_as_they_went_in(tmp_path: Path) -> None:
    rows = [
        Body(
            "http://a.example/", 1_780_315_200.25, ("News", "Sea"), "http://b.example/", "text/xml",
            'W/"\xe9"', "Mon, 1 Jun 2026 9:5:03 +0000", b"\x00<rss/>",
        ),
        Body("in/é.xml", 0.0, body=b""),
        Body("http://c.example/", 2.0, problem="the server took too long"),
    ]  # fmt: skip
    spool = spool_in(tmp_path)
    assert spool.append(rows) == 3
    (batch,) = Spool(tmp_path / "spool").read(0, 3)
    assert batch.schema == BODIES
    assert batch == batch_of(rows, 1)


class Spooling(RuleBasedStateMachine):
    """Adds, drops, opens again; what was kept is known."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.spool = spool_in(Path(self.folder.name))
        self.sizes: list[int] = []
        self.segments: list[int] = []  # the last number of each
        self.forgotten = 0

    def teardown(self) -> None:
        self.folder.cleanup()

    @rule(sizes=st.lists(st.integers(-1, 50), max_size=5))
    def append(self, sizes: list[int]) -> None:
        self.sizes += [max(size, 0) for size in sizes]
        if sizes:
            self.segments.append(len(self.sizes))
        assert self.spool.append(bodies(*sizes)) == len(self.sizes)

    @rule(data=st.data())
    def forget(self, data: st.DataObject) -> None:
        upto = data.draw(st.integers(0, len(self.sizes) + 2))
        self.spool.forget(upto)
        gone = [last for last in self.segments[:-1] if last <= upto]
        self.forgotten = max([self.forgotten, *gone])

    @rule()
    def reopen(self) -> None:
        self.spool = spool_in(Path(self.folder.name))

    @rule(data=st.data())
    def read(self, data: st.DataObject) -> None:
        after = data.draw(st.integers(0, len(self.sizes)))
        upto = data.draw(st.integers(after, len(self.sizes)))
        if after >= self.forgotten or after == upto:
            assert numbers(self.spool, after, upto) == list(range(after + 1, upto + 1))
        else:
            with pytest.raises(StateError, match=f"bodies {after + 1:,} to"):
                numbers(self.spool, after, upto)

    @rule(
        data=st.data(),
        most_rows=st.none() | st.integers(1, 8),
        most_bytes=st.none() | st.integers(0, 150),
    )
    def end(self, data: st.DataObject, most_rows: int | None, most_bytes: int | None) -> None:
        after = data.draw(st.integers(self.forgotten, len(self.sizes)))

        def fits(upto: int) -> bool:
            return (most_rows is None or upto - after <= most_rows) and (
                most_bytes is None or sum(self.sizes[after:upto]) <= most_bytes
            )

        fitting = [upto for upto in range(after, len(self.sizes) + 1) if fits(upto)]
        expected = max(fitting[-1], min(after + 1, len(self.sizes)))
        assert self.spool.end(after, most_rows=most_rows, most_bytes=most_bytes) == expected

    @invariant()
    def counts(self) -> None:
        assert self.spool.last == len(self.sizes)
        kept = [last for last in self.segments if last > self.forgotten]
        assert (self.spool.backlog > 0) == (len(kept) > 1)


TestSpooling = Spooling.TestCase
TestSpooling.settings = drawn(30, stateful_step_count=25)


def test_what_a_crash_left_half_written_is_removed_by_the_writer_alone(tmp_path: Path) -> None:
    spool = spool_in(tmp_path)
    spool.append(bodies(1))
    (segment,) = (tmp_path / "spool").iterdir()
    draft = segment.with_name(segment.name.replace("1", "2", 2) + ".draft")
    draft.write_bytes(segment.read_bytes()[:50])
    reader = Spool(tmp_path / "spool")
    assert (reader.last, numbers(reader, 0, 1)) == (1, [1])
    assert draft.exists()
    reader.recover()
    assert list((tmp_path / "spool").iterdir()) == [segment]


def test_looking_at_a_spool_that_is_not_there_makes_none(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "spool")
    assert (spool.last, spool.backlog, spool.end(0), list(spool.read(0, 0))) == (0, 0, 0, [])
    assert list(tmp_path.iterdir()) == []


@given(at=st.floats(0, 1, exclude_max=True), bit=st.integers(0, 7))
@drawn(50)
def test_a_damaged_segment_is_reported_by_its_name(at: float, bit: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        spool = spool_in(Path(folder))
        spool.append(bodies(100, 20))
        (segment,) = (Path(folder) / "spool").iterdir()
        content = bytearray(segment.read_bytes())
        content[int(at * len(content))] ^= 1 << bit
        segment.write_bytes(content)
        with pytest.raises(StateError, match=rf"{segment.name} is damaged"):
            numbers(spool, 0, 2)
        segment.write_bytes(content[: int(at * len(content))])
        with pytest.raises(StateError, match=rf"{segment.name} is damaged"):
            spool.end(0, most_bytes=10)


def test_a_hole_is_reported(tmp_path: Path) -> None:
    spool = spool_in(tmp_path)
    for _ in range(3):
        spool.append(bodies(1, 1))
    sorted((tmp_path / "spool").iterdir())[1].unlink()
    with pytest.raises(StateError, match="does not hold the fetched bodies 3 to 6"):
        numbers(spool, 0, 6)


def test_a_full_disk_is_reported_and_costs_nothing_that_was_there(
    tmp_path: Path,
) -> None:
    """In a process that may write files of a few thousand bytes only, as if the disk were full."""
    script = (
        "import resource, signal, sys\n"
        "from xscl.errors import StateError\n"
        "from xscl.spark.ingestion.bodies import Body\n"
        "from xscl.spark.ingestion.spool import Spool\n"
        "import os\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "spool = Spool(sys.argv[1]); spool.recover()\n"
        "spool.append([Body('f', 0.0, body=b'x')])\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))\n"
        "try: spool.append([Body('f', 0.0, body=os.urandom(20_000))])\n"
        "except StateError as error: print(error)\n"
    )
    command = [sys.executable, "-c", script, str(tmp_path / "spool")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "cannot be written: File too large" in done.stdout
    spool = Spool(tmp_path / "spool")
    assert numbers(spool, 0, spool.last) == [1]
    assert len(list((tmp_path / "spool").iterdir())) == 1


def test_a_writer_that_is_killed_leaves_whole_segments(tmp_path: Path) -> None:
    script = (
        "import os, sys\n"
        "from xscl.spark.ingestion.bodies import Body\n"
        "from xscl.spark.ingestion.spool import Spool\n"
        "spool = Spool(sys.argv[1]); spool.recover()\n"
        "while True:\n"
        "    last = spool.append([Body('f', 0.0, body=os.urandom(50_000))] * 5)\n"
        "    print(last, flush=True)\n"
    )
    command = [sys.executable, "-c", script, str(tmp_path / "spool")]
    for _ in range(2):
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            reported = [int(process.stdout.readline()) for _ in range(7)]
            process.send_signal(signal.SIGKILL)
            reported += [int(line) for line in process.stdout if line.endswith("\n")]
        spool = Spool(tmp_path / "spool")
        assert spool.last >= reported[-1], "what was reported to be there is"
        assert numbers(spool, 0, spool.last) == list(range(1, spool.last + 1))
    assert os.listdir(tmp_path) == ["spool"]
