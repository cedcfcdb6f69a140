"""The page docs/spark.md: its Python blocks are run one after the other, alongside an ingestion of
the sample feeds; its commands have options that exist, and its table those of the source."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import click
import pytest
from pyspark.sql import SparkSession

from xscl import samples
from xscl.cli.ingest import ingest
from xscl.cli.joining.run import run as join
from xscl.cli.main import cli
from xscl.sources.ingested import read_items
from xscl.spark.ingestion.columns import ITEMS
from xscl.spark.ingestion.feed_options import FeedOptions
from xscl.spark.ingestion.feed_source import FeedSource
from xscl.spark.ingestion.jobs import items_of

PAGE = (Path(__file__).parents[3] / "docs" / "spark.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```(\w+)\n((?:.*\n)*?)```$", re.MULTILINE)


def blocks(kind: str) -> list[str]:
    return [body for name, body in BLOCK.findall(PAGE) if name == kind]


def test_python_examples_run(
    spark: SparkSession,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(samples.FEEDS, "feeds")
    spark.dataSource.register(FeedSource)
    bodies = spark.read.format("feed").load(str(tmp_path / "feeds"))
    items_of(bodies).write.parquet(str(tmp_path / "archive/items/batch=0"))
    # The last one stays where it is.
    shutil.copytree("archive/items/batch=0", "archive/items/batch=1")
    here = str(tmp_path)
    names: dict[str, object] = {"spark": spark}
    for block in blocks("python"):
        # Spark keeps the folder that it was started in.
        source = re.sub(
            r'(["(])((?:feeds/|feed-spool|lines|archive/|older|matches)[\w/=*-]*)"',
            _under(here),
            block,
        )
        code = compile(source, "docs/spark.md", "exec")
        if '.format("kafka")' not in block:  # Its package is not installed here.
            exec(code, names)
    shown = capsys.readouterr().out
    assert "title" in shown
    assert "count" in shown
    for folder, rows in (("lines", 156), ("matches", 24)):
        files = (tmp_path / folder).glob("batch-*.jsonl")
        assert sum(len(file.read_text().splitlines()) for file in files) == rows
    # What was combined can be joined still.
    assert {one.name for one in (tmp_path / "archive/items").iterdir()} == {"batch=1"}
    assert len([*read_items(str(tmp_path / "older-items"), pytest.fail)]) == 156


def _under(folder: str) -> str:
    return rf'\g<1>{folder}/\g<2>"'


def test_columns_are_reported() -> None:
    for name in ITEMS.names:
        assert f"`{name}`" in PAGE


def test_options_of_the_source_are_reported() -> None:
    options = {"spool": Path("s"), "every": 60.0, "contact": "me@a.example", "most_bodies": 1}
    every = FeedOptions(("x",), **options).written()
    listed = re.findall(
        r"^\| `(\w+)` \| .* \| .*\|$", PAGE.partition("| option |")[2], re.MULTILINE
    )
    assert set(listed) == set(every)


def test_commands_have_options_that_exist() -> None:
    of_ingest = {name for option in ingest.params for name in option.opts}
    of_join = {name for option in join.params for name in option.opts}
    lines = "".join(blocks("shell")).replace("\\\n", " ").splitlines()
    used = 0
    for line in lines:
        words = shlex.split(re.sub(r"\s#.*", "", line))
        known = of_join if words[:3] == ["xscl", "spark", "run"] else of_ingest
        of_xscl = words[:2] == ["xscl", "ingest"] or words[:3] == ["xscl", "spark", "run"]
        if of_xscl and "status" not in words:
            options = words[2:]
        elif words[:1] == ["spark-submit"]:
            script = next(n for n, word in enumerate(words) if word.endswith(("$INGEST", ".py")))
            options = words[script + 1 :]
        else:
            continue
        used += 1
        assert {word for word in options if word.startswith("--")} <= known
    assert used == 8
    assert {"run", "ingest", "join", "feeds"} <= set(cli.list_commands(click.Context(cli)))
