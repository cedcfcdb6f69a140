"""Some of very many queries: of those alike but for names and constants the first ones, the last of
which stands for all others.  What is known of forms, of templates, of streams is so known of all.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xscl.dissection.parts import Dissection

__all__ = ["Sample", "names_of", "number_of"]


class Sample(tuple[Dissection, ...]):
    """Queries to explain; `rest` has the names of those that one stands for, beside its own."""

    rest: dict[str, list[str]]

    def __new__(cls, groups: Iterable[tuple[Sequence[Dissection], Sequence[str]]]) -> Sample:
        """Of groups of queries that are alike: the first ones, and the names of the others."""
        every = [(some, names) for some, names in groups]
        made = super().__new__(cls, [one for some, _ in every for one in some])
        made.rest = {some[-1].query.name: [*names] for some, names in every}
        return made


def names_of(dissections: Sequence[Dissection], name: str) -> Sequence[str]:
    """The names of the queries that one of some queries stands for, its own first."""
    rest = dissections.rest.get(name, ()) if isinstance(dissections, Sample) else ()
    return [name, *rest] if rest else (name,)


def number_of(dissections: Sequence[Dissection]) -> int:
    """How many queries some queries stand for."""
    rest = dissections.rest.values() if isinstance(dissections, Sample) else ()
    return len(dissections) + sum(map(len, rest))
