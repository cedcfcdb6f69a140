"""What makes two items one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from xscl.feeds import Feed, Item

ITEM = Item(
    Feed("https://a.example/feed"),
    id="g",
    link="https://a.example/1",
    title="Salt",
    published=1.8e9,
    summary="short",
    content="long",
    categories=("sea",),
)


def test_the_identity_is_the_guid_else_the_link_else_a_hash() -> None:
    assert ITEM.identity == "g"
    assert replace(ITEM, id="").identity == "https://a.example/1"
    assert replace(ITEM, id="", link="http://www.a.example/1/").identity == "https://a.example/1"
    bare = replace(ITEM, id="", link="")
    assert len(bare.identity) == 32
    assert bare.identity != replace(bare, title="Smoke").identity
    assert bare.identity != replace(bare, published=None).identity


@pytest.mark.parametrize("change", [{"title": "S"}, {"summary": "s"}, {"categories": ("a", "b")}])
def test_another_content_is_an_edit(change: dict[str, object]) -> None:
    edited = replace(ITEM, **change)  # type: ignore[arg-type]
    assert edited.identity == ITEM.identity
    assert edited.content_hash != ITEM.content_hash


@pytest.mark.parametrize(
    "change",
    [
        {"updated": 1.9e9},
        {"published": None},
        {"link": "http://a.example/1/#top"},
        {"id": "h"},
    ],
)
def test_dates_and_forms_of_links_are_no_edit(change: dict[str, object]) -> None:
    assert replace(ITEM, **change).content_hash == ITEM.content_hash  # type: ignore[arg-type]


def test_an_item_under_a_new_guid_is_similar() -> None:
    again = replace(ITEM, id="h", title="SALT", link="http://a.example/1/", content="other")
    assert again.likeness == ITEM.likeness
    assert replace(ITEM, title="Smoke").likeness != ITEM.likeness
    assert replace(ITEM, title="").likeness is None
    assert replace(ITEM, link="").likeness is None


def test_with_updates_each_version_is_a_document() -> None:
    edited = replace(ITEM, title="Smoke")
    ids = {
        str(item.envelope("S", 0, updates=updates)["id"])
        for item in (ITEM, edited, replace(ITEM, updated=1.9e9))
        for updates in (True, False)
    }
    assert len(ids) == 3
    assert "https://a.example/feed#g" in ids
    assert all(each.startswith("https://a.example/feed#g") for each in ids)
