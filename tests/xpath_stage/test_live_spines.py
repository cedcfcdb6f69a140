"""Spines that come and go while documents flow: what is found is what would have been found."""

from __future__ import annotations

import re
from collections import Counter
from random import Random

import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from lxml import etree

from tests.drawn import drawn
from tests.xpath_stage.drawing import Oracle, Stage
from xscl.xpath_stage import Accept, Changes, ExcessiveDocument, Filter, Spine, Step, Witnesses

NOTHING = Changes((), (), (), ())
EMPTY = (0, 1, 0, 0)
"""The sizes with no spine registered: the path at which nothing can match is always there."""

LOWER = ("lower-case",)
MOVES = ["register", "register", "release", "evaluate", "evaluate", "take", "look"]


def spine(path: str, *, value: tuple[str, ...] | None = (), stream: str = "S") -> Spine:
    """The spine of a path such as `//a/b[@k]`, all of its steps marked."""
    steps = tuple(
        Step(
            "descendant" if axis == "//" else "child",
            test,
            (Filter(condition),) if condition else (),
        )
        for axis, test, condition in re.findall(r"(//?)([^/\[]+)(?:\[(.+?)\])?", path)
    )
    return Spine(stream, steps, tuple(range(len(steps))), value)


def sizes(stage: Stage) -> tuple[int, int, int, int]:
    """How many states, paths, leaf paths and spines' accepts there are."""
    stage.catch_up()
    table = stage.evaluator.paths
    accepts = sum(map(len, stage.accepts.values()))
    return len(stage.evaluator.automaton), len(table), len(table.leaf_paths), accepts


def check(churn: Churn) -> int:
    """Compares the spines that are left on all documents since they came; returns how many tuples
    there were."""
    stage, registered = churn.stage, churn.registered
    stage.catch_up()
    accepted: dict[int, set[int]] = {}
    for leaf, number in stage.accepts:
        accepted.setdefault(leaf, set()).add(number)
    for leaf, numbers in accepted.items():
        assert set(stage.evaluator.spines_of(leaf)) == numbers <= registered.keys()
    for leaf in stage.strings_kept():
        assert any(registered[number].value is not None for number in accepted[leaf])
    total = 0
    for document, text in churn.texts.items():
        oracle = Oracle(text)
        for number, one in registered.items():
            found = stage.found(number, document)
            if found is None:
                continue
            expected = oracle.tuples(one)
            assert Counter(marked for marked, _ in found) == Counter(expected.keys())
            if one.value is not None:
                assert dict(found) == expected
            total += len(found)
    return total


class Churn:
    """Moves drawn one after the other: spines of a pool are registered and released, documents
    evaluated, changes taken.

    The spines are of one to three steps of a small vocabulary, so that several meet at one path.
    """

    def __init__(self, random: Random) -> None:
        self.stage = Stage()
        self.retained: list[int] = []
        self.spines: dict[int, Spine] = {}
        self.texts: dict[int, str] = {}
        self._random = random
        self._pool = [self.spine() for _ in range(random.choice([2, 4, 8]))]
        self.documents = [self._element(0) for _ in range(random.choice([1, 2, 4]))]

    @property
    def registered(self) -> dict[int, Spine]:
        """The spines that are left."""
        return {number: self.spines[number] for number in self.retained}

    def register(self, one: Spine) -> None:
        number = self.stage.register(one)
        assert self.spines.setdefault(number, one) == one
        self.retained.append(number)

    def evaluate(self, text: str) -> None:
        self.texts[self.stage.evaluate(text)] = text

    def run(self) -> None:
        """Some moves."""
        random, lasting = self._random, len(self.retained)
        for move in random.choices(MOVES, k=random.choice([5, 20, 40])):
            if move == "register":
                self.register(random.choice(self._pool))
            elif move == "release" and self.retained[lasting:]:
                number = self.retained.pop(random.randrange(lasting, len(self.retained)))
                self.stage.evaluator.release(number)
            elif move == "evaluate":
                self.evaluate(random.choice(self.documents))
            elif move == "take":
                self.stage.catch_up()
            elif move == "look":
                assert len(self.stage.evaluator.paths) > 0

    def end(self, lasting: int = 0) -> None:
        """Releases all spines but the first ones."""
        for number in self.retained[lasting:]:
            self.stage.evaluator.release(number)
        del self.retained[lasting:]

    def spine(self) -> Spine:
        random = self._random
        length = random.choice([1, 2, 2, 3])
        steps = [self._step(last=index == length - 1) for index in range(length)]
        marks = sorted([*random.choices(range(length), k=random.choice([0, 0, 1])), length - 1])
        value = random.choice([None, (), (), LOWER])
        return Spine("S", tuple(steps), tuple(marks), value, random.random() < 0.7)

    def _step(self, *, last: bool) -> Step:
        random = self._random
        attribute = last and random.random() < 0.25
        test = random.choice(["@k", "@m", "@*"] if attribute else ["a", "b", "c", "*"])
        conditions = [". = '1'"] if attribute else ["@k", "b", "not(a)", "@k = '1'"]
        filters = (Filter(random.choice(conditions)),) if random.random() < 0.25 else ()
        return Step(random.choice(["child", "descendant"]), test, filters)

    def _element(self, depth: int) -> str:
        random = self._random
        name = random.choice("aabbc")
        keys = [f' {key}="{random.choice("12")}"' for key in "km" if random.random() < 0.4]
        children = [
            self._element(depth + 1) for _ in range(random.randrange(3) if depth < 5 else 0)
        ]
        content = "".join(children) or random.choice(["1", "X", ""])
        return f"<{name}{''.join(keys)}>{content}</{name}>"


