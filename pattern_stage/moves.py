"""Runs, and the moves that they make, with their functions and gates."""

from __future__ import annotations

from xscl.pattern_stage.automaton import Epsilon, Move, Register
from xscl.pattern_stage.cells import Cell, Chain
from xscl.pattern_stage.query_masks import Gates, QueryMasks

__all__ = ["BoundEpsilon", "BoundMove", "Run"]


class Run:
    """The events taken on the way to a state, for the queries of a mask; none: it has ended."""

    __slots__ = ("cell", "mask", "register", "start")

    def __init__(self, mask: int, register: Register, start: int, cell: Cell | Chain) -> None:
        self.mask, self.register, self.start, self.cell = mask, register, start, cell

    def copy(self) -> Run:
        """A copy of the run."""
        return Run(self.mask, self.register, self.start, self.cell)


class BoundEpsilon:
    """An epsilon move with its functions."""

    def __init__(self, epsilon: Epsilon, members: QueryMasks) -> None:
        functions = members.functions
        self.target = epsilon.target
        self.gates = members.gates(epsilon.gates)
        self.step = functions[epsilon.step] if epsilon.step else None
        self.walk = functions[epsilon.walk] if epsilon.walk else None


class BoundMove:
    """A move with its functions."""

    def __init__(self, move: Move, members: QueryMasks, continues: bool) -> None:
        functions, finish = members.functions, move.finish
        self.source, self.target, self.stops = move.source, move.target, move.stops
        self.continues = continues
        self.admitted = members.scan(move.scan)
        self.gates = members.gates(move.gates)
        self.step = functions[move.step] if move.step else None
        own, their = move.equal or (None, None)
        self.equal = functions[own] if own else None
        self.equal_of = functions[their] if their else None
        self.index = 0
        self.walk = functions[move.walk] if move.walk else None
        self.epsilon = BoundEpsilon(move.epsilon, members) if move.epsilon else None
        self.finishes = finish is not None
        self.finish_gates: Gates = members.gates(finish.gates) if finish else ()
        self.test = functions[finish.test] if finish and finish.test else None
        self.finish_walk = functions[finish.walk] if finish and finish.walk else None
