"""Feeds read in one of several ways: the number of their items."""

import sys
from pathlib import Path


def by_feedparser(folder: Path) -> int:
    import feedparser

    return sum(len(feedparser.parse(file.read_bytes()).entries) for file in folder.iterdir())


def by_reader(folder: Path) -> int:
    """A database of entries, as a feed reader has it, in memory."""
    from reader import make_reader

    with make_reader(":memory:", feed_root=str(folder)) as reader:
        for file in folder.iterdir():
            reader.add_feed(file.name)
        reader.update_feeds()
        return reader.get_entry_counts().total


def by_xscl(folder: Path) -> int:
    """Its items, as documents, and no query."""
    from xscl.feeds import parse_feed

    return sum(
        len([item.document() for item in parse_feed(file.read_bytes(), file.name).items])
        for file in folder.iterdir()
    )


def by_lxml(folder: Path) -> int:
    """The floor: trees of the feeds that are XML."""
    from lxml import etree

    bodies = [file.read_bytes() for file in folder.iterdir()]
    trees = [etree.fromstring(body) for body in bodies if not body.lstrip().startswith(b"{")]
    return sum(1 for tree in trees for _ in tree.iter("{*}item", "{*}entry"))


WAYS = {"feedparser": by_feedparser, "reader": by_reader, "xscl": by_xscl, "lxml": by_lxml}

print(WAYS[sys.argv[1]](Path(sys.argv[2])))
