"""What is new, edited, or only churn, by what was seen before."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from xscl.polling.news import Seen, SeenItem


def item(identity: str, content: str = "", likeness: str | None = None) -> SeenItem:
    return SeenItem(identity, content, likeness)


def reported(seen: Seen, *items: SeenItem) -> tuple[list[str], list[str], list[str]]:
    news = seen.take(items)
    return (
        [item.identity for item in news.new],
        [item.identity for item in news.edited],
        [item.identity for item in news.churned],
    )


def test_an_item_is_new_once_and_edited_when_its_content_is_another() -> None:
    seen = Seen()
    assert reported(seen, item("b", "1"), item("a", "1")) == (["b", "a"], [], [])
    assert reported(seen, item("b", "1"), item("a", "2")) == ([], ["a"], [])
    assert reported(seen, item("a", "2")) == ([], [], [])


def test_a_new_guid_for_what_was_published_is_churn() -> None:
    seen = Seen([item("a", "1", "link and title")])
    assert reported(seen, item("z", "1", "link and title")) == ([], [], ["z"])
    assert reported(seen, item("z", "2", "link and title")) == ([], ["z"], [])


def test_two_items_of_one_likeness_next_to_each_other_are_two() -> None:
    seen = Seen()
    assert reported(seen, item("a", likeness="same"), item("b", likeness="same"))[0] == ["a", "b"]
    shown = [item(name, likeness="same") for name in "abc"]
    assert reported(seen, *shown)[0] == ["c"], "the earlier ones are still shown"


def test_of_two_items_with_one_identity_the_first_counts() -> None:
    seen = Seen()
    assert reported(seen, item("a", "new"), item("a", "old"))[0] == ["a"]
    assert reported(seen, item("a", "new"), item("a", "old")) == ([], [], [])


@given(
    st.lists(st.lists(st.integers(0, 60), unique=True, max_size=30), max_size=20),
    st.integers(0, 20),
)
def test_what_a_feed_shows_is_never_dropped_and_little_else_kept(
    readings: Sequence[Sequence[int]], remembered: int
) -> None:
    seen = Seen(remembered=remembered)
    kept: dict[str, None] = {}
    for reading in readings:
        shown = [item(str(number)) for number in reading]
        news = seen.take(shown)
        assert [one.identity for one in news.new] == [
            str(number) for number in reading if str(number) not in kept
        ]
        for one in reversed(shown):
            kept.pop(one.identity, None)
            kept[one.identity] = None
        for identity in news.forgotten:
            assert identity == next(iter(kept)), "the one that was shown longest ago"
            del kept[identity]
        assert {one.identity for one in shown} <= kept.keys()
        assert len(kept) == len(seen) <= len(shown) + remembered


def test_a_new_guid_with_another_content_is_an_edit() -> None:
    seen = Seen([item("a", "1", "link and title")])
    news = seen.take([item("z", "2", "link and title")])
    assert [one.identity for one in news.edited] == ["z"]
    assert news.renamed == {"a": "z"}


def test_what_an_item_was_called_before_is_nobodys() -> None:
    """As after a restart, which knows the items as they are."""
    for restart in (False, True):
        seen = Seen()
        assert reported(seen, item("a", "1", "Old"))[0] == ["a"]
        assert reported(seen, item("a", "2", "New"))[1] == ["a"]
        if restart:
            seen = Seen([*seen])
        assert reported(seen, item("b", "1", "Old")) == (["b"], [], [])
    many = Seen(remembered=0)
    for number in range(100):
        many.take([item("live", str(number), f"title {number}")])
    assert len(many._alike) == 1
