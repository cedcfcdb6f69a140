"""The Java that Spark runs on, found before Spark is started: where there is none, or only one
that is too old, the error says what to do.

Run as a module it says the same and ends with 1; `make test` asks it so.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import MutableMapping
from pathlib import Path

from xscl.errors import XSCLError

__all__ = ["choose_java"]

_OLDEST = 17
_DEBIAN = Path("/usr/lib/jvm/default-java")
"""Where the Java of `default-jre-headless` is, whatever comes first on PATH."""
_VERSION = re.compile(r'version "(?:1\.)?(\d+)')


def choose_java(environment: MutableMapping[str, str] = os.environ) -> None:
    """Sees to it that Spark, started in this environment, runs on Java 17 or later.

    Spark takes the Java of JAVA_HOME, without it that on PATH.  Where that one is too old and
    another is not, JAVA_HOME is changed.  Raises XSCLError where there is none at all.
    """
    found = []
    home = environment.get("JAVA_HOME")
    if home:
        java = Path(home, "bin", "java")
        if (version := _version(java)) >= _OLDEST:
            return
        found.append(f"JAVA_HOME={home} is " + (f"Java {version}" if version else "no Java"))
    on_path = shutil.which("java", path=environment.get("PATH"))
    if on_path:
        if (version := _version(Path(on_path))) >= _OLDEST:
            environment.pop("JAVA_HOME", None)
            return
        found.append(f"{on_path} is " + (f"Java {version}" if version else "no Java that runs"))
    if _version(_DEBIAN / "bin" / "java") >= _OLDEST:
        environment["JAVA_HOME"] = str(_DEBIAN)
        return
    raise XSCLError(
        f"Spark needs Java {_OLDEST} or later; {', '.join(found) or 'there is none on PATH'}. "
        "Install one (on Debian and Ubuntu: apt-get install default-jre-headless), or set "
        "JAVA_HOME to the folder of one that is there"
    )


def _version(java: Path) -> int:
    """The major version of a Java; 0 where it does not run."""
    try:
        done = subprocess.run([java, "-version"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return 0
    found = _VERSION.search(done.stderr)
    return int(found[1]) if found else 0


if __name__ == "__main__":
    try:
        choose_java()
    except XSCLError as error:
        sys.exit(str(error))
