"""JSON Lines, CSV and Parquet without envelopes: each row a document, with its id and its time."""

from __future__ import annotations

import csv
import gzip
import io
import json
import random
from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from xscl import Engine
from xscl.cli.main import cli
from xscl.errors import DocumentError, XSCLError
from xscl.sources.envelopes import Place, read_events
from xscl.sources.fields import Fields, timestamp_of
from xscl.sources.json_array import array_values
from xscl.sources.json_rows import documents_of, read_rows
from xscl.sources.limits import TOO_DEEP

ROWS = [
    {"isbn": "1", "title": "RSS", "at": "2026-06-01T10:00:00Z", "meta": {"by": ["Ayers"]}},
    {"isbn": "2", "title": 'Größe, "quoted"\nin two lines', "at": "2026-06-02", "meta": {}},
    {"isbn": "3", "title": "XML", "at": "1780444800", "meta": {"by": None}},
]
FLAT = [{key: row[key] for key in ("isbn", "title", "at")} for row in ROWS]


def as_csv(rows: list[dict[str, Any]], **form: Any) -> bytes:
    to = io.StringIO()
    writer = csv.DictWriter(to, list(rows[0]), **form)
    writer.writeheader()
    writer.writerows(rows)
    return to.getvalue().encode()


def as_lines(rows: list[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def as_parquet(rows: list[dict[str, Any]]) -> bytes:
    to = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), to, row_group_size=2)
    return to.getvalue()


def read(path: Path, after: Place | None = None, **fields: str) -> tuple[list[Any], list[Any]]:
    errors: list[DocumentError] = []
    found = read_rows(str(path), "S", errors.append, fields=Fields(**fields), after=after)
    return list(found), errors


KINDS: dict[str, Callable[[list[dict[str, Any]]], bytes]] = {
    "b.csv": as_csv,
    "comma": as_csv,
    "semicolon": lambda rows: as_csv(rows, delimiter=";"),
    "b.tsv": lambda rows: as_csv(rows, delimiter="\t"),
    "unix.csv": lambda rows: as_csv(rows, lineterminator="\n"),
    "mark.csv": lambda rows: b"\xef\xbb\xbf" + as_csv(rows),
    "b.csv.gz": lambda rows: gzip.compress(as_csv(rows)),
    "b.jsonl": as_lines,
    "lines": as_lines,
    "b.ndjson": lambda rows: gzip.compress(as_lines(rows)),
    "array.json": lambda rows: json.dumps(rows).encode(),
    "array": lambda rows: gzip.compress(json.dumps(rows, indent=2).encode()),
    "b.parquet": as_parquet,
    "table": as_parquet,
}


TYPES = [
    pa.date32(),
    pa.date64(),
    pa.timestamp("s"),
    pa.timestamp("us", "UTC"),
    pa.timestamp("ns", "Europe/Berlin"),
    pa.time32("s"),
    pa.list_(pa.date32()),
    pa.struct([("d", pa.date64())]),
]


@given(st.lists(st.none() | st.dates(date(1900, 1, 1), date(2100, 1, 1)), max_size=4))
def test_a_table_says_the_same_as_its_file(
    tmp_path_factory: pytest.TempPathFactory, days: list[date | None]
) -> None:
    def value(day: date | None, type: pa.DataType) -> object:
        moment = None if day is None else datetime(day.year, day.month, day.day)
        if pa.types.is_time(type):
            return moment and moment.time()
        if pa.types.is_nested(type):
            return [day] if pa.types.is_list(type) else {"d": day}
        return day if pa.types.is_date(type) else moment

    columns = {
        str(number): pa.array([value(day, type) for day in days], type)
        for number, type in enumerate(TYPES)
    }
    table = pa.table(columns)
    path = tmp_path_factory.getbasetemp() / "drawn.parquet"
    pq.write_table(table, path)
    of_file = [envelope["json"] for envelope, _ in read(path)[0]]
    errors: list[DocumentError] = []
    of_table: list[Any] = [one["json"] for one in documents_of(table, "S", errors.append, Fields())]
    assert (of_table, errors) == (of_file, [])
    written = [None if day is None else day.isoformat() for day in days]
    assert [(row["0"], row["1"], row["6"][0]) for row in of_table] == [(d, d, d) for d in written]


