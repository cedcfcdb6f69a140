"""Ingested items as `xscl run --items` reads them: batch by batch, in order of time."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.commands import xscl
from xscl.errors import DocumentError, XSCLError
from xscl.sources import ingested
from xscl.sources.ingested import read_items

START = datetime(2026, 6, 1, tzinfo=UTC)
ITEMS = pa.schema(
    [
        ("link", pa.string()),
        ("stream", pa.string()),
        ("id", pa.string()),
        ("timestamp", pa.timestamp("us", "UTC")),
        ("xml", pa.string()),
    ]
)
Row = tuple[str, float]


def table(rows: list[Row]) -> pa.Table:
    """Items with these ids and moments, in seconds since the start."""
    return pa.Table.from_pylist(
        [
            {
                "link": "http://example.org/",
                "stream": "S",
                "id": id,
                "timestamp": START + timedelta(seconds=seconds),
                "xml": f"<item><id>{id}</id></item>",
            }
            for id, seconds in rows
        ],
        ITEMS,
    )


def batch(folder: Path, number: int, *files: list[Row], whole: bool = True) -> Path:
    """A batch of some files, below the folder of items."""
    place = folder / "items" / f"batch={number}"
    place.mkdir(parents=True)
    for part, rows in enumerate(files):
        pq.write_table(table(rows), place / f"part-{part:05}.parquet")
    if whole:
        (place / "_SUCCESS").touch()
    return place


def ids(folder: Path, problems: list[DocumentError] | None = None) -> list[object]:
    bad: list[DocumentError] = [] if problems is None else problems
    found = [envelope["id"] for envelope in read_items(str(folder), bad.append)]
    assert problems is not None or not bad
    return found


def test_batches_by_number_and_items_by_time(tmp_path: Path) -> None:
    batch(tmp_path, 10, [("f", 1)])
    batch(tmp_path, 2, [("e", 9), ("c", 5)], [("d", 7), ("b", 3)])
    batch(tmp_path, 0, [("a", 8)])
    batch(tmp_path, 11, [("torn", 1)], whole=False)
    assert ids(tmp_path) == ["a", "b", "c", "d", "e", "f"]
    assert ids(tmp_path / "items") == ["a", "b", "c", "d", "e", "f"]


def test_an_item_is_an_envelope(tmp_path: Path) -> None:
    batch(tmp_path, 0, [("a", 0.000001)])
    assert list(read_items(str(tmp_path), print)) == [
        {
            "stream": "S",
            "id": "a",
            "timestamp": START.timestamp() + 0.000001,
            "xml": "<item><id>a</id></item>",
        }
    ]


def test_timestamps_as_spark_writes_them_by_default(tmp_path: Path) -> None:
    place = batch(tmp_path, 0)
    path = place / "part.parquet"
    pq.write_table(table([("a", 1.000001)]), path, use_deprecated_int96_timestamps=True)
    (envelope,) = read_items(str(tmp_path), print)
    assert envelope["timestamp"] == START.timestamp() + 1.000001


@pytest.mark.parametrize("int96", [False, True])
def test_items_without_a_date_are_counted(tmp_path: Path, int96: bool) -> None:
    place = batch(tmp_path, 0, [("of another maker", 1)])
    rows = table([("a", 1), ("b", 2), ("c", 3), ("d", 4)])
    at = rows["timestamp"]
    dates = {"published": [at[0], None, None, at[0]], "updated": [None, at[1], None, None]}
    for name, values in dates.items():
        rows = rows.append_column(name, pa.array([one and one.as_py() for one in values], at.type))
    pq.write_table(rows, place / "part.parquet", use_deprecated_int96_timestamps=int96)
    counts: list[tuple[int, int]] = []
    found = list(read_items(str(tmp_path), print, lambda *one: counts.append(one)))
    assert len(found) == 5
    assert [sum(one) for one in zip(*counts, strict=True)] == [5, 2]
    done = xscl("run", "-q", "S/item", "--items", str(tmp_path), "--format", "counts", at=tmp_path)
    assert done.stderr.startswith(
        "note: 2 of 5 items of feeds have no date, or one in the future; their time is that of "
        "their file or fetch"
    )


def test_a_damaged_file_is_reported_and_the_others_are_read(tmp_path: Path) -> None:
    place = batch(tmp_path, 0, [("a", 1)], [("b", 2)], [("c", 3)])
    damaged = place / "part-00001.parquet"
    damaged.write_bytes(damaged.read_bytes()[:-20])
    pq.write_table(pa.table({"id": ["d"]}), place / "part-00004.parquet")
    pq.write_table(
        pa.table({"stream": ["S"], "id": ["d"], "timestamp": ["soon"], "xml": ["<a/>"]}),
        place / "part-00005.parquet",
    )
    problems: list[DocumentError] = []
    assert ids(tmp_path, problems) == ["a", "c"]
    names = [str(damaged), str(place / "part-00004.parquet"), str(place / "part-00005.parquet")]
    assert sorted(problem.document for problem in problems) == names


@pytest.mark.parametrize("made", [False, True])
def test_a_folder_without_items(tmp_path: Path, made: bool) -> None:
    if made:
        batch(tmp_path, 0, [("a", 1)], whole=False)
    with pytest.raises(XSCLError, match=r"no ingested items in .* `xscl ingest --to`"):
        read_items(str(tmp_path), print)


@given(st.lists(st.lists(st.integers(0, 20), max_size=30), max_size=3), st.integers(1, 5000))
def test_a_large_batch_is_sorted_by_parts(
    tmp_path_factory: pytest.TempPathFactory, files: list[list[int]], at_once: int
) -> None:
    folder = tmp_path_factory.mktemp("ingested")
    rows = [[(f"{f}-{i}", float(t)) for i, t in enumerate(file)] for f, file in enumerate(files)]
    batch(folder, 0, *rows)
    expected = sorted((row for file in rows for row in file), key=lambda row: row[1])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ingested, "_AT_ONCE", at_once)
        assert ids(folder) == [id for id, _ in expected]


def test_on_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "q.xscl").write_text("-- name: all\nS//item")
    place = batch(tmp_path / "to", 0, [("b", 2), ("a", 1)])
    (place / "part-00009.parquet").write_bytes(b"no Parquet")
    done = xscl("run", "q.xscl", "--items", "to", "--strict", at=tmp_path)
    found = [json.loads(line)["documents"] for line in done.stdout.splitlines()]
    assert (done.returncode, found) == (3, [["a"], ["b"]])
    assert "part-00009.parquet" in done.stderr
    why = xscl("why", "q.xscl", "a", "--items", "to", at=tmp_path)
    assert why.returncode == 0, why.stderr
    none = xscl("run", "q.xscl", "--items", "none", at=tmp_path)
    assert none.returncode == 2
    assert "no ingested items in 'none'" in none.stderr
    nothing = xscl("run", "q.xscl", at=tmp_path)
    assert "nothing to read: give --events, --json, --docs, --feed or --items" in nothing.stderr
