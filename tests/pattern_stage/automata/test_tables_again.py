"""Tables of arcs that lived together before are found again, for as many states as there are."""

from __future__ import annotations

from xscl.language.automata.description import Automaton
from xscl.pattern_stage.automata.query import AutomatonQuery
from xscl.pattern_stage.layouts import Layouts
from xscl.patterns.compile_automaton import compile_automaton

EVER, NEVER = float("-inf"), float("inf")


def _coming(time: int) -> tuple[int, tuple[int, int, int]]:
    return 0, (time, time, time)


def test_a_table_of_before_knows_states_that_came_since() -> None:
    arcs = [{"from": source, "to": target, "event": "e"} for source, target in ("ab", "bc", "cd")]
    compiled = compile_automaton(
        Automaton.from_dict({"name": "Q", "events": {"e": "S"}, "final": ["d"], "arcs": arcs})
    )
    first, *others = [arc for _, arc in compiled.arcs]
    query = AutomatonQuery(compiled.program, [((EVER, NEVER), first)], 2, [], [0], Layouts())
    query.take_all([_coming(1)])
    query.extend(4, compiled.final)
    query.rearrange([((EVER, 10), first), *(((10, NEVER), one) for one in others)], 10)
    query.catch_up()
    # The first arc alone lives still, as before.
    for time in (2, 11, 12):
        query.take_all([_coming(time)])
    assert query.changes == {(2, 12, (), None): 1}