@pytest.mark.parametrize("name", KINDS)
def test_rows_are_documents_whatever_their_file(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(KINDS[name](FLAT))
    found, errors = read(tmp_path / name, id="isbn", time="at")
    assert errors == []
    assert [envelope["json"] for envelope, _ in found] == FLAT
    assert [envelope["id"] for envelope, _ in found] == ["1", "2", "3"]
    moments = (datetime(2026, 6, 1, 10), datetime(2026, 6, 2), datetime(2026, 6, 3))
    assert [e["timestamp"] for e, _ in found] == [
        m.replace(tzinfo=UTC).timestamp() for m in moments
    ]
    # Wherever a reading ends, the next one continues.
    for end in range(3):
        rest, _ = read(tmp_path / name, found[end][1], id="isbn", time="at")
        assert rest == found[end + 1 :]


@pytest.mark.parametrize("name", ["b.csv", "b.jsonl", "b.parquet"])
def test_ids_by_default_are_places_and_the_same_again(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(KINDS[name](FLAT))
    ids = [envelope["id"] for envelope, _ in read(tmp_path / name)[0]]
    assert len({*ids}) == 3
    assert ids == [envelope["id"] for envelope, _ in read(tmp_path / name)[0]]
    assert all(id.startswith(f"{tmp_path / name}:") for id in ids)


def test_fields_within_others(tmp_path: Path) -> None:
    lines = [{"m": {"t": [{}, {"at": 7}]}, "a.b": 1, "x/y": "n"}]
    for content, name in ((as_lines(lines), "e.jsonl"), (as_parquet(lines), "e.parquet")):
        (tmp_path / name).write_bytes(content)
        for path in ("m/t/at", "m.t.at", "./m/t/at"):
            ((envelope, _),), _ = read(tmp_path / name, id="x/y", time=path)
            assert (envelope["id"], envelope["timestamp"]) == ("n", 7)
        ((envelope, _),), _ = read(tmp_path / name, id="a.b")
        assert envelope["id"] == "1"


SECONDS = 1_163_462_400


@pytest.mark.parametrize(
    "value",
    [
        *(SECONDS, float(SECONDS), str(SECONDS), f" {SECONDS}.0 "),
        *(SECONDS * 10**power for power in (3, 6, 9)),
        *(str(SECONDS * 10**power) for power in (3, 6, 9)),
        *("2006-11-14", "20061114", "2006-11-14T00:00:00Z", "2006-11-14 01:00:00+01:00"),
        *("Tue, 14 Nov 2006 00:00:00 GMT", "14 Nov 2006"),
        *(date(2006, 11, 14), datetime(2006, 11, 14), datetime(2006, 11, 14, tzinfo=UTC)),
    ],
)
def test_times(value: object) -> None:
    assert timestamp_of(value) == SECONDS


@pytest.mark.parametrize("value", ["soon", "", True, [], {}, float("nan"), "9" * 30, "yesterday"])
def test_what_is_no_time(value: object) -> None:
    with pytest.raises(ValueError, match=r"timestamp|time"):
        timestamp_of(value)


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize("zone", [None, "Europe/Berlin"])
def test_timestamps_of_a_table(unit: str, zone: str | None, tmp_path: Path) -> None:
    moments = pa.array([SECONDS], pa.timestamp("s")).cast(pa.timestamp(unit, "UTC"))
    moments = moments.cast(pa.timestamp(unit, zone))
    pq.write_table(pa.table({"at": moments}), tmp_path / "t.parquet")
    ((envelope, _),), errors = read(tmp_path / "t.parquet", time="at")
    assert (envelope["timestamp"], errors) == (SECONDS, [])
    assert envelope["json"]["at"].startswith("2006-11-14T00:00:00")


def test_values_of_a_table_are_json(tmp_path: Path) -> None:
    row = {
        "n": None, "f": 1.5, "nan": float("nan"), "d": date(2026, 6, 1), "b": b"text",
        "l": [1, None], "s": {"m": [True]}, "raw": b"\xff",
        "e": Decimal("1.50"), "w": Decimal("3.00"),
    }  # fmt: skip
    (tmp_path / "t.parquet").write_bytes(as_parquet([row]))
    ((envelope, _),), _ = read(tmp_path / "t.parquet")
    assert json.loads(json.dumps(envelope["json"], allow_nan=False)) == {
        "n": None, "f": 1.5, "nan": None, "d": "2026-06-01", "b": "text", "l": [1, None],
        "s": {"m": [True]}, "raw": "/w==", "e": 1.5, "w": 3,
    }  # fmt: skip


BAD_LINES = {
    "no JSON": (b"{no", "it is no JSON"),
    "no id": (b'{"at": 1}', "it has no `id`, which --id names"),
    "an id of null": (b'{"id": null, "at": 1}', "it has no `id`"),
    "an id that is none": (b'{"id": {}, "at": 1}', "its id is a dict"),
    "no time": (b'{"id": 1}', "it has no `at`, which --time names"),
    "a time that is none": (b'{"id": 1, "at": "soon"}', "neither seconds nor ISO 8601"),
    "no object": (b"[1]", "it has no `id`"),
    "no UTF-8": (b'{"id": "\xff", "at": 1}', "it is no JSON"),
    "too large": (b'{"id": 1, "at": 1, "x": "%s"}' % (b"x" * 300), "more than 200 bytes"),
}


@pytest.mark.parametrize(("bad", "reason"), BAD_LINES.values(), ids=BAD_LINES)
def test_a_bad_line_costs_no_other(bad: bytes, reason: str, tmp_path: Path) -> None:
    path = tmp_path / "e.jsonl"
    path.write_bytes(b'{"id": "a", "at": 1}\n' + bad + b'\n\n{"id": "z", "at": 2}')
    errors: list[DocumentError] = []
    fields = Fields("id", "at")
    found = list(read_rows(str(path), "S", errors.append, fields=fields, max_document=200))
    assert [envelope["id"] for envelope, _ in found] == ["a", "z"]
    (error,) = errors
    assert reason in error.problem


BAD_ROWS = {
    "too few cells": b"b",
    "too many": b"b,2,3",
    "no UTF-8": b"\xff,2",
    "text after a quote": b'"b"x,2',
    "a quote that is not closed": b'"b,2',
    "no id": b",2",
    "no time": b"b,",
    "too large": b"b" * 300 + b",2",
}


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
@pytest.mark.parametrize("bad", BAD_ROWS.values(), ids=BAD_ROWS)
def test_a_bad_row_costs_no_other(bad: bytes, end: bytes, tmp_path: Path) -> None:
    path = tmp_path / "e.csv"
    good = b'"q\nr",%d', b"x,%d", b'"y",%d'
    rows = [b"id,at", *(row % 1 for row in good), bad, b"", *(row % 2 for row in good[1:])]
    path.write_bytes(end.join(rows))
    errors: list[DocumentError] = []
    fields = Fields("id", "at")
    found = list(read_rows(str(path), "S", errors.append, fields=fields, max_document=200))
    assert [(e["id"], e["timestamp"]) for e, _ in found] == [
        ("q\nr", 1), ("x", 1), ("y", 1), ("x", 2), ("y", 2),
    ]  # fmt: skip
    (error,) = errors
    cause: Any = error.__cause__
    assert cause.raw.rstrip(b"\r\n") == bad[:201]
    assert cause.position["offset"] == path.read_bytes().index(bad)


TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\r\0"), max_size=8)


@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=1), st.sampled_from(",;\t|"))
def test_rows_are_those_that_a_writer_wrote(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str]], separator: str
) -> None:
    path = tmp_path_factory.getbasetemp() / "drawn.csv"
    written = [{"a": one, "b": other} for one, other in rows]
    path.write_bytes(as_csv(written, delimiter=separator, quoting=csv.QUOTE_ALL))
    found, errors = read(path)
    kept = [{key: cell for key, cell in row.items() if cell} for row in written]
    assert ([envelope["json"] for envelope, _ in found], errors) == (kept, [])


