"""What every command does first, done once: imported by the process that commands fork from (see
`tests.commands`), it has the command line imported, and the parser made and used."""

from __future__ import annotations

import xscl.cli.main  # noqa: F401 - what commands need imported
from datasets import FEEDS
from xscl.language import parse

parse((FEEDS / "queries.xscl").read_text(encoding="utf-8"))
