"""A process that gives up root's rights is refused what the rights of a file refuse, as are those
that it starts; and still imports what it needs, though the checkout is its owner's alone."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests import rights

TESTS = Path(__file__).parent

PROGRAM = """
import subprocess, sys
from rights import unprivileged

unprivileged()
import imported_late

for write in (lambda: open("locked/a", "w"), lambda: subprocess.run(["touch", "locked/b"])):
    try:
        write()
    except PermissionError as error:
        print(error)
print(imported_late.__name__, flush=True)
"""


def test_rights_are_given_up_but_not_those_of_the_owner(tmp_path: Path) -> None:
    for name, mode in (("private", 0o700), ("locked", 0o555)):
        (tmp_path / name).mkdir(mode=mode)
    (tmp_path / "private" / "imported_late.py").touch()
    (tmp_path / "private" / "rights.py").write_bytes(Path(rights.__file__).read_bytes())
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=tmp_path,
        env={"PYTHONPATH": str(tmp_path / "private"), "PATH": "/usr/bin:/bin", "LC_ALL": "C"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.splitlines() == [
        "[Errno 13] Permission denied: 'locked/a'",
        "imported_late",
    ], done.stderr
    assert "locked/b" in done.stderr
    assert "Permission denied" in done.stderr
    assert not list((tmp_path / "locked").iterdir())


def test_no_test_becomes_another_user() -> None:
    """Who may be unable to read the checkout, or the Python, that it imports from."""
    users = [file for file in TESTS.rglob("*.py") if "os.setuid" in file.read_text("utf-8")]
    assert users == [Path(__file__)]
