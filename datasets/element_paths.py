"""Workloads of stage 1 (sections 6.3 and 6.6.3): documents over a vocabulary like a DTD's, and
many path patterns over it, as YFilter's generators draw them.

The vocabulary is 30 element names, each of which allows two to four as its children.  Documents
have some 40 elements and are deep.  A pattern walks down the vocabulary from the root for 6 to 10
steps; each step is `*` instead of a name, and each axis `//` instead of `/` (then it skips a
level), with a probability of 0.2.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

__all__ = ["Vocabulary", "random_documents", "random_patterns", "vocabulary"]

NAMES = 30
ELEMENTS = 40
LEAST_DEPTH = 6
MOST_DEPTH = 10
WILDCARDS = 0.2
DESCENDANTS = 0.2


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The names that each element name allows as its children; the root's name."""

    root: str
    children: dict[str, tuple[str, ...]]


def vocabulary(names: int = NAMES, *, seed: int = 5) -> Vocabulary:
    """A vocabulary of so many names.

    >>> vocabulary().children["e0"]
    ('e8', 'e23', 'e11', 'e25')
    """
    random = Random(seed)
    all_of_them = [f"e{number}" for number in range(names)]
    children = {
        name: tuple(random.sample(all_of_them, random.randint(2, 4))) for name in all_of_them
    }
    return Vocabulary("e0", children)


def random_documents(
    words: Vocabulary, count: int, *, elements: int = ELEMENTS, seed: int = 6
) -> Iterator[str]:
    """Documents of at most so many elements, each with a path of the greatest depth.

    >>> next(random_documents(vocabulary(), 1))[:24]
    '<e0><e25><e23><e22><e22>'
    """
    random = Random(seed)
    for _ in range(count):
        yield _document(words, elements, random)


def random_patterns(words: Vocabulary, count: int, *, seed: int = 7) -> list[str]:
    """So many different path patterns, as XPath.

    >>> random_patterns(vocabulary(), 1)
    ['/e0/*/*//e22//*//e4/e3//e0']
    """
    random = Random(seed)
    patterns: dict[str, None] = {}
    while len(patterns) < count:
        patterns[_pattern(words, random)] = None
    return list(patterns)


def _pattern(words: Vocabulary, random: Random) -> str:
    name = words.root
    steps = []
    for step in range(random.randint(LEAST_DEPTH, MOST_DEPTH)):
        axis = "/"
        if step:
            name = random.choice(words.children[name])
            if random.random() < DESCENDANTS:
                axis = "//"
                name = random.choice(words.children[name])
        steps.append(axis + ("*" if random.random() < WILDCARDS else name))
    return "".join(steps)


def _document(words: Vocabulary, elements: int, random: Random) -> str:
    """The tree grows depth first: an element's first child is filled before its second."""
    left = elements - 1

    def element(name: str, depth: int) -> str:
        nonlocal left
        inside = ""
        if depth < MOST_DEPTH:
            for child in random.sample(words.children[name], random.randint(1, 2)):
                if left:
                    left -= 1
                    inside += element(child, depth + 1)
        return f"<{name}>{inside or f'value {random.randrange(10_000)}'}</{name}>"

    return element(words.root, 1)
