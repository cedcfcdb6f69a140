"""Files that one instance of DuckDB opens one after the other, as one that it is started for is."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import duckdb
import pytest

from xscl.files.attached import attach, attached, detach, instance_for


@pytest.mark.parametrize("name", ["a'b\"c", "memory", "file", "sqlite:a", "http://a", "é d"])
def test_what_is_committed_is_in_the_file(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(instance_for(path)) as instance:
        with attached(instance, path) as one:
            one.execute("CREATE TABLE t (a INTEGER)")
            one.execute("BEGIN; INSERT INTO t VALUES (1)")
        with attached(instance, path) as one:
            one.execute("INSERT INTO t VALUES (2)")
        with attached(instance, path, read_only=True) as one:
            with pytest.raises(duckdb.InvalidInputException, match="read-only"):
                one.execute("INSERT INTO t VALUES (3)")
            assert one.execute("FROM t").fetchall() == [(2,)]
        # It is not open any more.
        with duckdb.connect(str(path)) as other:
            assert other.execute("FROM t").fetchall() == [(2,)]
    assert [one.name for one in path.parent.iterdir()] == [path.name]


def test_a_file_is_open_until_it_is_detached(tmp_path: Path) -> None:
    path = tmp_path / "a.duckdb"
    with closing(instance_for(path)) as one, closing(instance_for(path)) as other:
        attach(one, path)
        with pytest.raises(duckdb.ResourceInUseException, match="already attached"):
            attach(other, path)
        detach(one)
        attach(other, path)
