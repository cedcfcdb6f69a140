"""A server that takes matches back while it is killed: its readers have each match and each
retraction, and its lists and feeds what stands."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from tests.crash import serving


def test_a_killed_server_takes_each_match_back(tmp_path: Path) -> None:
    sent = serving.lines(30)
    plain = serving.run(tmp_path / "plain", sent)
    assert {one["query"] for one in plain.back} >= {"join", "quiet", "told"}
    assert plain.standing == Counter(plain.listed)
    killed = serving.run(tmp_path / "killed", sent, serving.kills(3, len(sent)))
    assert killed.killed == 3
    assert killed.faults(plain) == []
