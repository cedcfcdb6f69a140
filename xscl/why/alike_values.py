"""The values on two sides that are most alike, and the tokens that they share
(docs/likeness.md#measures)."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from itertools import islice

from xscl.why.near_values import Group
from xscl.xpath_stage import alike_of
from xscl.xpath_stage.texts.likeness import WHOLE, likeness, tokens

__all__ = ["Closest", "closest", "shared_tokens"]

_MOST_PAIRS = 1_000
_SHOWN = 12
"""The maximal number of tokens that are shown of each kind."""


@dataclass(frozen=True, slots=True)
class Closest:
    """Two values, and their likeness in millionths by a measure."""

    measure: str
    left: str
    right: str
    degree: int

    @property
    def pair(self) -> tuple[str, str]:
        """Both values."""
        return self.left, self.right

    @property
    def number(self) -> str:
        """The likeness as it is shown."""
        return f"{self.degree / WHOLE:.3g}"

    @property
    def shared(self) -> frozenset[str]:
        """The tokens that both have."""
        return shared_tokens(self.measure, self.left, self.right)

    @property
    def words(self) -> str:
        """The likeness, the tokens that both have, and those that only one has."""
        one, other = (tokens(self.measure, value) for value in self.pair)
        parts = [
            ("both have", one & other),
            ("only left", one - other),
            ("only right", other - one),
        ]
        shown = "; ".join(f"{what}: {_shown(some)}" for what, some in parts if some)
        return f"likeness {self.number}; {shown}"


def closest(operator: str, groups: Iterable[Group]) -> Closest | None:
    """The two values of some groups that are most alike; None where none are, or it is another
    operator."""
    alike = alike_of(operator)
    if alike is None:
        return None
    pairs = ((a, b) for some in groups for a in some[0] for b in some[1] if a is not None and b)
    measure, found = alike.measure, None
    for a, b in islice(pairs, _MOST_PAIRS):
        degree = likeness(measure, tokens(measure, a), tokens(measure, b))
        if degree > (0 if found is None else found.degree):
            found = Closest(measure, a, b, degree)
    return found


def shared_tokens(measure: str, one: str, other: str) -> frozenset[str]:
    """The tokens that two values have."""
    return tokens(measure, one) & tokens(measure, other)


def _shown(some: Collection[str]) -> str:
    first = sorted(some)
    return ", ".join(first[:_SHOWN]) + (", …" if len(first) > _SHOWN else "")
