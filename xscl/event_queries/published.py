"""The schemas of the streams that queries publish, query by query (patterns-cel.md, section 2)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from xscl.event_queries.steps import Step
from xscl.language.syntax import Element, JSONObject, Query
from xscl.language.walk import with_sub_queries

__all__ = ["Published"]

_Names = tuple[str, ...] | None


@dataclass(slots=True)
class Published:
    """The streams that the queries so far publish: closed ones, or None."""

    streams: dict[str, _Names] = field(default_factory=dict)

    def __call__(self, stream: str) -> _Names:
        """The names that a later query may rely on; None where the stream is open."""
        return self.streams.get(stream)

    def add(self, query: Query, step: Step | None) -> None:
        """Adds what a query and its sub-queries publish; `step` is of an event query."""
        known = {} if step is None else {id(one.part): one for one in _steps(step)}
        if step is not None:
            known[id(query)] = step
        for one in with_sub_queries(query):
            if one.publish is not None:
                of = known.get(id(one))
                constructed = isinstance(one.select, Element | JSONObject)
                closed = of is not None and not of.schema.open and not constructed
                names = of.schema.listed if of is not None and closed else None
                before = self.streams.setdefault(one.publish.text, names)
                if before is None or names is None or {*before} != {*names}:
                    self.streams[one.publish.text] = None


def _steps(step: Step) -> Iterator[Step]:
    left = [step]
    while left:
        top = left.pop()
        yield top
        left += top.inputs
