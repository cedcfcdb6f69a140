"""`xscl ingest status` over folders with any history: which feeds are in trouble, each once."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from xscl.cli.main import cli
from xscl.polling.relations import Changes
from xscl.polling.state import FeedState
from xscl.polling.store import Store
from xscl.spark.ingestion.archive import Archive
from xscl.spark.ingestion.columns import BODIES, DEAD_LETTERS

KINDS = ("feed", "page", "failure", "unchanged")
HISTORIES = {"-".join(kinds): kinds for kinds in product(KINDS, repeat=3)}


@pytest.mark.parametrize("cleared", [False, True])
def test_a_feed_is_in_trouble_as_long_as_it_cannot_be_read(tmp_path: Path, cleared: bool) -> None:
    archive = Archive.at(str(tmp_path))
    archive.local.mkdir()
    landed, dead, states = [], [], Changes()
    for feed, kinds in HISTORIES.items():
        for kind in kinds:
            if kind == "unchanged":
                continue
            row = {"sequence": len(landed) + 1, "feed": feed, "arrival": len(landed) + 1}
            row["problem"] = "no answer" if kind == "failure" else None
            row["body"] = None if kind == "failure" else b"x"
            landed.append(row)
            if kind != "feed":
                dead.append({**row, "problem": "no answer" if kind == "failure" else "a page"})
        fails = kinds[-1] == "failure"
        error = "no answer" if fails else None
        states.feeds[feed] = FeedState(feed, feed, error=error, failures=int(fails))
    with Store(archive.store) as store:
        store.save(states)
    for table, rows, columns in (("landing", landed, BODIES), ("dead/batch=0", dead, DEAD_LETTERS)):
        place = tmp_path / table
        place.mkdir(parents=True)
        (place / "_SUCCESS").touch()
        # Of what was read long ago, the raw bodies may be gone (--keep).
        if not (cleared and table == "landing"):
            pq.write_table(pa.Table.from_pylist(rows, columns), place / "part-0.parquet")
    done = CliRunner().invoke(cli, ["ingest", "status", str(tmp_path), "--format", "json"])
    troubles = json.loads(done.stdout)["troubles"]
    expected = {}
    for feed, kinds in HISTORIES.items():
        bodies = [kind for kind in kinds if kind in ("feed", "page")]
        if kinds[-1] == "failure":
            expected[feed] = "no answer"
        elif bodies and (bodies[-1] == "page" or (cleared and "page" in bodies)):
            expected[feed] = "a page"
    assert [(each["feed"], each["error"]) for each in troubles] == sorted(expected.items())
