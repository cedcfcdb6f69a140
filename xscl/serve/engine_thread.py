"""The one thread that owns the engine: jobs come in, each has its answer later.

Documents that wait are published together, in one transaction, and each request has the counts of
its own; with a state file, those that are about to come are waited for (`gathering`).  A queue that
is full refuses (`Busy`), so that nobody waits without end.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, TypeVar

from xscl.engine import Engine
from xscl.errors import MatchError, StateError, XSCLError
from xscl.matches.match import Match
from xscl.matches.unwritten import log_unwritten
from xscl.serve.found.journal import Entry, Journal
from xscl.serve.gathering import Gathering

__all__ = ["Busy", "EngineThread", "Taken"]

T = TypeVar("T")
Envelope = Mapping[str, object]

_TOGETHER = 1_000
"""Documents that are published in one transaction, of those that wait."""


class Failed(Protocol):
    """What is called when a failure has closed the engine, be it `by_fault` of ours or not."""

    def __call__(self, reason: str, *, by_fault: bool = ...) -> object: ...


class Busy(Exception):
    """Too many jobs wait already."""


@dataclass(slots=True)
class Taken:
    """The results of the documents of a request."""

    taken: int = 0
    matches: int = 0
    retracted: int = 0
    """Matches that were taken back."""
    duplicates: int = 0
    late: int = 0
    unknown: int = 0
    """Retractions of documents that are not there."""
    problems: list[XSCLError] = field(default_factory=list)

    def add(self, other: Taken) -> None:
        """Adds the results of others."""
        self.taken += other.taken
        self.matches += other.matches
        self.retracted += other.retracted
        self.duplicates += other.duplicates
        self.late += other.late
        self.unknown += other.unknown
        self.problems += other.problems


@dataclass(frozen=True, slots=True)
class _Publishing:
    envelopes: Sequence[Envelope]
    answer: Future[Taken]


@dataclass(frozen=True, slots=True)
class _Work:
    work: Callable[[], Any]
    answer: Future[Any]


class EngineThread:
    """Runs jobs in an engine, one after the other; `skipped` is the list to which the engine's
    `on_skip` adds.  `failed` is called when the engine was closed by a failure; `unwritten` are the
    matches that could not be written, which is said on standard error.  `gathering` is of an engine
    whose transactions are worth waiting for others."""

    def __init__(
        self,
        engine: Engine,
        journal: Journal,
        skipped: list[XSCLError],
        tally: Callable[[Sequence[Match]], object] = lambda matches: None,
        *,
        waiting: int = 1_000,
        gathering: Gathering | None = None,
    ) -> None:
        self.engine = engine
        self.failed: Failed = lambda reason, *, by_fault=False: None
        self.unwritten = 0
        self._journal = journal
        self._skipped = skipped
        self._tally = tally
        self._most = waiting
        self._gathering = gathering
        self._jobs: deque[_Publishing | _Work] = deque()
        self._changed = threading.Condition()
        self._ending = False
        self._thread = threading.Thread(target=self._run, name="xscl-engine")

    def start(self) -> None:
        """Starts it."""
        self._thread.start()

    def end(self) -> None:
        """Ends it when all jobs are done that wait now; twice does no harm."""
        with self._changed:
            self._ending = True
            self._changed.notify()
        if self._thread.is_alive():
            self._thread.join()

    @property
    def waiting(self) -> int:
        """How many jobs wait."""
        return len(self._jobs)

    async def publish(self, envelopes: Sequence[Envelope], *, goes_on: bool = False) -> Taken:
        """Publishes documents; raises Busy, of a request that `goes_on` only at the end."""
        job = _Publishing(envelopes, Future())
        self._put(job, admitted=goes_on)
        return await asyncio.wrap_future(job.answer)

    async def do(self, work: Callable[[], T]) -> T:
        """What some work in the engine returns; raises Busy."""
        return await asyncio.wrap_future(self.submit(work))

    def submit(self, work: Callable[[], T]) -> Future[T]:
        """As `do`, from any thread."""
        job = _Work(work, Future())
        self._put(job)
        return job.answer

    @contextlib.contextmanager
    def finding(self) -> Iterator[Callable[[Sequence[Match]], list[MatchError]]]:
        """Around work in the engine that finds matches: what is reported of them is in the journal,
        in one transaction with all that the work does; returned is what cannot be written."""
        entries: list[Entry] = []

        def report(matches: Sequence[Match]) -> list[MatchError]:
            problems: list[MatchError] = []
            self._tally(matches)
            entries.extend(self._journal.note(matches, problems.append))
            for problem in problems:
                # Of what a clock or a feed completes there is nobody else to hear it.
                log_unwritten(problem)
            self.unwritten += len(problems)
            return problems

        with self.engine.transaction():
            yield report
        self._journal.show(entries)

    def take_in(self, envelopes: Sequence[Envelope]) -> Taken:
        """Publishes documents or lines, as work in the engine."""
        with self.finding() as report:
            taken, matches = self._take_in(envelopes)
            taken.problems += report(matches)
        return taken

    def _put(self, job: _Publishing | _Work, *, admitted: bool = False) -> None:
        with self._changed:
            if self._ending:
                raise Busy("the server is ending")
            if len(self._jobs) >= self._most and not admitted:
                raise Busy(f"{self._most:,} requests wait for the engine already")
            self._jobs.append(job)
            self._changed.notify()

    def _run(self) -> None:
        while jobs := self._take():
            self._skipped.clear()
            match jobs[0]:
                case _Work(work, answer):
                    self._answer(answer, work)
                case _Publishing():
                    self._publish([job for job in jobs if isinstance(job, _Publishing)])

    def _take(self) -> list[_Publishing | _Work]:
        """The next job, and if it publishes those after it that do, too; none at the end."""
        with self._changed:
            while not self._jobs:
                if self._ending:
                    return []
                self._changed.wait()
            self._gather()
            jobs = [self._jobs.popleft()]
            documents = len(getattr(jobs[0], "envelopes", ()))
            while isinstance(jobs[0], _Publishing) and self._jobs:
                following = self._jobs[0]
                if not isinstance(following, _Publishing):
                    break
                documents += len(following.envelopes)
                if documents > _TOGETHER:
                    break
                jobs.append(self._jobs.popleft())
        return jobs

    def _gather(self) -> None:
        """Waits for the documents of clients that were answered just now."""
        if self._gathering is None:
            return
        until = time.monotonic() + self._gathering.patience
        while len(self._jobs) < self._gathering.expected and not self._ending:
            left = until - time.monotonic()
            if left <= 0 or any(isinstance(job, _Work) for job in self._jobs):
                return
            self._changed.wait(left)

    def _answer(self, answer: Future[Any], work: Callable[[], Any]) -> None:
        if not answer.set_running_or_notify_cancel():
            return
        try:
            answer.set_result(work())
        except BaseException as error:
            self._look(error)
            answer.set_exception(error)

    def _publish(self, jobs: Sequence[_Publishing]) -> None:
        # Of one who has gone away meanwhile, what was sent is published, too.
        answered = [job.answer.set_running_or_notify_cancel() for job in jobs]
        answers: list[Taken] = []
        began = time.monotonic()
        try:
            with self.finding() as report:
                for job in jobs:
                    taken, matches = self._take_in(job.envelopes)
                    answers.append(taken)
                    taken.problems += report(matches)
        except BaseException as error:
            self._look(error)
            for job, waits in zip(jobs, answered, strict=True):
                if waits:
                    job.answer.set_exception(error)
            return
        if self._gathering is not None:
            self._gathering.answered(len(jobs), len(self._jobs), time.monotonic() - began)
        for job, waits, taken in zip(jobs, answered, answers, strict=True):
            if waits:
                job.answer.set_result(taken)

    def _look(self, error: BaseException) -> None:
        """Says so if a failure has closed the engine: nothing can be done in it any more."""
        try:
            _ = self.engine.documents
        except StateError as closed:
            # What the state file refuses, it would refuse again.
            fault = isinstance(error, Exception) and not isinstance(error, StateError | MemoryError)
            self.failed(str(closed), by_fault=fault)

    def _take_in(self, envelopes: Sequence[Envelope]) -> tuple[Taken, Sequence[Match]]:
        engine = self.engine
        documents, skipped = engine.documents, engine.skipped
        before = replace(skipped)
        matches = engine.publish_many(envelopes)
        skipped = engine.skipped
        retracted = sum(one.retracts for one in matches)
        taken = Taken(
            engine.documents - documents,
            len(matches) - retracted,
            retracted,
            skipped.duplicate - before.duplicate,
            skipped.late - before.late,
            skipped.unknown - before.unknown,
            [*self._skipped],
        )
        self._skipped.clear()
        return taken, matches
