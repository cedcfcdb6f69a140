"""`xscl run --state` as a user types it: ended anywhere, it continues, and its file has each match
once."""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import duckdb
import pytest

from tests.commands import xscl as run_xscl
from tests.drawn import turn

COMMAND = [sys.executable, "-c", "from xscl.cli.main import main; main()"]

QUERIES = """\
-- name: pair
S//a->x FOLLOWED BY {x = y, 200} S//b->y;
-- name: chain
S//a->x JOIN {x = y, 150} S//b->y FOLLOWED BY {y = z, 150} S//a->z
"""

RUN = ("run", "q.xscl", "--events", "e.jsonl", "--batch", "50", "--lateness", "300")
DURABLE = (*RUN, "--state", "s.duckdb", "-o", "out.jsonl")


def xscl(
    *arguments: str, at: Path, crash: str = "", stdin: str = ""
) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "XSCL_CRASH_AT": crash}
    return run_xscl(*arguments, at=at, stdin=stdin, environment=environment)


def event(number: int) -> str:
    name = "ab"[number % 2]
    xml = f"<{name}>{number // 2 % 20}</{name}>"
    return json.dumps({"id": f"d{number}", "timestamp": number, "xml": xml}) + "\n"


def events(numbers: range) -> str:
    return "".join(map(event, numbers))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "q.xscl").write_text(QUERIES)
    (tmp_path / "e.jsonl").write_text(events(range(400)))
    return tmp_path


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("undisturbed")
    (folder / "q.xscl").write_text(QUERIES)
    (folder / "e.jsonl").write_text(events(range(400)))
    done = xscl(*RUN, at=folder)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("\n") > 1000
    return done.stdout


def test_what_was_written_after_the_last_transaction_is_cut(folder: Path, undisturbed: str) -> None:
    xscl(*DURABLE, at=folder, crash="before commit:4")
    with open(folder / "out.jsonl", "a") as file:
        file.write('{"id": "torn')
    assert xscl(*DURABLE, at=folder).returncode == 0
    assert (folder / "out.jsonl").read_text() == undisturbed


def test_a_file_that_lacks_what_was_written_is_refused(folder: Path) -> None:
    assert xscl(*DURABLE, at=folder).returncode == 0
    (folder / "out.jsonl").write_text("")
    done = xscl(*DURABLE, at=folder)
    assert done.returncode == 1
    assert "out.jsonl has 0 bytes, but" in done.stderr
    assert "continue in another file" in done.stderr
    (folder / "out.jsonl").unlink()
    assert "out.jsonl is not there" in xscl(*DURABLE, at=folder).stderr


@pytest.mark.drawn
@pytest.mark.parametrize("older", turn([False, True]))
def test_a_file_is_one_by_whatever_path(folder: Path, undisturbed: str, older: bool) -> None:
    """Also in a state file of an `older` version, which had each path as it was given."""
    (folder / "sub").mkdir()
    (folder / "link.jsonl").symlink_to("out.jsonl")
    (folder / "here").symlink_to(folder)
    runs = {
        "here/out.jsonl": "before commit:5",
        "./out.jsonl": "after output:2",
        "sub/../out.jsonl": "before commit:3",
        "link.jsonl": "after commit:2",
        str(folder / "out.jsonl"): "",
    }
    for path, crash in runs.items():
        done = xscl(*RUN, "--state", "s.duckdb", "-o", path, at=folder, crash=crash)
        assert done.returncode == (-signal.SIGKILL if crash else 0), done.stderr
        if older and crash:
            with duckdb.connect(folder / "s.duckdb") as connection:
                # What a run had noted that named, and emptied, the file in another way.
                other = str(folder / "here" / "link.jsonl")
                connection.execute("DELETE FROM outputs WHERE path = ?", [other])
                connection.execute("UPDATE outputs SET path = ?", [str(folder / path)])
                connection.execute("INSERT INTO outputs VALUES (?, 0)", [other])
    assert done.stderr.splitlines()[-1].endswith("out.jsonl: added to")
    assert (folder / "out.jsonl").read_text() == undisturbed


