"""The in-process evaluator: a conjunctive query over relations that are plain lists and tries.

It reads the same term as the SQL does (law 6), and takes the same care: atoms are joined one after
the other, only variables that something later asks for are kept, duplicates go at once, and what
is left must begin a row of R_T, by whose trie the atoms are chosen.  The atoms `pair` come first
and are the *core*: what they leave depends on a pair of documents by its signature alone (law 7).
The *rest* is completed for each pair: leaves that no value join reaches, and comparisons.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from join_stage.plan import Plan
from join_stage.registry import Registry
from join_stage.row_trie import Trie
from join_stage.term import Atom, Comparison

__all__ = [
    "Binding",
    "Program",
    "Relation",
    "Relations",
    "StringValue",
    "program_of",
    "programs_of",
]

Binding = tuple[object, ...]
"""The values of some variables."""

Relation = Mapping[int, Sequence[Binding]]
"""The tuples of a relation by what R_T's column asks for: a value join's or a spine's number."""

StringValue = tuple[str, float | None]
"""A string, and its double where it is castable."""

Pick = Callable[[Binding], Binding]

_PAIR = "pair"
"""The variable that tells pairs of documents apart."""

_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class Relations:
    """What the body of a query reads for one pair of documents, or one document.

    `pair` is by value join: what tells the pair of documents from others that are evaluated with
    it, the marked nodes of the left leaf and of the right one, and their string.  `left` and
    `right` are the leaves of either document by spine: their marked nodes, then their string.
    `string` gives what a string's number stands for, None of a value that equals nothing.
    """

    def __init__(
        self,
        *,
        pair: Relation | None = None,
        left: Relation | None = None,
        right: Relation | None = None,
        string: Callable[[object], StringValue | None] | None = None,
    ) -> None:
        self._relations = {"pair": pair or {}, "left": left or {}, "right": right or {}}
        self._string = string
        self._indexes: dict[tuple[int, _Join], dict[Binding, list[Binding]]] = {}

    def __getitem__(self, name: str) -> Relation:
        return self._relations[name]

    def index(self, key: int, join: _Join) -> dict[Binding, list[Binding]]:
        """The tuples that a key selects, as a join asks for them; made once for all plans."""
        found = self._indexes.get((key, join))
        if found is None:
            found = self._indexes[key, join] = {}
            here, new = _picking(join.here), _picking(join.new)
            for row in self._relations[join.relation][key]:
                if all(row[a] == row[b] for a, b in join.equal):
                    found.setdefault(here(row), []).append(new(row))
        return found

    def string(self, number: object) -> StringValue | None:
        """What the number of a string stands for."""
        assert self._string is not None
        return self._string(number)


@dataclass(frozen=True, slots=True)
class _Join:
    """An atom's tuples as they are joined: the positions of the variables known before, of those
    that are new, and of those that must agree as they are one variable."""

    relation: str
    here: tuple[int, ...]
    new: tuple[int, ...]
    equal: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class _Atom:
    """A step: an atom joined to what is bound, by a trie level of R_T."""

    join: _Join
    there: Pick
    kept: Pick

    def extend(self, bindings: Iterable[Binding], key: int, relations: Relations) -> set[Binding]:
        index = relations.index(key, self.join)
        there, kept = self.there, self.kept
        return {
            (*kept(binding), *new) for binding in bindings for new in index.get(there(binding), ())
        }


@dataclass(frozen=True, slots=True)
class _Test:
    """A step: a comparison of strings, by number or as the language orders them."""

    operator: str
    left: int
    right: int
    by_value: bool

    def holds(self, binding: Binding, relations: Relations) -> bool:
        left, right = binding[self.left], binding[self.right]
        compare = _COMPARE[self.operator]
        if left is None or right is None:
            return False
        if not self.by_value:
            return compare(left, right)
        one, other = relations.string(left), relations.string(right)
        if one is None or other is None:
            return False
        (text, double), (other_text, other_double) = one, other
        if double is None or other_double is None:
            return compare(text, other_text)
        # NaN is never in order, and Python's comparisons agree.
        return compare(double, other_double)


_Step = _Atom | _Test


@dataclass(frozen=True, slots=True)
class Program:
    """The conjunctive query of a plan in steps.

    The core leaves what tells pairs of documents apart, then its variables, of which `sides` says
    whose nodes they are, None of a string, whose value is what the relation `pair` has there.
    `head` picks the plan's output nodes and strings from what the rest leaves.
    """

    plan: Plan
    core: tuple[_Step, ...]
    rest: tuple[_Step, ...]
    sides: tuple[int | None, ...]
    head: Pick

    def begin(self, rows: Trie, relations: Relations) -> Iterator[tuple[Trie, set[Binding]]]:
        """What the core leaves: where it has come to in R_T, and the bindings."""
        return _walk(self.core, rows, {()}, relations)

    def complete(
        self, at: Trie, bindings: Iterable[Binding], relations: Relations
    ) -> Iterator[tuple[Trie, set[Binding]]]:
        """The rows of R_T that hold, and the heads that they hold for."""
        for rows, found in _walk(self.rest, at, set(bindings), relations):
            yield rows, {self.head(binding) for binding in found}


