"""`xscl sample`: the feeds and the queries of the demo as files of a folder, to start from."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

import click

from xscl.counts import counted
from xscl.times import from_timestamp, to_seconds

__all__ = ["sample"]

_NEXT = (
    "xscl run {queries} --feed {feeds}",
    "xscl run -q \"S/item[contains(title, 'Lighthouse')]\" --feed {feeds}",
    "xscl explain {queries} --query reviewed",
    "xscl why {queries} --query reviewed --feed {feeds}",
)


@click.command()
@click.argument("folder", metavar="DIR", type=click.Path(file_okay=False, path_type=Path))
def sample(folder: Path) -> int:
    """Writes the demo's feeds and queries into a folder, to start from.

    Creates DIR if it does not exist, and overwrites nothing in it.
    """
    from xscl import samples

    feeds = sorted(samples.FEEDS.glob("*.xml"))
    queries = (samples.FEEDS / "queries.xscl").read_text(encoding="utf-8")
    files = {f"feeds/{feed.name}": feed.read_bytes() for feed in feeds}
    files["queries.xscl"] = queries.replace("--feed S=.", "--feed S=feeds").encode()
    for name in files:
        if os.path.lexists(folder / name):
            raise click.UsageError(f"{folder / name} is there already; name another folder")
    # An item without a date has that of its file, which is of the feeds' weeks for good.
    moment = to_seconds(from_timestamp("2026-06-15"))
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        with (folder / name).open("xb") as file:
            file.write(content)
        os.utime(folder / name, (moment, moment))
    click.echo(
        f"{counted(len(feeds), 'feed')} are in {folder / 'feeds'}, "
        f"{counted(queries.count('-- name: '), 'query')} in {folder / 'queries.xscl'}. Next:\n"
    )
    places = {"queries": str(folder / "queries.xscl"), "feeds": f"S={folder / 'feeds'}"}
    quoted = {name: shlex.quote(place) for name, place in places.items()}
    for line in _NEXT:
        click.echo(f"  {line.format(**quoted)}")
    return 0
