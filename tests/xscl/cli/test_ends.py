"""No command writes to what it reads, nor two things to one file, by whatever names: it is wrong
usage, and nothing is touched."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import chdir, contextmanager
from dataclasses import dataclass
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from tests.drawn import drawn
from xscl.cli.ends import READ, WRITTEN
from xscl.cli.main import cli


@dataclass(frozen=True)
class Pair:
    """A command with an output and an input (or another output) that are to be one file; `options`
    are those that the message names."""

    command: tuple[str, ...]
    output: str
    read: tuple[str, ...]
    file: str
    options: tuple[str, str]


FILES = {
    "q.xscl": "-- name: all\nS//a[. = :wanted]",
    "p.csv": "name,wanted\none,1\n",
    "e.jsonl": '{"xml": "<a>1</a>"}\n',
    "docs/1.xml": "<a>1</a>",
    "docs/deep/2.xml": "<a>1</a>",
    "feeds/1.rss": "<rss version='2.0'><channel/></rss>",
    "listed.rss": "<rss version='2.0'><channel/></rss>",
    "all.opml": "<opml version='2.0'><body><outline xmlUrl='listed.rss'/></body></opml>",
    "web.opml": "<opml version='2.0'><body><outline xmlUrl='http://a.invalid/'/></body></opml>",
    "in/items/batch=0/part.parquet": "PAR1",
    "in/items/1.rss": "<rss version='2.0'><channel/></rss>",
}
RUN, WATCH, INGEST = ("run", "q.xscl"), ("watch", "q.xscl"), ("ingest", "--once")
EVENTS = ("--events", "e.jsonl")
WEB = ("--feed", "S=http://a.invalid/")
OUTPUTS = {RUN: ("-o", "--dead-letters", "--state")}
OUTPUTS[WATCH] = (*OUTPUTS[RUN], "--feeds-db")
INPUTS: dict[tuple[str, ...], list[tuple[tuple[str, ...], str]]] = {
    RUN: [
        (EVENTS, "q.xscl"),
        (("--params", "all=p.csv", *EVENTS), "p.csv"),
        (EVENTS, "e.jsonl"),
        (("--docs", "S=docs/*.xml"), "docs/1.xml"),
        (("--docs", "S=docs/**/*.xml"), "docs/deep/2.xml"),
        (("--docs", "S=**"), "docs/deep/2.xml"),
        (("--feed", "S=feeds/1.rss"), "feeds/1.rss"),
        (("--feed", "S=feeds"), "feeds/1.rss"),
        (("--feed", "S=all.opml"), "all.opml"),
        (("--feed", "S=all.opml"), "listed.rss"),
        (("--items", "in"), "in/items/batch=0/part.parquet"),
    ],
    WATCH: [
        (WEB, "q.xscl"),
        (("--params", "all=p.csv", *WEB), "p.csv"),
        (("--feed", "S=web.opml"), "web.opml"),
    ],
}
PAIRS = [
    Pair(command, output, read, file, (output, file if file == "q.xscl" else read[0]))
    for command, outputs in OUTPUTS.items()
    for output in outputs
    for read, file in INPUTS[command]
] + [
    Pair(command, output, (other, "new", *inputs), "new", (output, other))
    for command, inputs in ((RUN, EVENTS), (WATCH, WEB))
    for output in OUTPUTS[command]
    for other in OUTPUTS[command]
    if output != other and {output, other} != {"--state", "--feeds-db"}
]


@contextmanager
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name, chdir(name):
        for path, content in FILES.items():
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            Path(path).write_text(content)
        yield Path(name)


def hard_link(file: str) -> str:
    if os.path.exists(file):
        os.link(file, "alias")
    return "alias" if os.path.exists(file) else file


def symbolic_link(file: str) -> str:
    os.symlink(file, "alias")
    return "alias"


def link_to_the_folder(file: str) -> str:
    os.symlink(os.path.dirname(file) or ".", "alias")
    return os.path.join("alias", os.path.basename(file))


NAMES: list[Callable[[str], str]] = [
    str,
    os.path.abspath,
    lambda file: f"./feeds/../{file}",
    hard_link,
    symbolic_link,
    link_to_the_folder,
]


def state_of(place: Path) -> dict[str, tuple[int, bytes]]:
    return {
        str(path): (path.lstat().st_mtime_ns, path.read_bytes() if path.is_file() else b"")
        for path in place.rglob("*")
    }


def refused(arguments: tuple[str, ...], options: tuple[str, ...]) -> Result:
    before = state_of(Path())
    done = CliRunner().invoke(cli, arguments)
    assert done.exit_code == 2, (arguments, done.output, done.exception)
    assert "nothing was touched" in done.stderr
    for option in options:
        assert option in done.stderr, (arguments, done.stderr)
    assert state_of(Path()) == before
    return done


@pytest.mark.parametrize("pair", PAIRS, ids=str)
def test_an_output_that_is_an_input_is_refused(pair: Pair) -> None:
    with folder():
        refused((*pair.command, pair.output, pair.file, *pair.read), pair.options)


@given(st.sampled_from(PAIRS), st.sampled_from(NAMES))
@drawn(200)
def test_by_whatever_name(pair: Pair, name: Callable[[str], str]) -> None:
    with folder():
        refused((*pair.command, pair.output, name(pair.file), *pair.read), pair.options)


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        (("--docs", "S=docs/*.xml", "-o", "docs/new.xml"), ("-o", "--docs")),
        (("--docs", "S=docs/**", "-o", "docs/deep/new"), ("-o", "--docs")),
        (("--feed", "S=feeds", "--state", "feeds/s.duckdb"), ("--state", "--feed")),
        (("--items", "in", "--dead-letters", "in/items/new"), ("--dead-letters", "--items")),
        ((*EVENTS, "--state", "s.duckdb", "-o", "s.duckdb.wal"), ("-o", "--state")),
    ],
)
def test_what_would_be_read_the_next_time_is_refused(
    arguments: tuple[str, ...], options: tuple[str, ...]
) -> None:
    with folder():
        refused((*RUN, *arguments), options)


def test_the_file_that_polling_remembers_in_has_a_name_unless_given() -> None:
    with folder():
        refused((*WATCH, *WEB, "-o", "q.feeds.duckdb"), ("-o", "--feeds-db q.feeds.duckdb"))


@given(
    st.sampled_from(["landing", "items", "dead", "checkpoints"]),
    st.sampled_from([str, os.path.abspath, symbolic_link]),
    st.booleans(),
)
@drawn(10)
def test_an_ingestion_does_not_read_what_it_writes(
    part: str, name: Callable[[str], str], whole: bool
) -> None:
    with folder():
        os.makedirs(f"in/{part}", exist_ok=True)
        Path(f"in/{part}/1.rss").write_text(FILES["feeds/1.rss"])
        source = f"in/{part}" if whole else f"in/{part}/1.rss"
        refused((*INGEST, "--to", name("in"), "--sources", source), ("--to", "--sources"))
        refused((*INGEST, "--to", "out", "--spool", "in", "--sources", source), ("--spool",))
        refused((*INGEST, "--to", "feeds/out", "--sources", "feeds"), ("--to", "--sources"))


NO_PARAMETER = {"q.xscl": "-- name: all\nS//a"}


@pytest.mark.parametrize(
    "arguments",
    [
        (*EVENTS, "-o", "docs/new.xml"),
        ("--docs", "S=docs/*.xml", "-o", "docs/new.json", "--dead-letters", "docs/.new.xml"),
        ("--docs", "S=docs/*.xml", "-o", "docs/deep/new.xml"),
        ("--feed", "S=feeds", "-o", "feeds-new"),
        (*EVENTS, *EVENTS, "-o", "/dev/null", "--dead-letters", "/dev/null"),
    ],
)
def test_files_next_to_it_are_written(arguments: tuple[str, ...]) -> None:
    with folder():
        Path("q.xscl").write_text("S//a")
        done = CliRunner().invoke(cli, ["run", "q.xscl", *arguments], standalone_mode=False)
        assert done.return_value == 0, (done.stderr, done.exception)


def test_each_option_that_names_a_file_is_known() -> None:
    """Of the commands that write to files."""
    context = click.Context(cli)
    for name in cli.list_commands(context):
        command = cli.get_command(context, name)
        assert command is not None
        options = [one for one in command.params if isinstance(one, click.Option)]
        if any(option.opts[0] in WRITTEN for option in options):
            for option in options:
                named = (option.metavar or option.type.name).upper()
                if any(word in named for word in ("FILE", "DIR", "FOLDER", "GLOB", "SOURCE")):
                    assert option.opts[0] in {*WRITTEN, *READ}, (command.name, option.opts)
