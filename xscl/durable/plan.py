"""A changed query file: which queries continue, which start, which stop.

Queries are matched by name, and by their normal forms.  One that says something else than before
starts again.  Where a text is wrong, what is not there any more continues as it was: a slip of the
pen must not cost what a query has seen, nor what those behind it have.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from xscl.counts import counted
from xscl.queries.registration import Registration, requests
from xscl.queries.subscription import Subscription

__all__ = ["Plan", "Texts", "plan"]

Texts = Iterable[tuple[str, Mapping[str, object]]]
"""Query texts, each with the tables of those of its queries that have one, by name."""

_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Plan:
    """The names of queries, by what becomes of them."""

    continuing: list[str] = field(default_factory=list)
    starting: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    stopping: list[str] = field(default_factory=list)

    def sparing(self, wrong: Container[str]) -> Plan:
        """The plan where some queries, given by name, can be read but not subscribed: what they
        were continues, and so does what is not there any more."""
        spared = [name for name in self.changed if name in wrong]
        changed = [name for name in self.changed if name not in wrong]
        return Plan([*self.continuing, *spared, *self.stopping], self.starting, changed)

    def lines(self, *, looking_back: bool = False) -> Iterator[str]:
        """The plan in words, where new queries look back at what is retained or do not."""
        since = "new, over what is retained, too" if looking_back else "new, from now on"
        for names, what in (
            (self.continuing, "as before"),
            (self.starting, since),
            (self.changed, "changed, again from now on"),
            (self.stopping, "not there any more, stopped"),
        ):
            if names:
                shown = ", ".join(names[:_SHOWN]) + (", …" if len(names) > _SHOWN else "")
                yield f"{counted(len(names), 'query')} {what}: {shown}"


def plan(registration: Registration, kept: Mapping[str, Subscription], texts: Texts) -> Plan:
    """The plan for some texts, where the queries of before are those `kept`, by name."""
    found = Plan()
    asked: set[str] = set()
    wrong = False
    first = 1
    for text, tables in texts:
        queries, errors, first = registration.read(text, first)
        wrong |= bool(errors)
        for read in queries:
            for request in requests(read, tables):
                if request.name in asked:
                    # Of two with one name, the second is refused.
                    continue
                asked.add(request.name)
                if request.name not in kept:
                    found.starting.append(request.name)
                elif registration.same(request, kept[request.name]):
                    found.continuing.append(request.name)
                else:
                    found.changed.append(request.name)
    left = [name for name in kept if name not in asked]
    if wrong:
        # They may be in it: what is not closed takes the queries behind it along.
        same = {*found.continuing, *left}
        found.continuing[:] = [name for name in kept if name in same]
    else:
        found.stopping.extend(left)
    return found
