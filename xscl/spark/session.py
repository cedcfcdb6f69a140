"""A Spark session as the jobs need it, on one core of a laptop or on a cluster.

Where Spark runs is said by the caller, else by `spark-submit`, else it is this machine.  What the
user configured (options of `spark-submit`, `spark-defaults.conf`) wins; what is set here are
defaults, apart from the name: times in UTC, and on one machine nothing that listens beyond it, as
many partitions after a shuffle as there are cores, and errors alone on the terminal.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
import threading
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from xscl.errors import XSCLError
from xscl.spark.java import choose_java

if TYPE_CHECKING:
    from py4j.java_gateway import JavaGateway
    from pyspark.sql import SparkSession

__all__ = ["check_spark", "session", "session_for"]

_PANDAS = "PySpark does not yet fully support pandas"
"""How PySpark's warning of each pandas from 3 on begins."""

_HERE = re.compile(r"local(\[.+\])?")
_LOCAL = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.ui.enabled": "false",
}
_NOISE = (
    b"WARNING: Using incubator modules: jdk.incubator.vector",
    b"WARNING: package sun.security.action not in java.base",
    b"Starting Streaming TransformWithStateInPandas Python worker",
    b"Streaming TransformWithStateInPandas Python worker",
)
"""What Java says of the modules that Spark asks for, and Spark's workers of their start; no setting
keeps them from saying so."""


def session(
    app: str, *, master: str | None = None, settings: Mapping[str, str] = MappingProxyType({})
) -> SparkSession:
    """A Spark session for an application of this name.

    `master` is where Spark runs, as in `spark-submit --master`; without one it is what
    `spark-submit` was given, where the program was started by it, else `local[*]`.  `settings` are
    Spark's own and come before all others.  Where this process runs Spark already, the session is
    a new one in addition to the others, and of the settings only those of `spark.sql` count.

    Raises XSCLError where PySpark or a Java for it is missing, or Spark does not start.
    """
    running = _running()
    warnings.filterwarnings("ignore", _PANDAS, FutureWarning)
    if running is not None:
        spark = running.newSession()
    else:
        spark = _started(app, master, settings)
        settings = {}
    context = spark.sparkContext
    defaults = {"spark.sql.session.timeZone": "UTC"}
    if _HERE.fullmatch(context.master or ""):
        defaults["spark.sql.shuffle.partitions"] = str(context.defaultParallelism)
    given = context.getConf()
    missing = {name: value for name, value in defaults.items() if not given.contains(name)}
    for name, value in {**missing, **settings}.items():
        if name.startswith("spark.sql."):
            spark.conf.set(name, value)
    return spark


@contextlib.contextmanager
def session_for(
    app: str, *, master: str | None = None, settings: Mapping[str, str] = MappingProxyType({})
) -> Iterator[SparkSession]:
    """As `session`, until the application ends: Spark is then stopped, unless it ran before."""
    running = _running()
    spark = session(app, master=master, settings=settings)
    try:
        yield spark
    finally:
        if running is None:
            spark.stop()


def check_spark() -> None:
    """Raises XSCLError where PySpark is missing."""
    try:
        import pyspark.sql  # noqa: F401
    except ImportError as error:
        raise XSCLError(f"Spark is missing ({error}): pip install 'xscl[spark]'") from error


def _running() -> SparkSession | None:
    """A session of the Spark that this process runs, if it runs one."""
    check_spark()
    from pyspark.errors import PySparkRuntimeError
    from pyspark.sql import SparkSession

    try:
        return SparkSession.active()
    except PySparkRuntimeError:
        return None


def _started(app: str, master: str | None, settings: Mapping[str, str]) -> SparkSession:
    """The first session of this process, in which Spark is started."""
    from py4j.protocol import Py4JJavaError
    from pyspark import SparkConf, SparkContext
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    conf, gateway = SparkConf(), None
    # Once Java runs, what is configured for Spark is there.
    if not conf.getAll():
        gateway = _gateway(master, settings)
        configured = gateway.jvm.org.apache.spark.SparkConf().getAll()
        conf.setAll([(pair._1(), pair._2()) for pair in configured])
    conf.setAppName(app)
    if master is not None:
        conf.setMaster(master)
    conf.setAll(list(settings.items()))
    if "PYTHONWARNINGS" not in os.environ:
        conf.setIfMissing("spark.executorEnv.PYTHONWARNINGS", f"ignore:{_PANDAS}:FutureWarning")
    if _HERE.fullmatch(conf.get("spark.master", "") or ""):
        for name, value in _LOCAL.items():
            conf.setIfMissing(name, value)
    try:
        if gateway is None:
            SparkContext.getOrCreate(conf)
        else:
            SparkContext(conf=conf, gateway=gateway)
    except Py4JJavaError as error:
        said = error.java_exception.getMessage()
        raise XSCLError(f"Spark did not start at {conf.get('spark.master')}: {said}") from error
    return SparkSession.builder.getOrCreate()


def _gateway(master: str | None, settings: Mapping[str, str]) -> JavaGateway:
    """The Java process that `spark-submit` started us from, else a new one."""
    from pyspark import SparkConf
    from pyspark.errors import PySparkRuntimeError
    from pyspark.java_gateway import launch_gateway

    if "PYSPARK_GATEWAY_PORT" in os.environ:
        return launch_gateway()  # type: ignore[no-untyped-call]
    choose_java()
    if "PYSPARK_SUBMIT_ARGS" not in os.environ and (master or "local").startswith("local"):
        # The one way to keep Spark's web pages, where they are asked for, on this machine.
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    # What counts only when Java starts; for the rest the configuration can be asked afterwards.
    conf = SparkConf(loadDefaults=False)
    conf.set("spark.ui.showConsoleProgress", "false")
    if not _logging_configured():
        file = Path(__file__).with_name("log4j2.properties")
        # These come before the user's own `extraJavaOptions`, which therefore win.
        conf.set("spark.driver.defaultJavaOptions", f"-Dlog4j2.configurationFile={file.as_uri()}")
    for name, value in settings.items():
        conf.set(name, value)
    if master is not None:
        conf.setMaster(master)
    read, write = os.pipe()
    threading.Thread(target=_pass_on, args=(read,), name="xscl-spark-stderr", daemon=True).start()
    try:
        return launch_gateway(conf, {"stderr": write})  # type: ignore[no-untyped-call]
    except PySparkRuntimeError as error:
        raise XSCLError("Spark did not start; what Spark said of it is above") from error
    finally:
        os.close(write)


def _logging_configured() -> bool:
    """Whether the installation of Spark that is used has its own configuration of logging."""
    import pyspark

    home = os.environ.get("SPARK_HOME") or Path(pyspark.__file__).parent
    folder = os.environ.get("SPARK_CONF_DIR") or Path(home, "conf")
    return any(Path(folder).glob("log4j2*"))


def _pass_on(source: int) -> None:
    """Writes what Java's process and its workers say on standard error to our own."""
    with open(source, "rb") as lines:
        noise = False
        for line in lines:
            noise = line.startswith(_NOISE) or (noise and not line.strip())
            if not noise:
                # With nobody left to read it, Java must not come to a halt over it.
                with contextlib.suppress(OSError):
                    os.write(2, line)