def test_a_file_that_has_grown_is_read_on(folder: Path, undisturbed: str) -> None:
    (folder / "e.jsonl").write_text(events(range(170)) + '{"id": "d170", "time')
    done = xscl(*DURABLE, at=folder)
    assert "it is no JSON" in done.stderr
    with open(folder / "e.jsonl", "r+") as file:
        file.write(events(range(400)))
    done = xscl(*DURABLE, at=folder)
    assert "230 documents, 0 skipped" in done.stderr
    # The batches are others, and with them the order of matches.
    found = (folder / "out.jsonl").read_text()
    assert sorted(found.splitlines()) == sorted(undisturbed.splitlines())


def test_a_file_that_is_named_twice_is_read_twice(folder: Path) -> None:
    """Each pass has a position of its own; a lateness of 300 makes the second one late."""
    twice = ("--events", "e.jsonl")
    plain = xscl(*RUN, *twice, at=folder)
    assert "400 documents, 400 skipped" in plain.stderr, plain.stderr
    for crash in ("after commit:4", "after commit:8", ""):
        done = xscl(*DURABLE, *twice, at=folder, crash=crash)
    assert "Traceback" not in done.stderr
    assert (folder / "out.jsonl").read_text() == plain.stdout
    reported = json.loads(xscl("state", "s.duckdb", "--format", "json", at=folder).stdout)
    assert [place["line"] for place in reported["inputs"].values()] == [400, 400]
    assert sum(reported["skipped"].values()) == 400
    assert "0 documents, 0 skipped" in xscl(*DURABLE, *twice, at=folder).stderr


def test_another_file_of_the_name_is_read_from_its_beginning(folder: Path) -> None:
    assert xscl(*DURABLE, at=folder).returncode == 0
    (folder / "e.jsonl").write_text(events(range(400, 500)))
    done = xscl(*DURABLE, at=folder)
    assert "e.jsonl is not the file that was read before" in done.stderr
    assert "100 documents, 0 skipped" in done.stderr


@pytest.mark.parametrize("older", [False, True])
def test_rows_of_another_file_of_the_name_are_others(tmp_path: Path, older: bool) -> None:
    """Without ids of their own: each is one of its number, and of none of the file before it, nor
    of what a state file of before knows by its place in bytes."""
    (tmp_path / "q.xscl").write_text("S//a->x JOIN {x = y, INF} S//a->y")
    run = ("run", "q.xscl", "--events", "e.jsonl", "--state", "s.duckdb", "--format", "jsonl")
    line = '{"xml": "<a>%s</a>"}\n'
    ids: list[list[str]] = []
    for number, values in enumerate(("ab", "ca", "cad")):
        (tmp_path / "e.jsonl").write_text("".join(line % one for one in values))
        done = xscl(*run, at=tmp_path)
        assert f"{1 if number == 2 else 2} document" in done.stderr, done.stderr
        assert ", 0 skipped" in done.stderr
        ids += [json.loads(match)["documents"] for match in done.stdout.splitlines()]
        if older and number == 0:
            with closing(duckdb.connect(str(tmp_path / "s.duckdb"))) as state:
                state.execute(
                    "UPDATE inputs SET position = replace(position, ', \"others\": 0', '')"
                )
    first = "e.jsonl(3):2" if older else "e.jsonl(2):2"
    assert {frozenset(pair) for pair in ids} == {frozenset({"e.jsonl:1", first})}


def test_a_compressed_file_continues_at_its_place(folder: Path, undisturbed: str) -> None:
    (folder / "e.jsonl.gz").write_bytes(gzip.compress(events(range(400)).encode()))
    durable = [part.replace("e.jsonl", "e.jsonl.gz") for part in DURABLE]
    xscl(*durable, at=folder, crash="after commit:4")
    assert xscl(*durable, at=folder).returncode == 0
    assert (folder / "out.jsonl").read_text() == undisturbed