@given(st.builds(Random, st.integers(0, 2**64)))
@drawn(200)
def test_any_sequence_finds_what_the_spines_that_are_left_find(random: Random) -> None:
    churn = Churn(random)
    churn.run()
    event("witnesses" if check(churn) else "none")
    churn.end()
    assert sizes(churn.stage) == EMPTY
    assert len(churn.stage.evaluator.paths.choices) == 0
    assert churn.stage.evaluator.take_changes() == NOTHING


@given(st.builds(Random, st.integers(0, 2**64)))
@drawn(200)
def test_what_was_added_leaves_nothing_behind(random: Random) -> None:
    """Documents of the shapes seen before, and other spines for a while: all is as it was."""
    churn = Churn(random)
    lasting = random.choice([1, 2, 4])
    for _ in range(lasting):
        churn.register(churn.spine())
    for text in churn.documents:
        churn.evaluate(text)
    before = sizes(churn.stage)
    choices = len(churn.stage.evaluator.paths.choices)
    churn.run()
    churn.end(lasting)
    assert sizes(churn.stage) == before
    for text in churn.documents:
        churn.evaluate(text)
    event("witnesses" if check(churn) else "none")
    assert sizes(churn.stage) == before
    assert len(churn.stage.evaluator.paths.choices) == choices


def test_a_spine_is_registered_as_often_as_asked_for() -> None:
    stage = Stage()
    number = stage.register(spine("//a"))
    assert stage.register(spine("//a")) == number
    stage.evaluator.release(number)
    document = stage.evaluate("<a/>")
    stage.catch_up()
    assert stage.found(number, document) == [(((0, None),), "")]
    stage.evaluator.release(number)
    assert len(stage.evaluator.automaton) == 0
    with pytest.raises(KeyError):
        stage.evaluator.release(number)
    assert stage.register(spine("//a")) > number


def test_what_was_reported_to_no_query_is_not_reported() -> None:
    stage = Stage()
    kept = stage.register(spine("//a"))
    stage.evaluate("<a><b/></a>")
    stage.catch_up()
    stage.evaluator.release(stage.register(spine("//a/b")))
    assert stage.evaluator.take_changes() == NOTHING
    other = stage.register(spine("//b"))
    assert len(stage.evaluator.paths.leaf_paths) == 2
    stage.evaluator.release(other)
    assert stage.evaluator.take_changes() == NOTHING
    stage.evaluator.release(kept)
    assert stage.evaluator.take_changes() == Changes((), (kept,), ((0, None),), ())


def test_a_new_spine_finds_the_paths_that_are_there() -> None:
    """Nothing is rebuilt: the paths of old documents grow by what new spines say of them."""
    stage = Stage()
    stage.register(spine("//item/title"))
    stage.register(spine("//item/author[@k]"))
    text = "<rss><channel><item><title>x</title><author k='1'/></item></channel></rss>"
    stage.evaluate(text)
    accepts = stage.evaluator.take_changes().accepts
    before = sizes(stage)
    for path in ("/rss/channel/item/title", "//title", "/*/*//*", "//channel[item]/item/author"):
        stage.register(spine(path))
    stage.evaluate(text)
    changes = stage.evaluator.take_changes()
    assert {accept.path for accept in changes.accepts} >= {accept.path for accept in accepts}
    assert changes.moved == ()
    # An item below a channel with items is another path than one below any channel.
    assert sizes(stage)[1] > before[1]
    known = {accept.spine for accept in accepts}
    assert len([accept for accept in changes.accepts if accept.spine in known]) == 2


def test_rows_continue_under_the_path_that_is_left() -> None:
    stage = Stage()
    kept = stage.register(spine("//a"))
    first = stage.evaluate("<r><a>x</a></r>")
    (before,) = stage.catch_up().accepts
    filtered = stage.register(spine("//a[@k]"))
    second = stage.evaluate("<r><a k='1'>y</a></r>")
    changes = stage.catch_up()
    (reported,) = {accept.path for accept in changes.accepts}
    assert reported != before.path
    assert set(stage.evaluator.spines_of(reported)) == {kept, filtered}
    stage.evaluator.release(filtered)
    assert stage.catch_up() == Changes((), (filtered,), ((reported, before.path),), ())
    assert stage.evaluator.spines_of(reported) == ()
    assert stage.evaluator.spines_of(before.path) == (kept,)
    for document, value in ((first, "x"), (second, "y")):
        assert stage.found(kept, document) == [(((1, None),), value)]


