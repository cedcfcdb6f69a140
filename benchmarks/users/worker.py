"""One thing that a user does with the package, as often as standard input has lines.

    PYTHONPATH=CHECKOUT python -P benchmarks/users/worker.py NAME FOLDER

The package is the one of CHECKOUT, so this file imports nothing of the benchmarks.  FOLDER holds
the input (`inputs.py`).  Each line of standard input is answered by one of JSON: processor seconds
of this process and its children, the number of matches, and, where documents go one by one, the
time within which 99 of 100 are done.
"""

from __future__ import annotations

import gc
import json
import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

BATCH = 5_000

Envelope = dict[str, Any]
Timed = tuple[float, int, float | None]


def spent() -> float:
    """The processor's time so far, of this process, its threads and the children that ended."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + ended.ru_utime + ended.ru_stime


def timed(run: Callable[[], int]) -> Timed:
    gc.collect()
    started = spent()
    matches = run()
    return spent() - started, matches, None


def timed_each(
    publish: Callable[[Envelope], int],
    documents: Iterable[Envelope],
    finish: Callable[[], object] = int,
) -> Timed:
    """Documents one by one: the time of each is the thread's, so that no other process counts."""
    gc.collect()
    matches, each = 0, []
    started = spent()
    for document in documents:
        begun = time.thread_time()
        matches += publish(document)
        each.append(time.thread_time() - begun)
    finish()
    total = spent() - started
    return total, matches, sorted(each)[len(each) * 99 // 100]


def engine_of(folder: Path, **options: Any) -> Any:
    import xscl

    engine = xscl.Engine(**options)
    engine.load((folder / "queries.xscl").read_text(encoding="utf-8"))
    xscl.collect_rarely()
    return engine


def warm() -> None:
    """What comes with the first queries and documents of a process: imports, the grammar."""
    import xscl

    with xscl.Engine() as engine:
        engine.load("S/first[a->x] FOLLOWED BY {x = y} S/first[a->y]")
        first = {"stream": "S", "xml": "<first><a>1</a></first>", "timestamp": 1}
        engine.publish_many([first, first | {"timestamp": 2}], grouped=True)
        list(engine.run([first | {"timestamp": 3}]))


def load(folder: Path) -> Timed:
    import xscl

    text = (folder / "queries.xscl").read_text(encoding="utf-8")
    with xscl.Engine() as engine:
        return timed(lambda: len(engine.load(text)))


def total(folder: Path) -> Timed:
    """Batches, of which only the number of matches is asked."""
    documents = documents_of(folder)
    with engine_of(folder) as engine:
        parts = [documents[at : at + BATCH] for at in range(0, len(documents), BATCH)]
        return timed(lambda: sum(engine.publish_many(p, grouped=True).total for p in parts))


def groups(folder: Path) -> Timed:
    """Batches, and for each group of matches the names of its queries."""
    documents = documents_of(folder)
    with engine_of(folder) as engine:
        found = engine.run(map(read, documents), batch=BATCH, grouped=True)
        return timed(lambda: sum(len(group.queries) for group in found))


def plain(folder: Path) -> Timed:
    """Batches, and each match with the name of its query and the ids of its documents."""
    documents = documents_of(folder)
    with engine_of(folder) as engine:
        found = engine.run(documents, batch=BATCH)
        return timed(lambda: sum(len(m.documents) > 1 and m.query != "" for m in found))


def alone(folder: Path) -> Timed:
    """Documents one by one, and the names of the queries of each group."""
    with engine_of(folder) as engine:
        return timed_each(lambda one: publish(engine, one), documents_of(folder))


def durable(folder: Path) -> Timed:
    """The same with a state file."""
    with (
        tempfile.TemporaryDirectory() as place,
        engine_of(folder, state=Path(place) / "state.duckdb") as engine,
    ):
        return timed_each(lambda one: publish(engine, one), documents_of(folder))


def delayed(folder: Path) -> Timed:
    """The same, written within 200 ms; where the package has no delay, written immediately."""
    import xscl

    with tempfile.TemporaryDirectory() as place:
        state = Path(place) / "state.duckdb"
        try:
            engine = engine_of(folder, state=state, commit_every="200 ms")
        except (TypeError, xscl.XSCLError):
            return durable(folder)
        with engine:
            return timed_each(lambda one: publish(engine, one), documents_of(folder), engine.commit)


def publish(engine: Any, one: Envelope) -> int:
    found = engine.publish("S", one["xml"], id=one["id"], timestamp=one["timestamp"], grouped=True)
    return sum(len(group.queries) for group in found)


def lines(folder: Path) -> Timed:
    """The command, with its matches as lines of a file."""
    return timed(lambda: command(folder, "jsonl").count(b"\n"))


def counts(folder: Path) -> Timed:
    """The command, with the number of matches of each query."""
    return timed(
        lambda: sum(int(n.rpartition(b"\t")[2]) for n in command(folder, "counts").splitlines())
    )


def read(envelope: Envelope) -> Envelope:
    """JSON is text in the input, as XML is, and reading it is part of the work."""
    text = envelope.get("json")
    return envelope if text is None else envelope | {"json": text.encode()}


def command(folder: Path, form: str) -> bytes:
    with tempfile.TemporaryDirectory() as place:
        written = Path(place) / "matches"
        queries, events = str(folder / "queries.xscl"), str(folder / "documents.jsonl")
        output = ["--format", form, "-o", str(written), "--quiet"]
        child([sys.executable, "-P", "-m", "xscl", "run", queries, "--events", events, *output])
        return written.read_bytes()


def helps(folder: Path) -> Timed:
    return timed(lambda: child([sys.executable, "-P", "-m", "xscl", "--help"]))


def imports(folder: Path) -> Timed:
    return timed(lambda: child([sys.executable, "-P", "-c", "import xscl; xscl.Engine"]))


def completes(folder: Path) -> Timed:
    """A TAB after `xscl run --fo`."""
    wanted = {"_XSCL_COMPLETE": "bash_complete", "COMP_WORDS": "xscl run --fo", "COMP_CWORD": "2"}
    main = "import sys; sys.argv[0] = 'xscl'; from xscl.cli.main import main; main()"
    return timed(lambda: child([sys.executable, "-P", "-c", main], wanted))


def child(arguments: list[str], more: dict[str, str] | None = None) -> int:
    """Runs a command in its own folder; RuntimeError with what it said if it fails."""
    import subprocess

    done = subprocess.run(
        arguments, env=os.environ | (more or {}), capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"{arguments[3:]} ended with {done.returncode}: {done.stderr[-2000:]}")
    return 0


def documents_of(folder: Path) -> list[Envelope]:
    with (folder / "documents.jsonl").open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]


WORK: dict[str, Callable[[Path], Timed]] = {
    work.__name__: work
    for work in (
        load, total, groups, plain, alone, durable, delayed,
        lines, counts, helps, imports, completes,
    )
}  # fmt: skip


COMMANDS = {"lines", "counts", "helps", "imports", "completes"}
"""Processes of their own, each with its start."""


def main() -> None:
    name, folder = sys.argv[1:]
    work = WORK[name]
    if name not in COMMANDS:
        warm()
    for _ in sys.stdin:
        print(json.dumps(work(Path(folder))), flush=True)


if __name__ == "__main__":
    main()