def _walk(
    steps: Sequence[_Step], at: Trie, bindings: set[Binding], relations: Relations, begin: int = 0
) -> Iterator[tuple[Trie, set[Binding]]]:
    """From a place in the trie with some bindings, all that the steps lead to."""
    for index in range(begin, len(steps)):
        step = steps[index]
        if isinstance(step, _Atom):
            for key in at.keys() & relations[step.join.relation].keys():
                if extended := step.extend(bindings, key, relations):
                    yield from _walk(steps, at[key], extended, relations, index + 1)
            return
        bindings = {binding for binding in bindings if step.holds(binding, relations)}
        if not bindings:
            return
    yield at, bindings


def programs_of(registry: Registry, joins: Iterable[int]) -> list[Program]:
    """The programs of the plans some row of which may hold where these value joins do."""
    plans = registry.plans_with(set(joins), set())
    return [program_of(plan) for plan in plans if plan.joins]


@lru_cache(maxsize=100_000)
def program_of(plan: Plan) -> Program:
    """The program of a plan, which must be one of a single side or have a value join."""
    return _Compiler(plan).program()


class _Compiler:
    """A plan's term being turned into steps."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.term = plan.query(plan.outputs, plan.valued)
        self.wanted = [f"n{node}" for node in plan.outputs]
        self.wanted += [plan.string(node) for node in plan.valued]
        # A value that is compared by order is looked up by its number, not joined.
        self.atoms = [atom for atom in self.term.body if atom.relation != "strings"]
        self.pending = [_by_number(comparison) for comparison in self.term.comparisons]
        self.bound: list[str] = []

    def program(self) -> Program:
        core = [self._atom(index) for index in range(len(self.plan.joins))]
        self.bound = [variable for variable in self.bound if variable != _PAIR]
        side_of = {f"n{node.number}": node.side for node in self.plan.graph.nodes}
        sides = tuple(side_of.get(variable) for variable in self.bound)
        rest: list[_Step] = self._tests()
        for index in range(len(self.plan.joins), len(self.atoms)):
            rest += [self._atom(index), *self._tests()]
        head = _picking([self.bound.index(variable) for variable in self.wanted])
        return Program(self.plan, tuple(core), tuple(rest), sides, head)

    def _atom(self, index: int) -> _Atom:
        atom = self.atoms[index]
        later = {v for other in self.atoms[index + 1 :] for v in _columns(other)}
        later.update(self.wanted, *(c.variables for c in self.pending))
        if atom.relation == "pair":
            later.add(_PAIR)
        places: dict[str, int] = {}
        equal: list[tuple[int, int]] = []
        for place, variable in enumerate(_columns(atom)):
            if places.setdefault(variable, place) != place:
                equal.append((places[variable], place))
        shared = [variable for variable in places if variable in self.bound]
        new = [v for v in places if v in later and v not in self.bound]
        # What tells pairs apart is new in the first atom, and stays in front.
        kept = [variable for variable in self.bound if variable in later]
        step = _Atom(
            _Join(
                _relation(atom),
                tuple(places[variable] for variable in shared),
                tuple(places[variable] for variable in new),
                tuple(equal),
            ),
            _picking([self.bound.index(variable) for variable in shared]),
            _picking([self.bound.index(variable) for variable in kept]),
        )
        self.bound = [*kept, *new]
        return step

    def _tests(self) -> list[_Step]:
        """The comparisons that can be made now."""
        now = [c for c in self.pending if c.variables <= set(self.bound)]
        self.pending = [c for c in self.pending if c not in now]
        return [
            _Test(
                comparison.operator,
                self.bound.index(comparison.left[0]),
                self.bound.index(comparison.right[0]),
                by_value=comparison.operator not in ("=", "!="),
            )
            for comparison in now
        ]


def _by_number(comparison: Comparison) -> Comparison:
    """A comparison of the strings' numbers alone: `x_text`, `x_double` are looked up by `x`."""
    left, right = (side[0].removesuffix("_text") for side in (comparison.left, comparison.right))
    return Comparison(comparison.operator, (left,), (right,))


def _columns(atom: Atom) -> list[str]:
    """The variables of an atom's columns beside those that select its tuples."""
    selecting = {"j", "spine", "doc", "dl", "dr", "dt"}
    columns = [variable for column, variable in atom.arguments if column not in selecting]
    return [_PAIR, *columns] if atom.relation == "pair" else columns


def _relation(atom: Atom) -> str:
    if atom.relation == "pair":
        return "pair"
    return "right" if dict(atom.arguments)["doc"] == "dr" else "left"


def _picking(places: Sequence[int]) -> Pick:
    """A function that picks some places of a binding."""
    if not places:
        return lambda binding: ()
    if len(places) == 1:
        (place,) = places
        return lambda binding: (binding[place],)
    return operator.itemgetter(*places)
