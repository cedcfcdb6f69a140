"""The registered spines: how often each is registered, and the path table of them.

Spines that come and go are only noted.  The table is updated for many of them together, when it is
read next.
"""

from __future__ import annotations

from xscl.xpath_stage.automaton import Automaton
from xscl.xpath_stage.leaf_paths import Changes, Ending
from xscl.xpath_stage.live.upkeep import follow
from xscl.xpath_stage.paths import PathTable
from xscl.xpath_stage.patterns import Spine

__all__ = ["RegisteredSpines"]


class RegisteredSpines:
    """Spines by number, with how often each is registered.  No number is reused.

    If `stale`, `show` must be called before a document is evaluated.
    """

    def __init__(self) -> None:
        self.automaton = Automaton()
        self.stale = False
        self._table = PathTable(self.automaton)
        # By the automaton's state of the leaf, which determines stream and steps, and all other
        # fields.
        self._numbers: dict[tuple[object, ...], int] = {}
        self._endings: dict[int, Ending] = {}
        self._uses: dict[int, int] = {}
        self._next = 0
        self._came: dict[int, Ending] = {}
        self._went: list[Ending] = []
        self._untold: set[int] = set()
        self._gone: list[int] = []

    def register(self, spine: Spine) -> int:
        """The number of a spine, with one registration added."""
        state = self.automaton.find(spine.stream, spine.steps)
        number = self._numbers.get(_key(state, spine))
        if number is None:
            number = self._next
            self._next += 1
            ending = Ending(number, spine, self.automaton.add(spine.stream, spine.steps))
            self._endings[number] = self._came[number] = ending
            self._numbers[_key(ending.states[-1], spine)] = number
            self._uses[number] = 0
            self._table.ends.setdefault(ending.states[-1], {})[number] = ending
            self._untold.add(number)
            self.stale = True
        self._uses[number] += 1
        return number

    def release(self, number: int) -> None:
        """Removes one registration; raises KeyError if no spine with this number is registered."""
        self._uses[number] -= 1
        if self._uses[number]:
            return
        ending = self._endings.pop(number)
        del self._uses[number], self._numbers[_key(ending.states[-1], ending.spine)]
        ends = self._table.ends[ending.states[-1]]
        del ends[number]
        if not ends:
            del self._table.ends[ending.states[-1]]
        self.automaton.remove(ending.spine.stream, ending.states)
        if self._came.pop(number, None) is None:
            self._went.append(ending)
        if number in self._untold:
            self._untold.discard(number)
        else:
            self._gone.append(number)
        self.stale = True

    def settle(self) -> PathTable:
        """The path table, up to date."""
        table = self._table
        if not self._came and not self._went:
            return table
        changed: set[int] = set()
        for ending in self._went:
            for path in table.at.get(ending.states[-1], ()):
                table.withdraw(path, ending)
                changed.add(path)
        follow(table, self.automaton.turnover())
        for ending in self._came.values():
            for path in table.downwards(table.at.get(ending.states[-1], ())):
                table.extend(path, ending)
                changed.add(path)
        self._came, self._went = {}, []
        for path in changed & table.paths.keys():
            table.show_leaves(path)
        table.drop_layouts()
        return table

    def show(self) -> None:
        """Updates the table so that a document can be evaluated, or changes reported."""
        self.settle().leaf_paths.seen()
        self.stale = False

    @property
    def changed(self) -> bool:
        """Whether `take_changes` may return any changes."""
        return self.stale or bool(self._gone) or self._table.leaf_paths.changed

    def take_changes(self) -> Changes:
        """The changes of spines and leaf paths since the last call."""
        self.show()
        gone, self._gone = tuple(self._gone), []
        self._untold.clear()
        return self._table.leaf_paths.take(gone)


def _key(state: int | None, spine: Spine) -> tuple[object, ...]:
    return state, spine.marks, spine.value, spine.distinct