def test_documents_of_files_are_read_once(folder: Path) -> None:
    for name in ("one", "two"):
        (folder / f"{name}.xml").write_text("<a>1</a>")
    run = ("run", "q.xscl", "--docs", "S=*.xml", "--state", "s.duckdb")
    assert "2 documents" in xscl(*run, at=folder).stderr
    (folder / "more.xml").write_text("<b>1</b>")
    done = xscl(*run, at=folder)
    assert "1 document, 0 skipped, 2 matches" in done.stderr, done.stderr
    # What the folder no longer has is not remembered for ever.
    (folder / "one.xml").unlink()
    for documents in (3, 2):
        assert known(folder) == documents
        assert "0 documents" in xscl(*run, at=folder).stderr
    # A folder that is empty may only be out of reach.
    (folder / "two.xml").rename(folder / "two")
    (folder / "more.xml").rename(folder / "more")
    xscl(*run, at=folder)
    assert known(folder) == 2
    (folder / "more").rename(folder / "more.xml")
    assert "0 documents" in xscl(*run, at=folder).stderr
    assert known(folder) == 1


def test_a_document_that_was_not_whole_is_read_again(folder: Path) -> None:
    (folder / "good.xml").write_text("<a>1</a>")
    (folder / "half.xml").write_text("<a>1</a")
    run = ("run", "q.xscl", "--docs", "S=*.xml", "--state", "s.duckdb")
    for documents in (1, 0):
        done = xscl(*run, at=folder)
        assert f"{documents} document" in done.stderr
        assert "1 skipped (1 malformed)" in done.stderr
    (folder / "half.xml").write_text("<b>1</b>")
    done = xscl(*run, at=folder)
    assert "1 document, 0 skipped, 1 match" in done.stderr
    assert "0 documents" in xscl(*run, at=folder).stderr


def test_what_a_source_has_is_known_while_a_file_of_it_cannot_be_read(folder: Path) -> None:
    """It may have what was read before."""
    for name in ("one", "two"):
        (folder / f"{name}.json").write_text('{"a": 1}')
    run = ("run", "q.xscl", "--docs", "S=*.json", "--state", "s.duckdb")
    assert "2 documents" in xscl(*run, at=folder).stderr
    (folder / "two.json").write_text("{")
    assert "1 skipped (1 malformed)" in xscl(*run, at=folder).stderr
    (folder / "two.json").write_text('{"a": 1}')
    assert "0 documents" in xscl(*run, at=folder).stderr


def known(folder: Path) -> int:
    """How many documents of sources without positions a state file knows as read."""
    with duckdb.connect(folder / "s.duckdb", read_only=True) as connection:
        ((count,),) = connection.execute("SELECT count(*) FROM documents_read").fetchall()
    return int(count)


@pytest.mark.parametrize("form", ["atom", "jsonfeed"])
def test_a_feed_has_the_newest_matches_of_all_runs(folder: Path, form: str) -> None:
    assert xscl(*RUN, "--format", form, "-o", "plain", at=folder).returncode == 0
    run = (*RUN, "--format", form, "--state", "s.duckdb")
    assert "give -o" in xscl(*run, at=folder).stderr
    xscl(*run, "-o", "kept", at=folder, crash="after commit:5")
    assert xscl(*run, "-o", "kept", at=folder).returncode == 0
    assert (folder / "kept").read_text() == (folder / "plain").read_text()


# A changed query file.


def test_queries_that_say_the_same_continue_and_others_start(folder: Path) -> None:
    (folder / "e.jsonl").write_text(events(range(200)))
    assert xscl(*DURABLE, at=folder).returncode == 0
    (folder / "q.xscl").write_text(
        "-- name: pair\nS//a->x FOLLOWED BY {(x = y), 200 s} S//b->y -- as before\n;\n"
        "-- name: new\nS//a->x FOLLOWED BY {x = y, 200} S//b->y"
    )
    dry = xscl(*DURABLE, "--dry-run", at=folder)
    assert dry.stdout.splitlines() == [
        "1 query as before: pair",
        "1 query new, from now on: new",
        "1 query not there any more, stopped: chain",
    ]
    before = (folder / "out.jsonl").read_text()
    with open(folder / "e.jsonl", "a") as file:
        file.write(events(range(200, 240)))
    done = xscl(*DURABLE, at=folder)
    assert "1 query as before: pair" in done.stderr
    found = [
        json.loads(line) for line in (folder / "out.jsonl").read_text()[len(before) :].splitlines()
    ]
    old = {m["query"] for m in found if int(m["documents"][0][1:]) < 200}
    assert old == {"pair"}
    assert {m["query"] for m in found} == {"pair", "new"}


