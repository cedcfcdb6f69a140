"""Plants each bug in a copy of the tree and runs the tests nearest to it: `make mutants`, or
`python -m tests.mutants NAME...` for those whose names begin so.

A bug is caught if a test fails, and survives if none does.  The tests are run without any bug
first: only ones that pass prove anything.  Tools such as mutmut plant thousands of bugs by rule
and run what covers them; these are few, and are the ones that hands have planted or made.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from queue import SimpleQueue

from tests.mutants.planted import ROOT, Mutant, planted

_NOT_COPIED = shutil.ignore_patterns(
    ".git", ".venv", "build", "dist", "__pycache__", ".*_cache", ".hypothesis"
)
_PATIENCE = 300
"""Seconds that the tests of a bug may take, which is no proof that they find it."""

_PASSED, _FAILED, _TOO_LONG = 0, 1, -1


def main(names: Sequence[str]) -> int:
    """Plants the bugs of some names, or all; returns 1 unless every one is caught."""
    chosen = [one for one in planted() if not names or one.name.startswith(tuple(names))]
    stale = [one for one in chosen if one.occurrences(ROOT) != 1]
    for one in stale:
        print(f"does not apply  {one.name}: {one.file} has its text {one.occurrences(ROOT)} times")
    chosen = [one for one in chosen if one not in stale]
    with tempfile.TemporaryDirectory() as folder:
        copies: SimpleQueue[Path] = SimpleQueue()
        for number in range(workers := len(os.sched_getaffinity(0))):
            copies.put(_copy(Path(folder) / str(number)))
        tests = sorted({test for one in chosen for test in one.tests})
        root = copies.get()
        ended, reported = _run(root, tests)
        copies.put(root)
        if ended != _PASSED:
            print(reported, "the tests fail without any bug", sep="\n")
            return 1
        with ThreadPoolExecutor(workers) as pool:
            caught = list(pool.map(lambda one: _is_caught(one, copies), chosen))
    print(f"caught {sum(caught)} of {len(chosen) + len(stale)} planted")
    return 0 if all(caught) and not stale else 1


def _is_caught(mutant: Mutant, copies: SimpleQueue[Path]) -> bool:
    root = copies.get()
    begun = time.monotonic()
    with _bug(mutant, root):
        ended, reported = _run(root, mutant.tests, _PATIENCE)
    copies.put(root)
    seconds = time.monotonic() - begun
    verdict = {_PASSED: "SURVIVED", _FAILED: "caught", _TOO_LONG: "TOO LONG"}.get(ended, "BROKEN")
    print(f"{verdict:9} {seconds:5.1f} s  {mutant.name}", flush=True)
    if verdict == "BROKEN":
        print(reported)
    return ended == _FAILED


def _copy(folder: Path) -> Path:
    """A copy of the tree, with the shared documents next to it, where there are any."""
    shared = ROOT.parent / "shared"
    shutil.copytree(ROOT, folder / "tree", symlinks=True, ignore=_NOT_COPIED)
    if shared.exists():
        (folder / "shared").symlink_to(shared.resolve())
    return folder / "tree"


@contextmanager
def _bug(mutant: Mutant, root: Path) -> Iterator[None]:
    file = root / mutant.file
    sound = file.read_text(encoding="utf-8")
    try:
        _write(file, sound.replace(mutant.text, mutant.instead))
        yield
    finally:
        _write(file, sound)


def _write(file: Path, text: str) -> None:
    file.write_text(text, encoding="utf-8")
    # Two texts of one length, written within a second, would be one to the cache.
    Path(importlib.util.cache_from_source(str(file))).unlink(missing_ok=True)


def _run(root: Path, tests: Sequence[str], seconds: float | None = None) -> tuple[int, str]:
    options = ["-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist"]
    options += ["--hypothesis-seed=0", "--hypothesis-profile=unshrunk"]
    try:
        done = subprocess.run(
            [sys.executable, "-m", "pytest", *options, *tests],
            cwd=root,
            env={**os.environ, "PYTHONPATH": str(root), "XSCL_DRAW": "1", "PYTHONHASHSEED": "1"},
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return _TOO_LONG, ""
    return done.returncode, done.stdout[-5000:] + done.stderr[-1000:]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
