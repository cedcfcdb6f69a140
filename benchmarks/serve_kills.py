"""What readers of a server's events miss when it is killed between a match and its retraction:
nothing.

`xscl serve --state` takes documents, late ones and retractions, one a request, under `middle`, and
is killed by SIGKILL 20 times, at points of its transactions in turn.  Its readers must have had
each match and each retraction of a server that nothing disturbs, and its lists and feeds what
stands.

    python benchmarks/serve_kills.py [--kills 20] [--lines 200]
"""

from __future__ import annotations

import argparse
import platform
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.crash import serving


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--lines", type=int, default=200)
    arguments = parser.parse_args()
    began = time.perf_counter()
    print(f"{platform.processor() or platform.machine()}, Python {platform.python_version()}")
    sent = serving.lines(arguments.lines)
    with tempfile.TemporaryDirectory() as name:
        plain = serving.run(Path(name) / "plain", sent)
        some = f"{len(plain.events) - len(plain.back):,} matches, {len(plain.back):,} retractions"
        print(f"undisturbed: {some} of {len(sent)} lines, {len(plain.listed):,} stand")
        killed = serving.run(Path(name) / "killed", sent, serving.kills(arguments.kills, len(sent)))
        faults = killed.faults(plain)
    twice = sum(many > 1 for many in killed.times.values())
    print(f"{killed.killed} kills, {time.perf_counter() - began:,.0f} s; {twice} events came again")
    for fault in faults:
        print(f"WRONG: {fault}")
    print(f"each match and retraction, lists and feeds as undisturbed: {'NO' if faults else 'yes'}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