def test_a_slip_in_the_text_costs_a_query_nothing(folder: Path) -> None:
    (folder / "e.jsonl").write_text(events(range(200)))
    xscl(*DURABLE, at=folder)
    (folder / "q.xscl").write_text(QUERIES.replace("200}", "200"))
    done = xscl(*DURABLE, at=folder)
    assert done.returncode == 2
    assert "2 queries as before: pair, chain" in done.stderr
    assert "expected" in done.stderr


@pytest.mark.parametrize(
    ("slip", "problem"),
    [
        ("S//a->x[k = :key] FOLLOWED BY {x = y, 200} S//b->y", "has no value"),
        ("SELECT COUNT(*) AS n FROM S NEXT (SELECT a, nine FROM (SELECT a FROM S))", "nine"),
        ("S//a->x FOLLOWED BY {x = y, 200} S//b->y PUBLISH S", "cycle"),
        ("S//a->x JOIN {200} (SELECT z FROM (SELECT a FROM S))/json", "z"),
    ],
)
def test_what_is_wrong_with_a_query_only_as_it_is_subscribed_costs_it_nothing(
    folder: Path, slip: str, problem: str
) -> None:
    (folder / "e.jsonl").write_text(events(range(200)))
    assert xscl(*DURABLE, at=folder).returncode == 0
    (folder / "q.xscl").write_text(f"-- name: pair\n{slip}")
    dry = xscl(*DURABLE, "--dry-run", at=folder)
    assert (dry.returncode, dry.stdout.splitlines()) == (2, ["2 queries as before: pair, chain"])
    with open(folder / "e.jsonl", "a") as file:
        file.write(events(range(200, 240)))
    before = (folder / "out.jsonl").read_text()
    for done in (dry, xscl(*DURABLE, at=folder)):
        assert done.returncode == 2
        assert problem in done.stderr
        assert "taken" not in done.stderr
    found = (folder / "out.jsonl").read_text()[len(before) :].splitlines()
    assert {json.loads(line)["query"] for line in found} == {"pair", "chain"}
    (folder / "q.xscl").write_text(QUERIES)
    assert "2 queries as before: pair, chain" in xscl(*DURABLE, at=folder).stderr


