"""Two processes that keep a core busy each, one below this process and one not, are watched until
both have worked for a second: prints what `benchmarks.quiet` says of it, in clock ticks.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

from benchmarks import quiet

SPIN = [sys.executable, "-c", "while True: pass"]
ORPHAN = """
import subprocess, sys
quiet = {"stdout": subprocess.DEVNULL, "start_new_session": True}
print(subprocess.Popen(sys.argv[1:], **quiet).pid)
"""
"""Its process ends at once, so that what it starts is nobody's below."""
TICKS = 100


def main() -> None:
    own = subprocess.Popen(SPIN)
    done = subprocess.run(
        [sys.executable, "-c", ORPHAN, *SPIN], check=True, stdout=subprocess.PIPE, text=True
    )
    foreign = int(done.stdout)
    try:
        print(json.dumps(watched(own.pid, foreign)))
    finally:
        own.kill()
        own.wait()
        os.kill(foreign, signal.SIGKILL)


def watched(own: int, foreign: int) -> dict[str, float]:
    """The ticks of each of the two, of others as they are watched, and of all."""
    busy = quiet.busy()
    with quiet.Watch() as watch:
        others = watch.others()
        _, before = quiet.ticks()
        while True:
            time.sleep(0.05)
            _, now = quiet.ticks()
            mine, theirs = (now[one] - before[one] for one in (own, foreign))
            if min(mine, theirs) > TICKS:
                break
        others = watch.others() - others
    busy = quiet.busy() - busy
    return {"own": mine, "foreign": theirs, "others": others, "busy": busy, "cores": watch.cores}


if __name__ == "__main__":
    main()
