"""What the names in a condition or list read: the sides that there are, and the problems of names
that read nothing, or might read either (docs/semantics.md#names, #refused-event-queries)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal as OneOf

from xscl.event_queries.functions import OWN, nearest
from xscl.event_queries.schema import Schema
from xscl.language.problems import Problem, enumerated
from xscl.language.syntax import Duration, Named
from xscl.pattern_stage.values.terms import Age, Column

__all__ = ["Scope"]

_Side = OneOf[0, 1, 2]
_SIDES: dict[str, _Side] = {"$1": 0, "$2": 1, "$": 2}

_ALLOWED = {
    "SELECT": (),
    "FILTER": ("$1",),
    "NEXT": ("$1", "$2"),
    "FOLD": ("$1", "$2", "$"),
}
_MOST_LISTED = 20


class Scope:
    """The inputs of an operator; they know the names that were asked of them.

    `computed` are the names that a FOLD computes: `$` has these, too.
    """

    def __init__(
        self,
        operator: OneOf["SELECT", "FILTER", "NEXT", "FOLD"],
        *inputs: Schema,
        computed: tuple[str, ...] = (),
    ) -> None:
        self.operator = operator
        self.inputs = list(inputs)
        self.computed = computed

    def ask(self, names: Iterable[Named]) -> None:
        """Asks the inputs for names: first for all that say of whom they are."""
        every = list(names)
        for decorated in (True, False):
            for named in every:
                if (named.deco is not None) is decorated:
                    self._ask(named)

    def _ask(self, named: Named) -> None:
        side = self._side(named)
        if side is not None and not (side == 2 and named.name in self.computed):
            of = 0 if side == 2 else side
            self.inputs[of] = self.inputs[of].asked(named.name)

    def _side(self, named: Named) -> _Side | None:
        """The side that a name is of, if that can be said."""
        if named.deco is not None:
            return _SIDES[named.deco] if named.deco in _ALLOWED[self.operator] else None
        if len(self.inputs) == 1:
            return 0
        having: list[_Side] = [side for side in (0, 1) if self.inputs[side].has(named.name)]
        if not having:
            having = [side for side in (0, 1) if self.inputs[side].open]
        return having[0] if len(having) == 1 else None

    def column(self, named: Named) -> Column | Problem:
        """The attribute that a name reads; it was asked for before."""
        if (problem := self._decorated(named.deco, named.at)) is not None:
            return problem
        side = self._side(named)
        if side is None:
            return Problem(named.at, self._either(named.name))
        found = self.inputs[0 if side == 2 else side].find(named.name)
        if side == 2 and named.name in self.computed:
            found = named.name
        if found is None:
            return Problem(named.at, self._unknown(named, side))
        return Column(side, found)

    def age(self, duration: Duration) -> Age | Problem:
        """What a DUR is of."""
        if (problem := self._decorated(duration.deco, duration.at)) is not None:
            return problem
        if duration.deco is None:
            return Age(0 if len(self.inputs) == 1 else None)
        return Age(_SIDES[duration.deco])

    # Problems.

    def _decorated(self, deco: str | None, at: int) -> Problem | None:
        """The problem of a decorator where it is not allowed."""
        allowed = _ALLOWED[self.operator]
        if deco is None or deco in allowed:
            return None
        if self.operator == "SELECT":
            problem = f"`{deco}.` is not allowed in SELECT; write the name alone"
        elif self.operator == "FILTER":
            problem = f"FILTER has one input, so there is no `{deco}.`; write the name alone"
        else:
            problem = "`$.` is the last iteration of a FOLD; NEXT has `$1.` and `$2.` alone"
        return Problem(at, problem)

    def _either(self, name: str) -> str:
        """The problem of a name that is of both inputs, of neither or of who knows which."""
        left, right = self.inputs
        if not (left.open or right.open or left.has(name) or right.has(name)):
            return self._none(name, {"$1.": left.listed, "$2.": right.listed})
        forms = enumerated(f"`{deco}.{name}`" for deco in _ALLOWED[self.operator])
        both = left.has(name) and right.has(name)
        why = "both inputs have it" if both else "either input may have it"
        return f"`{name}` is ambiguous: {why}; write {forms}"

    def _unknown(self, named: Named, side: _Side) -> str:
        deco = "" if named.deco is None else f"{named.deco}."
        listed = self.inputs[0 if side == 2 else side].listed
        if side == 2:
            listed = tuple(dict.fromkeys((*listed, *self.computed)))
        return self._none(named.name, {deco: listed})

    def _none(self, name: str, listed: dict[str, tuple[str, ...]]) -> str:
        """The sentence about a name that nothing has; `listed` are the names by decorator."""
        if name.removesuffix("()") in OWN and name.endswith("()"):
            return (
                f"`{name}` is an attribute of documents, not of computed events, nor of streams "
                f"with DECLARE: select it first, as in `(SELECT *, {name} AS x FROM FILTER{{}}(S))`"
            )
        there = [deco + one for deco, some in listed.items() for one in some]
        near = nearest(name, [one for some in listed.values() for one in some])
        meant = ""
        if near is not None:
            decos = [deco for deco, some in listed.items() if near in some]
            meant = f" (did you mean `{decos[0]}{near}`?)"
        shown = [f"`{one}`" for one in there[:_MOST_LISTED]]
        if len(there) > _MOST_LISTED:
            shown.append(f"{len(there) - _MOST_LISTED} more")
        be = "is" if len(shown) == 1 else "are"
        every = f"there {be} {enumerated(shown, 'and')}" if shown else "there is none"
        return f"there is no attribute `{name}` here{meant}; {every}"