def test_a_string_that_nobody_asks_for_is_dropped() -> None:
    stage = Stage()
    node = stage.register(spine("//a", value=None))
    value = stage.register(spine("/a"))
    stage.evaluate("<a>x</a>")
    (leaf,) = {accept.path for accept in stage.catch_up().accepts}
    stage.evaluator.release(value)
    assert stage.catch_up() == Changes((), (value,), (), (leaf,))
    document = stage.evaluate("<a>y</a>")
    assert stage.found(node, document) == [(((0, None),), None)]
    again = stage.register(spine("/a"))
    assert stage.catch_up().accepts == (Accept(leaf, again, (0,)),)
    document = stage.evaluate("<a>z</a>")
    assert stage.found(again, document) == [(((0, None),), "z")]
    stage.evaluator.release(again)
    stage.evaluate("<a>z</a>")
    last = stage.register(spine("/a"))
    document = stage.evaluate("<a>z</a>")
    assert stage.catch_up() == Changes((Accept(leaf, last, (0,)),), (again,), (), ())
    assert stage.found(last, document) == [(((0, None),), "z")]


def test_rows_are_dropped_with_the_leaf_path_that_they_moved_to() -> None:
    stage = Stage()
    stage.register(spine("//a", value=LOWER))
    filtered = stage.register(spine("//a[@k]"))
    stage.evaluate("<r><a/><a k='1'/></r>")
    (leaf,) = {accept.path for accept in stage.catch_up().accepts if accept.spine == filtered}
    for_a_while = stage.register(spine("//a"))
    assert len(stage.evaluator.paths) == 5
    stage.evaluator.release(filtered)
    assert len(stage.evaluator.paths) == 4
    stage.evaluator.release(for_a_while)
    changes = stage.catch_up()
    assert changes.gone == (filtered,)
    assert dict(changes.moved)[leaf] is None


def test_one_row_for_each_list_of_functions() -> None:
    """Where all values are under functions, who needs no value has a row of its own."""
    stage = Stage()
    asked = [spine("//a", value=value) for value in (None, (), LOWER)]
    for chosen, rows in (((0, 1), 1), ((0, 2), 2), ((0, 1, 2), 2), ((0,), 1), ((2,), 1)):
        numbers = [stage.register(asked[index]) for index in chosen]
        stage.evaluate("<a>X</a>")
        assert sizes(stage)[2] == rows
        for number in numbers:
            stage.evaluator.release(number)
    assert sizes(stage) == EMPTY


def test_streams_go_with_their_last_spine() -> None:
    stage = Stage()
    kept = stage.register(spine("//a"))
    other = stage.register(spine("//a", stream="R"))
    stage.evaluate("<a/>")
    stage.evaluator.evaluate("R", etree.fromstring("<a/>"), 9, Witnesses())
    stage.catch_up()
    stage.evaluator.release(kept)
    assert stage.evaluator.automaton.root("S") is None
    assert stage.evaluator.automaton.root("R") is not None
    stage.evaluator.release(other)
    assert sizes(stage) == EMPTY


def test_a_spine_with_too_many_ways_comes_late() -> None:
    """Its documents are refused from then on, and only as long as it is there."""
    stage = Stage()
    kept = stage.register(spine("//a"))
    deep, flat = "<a>" * 60 + "</a>" * 60, "<a><a/></a>"
    first = stage.evaluate(deep)
    before = sizes(stage)
    numbers = [stage.register(spine(f"//a//a//a//a{end}")) for end in ("", "[.//a or 1]")]
    for _ in range(2):
        with pytest.raises(ExcessiveDocument, match="more than 10,000 ways"):
            stage.evaluate(deep)
    document = stage.evaluate(flat)
    for number in numbers:
        stage.catch_up()
        assert len(stage.found(kept, document) or []) == 2
        assert len(stage.found(kept, first) or []) == 60
        stage.evaluator.release(number)
    again = stage.evaluate(deep)
    assert sizes(stage) == before
    assert len(stage.found(kept, again) or []) == 60


def test_made_up_names_are_dropped_when_spines_come() -> None:
    stage = Stage()
    kept = stage.register(spine("//a//b"))
    names = "".join(f"<n{number}/>" for number in range(1_500))
    text = f"<a>{names}<b/></a>"
    stage.evaluate(text)
    before = sizes(stage)
    late = stage.register(spine("//a/n7"))
    document = stage.evaluate(text)
    stage.catch_up()
    assert len(stage.found(late, document) or []) == 1
    assert len(stage.found(kept, document) or []) == 1
    stage.evaluator.release(late)
    assert sizes(stage) == before
