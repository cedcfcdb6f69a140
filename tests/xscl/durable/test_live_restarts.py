"""Queries and documents come and go, and so does the process: the machine of `test_live` with an
engine in a file, which is closed and opened, ends without a word, between calls or at a named
point, and is given another query file.  After each step it is as the model, which knows none of it.
"""

from __future__ import annotations

import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from hypothesis import event, reject
from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

import xscl
from tests.drawn import drawn
from tests.oracle.as_nested_loops import query_in_loops
from tests.oracle.as_xscl import xscl_file, xscl_text
from tests.oracle.terms import Query
from tests.xscl.durable.crashes import Ended, as_after_a_kill, ended_at
from tests.xscl.engine.test_live import MOST_QUERIES, SETTINGS, Live, any_query, envelopes
from xscl.cli.queries import read_texts
from xscl.cli.resume import take_queries

MOST_OPENINGS = 2
"""In one example: each takes as long as some twenty calls."""
BEFORE = ("evaluated", "before commit", "within commit")
"""Points at which nothing of a batch is in the file."""
AFTER = ("after commit", "before delivery", "after delivery")


class LiveRestarts(Live):
    """One engine in a file, and its model."""

    def make_engine(self, stack: ExitStack) -> None:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        self.path = Path(folder) / "state-0.duckdb"
        self.opened = 0
        self.asked: dict[str, Query] = {}
        self.known: set[str] = set()  # Ids of reported matches.
        self.engine = xscl.Engine(self.path, lateness=self.lateness, **self.options)

    def teardown(self) -> None:
        if hasattr(self, "engine"):
            self.engine.close()
        super().teardown()

    def add(self, name: str, query: Query, *, history: bool) -> None:
        self.asked[name] = query
        super().add(name, query, history=history)

    def compare(self, rows: list[Any]) -> None:
        self.known |= {match.id for match in self.reported}
        super().compare(rows)

    # Ends and beginnings.

    @precondition(lambda self: self.opened < MOST_OPENINGS)
    @rule(said=st.booleans())
    def restart(self, said: bool) -> None:
        """With the lateness that it had, if none is said."""
        self.engine.close()
        self.begin(said=said)
        self.attach()
        assert self.reported == []
        self.compare([])

    @precondition(lambda self: self.opened < MOST_OPENINGS)
    @rule()
    def kill(self) -> None:
        """Between two calls: what was reported may be reported again, under its id."""
        self.begin_after_a_kill()
        self.attach()
        assert {match.id for match in self.reported} <= self.known
        self.reported.clear()
        self.compare([])

    @precondition(lambda self: self.opened < MOST_OPENINGS)
    @rule(
        point=st.sampled_from(BEFORE + AFTER),
        drawn=st.lists(envelopes, min_size=1, max_size=3),
        passed=st.integers(0, 2),
    )
    def kill_at(self, point: str, drawn: list[tuple[str, int, int]], passed: int) -> None:
        """Before the batch is in the file it has not come; after that its matches are reported."""
        self.clock += passed
        documents = [self.document(*each) for each in drawn]
        rows = [] if point in BEFORE else self.expected(documents)
        before = self.known
        with ended_at(point), pytest.raises(Ended):
            self.publish_to_engine(documents)
        self.begin_after_a_kill()
        self.attach()
        reported = {match.id: match for match in self.reported}
        if point in BEFORE:
            assert reported.keys() <= before
            self.reported.clear()
            self.compare([])
            self.publish_batch(documents)
            return
        # Those of the call before it are not reported again: this one's transaction has them handed
        # over.
        assert len(self.reported) == len(reported) * (2 if point == "after delivery" else 1)
        self.reported[:] = reported.values()
        self.compare(rows)

    @precondition(lambda self: self.model.names and self.opened < MOST_OPENINGS)
    @rule(
        point=st.sampled_from(("before commit", "within commit", "after commit")),
        place=st.integers(0, MOST_QUERIES),
    )
    def kill_at_cancelling(self, point: str, place: int) -> None:
        name = self.model.names[place % len(self.model.names)]
        with ended_at(point), pytest.raises(Ended):
            self.engine.cancel(name)
        if point in AFTER:
            self.model.cancel(name)
        self.begin_after_a_kill()
        self.attach()
        self.reported.clear()
        self.compare([])

    def begin(self, *, said: bool) -> None:
        self.opened += 1
        lateness = self.lateness if said else None
        self.engine = xscl.Engine(self.path, lateness=lateness, **self.options)
        assert [each.name for each in self.engine.subscriptions] == self.model.names

    def begin_after_a_kill(self) -> None:
        before, self.path = self.path, self.path.with_name(f"state-{self.opened + 1}.duckdb")
        as_after_a_kill(before, self.path)
        self.engine.close()
        before.unlink()
        self.begin(said=False)

    def attach(self) -> None:
        """Subscribes the queries again, with their callbacks."""
        for name in self.model.names:
            text = xscl_text(self.asked[name])
            self.engine.subscribe(text, name=name, on_match=self.reported.append)
        assert [each.name for each in self.engine.subscriptions] == self.model.names

    # Query files.

    @precondition(lambda self: self.opened < MOST_OPENINGS)
    @rule(
        becomes=st.lists(
            st.sampled_from(["as before", "as before", "gone", "changed"]),
            min_size=MOST_QUERIES,
            max_size=MOST_QUERIES,
        ),
        drawn=st.lists(any_query, min_size=MOST_QUERIES, max_size=MOST_QUERIES),
        new=st.integers(0, 1),
        turned=st.booleans(),
    )
    def restart_with_another_query_file(
        self, becomes: list[str], drawn: list[Query], new: int, turned: bool
    ) -> None:
        """As the command line does it; those that start do so in the order of the file."""
        names = self.model.names
        what = dict(zip(names, becomes, strict=False))
        kept = [name for name in names if what[name] == "as before"]
        changed = [name for name in names if what[name] == "changed"]
        gone = [name for name in names if what[name] == "gone"]
        added = [f"q{self.names}"] if new and len(names) - len(gone) < MOST_QUERIES else []
        queries = {name: self.asked[name] for name in kept}
        queries |= dict(zip(changed + added, drawn, strict=False))
        if not queries:
            reject()  # A file without a query is refused.
        if any(xscl_text(queries[name]) == xscl_text(self.asked[name]) for name in changed):
            reject()
        order = list(reversed(queries) if turned else queries)
        path = self.path.with_name("queries.xscl")
        path.write_text(xscl_file({name: queries[name] for name in order}, {}))
        self.engine.close()
        self.begin(said=True)
        texts = read_texts([str(path)], ())
        plan = self.engine.plan((one.text, one.tables) for one in texts)
        if set(plan.continuing) - set(kept):
            # Another text may say the same.
            reject()
        found = (plan.continuing, plan.starting, plan.changed, plan.stopping)
        assert list(map(set, found)) == list(map(set, (kept, added, changed, gone)))
        event("query file: some go on" if kept else "query file: none goes on")
        for name in (*plan.changed, *plan.stopping):
            self.model.cancel(name)
        if added:
            self.names += 1
            self.queries.append(queries[added[0]])
        for name in order:
            if name not in kept:
                self.asked[name] = queries[name]
                self.model.subscribe(query_in_loops(name, queries[name], {}), history=False)
        assert take_queries(self.engine, texts, lambda line: None) == (0, [])
        assert [each.name for each in self.engine.subscriptions] == self.model.names
        for subscription in self.engine.subscriptions:
            subscription.on_match = self.reported.append
        self.compare([])


LiveRestartsTest = LiveRestarts.TestCase
LiveRestartsTest.settings = drawn(9, SETTINGS)