def array_of(text: bytes) -> list[object]:
    return [value for value, _ in array_values(io.BytesIO(text))]


@given(
    st.lists(
        st.one_of(
            st.integers(), st.floats(allow_nan=False, allow_infinity=False), TEXTS, st.booleans()
        )
    )
)
def test_values_of_an_array_are_those_that_a_writer_wrote(values: list[object]) -> None:
    for indent in (None, 1):
        text = json.dumps(values, indent=indent).encode()
        assert array_of(text) == values


def test_values_that_are_longer_than_one_read() -> None:
    values = [{"x": "é" * 100_000}, 10**4000, "y" * 65_000, [1, 2]]
    assert array_of(json.dumps(values).encode()) == values
    text = json.dumps(values, ensure_ascii=False).encode()
    assert array_of(text) == values


@pytest.mark.parametrize(
    ("text", "read", "reason"),
    [
        ('[{"n": 1},\n{"n": 2}, {n}, {"n": 3}]', 2, "value 3 of the array cannot be read, nor"),
        ('[{"n": 1},\n{"n": 2}', 2, "the array is not closed"),
        ('[{"n": 1},\n{"n": 2}, "' + "x" * 300 + '"]', 2, "it has more than 200 bytes"),
        ('[{"n": 1},\n7, {"n": 2}]', 2, "it has no `n`"),
        ('[\n"\udcff"]', 0, "value 1 of the array cannot be read"),
    ],
)
def test_an_array_is_read_as_far_as_it_goes(
    text: str, read: int, reason: str, tmp_path: Path
) -> None:
    (tmp_path / "e.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    errors: list[DocumentError] = []
    fields, path = Fields("n"), str(tmp_path / "e.json")
    found = list(read_rows(path, "S", errors.append, fields=fields, max_document=200))
    assert [envelope["id"] for envelope, _ in found] == ["1", "2"][:read]
    (error,) = errors
    assert reason in error.problem


def test_a_damaged_part_of_a_table_costs_no_other(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    rows = [{"n": n, "text": f"{n}" * 1000} for n in range(6)]
    pq.write_table(pa.Table.from_pylist(rows), path, row_group_size=2, compression="gzip")
    content = bytearray(path.read_bytes())
    at = pq.ParquetFile(path).metadata.row_group(1).column(1).data_page_offset
    content[at : at + 40] = b"\xff" * 40
    path.write_bytes(content)
    found, errors = read(path)
    assert [envelope["json"]["n"] for envelope, _ in found] == [0, 1, 4, 5]
    assert "rows 3 to 4 cannot be read whole" in errors[0].problem


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("e.csv", b"", "is empty; expected a header"),
        ("e.csv", b"a,,c\n1,2,3", "column 2 of the header has no name"),
        ("e.csv", b"a,a\n1,2", "two columns are named 'a'"),
        ("e.parquet", b"a,b\n1,2", "cannot be read as Parquet"),
        ("e", b"PAR1" + b"x" * 50, "cannot be read as Parquet"),
    ],
)
def test_what_has_no_rows_at_all(name: str, content: bytes, reason: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(XSCLError, match=reason):
        read(tmp_path / name)


# On the command line.

QUERY = (
    "-- name: q\nSELECT <r>{b/isbn}</r> FROM B/json->b[./by->x] JOIN {x = y, 1 day} P/json[./a->y]"
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "q.xscl").write_text(QUERY)
    (tmp_path / "books.csv").write_text("isbn,by,on\n1,Ayers,2026-06-01\n2,Watt,2026-06-01\n")
    posts = [{"u": n, "a": "Ayers", "t": datetime(2026, 6, n, tzinfo=UTC)} for n in (1, 9)]
    (tmp_path / "posts").write_bytes(as_parquet(posts))
    return tmp_path


JOINED = ("--json", "B=books.csv", "--json", "P=posts", "--time", "on", "--time", "P=t")


def run(*arguments: str, stdin: str | bytes = "") -> Result:
    return CliRunner().invoke(cli, arguments, input=stdin)


def test_tables_join(folder: Path) -> None:
    done = run("run", "q.xscl", *JOINED, "--id", "B=isbn", "--id", "P=u")
    (match,) = map(json.loads, done.stdout.splitlines())
    assert (match["documents"], match["time"]) == (["1", "1"], 1780272000.0)


def test_why_reads_them_too(folder: Path) -> None:
    done = run("why", "q.xscl", "1", "9", *JOINED, "--id", "isbn", "--id", "P=u")
    assert done.exit_code == 0
    assert "do not match" in done.stdout


def test_a_state_continues_where_it_was(folder: Path) -> None:
    (folder / "all.xscl").write_text("S/json")
    command: tuple[str, ...] = (
        "run",
        "all.xscl",
        "--state",
        "s.duckdb",
        "--json",
        "S=e.csv",
        "--json",
        "S=e.jsonl",
    )
    command += ("--id", "a")
    (folder / "e.csv").write_text("a,b\n1,2\n")
    (folder / "e.jsonl").write_text('{"a": 2}\n')
    assert len(run(*command).stdout.splitlines()) == 2
    assert run(*command).stdout == ""
    with (folder / "e.csv").open("a") as file:
        file.write('"3\n",4\n')
    assert len(run(*command).stdout.splitlines()) == 1
    (folder / "e.csv").write_text("a,b\n5,6\n7,8\n9,1\n")
    done = run(*command)
    assert "e.csv is not the file that was read before" in done.stderr
    assert len(done.stdout.splitlines()) == 3


@pytest.mark.parametrize(
    "content",
    [b"n,t\na,1\n", b'{"n": "a", "t": 1}\n', gzip.compress(b'{"n": "a", "t": 1}', mtime=0)],
    ids=["csv", "lines", "gzip"],
)
def test_standard_input(content: bytes, folder: Path) -> None:
    (folder / "all.xscl").write_text("S/json[n = 'a']")
    done = run("run", "all.xscl", "--json", "S=-", "--time", "t", stdin=content)
    (match,) = map(json.loads, done.stdout.splitlines())
    assert match["time"] == 1


def test_a_table_on_standard_input_is_refused(folder: Path) -> None:
    done = run("run", "q.xscl", "--json", "S=-", stdin=(folder / "posts").read_bytes())
    assert "read from its end; name the file" in str(done.exception)


def test_bad_rows_are_dead_letters_and_counted(folder: Path) -> None:
    (folder / "all.xscl").write_text("S/json")
    (folder / "e.csv").write_text("a,t\nx,1\ny,soon\nz,1,2\nw,2\n")
    options = ("--json", "S=e.csv", "--time", "t", "--dead-letters", "d", "--strict")
    arguments = ("run", "all.xscl", *options, "--format", "counts")
    done = CliRunner().invoke(cli, arguments, standalone_mode=False)
    assert (done.stdout, done.return_value) == ("q1\t2\n", 3)
    assert "2 skipped (2 malformed)" in done.stderr
    letters = [json.loads(line) for line in (folder / "d").read_text().splitlines()]
    assert [(letter["line"], letter["raw"]) for letter in letters] == [
        (3, "y,soon\n"), (4, "z,1,2\n"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (("--json", "S=no.csv"), "there is no file 'no.csv'"),
        (("--json", "books.csv"), "is not of the form STREAM=SOURCE"),
        (("--json", "B=books.csv", "--id", "X=a"), "of the streams that --json and --docs read: B"),
        (("--json", "B=books.csv", "--time", "B="), "give FIELD or STREAM=FIELD"),
        (("--events", "-", "--time", "t"), "none, for neither is given"),
    ],
)
def test_wrong_usage(options: tuple[str, ...], problem: str, folder: Path) -> None:
    done = run("run", "q.xscl", *options)
    assert (done.exit_code, problem in done.output) == (2, True), done.output


@pytest.mark.parametrize("damage", ["ends early", "is damaged"])
@pytest.mark.parametrize("name", ["b.csv.gz", "array", "b.ndjson"])
def test_a_damaged_archive_is_read_as_far_as_it_goes(
    name: str, damage: str, tmp_path: Path
) -> None:
    dice = random.Random(3)
    rows = [{"isbn": str(n), "title": dice.randbytes(20).hex()} for n in range(5_000)]
    body = KINDS[name](rows)
    if damage == "ends early":
        body = body[: len(body) // 2]
    else:
        body = body[: len(body) // 2] + bytes(20) + body[len(body) // 2 + 20 :]
    (tmp_path / name).write_bytes(body)
    found, errors = read(tmp_path / name)
    assert 100 < len(found) < len(rows)
    assert [envelope["json"] for envelope, _ in found[:100]] == rows[:100]
    assert f"the compressed file {damage}" in str(errors[-1])


def found_in(file: Path, **fields: str) -> tuple[list[object], list[str]]:
    problems: list[DocumentError] = []
    rows = [
        one["json"]
        for one, _ in read_rows(str(file), "S", problems.append, fields=Fields(**fields))
    ]
    return rows, [one.problem for one in problems]


@pytest.mark.parametrize("suffix", ["jsonl", "ndjson", "json"])
def test_lines_of_arrays_of_any_length(suffix: str, tmp_path: Path) -> None:
    line = [{"k": number} for number in range(1_000)]
    file = tmp_path / f"rows.{suffix}"
    file.write_text(f"{json.dumps(line)}\n" * 3)
    rows, problems = found_in(file)
    if suffix == "json":
        assert rows == line
        assert "something follows the array" in problems[0]
    else:
        assert (rows, problems) == ([line] * 3, [])


@pytest.mark.parametrize("value", ["1.5", "1e3", "1.5e-3", "-2E+4"])
@pytest.mark.parametrize("before", range(1, 8))
def test_numbers_at_the_end_of_a_piece(value: str, before: int, tmp_path: Path) -> None:
    file = tmp_path / "n.json"
    file.write_text(f"[{' ' * before}{','.join([value] * 20_000)}]\n")
    assert found_in(file) == ([float(value)] * 20_000, [])


DEEP = "[" * 600 + "]" * 600


@pytest.mark.parametrize("path", ["t", "t/at"])
@pytest.mark.parametrize("time", ["1" + "0" * 400, f"-{'9' * 300}", DEEP, "1e300", "null"])
def test_a_time_beyond_all_bounds_is_one_row_that_is_skipped(
    time: str, path: str, tmp_path: Path
) -> None:
    file = tmp_path / "r.jsonl"
    lines = ['{"t": 1, "k": 1}', f'{{"t": {time}}}', '{"t": 2, "k": 2}']
    if path != "t":
        lines = [line.replace('"t": ', '"t": {"at": ').replace("}", "}}", 1) for line in lines]
        lines = [
            line.replace(', "k": 1}}', '}, "k": 1}').replace(', "k": 2}}', '}, "k": 2}')
            for line in lines
        ]
    file.write_text("\n".join(lines))
    rows, problems = found_in(file, time=path)
    assert [one["k"] for one in rows] == [1, 2]  # type: ignore[index]
    assert len(problems) == 1
    skipped: list[DocumentError] = []
    with Engine(on_skip=skipped.append) as engine:
        engine.subscribe("S/json/k")
        some = [json.loads(line) for line in lines]
        assert len(engine.publish_many(some, stream="S", timestamp=path)) == 2
    assert len(skipped) == 1


def test_an_envelope_with_a_structure_for_its_time_is_skipped(tmp_path: Path) -> None:
    file, deep = tmp_path / "e.jsonl", "[" * 1_000 + "]" * 1_000
    file.write_text(f'{{"json": {{}}, "timestamp": {deep}}}\n{{"json": {{}}, "timestamp": 1}}\n')
    problems: list[DocumentError] = []
    assert [one["timestamp"] for one in read_events(str(file), problems.append)] == [1]
    assert len(problems) == 1


def test_rows_nested_too_deep_are_skipped_alone() -> None:
    deep = json.loads(f'{{"v": {DEEP}}}')
    skipped: list[DocumentError] = []
    with Engine(on_skip=skipped.append) as engine:
        engine.subscribe("V/json[v]")
        assert len(engine.publish_many([{"v": 1}, deep, {"v": 2}], stream="V")) == 2
    assert [one.problem for one in skipped] == [TOO_DEEP]


@pytest.mark.parametrize("many", [2, 2_000])
@pytest.mark.parametrize("end", ["", "\n", "\n\n  \n"])
def test_a_single_line_with_an_array_has_rows(many: int, end: str, tmp_path: Path) -> None:
    rows = [{"k": number} for number in range(many)]
    (tmp_path / "rows.jsonl").write_text(json.dumps(rows) + end)
    assert found_in(tmp_path / "rows.jsonl") == (rows, [])


def test_parquet_by_a_name_that_is_no_utf_8(tmp_path: Path) -> None:
    file = tmp_path / "\udcff.parquet"
    with open(file, "wb") as to:
        pq.write_table(pa.Table.from_pylist([{"k": 1}, {"k": 2}]), to)
    assert found_in(file) == ([{"k": 1}, {"k": 2}], [])