def test_a_dry_run_changes_nothing(folder: Path) -> None:
    """Neither the lateness, nor which streams may change, nor the consistency."""
    assert xscl(*RUN[:4], "--state", "s.duckdb", at=folder).returncode == 0
    options = ("--lateness", "1", "--revisable", "S", "--consistency", "weak", "--dry-run")
    done = xscl(*RUN[:4], "--state", "s.duckdb", *options, at=folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert "2 queries as before: pair, chain" in done.stdout
    (folder / "e.jsonl").write_text(event(401).replace('"timestamp": 401', '"timestamp": 201'))
    done = xscl(*RUN[:4], "--state", "s.duckdb", at=folder)
    assert "late" not in done.stderr
    assert done.stdout


def test_a_dry_run_makes_no_file(folder: Path) -> None:
    done = xscl(*DURABLE, "--dry-run", at=folder)
    assert (done.returncode, done.stdout) == (0, "2 queries new, from now on: pair, chain\n")
    assert not (folder / "s.duckdb").exists()


# Ends.


@pytest.mark.drawn
@pytest.mark.parametrize("number", turn([signal.SIGINT, signal.SIGTERM]))
def test_an_interrupt_finishes_the_batch_and_keeps_the_state(
    folder: Path, number: signal.Signals
) -> None:
    arguments = ["run", "q.xscl", "--events", "-", "--state", "s.duckdb"]
    with subprocess.Popen(
        [*COMMAND, *arguments], cwd=folder, stdin=-1, stdout=-1, stderr=-1, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(events(range(20, 22)) + events(range(60, 62)))
        process.stdin.flush()
        # All that the four documents have: the last of them has been taken.
        reported = sorted(json.loads(process.stdout.readline())["query"] for _ in range(4))
        assert reported == ["chain", "pair", "pair", "pair"]
        process.send_signal(number)
        _, said = process.communicate(timeout=300)
    assert process.returncode == 128 + number, said
    assert said.startswith("ending once the batch under way is finished; interrupt again to end")
    assert "4 documents" in said
    again = xscl(*arguments, at=folder, stdin=events(range(61, 62)))
    assert "1 skipped (1 duplicate)" in again.stderr


def test_an_interrupt_is_no_end_of_the_input(folder: Path) -> None:
    """What waits for that is not reported: the next run may bring what forbids it."""
    (folder / "q.xscl").write_text("S/a; EVENT SEQ(S/a x, !S/b y) WITHIN 1 h")
    arguments = ["run", "q.xscl", "--events", "-", "--state", "s.duckdb"]
    with subprocess.Popen(
        [*COMMAND, *arguments], cwd=folder, stdin=-1, stdout=-1, stderr=-1, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(event(0))
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["query"] == "q1"
        process.send_signal(signal.SIGTERM)
        found, said = process.communicate(timeout=300)
    assert (found, process.returncode) == ("", 143), said
    assert xscl(*arguments, at=folder, stdin=event(1)).stdout == ""


def test_a_broken_pipe_ends_quietly(folder: Path) -> None:
    run = [*COMMAND, *RUN, "--state", "s.duckdb"]
    with subprocess.Popen(run, cwd=folder, stdout=-1, stderr=-1, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        said = process.stderr.read()
    assert process.returncode == 1
    assert "Traceback" not in said
    assert xscl(*RUN, "--state", "s.duckdb", at=folder).stdout.count("\n") > 1000


def count(at: Path, file: str, option: str = "--events") -> tuple[str, str]:
    command = ["run", "-q", "S/*", option, file, "--state", "s.duckdb", "--format", "counts"]
    done = xscl(*command, at=at)
    return done.stdout, done.stderr


@pytest.mark.parametrize("suffix", [".jsonl", ".jsonl.gz", ".csv", ".csv.gz"])
def test_another_file_of_any_kind_is_one(suffix: str, tmp_path: Path) -> None:
    """One that is longer than before may be the same, and one that begins otherwise is not."""

    def write(numbers: range) -> None:
        if "json" in suffix:
            text = events(numbers)
        else:
            text = "k,v\n" + "".join(f"{n},{n * 7}\n" for n in numbers)
        body = text.encode()
        (tmp_path / f"e{suffix}").write_bytes(
            gzip.compress(body) if suffix.endswith(".gz") else body
        )

    option = "--events" if "json" in suffix else "--json"
    name = f"e{suffix}" if "json" in suffix else f"S=e{suffix}"
    write(range(300))
    assert count(tmp_path, name, option)[0] == "q1\t300\n"
    write(range(320))
    out, said = count(tmp_path, name, option)
    assert out == "q1\t320\n"
    assert "is not the file" not in said
    for other in (range(1_000, 1_002), range(2_000, 2_900)):
        before = int(out.split()[1])
        write(other)
        out, said = count(tmp_path, name, option)
        assert "is not the file that was read before" in said
        assert out == f"q1\t{before + len(other)}\n"


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("file", "read", "lines", "expected"),
    [
        (
            "e.jsonl",
            ("S/a", "--events", "e.jsonl"),
            ['{"timestamp": 1, "xml": "<a/>"}', '{"timestamp": 2, "xml": "<a/>"}'],
            [["e.jsonl:1"], ["e.jsonl:2"]],
        ),
        (
            "e.csv",
            ("S/json", "--json", "S=e.csv"),
            ["k,v", "1,2", "3,4"],
            [["e.csv:2"], ["e.csv:3"]],
        ),
    ],
)
def test_a_last_line_without_an_end_is_a_line(
    file: str,
    read: tuple[str, ...],
    lines: list[str],
    expected: list[list[str]],
    end: str,
    tmp_path: Path,
) -> None:
    """What is written after it has the numbers, and with them the ids, that it has undisturbed."""
    whole = end.join([*lines, ""])
    ids = []
    for cuts in ([len(whole)], [len(end.join(lines[:-1])), len(whole)]):
        folder = tmp_path / str(len(cuts))
        folder.mkdir()
        for cut in cuts:
            (folder / file).write_bytes(whole[:cut].encode())
            xscl("run", "-q", *read, "--state", "s.duckdb", "-o", "out.jsonl", at=folder)
        found = (folder / "out.jsonl").read_text().splitlines()
        ids.append([json.loads(line)["documents"] for line in found])
    assert ids[0] == ids[1] == expected
