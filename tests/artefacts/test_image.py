"""The image of the Dockerfile holds what the wheel holds."""

from __future__ import annotations

import re
import shutil
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

from tests.artefacts.processes import ROOT, run


def test_the_image_installs_the_same(wheel: Path, tmp_path: Path) -> None:
    """What the Dockerfile copies, of what .dockerignore leaves, makes the same wheel."""
    sent = [*sent_to_docker()]
    stage, _, _ = (ROOT / "Dockerfile").read_text(encoding="utf-8").partition("RUN")
    copied = re.findall(r"^COPY (.+) (\S+)$", stage, re.MULTILINE)
    assert copied
    for sources, target in copied:
        for source in map(Path, sources.split()):
            files = [file for file in sent if source == file or source in file.parents]
            assert files, f"COPY {source}: not found"
            for file in files:
                # Of a folder what is in it is copied, else the file.
                at = tmp_path / target / (file.name if file == source else file.relative_to(source))
                at.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / file, at, follow_symlinks=False)
    out = tmp_path / "dist"
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", out, cwd=tmp_path)
    (built,) = out.glob("*.whl")
    names = [{*zipfile.ZipFile(each).namelist()} for each in (built, wheel)]
    assert names[0] == names[1]


def sent_to_docker() -> Iterator[Path]:
    """The files of the checkout that .dockerignore leaves: the last line that fits decides, of each
    folder first."""
    lines = (ROOT / ".dockerignore").read_text(encoding="utf-8").split()
    assert not any(re.search("^!.*/", line) for line in lines), "read by folder below"
    rules = [(line.startswith("!"), _pattern(line.removeprefix("!"))) for line in lines]

    def left(path: Path) -> bool:
        fitting = [kept for kept, rule in rules if rule.fullmatch(path.as_posix())]
        return not fitting or fitting[-1]

    def below(folder: Path) -> Iterator[Path]:
        for path in sorted(folder.iterdir()):
            within = path.relative_to(ROOT)
            if left(within):
                yield from below(path) if path.is_dir() and not path.is_symlink() else [within]

    return below(ROOT)


def _pattern(line: str) -> re.Pattern[str]:
    """Docker's `*` stops at a slash, `**/` is any folder."""
    text = re.escape(line).replace(r"\*\*/", "(?:.*/)?").replace(r"\*", "[^/]*")
    return re.compile(text)
