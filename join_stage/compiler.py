"""A plan's conjunctive query as a program: the term compiled for the in-process evaluator
(docs/laws.md#one-conjunctive-query).

Atoms are joined in the order of the body.  Each keeps only the variables that the head, a later
atom or an open comparison needs; a comparison is made as soon as both sides are bound, a likeness
at last, as its threshold is one of the last columns of R_T.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from xscl.join_stage.evaluator import (
    AtomStep,
    JoinStep,
    LikenessStep,
    Program,
    Step,
    TestStep,
    picking,
)
from xscl.join_stage.plan import ALIKE, Plan
from xscl.join_stage.registry import Registry
from xscl.join_stage.term import Atom, Comparison

__all__ = ["program_of", "programs_of"]

_PAIR = "pair"
"""The variable that distinguishes pairs of documents."""


def programs_of(registry: Registry, joins: Iterable[int]) -> list[Program]:
    """The programs of the plans of which some row may hold, given these value joins."""
    plans = registry.plans_with(set(joins), set())
    return [program_of(plan) for plan in plans if plan.joins]


@lru_cache(maxsize=100_000)
def program_of(plan: Plan) -> Program:
    """The program of a plan; without a value join, its core leaves every pair."""
    return _Compiler(plan).program()


class _Compiler:
    """Turns a plan's term into steps."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.term = plan.query(plan.outputs, plan.valued)
        self.wanted = [f"n{node}" for node in plan.outputs]
        self.wanted += [plan.string(node) for node in plan.valued]
        # A value that is compared by order is looked up by its number, not joined. What is joined
        # is a pair already.
        others = ("strings", "together", ALIKE)
        self.atoms = [atom for atom in self.term.body if not atom.relation.startswith(others)]
        # What is alike is computed where it is asked for, not joined either.
        self.likenesses = [
            (edge.measure, plan.string(edge.left), plan.string(edge.right))
            for edge in plan.likenesses
            if edge.measure is not None
        ]
        thresholds = {column for column in plan.columns if column.startswith("t")}
        self.pending = [
            _by_number(comparison)
            for comparison in self.term.comparisons
            if thresholds.isdisjoint(comparison.variables)
        ]
        self.bound: list[str] = []

    def program(self) -> Program:
        core = [self._atom(index) for index in range(len(self.plan.joins))]
        self.bound = [variable for variable in self.bound if variable != _PAIR]
        side_of = {f"n{node.number}": node.side for node in self.plan.graph.nodes}
        sides = tuple(side_of.get(variable) for variable in self.bound)
        rest: list[Step] = self._tests()
        for index in range(len(self.plan.joins), len(self.atoms)):
            rest += [self._atom(index), *self._tests()]
        rest += [
            LikenessStep(
                measure,
                self.bound.index(left),
                self.bound.index(right),
                last=number == len(self.likenesses),
            )
            for number, (measure, left, right) in enumerate(self.likenesses, 1)
        ]
        head = picking([self.bound.index(variable) for variable in self.wanted])
        tested = any(isinstance(step, TestStep | LikenessStep) for step in rest)
        structural = not tested and not self.plan.valued and None not in sides
        return Program(self.plan, tuple(core), tuple(rest), sides, head, structural)

    def _atom(self, index: int) -> AtomStep:
        atom = self.atoms[index]
        later = {v for other in self.atoms[index + 1 :] for v in _columns(other)}
        later.update(self.wanted, *(c.variables for c in self.pending))
        later.update(*(strings for _, *strings in self.likenesses))
        if atom.relation == "pair":
            later.add(_PAIR)
        places: dict[str, int] = {}
        equal: list[tuple[int, int]] = []
        for place, variable in enumerate(_columns(atom)):
            if places.setdefault(variable, place) != place:
                equal.append((places[variable], place))
        shared = [variable for variable in places if variable in self.bound]
        new = [v for v in places if v in later and v not in self.bound]
        # The variable of pairs is new in the first atom, and stays in front.
        kept = [variable for variable in self.bound if variable in later]
        step = AtomStep(
            JoinStep(
                _relation(atom),
                tuple(places[variable] for variable in shared),
                tuple(places[variable] for variable in new),
                tuple(equal),
            ),
            picking([self.bound.index(variable) for variable in shared]),
            picking([self.bound.index(variable) for variable in kept]),
        )
        self.bound = [*kept, *new]
        return step

    def _tests(self) -> list[Step]:
        """The comparisons whose sides are bound now."""
        now = [c for c in self.pending if c.variables <= set(self.bound)]
        self.pending = [c for c in self.pending if c not in now]
        return [
            TestStep(
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
    """The variables of an atom's columns, without those that select its tuples."""
    selecting = {"j", "spine", "doc", "dl", "dr", "dt"}
    columns = [variable for column, variable in atom.arguments if column not in selecting]
    return [_PAIR, *columns] if atom.relation == "pair" else columns


def _relation(atom: Atom) -> str:
    if atom.relation == "pair":
        return "pair"
    return "right" if dict(atom.arguments)["doc"] == "dr" else "left"
