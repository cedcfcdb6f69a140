"""The path table: its size is that of the documents' shapes, not that of the documents."""

from __future__ import annotations

import pytest

from tests.xpath_stage.drawing import Stage
from xscl.xpath_stage import Changes, Filter, Spine, Step, Witnesses, parse

LEAVES = ("title", "author", "link")


def leaf(*names: str, filters: tuple[Filter, ...] = ()) -> Spine:
    """The spine of item//…/name, the item and the leaf marked."""
    steps = (Step("descendant", "item"), *(Step("child", name, filters) for name in names))
    return Spine("S", steps, (0, len(steps) - 1), ())


def evaluate(stage: Stage, text: str) -> Witnesses:
    batch = Witnesses()
    stage.evaluator.evaluate("S", parse(text), 1, batch)
    return batch


def item(number: int) -> str:
    leaves = "".join(f"<{name}>{name} {number}</{name}>" for name in LEAVES)
    return f"<feed><item>{leaves * (number % 3 + 1)}</item></feed>"


def test_documents_of_one_shape_add_no_paths() -> None:
    stage = Stage()
    for name in LEAVES:
        stage.evaluator.register(leaf(name))
    evaluate(stage, item(0))
    assert stage.evaluator.take_changes().accepts != ()
    size = len(stage.evaluator.paths)
    for number in range(1, 200):
        assert len(evaluate(stage, item(number))) == 3 * (number % 3 + 1)
    assert len(stage.evaluator.paths) == size
    assert stage.evaluator.take_changes() == Changes((), (), (), ())


def test_filters_add_a_path_for_each_set_of_them_that_holds() -> None:
    stage = Stage()
    stage.evaluator.register(leaf("title", filters=(Filter("@k"),)))
    stage.evaluator.register(leaf("title", filters=(Filter("@m"),)))
    shapes = ["", "k='1'", "m='1'", "k='1' m='1'"]
    for shape in shapes:
        evaluate(stage, f"<item><title {shape}/></item>")
    size = len(stage.evaluator.paths)
    for number in range(100):
        evaluate(stage, f"<item><title {shapes[number % 4]}>{number}</title></item>")
    assert len(stage.evaluator.paths) == size


def test_labels_that_no_pattern_distinguishes_are_one_path() -> None:
    """Names that documents make up do not fill the table."""
    stage = Stage()
    stage.evaluator.register(leaf("title"))
    evaluate(stage, "<x><y/><item><z/><title/></item></x>")
    size = len(stage.evaluator.paths)
    for number in range(500):
        batch = evaluate(
            stage, f"<x{number}><y{number}/><item><z{number}/><title/></item></x{number}>"
        )
        assert len(batch) == 1
    assert len(stage.evaluator.paths) == size


def test_more_patterns_are_no_more_rows() -> None:
    """A thousand spines about one leaf: one row for it, whatever their number."""
    stage = Stage()
    for number in range(1000):
        steps = (Step("descendant", "item"), Step("child", "title"), Step("child", f"n{number}"))
        stage.evaluator.register(Spine("S", steps, (0, 2), ()))
        stage.evaluator.register(leaf("title"))
    batch = evaluate(stage, "<item><title><n7/><n7/></title></item>")
    assert len(batch) == 3


def test_deep_documents_of_one_name_stay_exact() -> None:
    """Every `a` above every other: quadratic answers, one row a node."""
    stage = Stage()
    depth = 60
    (found,) = stage.tuples(
        [Spine("S", (Step("descendant", "a"), Step("descendant", "a")), (0, 1), None)],
        "<a>" * depth + "</a>" * depth,
    )
    assert len(found) == len(set(found)) == depth * (depth - 1) // 2


@pytest.mark.parametrize("marks", [(), (0,), (1, 0, 2), (2, 1, 2), (0, 1)])
def test_marks_end_at_the_leaf(marks: tuple[int, ...]) -> None:
    steps = (Step("child", "a"), Step("child", "b"), Step("child", "c"))
    with pytest.raises(ValueError, match="do not end at step 2"):
        Spine("S", steps, marks, ())
