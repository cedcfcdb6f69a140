"""How Spark is started: where, on which Java, with which settings, and what is said of it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.xscl.spark.java import QUICK_JAVA
from xscl.errors import XSCLError
from xscl.spark.java import choose_java
from xscl.spark.session import session

PROGRAM = f"""
import sys
from xscl.errors import XSCLError
from xscl.spark.session import session
spark = session("told by the program", settings={QUICK_JAVA})
assert spark.range(0, 3, 1, 1).mapInArrow(lambda batches: batches, "id long").count() == 3
names = ["spark.master", "spark.sql.session.timeZone", "spark.sql.shuffle.partitions"]
print([spark.conf.get(name) for name in names])
spark.stop()
print("and then", file=sys.stderr)
try:
    session("none", master="local[x]")
except XSCLError as error:
    print(error)
"""


def run(*command: str | Path, at: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("PYSPARK", "SPARK"))}
    return subprocess.run(
        command,
        cwd=at,
        env={**inherited, "PYTHONPATH": str(Path(__file__).parents[3]), **environment},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def test_a_start_says_nothing_and_leaves_nothing(tmp_path: Path) -> None:
    """And one at a master that is none says why."""
    done = run(sys.executable, "-c", PROGRAM, at=tmp_path)
    said, _, _ = done.stderr.partition("and then\n")
    assert (done.returncode, said) == (0, "")
    first, second = done.stdout.splitlines()
    assert first.startswith("['local[*]', 'UTC', ")
    assert second.startswith("Spark did not start at local[x]: Could not parse")
    assert not list(tmp_path.iterdir())


def test_one_core_has_one_partition(spark: SparkSession) -> None:
    assert spark.conf.get("spark.sql.shuffle.partitions") == "1"
    assert spark.range(10).groupBy("id").count().rdd.getNumPartitions() == 1


def test_a_running_session_keeps_its_settings(spark: SparkSession) -> None:
    other = session("other", settings={"spark.sql.shuffle.partitions": "5"})
    assert other.conf.get("spark.sql.shuffle.partitions") == "5"
    assert spark.conf.get("spark.sql.shuffle.partitions") == "1"
    assert other.sparkContext is spark.sparkContext


def test_pyspark_is_imported_only_when_it_is_used(tmp_path: Path) -> None:
    program = "import sys, xscl.cli.main, xscl.spark.session; print('pyspark' in sys.modules)"
    assert run(sys.executable, "-c", program, at=tmp_path).stdout == "False\n"


def test_without_pyspark_it_says_what_to_install(tmp_path: Path) -> None:
    program = (
        "import sys; sys.modules['pyspark'] = None\n"
        "from xscl.spark.session import session; session('none')"
    )
    done = run(sys.executable, "-c", program, at=tmp_path)
    assert "XSCLError: Spark is missing" in done.stderr
    assert "pip install 'xscl[spark]'" in done.stderr


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """The folder of a Java that is too old."""
    java = tmp_path / "old" / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text("#!/bin/sh\necho 'openjdk version \"11.0.2\" 2019-01-15' >&2\n")
    java.chmod(0o755)
    return tmp_path / "old"


@pytest.fixture
def good(tmp_path: Path) -> Path:
    """The folder of the Java that the tests run on."""
    found = os.environ.get("JAVA_HOME") or shutil.which("java")
    assert found is not None
    java = Path(found).resolve()
    return java if java.is_dir() else java.parents[1]


def test_an_old_java_home_gives_way_to_path(old: Path, good: Path) -> None:
    environment = {"JAVA_HOME": str(old), "PATH": str(good / "bin")}
    choose_java(environment)
    assert environment == {"PATH": str(good / "bin")}


def test_a_good_java_home_comes_before_path(old: Path, good: Path) -> None:
    environment = {"JAVA_HOME": str(good), "PATH": str(old / "bin")}
    choose_java(environment)
    assert environment["JAVA_HOME"] == str(good)


def test_without_a_java_it_says_what_to_do(old: Path) -> None:
    if Path("/usr/lib/jvm/default-java").exists():
        pytest.skip("Debian's own Java is found, whatever the environment says")
    with pytest.raises(XSCLError) as raised:
        choose_java({"JAVA_HOME": str(old), "PATH": str(old / "bin")})
    for part in ("Java 17", f"JAVA_HOME={old} is Java 11", "default-jre-headless"):
        assert part in str(raised.value)
