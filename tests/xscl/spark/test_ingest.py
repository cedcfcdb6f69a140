"""`xscl ingest` as users run it: once and again, for ever until interrupted, by spark-submit."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from pyspark.sql import SparkSession

from datasets import FEEDS
from tests.commands import xscl
from tests.rights import unprivileged
from tests.xscl.spark.ingesting import ingest
from tests.xscl.spark.java import QUICK, QUICK_JAVA
from xscl.cli import ingest as program
from xscl.cli.main import cli
from xscl.sources.ingested import read_items
from xscl.spark.ingestion import jobs

XSCL = (sys.executable, "-c", "from xscl.cli.main import main; main()")
INGEST = (*XSCL, "ingest", "--master", "local[1]", *QUICK)
ZONE = "spark.sql.session.timeZone=Europe/Paris"
SUBMIT = (str(Path(sys.executable).with_name("spark-submit")), "--master", "local[2]", *QUICK)
PROGRAM = f"""
import runpy
from xscl.spark.session import session
spark = session("told by the program", settings={QUICK_JAVA})
names = ["spark.master", "spark.sql.session.timeZone", "spark.sql.shuffle.partitions"]
print([spark.conf.get(name) for name in names], flush=True)
runpy.run_path({program.__file__!r}, run_name="__main__")
"""
"""The arguments of `spark-submit` apply to `xscl ingest`, too."""
NEWS = "feeds/news-brightwire.xml"
ENDING = "ending once the batch under way is finished; interrupt again to end immediately"
LATE = "<rss><channel><item><guid>one</guid><title>late</title></item></channel></rss>"


@dataclass(frozen=True)
class Place:
    """A folder with feeds in it, where commands are run."""

    folder: Path

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command, **self.how, capture_output=True, text=True, timeout=300, check=False
        )

    def start(self, *command: str, **environment: str) -> subprocess.Popen[str]:
        """Starts a command in a process group of its own, as a shell does."""
        how = {**self.how, "env": {**self.how["env"], **environment}}
        return subprocess.Popen(
            command, **how, stderr=subprocess.PIPE, text=True, start_new_session=True
        )

    @property
    def how(self) -> dict[str, Any]:
        inherited = {k: v for k, v in os.environ.items() if not k.startswith(("PYSPARK", "SPARK"))}
        own = {"PYTHONPATH": str(Path(__file__).parents[3]), "PYSPARK_PYTHON": sys.executable}
        return {"cwd": self.folder, "env": {**inherited, **own}}

    def status(self, *options: str) -> str:
        done = xscl("ingest", "status", "to", *options, at=self.folder)
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    def matches(self, *source: str) -> list[str]:
        done = xscl("run", "feeds/queries.xscl", *source, at=self.folder)
        assert done.returncode == 0, done.stderr
        return sorted(done.stdout.splitlines())

    @property
    def batches(self) -> int:
        """The number of batches of items that are whole."""
        return len(list((self.folder / "to" / "items").glob("batch=*/_SUCCESS")))

    def items(self) -> dict[str, dict[str, Any]]:
        """What was ingested, by id."""
        items = list(read_items(str(self.folder / "to"), print))
        found = {str(item["id"]): item for item in items}
        assert len(found) == len(items)
        return found


@pytest.fixture
def place(tmp_path: Path) -> Place:
    shutil.copytree(FEEDS, tmp_path / "feeds")
    return Place(tmp_path)


def test_each_session_of_one_spark_gets_the_format(spark: SparkSession) -> None:
    """Also where the active one has it, which stays active."""
    active = SparkSession.active()
    for one in (spark, spark.newSession(), spark, spark.newSession()):
        jobs._register(one)
        one.read.format("feed").option("sources", "feeds").load()
    assert SparkSession.active()._jsparkSession.equals(active._jsparkSession)


def test_once_and_again(spark: SparkSession, place: Place) -> None:
    """Alongside another application on the same Spark, which continues."""
    feeds, to = str(place.folder / "feeds"), str(place.folder / "to")

    options = ("--sources", feeds, "--to", to, "--once")
    first = ingest(spark, *options)
    batch, summary = first.stderr.splitlines()
    assert batch == "batch 0: 7 bodies, 156 new items, 0 known, 0 dead letters"
    assert summary.startswith("7 bodies, 156 new items, 0 known, 0 dead letters, ")
    ingested = place.items()
    assert len(ingested) == 156
    found = place.matches("--items", "to")
    assert found == place.matches("--feed", f"S={feeds}")
    assert len(found) > 20
    printed = place.status()
    assert "7 feeds, 0 in trouble" in printed
    assert "7 bodies fetched, 0 still to land; 0 files still to be read" in printed
    assert "156 items and 0 dead letters in 1 batch" in printed

    (place.folder / "feeds" / "page.html").write_text("<html><body>no feed</body></html>")
    new = "<entry><id>new</id><title>New</title></entry>"
    news = place.folder / NEWS
    news.write_text(news.read_text("utf-8").replace("<entry>", f"{new}<entry>", 1), "utf-8")
    again = ingest(spark, *options)
    problem, batch, summary = again.stderr.splitlines()
    assert problem.startswith(f"feed {feeds}/page.html: what is there is ")
    assert batch.startswith("batch 1: 2 bodies, 1 new item, ")
    assert batch.endswith(" 1 dead letter")
    assert place.items().keys() == {*ingested, f"{news}#new"}
    status = json.loads(place.status("--format", "json"))
    assert (status["feeds"], status["fetched"], status["landed"], status["unread"]) == (8, 9, 9, 0)
    assert (status["items"], status["dead"], status["batches"]) == (157, 1, 2)
    (trouble,) = status["troubles"]
    assert (trouble["feed"], trouble["failures"]) == (f"{feeds}/page.html", 1)
    assert trouble["error"] == "what is there is an HTML page, no RSS, Atom or JSON feed"
    assert "8 feeds, 1 in trouble" in place.status()
    bad, other = f"{feeds}/page.html", str(place.folder / "other")
    none = ingest(spark, "--sources", bad, "--to", other, "--once", code=1)
    assert "no feed could be read" in none.stderr
    assert spark.range(3).count() == 3


def test_for_ever_until_interrupted_then_by_spark_submit(place: Place) -> None:
    options = (
        "--sources", "feeds", "--to", "to", "--stream", "T", "--updates", "--every", "1s",
        "--links", "raw",
    )  # fmt: skip
    command = (*INGEST, *options, "--trigger", "1s")
    with place.start(*command) as running:
        try:
            until(lambda: place.batches == 1, running)
            (place.folder / "feeds" / "late.xml").write_text(LATE)
            until(lambda: place.batches == 2, running)
            # As a terminal does, to Java and all workers, too.
            os.killpg(running.pid, signal.SIGINT)
            _, printed = running.communicate(timeout=300)
        finally:
            running.kill()
    assert running.returncode == 130, printed
    assert [line for line in printed.splitlines()[:-1] if not line.startswith("batch ")] == [ENDING]
    assert printed.splitlines()[-1].startswith("8 bodies, 157 new items, 0 known, 0 dead letters, ")
    before = place.items()
    assert {item["stream"] for item in before.values()} == {"T"}

    (place.folder / "feeds" / "late.xml").write_text(LATE.replace("late", "edited"))
    (place.folder / "program.py").write_text(PROGRAM)
    done = place.run(*SUBMIT, "--conf", ZONE, "program.py", *options, "--once")
    assert done.returncode == 0, done.stderr
    assert "['local[2]', 'Europe/Paris', '2']" in done.stdout.splitlines(), (
        done.stdout,
        done.stderr,
    )
    after = place.items()
    assert before.items() <= after.items()
    (id,) = after.keys() - before.keys()
    assert id.startswith("feeds/late.xml#one#")
    assert "edited" in after[id]["xml"]


def test_an_interrupt_while_spark_starts_is_one_line(place: Place) -> None:
    java = place.folder / "java" / "bin" / "java"
    java.parent.mkdir(parents=True)
    found = shutil.which("java")
    assert found is not None
    java.write_text(f'#!/bin/sh\n[ "$1" = -version ] || touch started\nexec {found} "$@"\n')
    java.chmod(0o755)
    command = (*INGEST, "--sources", "feeds", "--to", "to")
    with place.start(*command, JAVA_HOME=str(place.folder / "java")) as running:
        try:
            until((place.folder / "started").exists, running)
            os.killpg(running.pid, signal.SIGINT)
            _, printed = running.communicate(timeout=300)
        finally:
            running.kill()
    assert running.returncode == 130, printed
    first, summary = printed.splitlines()
    assert first == ENDING
    assert summary.startswith("0 bodies, ")


@pytest.mark.parametrize(
    ("forbidden", "arguments", "said"),
    [
        ("", ("--to", "to"), "/to: Permission denied"),
        ("to", ("--to", "to"), "to/spool: Permission denied"),
        ("to/landing", ("--to", "to"), "to/landing: Permission denied"),
        ("feeds", ("--to", "to"), "feed source 'feeds': it cannot be read: Permission denied"),
        ("file", ("--to", "file"), "file/spool: Not a directory"),
    ],
)
def test_a_folder_without_permission_is_one_line(
    forbidden: str, arguments: tuple[str, ...], said: str, tmp_path: Path
) -> None:
    for each in ("feeds", "to/landing"):
        (tmp_path / each).mkdir(parents=True)
    if forbidden != "to":
        (tmp_path / "to" / "spool").mkdir()
    (tmp_path / "feeds" / "a.xml").write_text(LATE)
    if forbidden == "":
        shutil.rmtree(tmp_path / "to")
    if forbidden == "file":
        (tmp_path / "file").touch()
    else:
        (tmp_path / forbidden).chmod(0o000 if forbidden == "feeds" else 0o555)
    options = ("--sources", "feeds", *arguments, "--once")
    done = xscl("ingest", *options, at=tmp_path, around=unprivileged)
    assert done.returncode in (1, 2)
    last = done.stderr.splitlines()[-1]
    assert said in last
    assert "Java" not in done.stderr


def until(what: Callable[[], bool], running: subprocess.Popen[str]) -> None:
    """Waits for something that a process must bring about."""
    for _ in range(2400):
        if what():
            return
        assert running.poll() is None, running.communicate()[1]
        time.sleep(0.1)
    pytest.fail("it did not come about")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "give --sources, what to read, and --to, where to keep it"),
        (("--sources", "none", "--to", "to"), "feed source 'none': no such file or folder"),
        (("--sources", "http://", "--to", "to"), "feed source 'http://'"),
        (("--sources", ".", "--to", "s3a://b/c"), "name a folder for them, too (--spool)"),
        (("--sources", ".", "--to", "../to", "--contact", "é\n"), "is no address of mail or web"),
        (("--sources", ".", "--to", "../to", "--max-document", "1GiB"), "at most 104,857,600"),
        (("--sources", ".", "--to", "../to", "--every", "INF"), "--every"),
        (("--sources", ".", "--to", "../to", "--conf", "spark.x"), "NAME=VALUE"),
        (("status", "none"), "'none' does not exist"),
    ],
)
def test_wrong_usage(
    options: tuple[str, ...], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(cli, ["ingest", *options])
    assert (done.exit_code, message in done.output) == (2, True), done.output
    assert not list(tmp_path.iterdir())


def test_the_status_of_what_is_no_ingestion(tmp_path: Path) -> None:
    done = xscl("ingest", "status", ".", at=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert "is not what `xscl ingest --to` fills" in done.stderr
