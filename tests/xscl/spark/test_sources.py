"""Lines of envelopes as a job on Spark reads them, and the patterns that name their files."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pyarrow as pa
import pytest

from xscl.documents.document import document_of
from xscl.errors import XSCLError
from xscl.spark.joins.sources import Events, _Envelopes


def read(*lines: dict[str, Any]) -> list[dict[str, Any]]:
    counted = cast("Any", SimpleNamespace(add=lambda number: None))
    written = pa.array([json.dumps(line).encode() for line in lines], pa.binary())
    batches = [pa.record_batch([written], ["line"])]
    return [row for some in _Envelopes(counted)(batches) for row in some.to_pylist()]


@pytest.mark.parametrize("text", ['{"price": 10}', ' {"a": "é"}', "{", '[{"a": 1}]', '"a"', "a"])
def test_the_text_of_an_object_is_that_object(text: str) -> None:
    """As an engine has it."""
    envelope = {"id": "d", "timestamp": 1, "json": text}
    (row,) = read(envelope)
    body = document_of(envelope, 0, 0).body
    assert json.loads(row["json"]) == (json.loads(body) if isinstance(body, bytes) else body)


@pytest.mark.parametrize(
    ("pattern", "there"),
    [
        ("logs/**/*.jsonl", True),
        ("logs/**/*.csv", False),
        ("lo*/**/*.jsonl", True),
        ("**/*.jsonl", True),
        ("logs/*.jsonl", False),
        ("logs/*/a.jsonl", True),
    ],
)
def test_files_in_folders(
    pattern: str, there: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "logs" / "2026").mkdir(parents=True)
    (tmp_path / "logs" / "2026" / "a.jsonl").touch()
    monkeypatch.chdir(tmp_path)
    if there:
        Events(pattern).check()
    else:
        with pytest.raises(XSCLError, match="there is no such file"):
            Events(pattern).check()


@pytest.mark.parametrize(
    "pattern", ["logs/**", "logs/**/2026/*.jsonl", "logs/a**b/c.jsonl", "/**/**/a"]
)
def test_any_depth_is_above_the_name_alone(pattern: str) -> None:
    """Spark has no pattern for anything else, and would read one folder."""
    with pytest.raises(XSCLError, match="for any depth, has to be the only folder before the name"):
        Events(pattern).check()
