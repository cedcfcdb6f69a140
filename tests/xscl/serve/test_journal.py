"""The journal: whatever is dropped, a reader gets what is retained, in order, and the number of the
rest."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

import xscl
from tests.drawn import drawn
from xscl.durable.journal_file import JournalFile
from xscl.matches.match import Match, Retraction
from xscl.serve.found.journal import Entry, Journal, Place

QUERIES = ("a", "b")


def matches(count: int) -> list[Match]:
    with xscl.Engine() as engine:
        for query in QUERIES:
            engine.subscribe("S//x", name=query)
        found = [engine.publish("S", "<x/>", id=f"d{i}", timestamp=i) for i in range(count)]
    return [match for some in found for match in some]


FOUND = matches(60)


def fill(journal: Journal, sizes: list[int]) -> int:
    """Shows matches some at a time; returns how many."""
    start = 0
    for size in sizes:
        some = FOUND[start : start + size]
        journal.show(journal.note(some))
        start += len(some)
    return start


def read(journal: Journal, after: int, queries: frozenset[str], most: int) -> tuple[list[int], int]:
    """The numbers of all matches after one, and how many were lost, a page at a time."""
    numbers: list[int] = []
    lost = 0
    while after < journal.newest:
        page = journal.after(after, queries, most)
        assert page.after > after
        assert all(after < one.number <= page.after for one in page.entries)
        numbers += [one.number for one in page.entries]
        lost, after = lost + page.lost, page.after
    return numbers, lost


@given(
    st.lists(st.integers(0, 9), max_size=12),
    st.integers(1, 30),
    st.integers(0, 120),
    st.sets(st.sampled_from(QUERIES)).map(frozenset),
    st.integers(1, 7),
)
@drawn(60)
def test_what_is_retained_is_read_and_the_rest_is_counted(
    sizes: list[int], keep: int, after: int, queries: frozenset[str], most: int
) -> None:
    journal = Journal(keep, 2**20)
    count = fill(journal, sizes)
    after = min(after, count)
    numbers, lost = read(journal, after, queries, most)
    retained = range(max(after, count - keep) + 1, count + 1)
    assert numbers == [
        number for number in retained if not queries or FOUND[number - 1].query in queries
    ]
    assert lost == max(0, count - keep - after)
    for number in retained:
        entry = journal.find(FOUND[number - 1].id)
        assert entry is not None
        assert entry.number == number


def test_bytes_are_bounded() -> None:
    journal = Journal(1000, 4 * len(FOUND[0].id))
    count = fill(journal, [20, 20])
    numbers, lost = read(journal, 0, frozenset(), 100)
    assert len(numbers) + lost == count
    assert len(numbers) < 4


@pytest.mark.parametrize("memory", [1, 2**20])
def test_a_file_has_what_memory_has_not(tmp_path: Path, memory: int) -> None:
    """With each number of matches that is kept in memory, none or all, and after a new start."""
    for again in (False, True):
        with xscl.Engine(tmp_path / "s.duckdb") as engine:
            assert engine.keeper is not None
            journal = Journal(32, memory, JournalFile(engine.keeper, 32))
            if not again:
                life = journal.life
                for one in FOUND:
                    with engine.transaction():
                        entries = journal.note([one])
                    journal.show(entries)
            assert journal.life == life
            numbers, lost = read(journal, 10, frozenset(), 7)
            assert numbers == list(range(11 + lost, len(FOUND) + 1))
            # Somewhat more than is to be kept may be.
            assert 32 <= len(numbers) <= 36
            assert all(left + 1 == right for left, right in pairwise(numbers))
            of_a, _ = read(journal, 10, frozenset({"a"}), 7)
            assert of_a == [number for number in numbers if FOUND[number - 1].query == "a"]
            latest = journal.search(frozenset({"b"}), lambda entry: True, 12)
            assert [one.number for one in latest] == [n for n in numbers if n not in of_a][-12:]
            assert journal.find(FOUND[0].id) is None
            entry = journal.find(FOUND[-20].id)
            assert entry is not None
            assert entry.number == len(FOUND) - 19


@pytest.mark.parametrize("text", ["", "17", "-17", "a-", "a-b", "a-1-2", "a-²", "a-" + "9" * 30])
def test_what_is_no_place(text: str) -> None:
    with pytest.raises(ValueError, match="no id of an event"):
        Place.of(text)


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.integers(1, 40)), max_size=12),
    st.integers(1, 60),
    st.integers(1, 2**12),
    st.booleans(),
    st.sets(st.sampled_from("abcx"), min_size=1).map(frozenset),
    st.integers(0, 30),
    st.integers(1, 7),
)
@drawn(40)
def test_the_newest_of_some_queries_are_theirs(
    runs: list[tuple[str, int]],
    keep: int,
    memory: int,
    durable: bool,
    queries: frozenset[str],
    newest: int,
    most: int,
) -> None:
    """However many matches of others came since, from memory and from a file."""
    with TemporaryDirectory() as folder, xscl.Engine(Path(folder) / "s" if durable else None) as of:
        file = None if of.keeper is None else JournalFile(of.keeper, keep)
        journal = Journal(keep, memory, file)
        names: list[str] = []
        for query, many in runs:
            with of.transaction():
                entries = journal.note([Match(query, FOUND[0]._form, FOUND[0]._sides)] * many)
            journal.show(entries)
            names += [query] * many
        theirs = [
            number
            for number, name in enumerate(names, 1)
            if name in queries and number >= journal.oldest
        ]
        latest = journal.search(queries, lambda entry: True, newest)
        assert [one.number for one in latest] == theirs[len(theirs) - min(newest, len(theirs)) :]
        place = journal.before(queries, newest)
        numbers, lost = read(journal, place, queries, most)
        assert (numbers, lost) == (theirs[len(theirs) - min(newest, len(theirs)) :], 0)


def test_a_match_is_found_in_few_steps() -> None:
    """Of a query with one match, below those of another."""
    journal = Journal(100_000, 2**30)
    rare, common = FOUND[:2]
    journal.show(journal.note([rare]))
    for _ in range(100):
        journal.show(journal.note([common] * 500))
    entries = Looked(journal._entries)
    journal._entries = entries
    rares = frozenset({rare.query})
    assert [one.number for one in journal.search(rares, lambda entry: True, 10)] == [1]
    assert journal.before(rares, 10) == 0
    assert [one.number for one in journal.after(0, rares, 10).entries] == [1]
    assert entries.looks < 10


class Looked(dict[int, Entry]):
    """Entries that count how often one looks at them."""

    looks = 0

    def get(self, key: int, default: object = None) -> Entry | None:  # type: ignore[override]
        self.looks += 1
        return super().get(key)


@pytest.mark.parametrize("in_file", [False, True])
@drawn(30)
@given(
    steps=st.lists(st.lists(st.integers(0, 7), max_size=4), max_size=14),
    keep=st.integers(3, 30),
    queries=st.sets(st.sampled_from(QUERIES)).map(frozenset),
    most=st.integers(1, 6),
)
def test_lists_have_what_was_not_taken_back(
    in_file: bool, steps: list[list[int]], keep: int, queries: frozenset[str], most: int
) -> None:
    """A match is taken back and found again, over restarts of a state file, too."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "state.xscl"
        engine = xscl.Engine(path) if in_file else xscl.Engine()
        journal = _opened(engine, keep, in_file=in_file)
        standing: dict[str, int] = {}
        events: list[tuple[int, str, bool]] = []
        for step in steps:
            some: list[Match] = []
            for one in dict.fromkeys(step):
                match = FOUND[one]
                here = any(each.id == match.id and not each.retracts for each in some)
                if match.id in standing or here:
                    some.append(Retraction.of(match))
                    standing.pop(match.id, None)
                else:
                    some.append(match)
            with engine.transaction():
                entries = journal.note(some)
            journal.show(entries)
            for entry in entries:
                assert entry.retracts == entry.line.startswith(b'{"retract"')
                events.append((entry.number, entry.match, entry.retracts))
                if not entry.retracts:
                    standing[entry.match] = entry.number
            if in_file and len(step) == 4:
                engine.close()
                engine = xscl.Engine(path)
                journal = _opened(engine, keep, in_file=in_file)
        retained = {number for number, _, _ in events if number >= journal.oldest}
        numbers = sorted(one for one in standing.values() if one in retained)
        named = [one for one in numbers if not queries or _query(events, one) in queries]
        found = journal.search(queries, lambda entry: True, most)
        assert [one.number for one in found] == named[-most:]
        place = journal.before(queries, most)
        assert [one for one in named if one > place] == named[-most:]
        if not in_file or journal.is_at_hand(journal.oldest - 1):
            listed = journal.listed(place, queries, most).entries
            assert [one.number for one in listed] == named[-most:]
            page = journal.listed(journal.oldest - 1, frozenset(), 1_000)
            assert [one.number for one in page.entries] == numbers
        for match in FOUND[:8]:
            entry = journal.find(match.id)
            there = standing.get(match.id)
            expected = there if there in retained else None
            assert (None if entry is None else entry.number) == expected
        engine.close()


def _opened(engine: xscl.Engine, keep: int, *, in_file: bool) -> Journal:
    keeper = engine.keeper
    assert (keeper is not None) == in_file
    return Journal(keep, 2**20, None if keeper is None else JournalFile(keeper, keep))


def _query(events: list[tuple[int, str, bool]], number: int) -> str:
    (match,) = (match for one, match, _ in events if one == number)
    return next(one.query for one in FOUND if one.id == match)


def test_who_goes_on_learns_what_was_taken_back() -> None:
    journal = Journal(100, 2**20)
    one, other, third = FOUND[0], FOUND[2], FOUND[4]
    journal.show(journal.note([one, other]))
    place = journal.newest
    journal.show(journal.note([Retraction.of(one), third, Retraction.of(third)]))
    page = journal.listed(place, frozenset(), 100, goes_on=True)
    assert [entry.match for entry in page.entries] == [one.id]
    assert page.entries[0].retracts
    assert journal.listed(place, frozenset(), 100).entries == []
