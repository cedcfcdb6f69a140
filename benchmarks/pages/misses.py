"""Why a statement does not hold here: what bounds the figure, or how the measurement differs from
the paper's.  Reasons are kept apart from records, as they are found after these."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from benchmarks.report import Statement

__all__ = ["REASONS", "explained"]

REASONS: Mapping[str, Mapping[str, str]] = {
    "sase_stacks": {
        "PAIS at least 20 times": "The test after construction takes 80 ns a sequence, so that "
        "63 sequences an event cost 5 µs, and no event can cost less than the 0.37 µs of PAIS: "
        "its price is that of finding the event's partition. With windows ten times as long, the "
        "factor is far beyond the paper's.",
    },
    "sase_tests": {
        "windows in scan and construction": "The window in the scan evicts what is too old, which "
        "costs 5 to 8 %; without it stacks grow with the stream, which takes memory and no time.",
        "the negation index": "An event costs 0.3 µs before any negation, which leaves a factor "
        "of 5.5 to an index that costs nothing; ours costs 0.3 µs.",
    },
    "sase_joins": {
        "of the speed at L = 2": "From L = 2 to L = 6 three times as many events are of a type of "
        "the sequence, and five times as many matches are constructed, of three times as many "
        "events. A longer sequence costs nothing else.",
        "a second test at V1 = 10": "With one test there are 65 matches an event, and what both "
        "ways gain from the second is the time to construct these.",
    },
    "sase_plus": {
        "p2s2 at least 5 times": "An event costs 3 µs before any run takes it, as for p2s2. Three "
        "runs of p2s3 add less than that.",
        "basic at least 20 times": "Backtracking processes an event three times (the paper: 1.6 "
        "times), basic four runs an event: nothing in this explains a factor of 200. Each way "
        "counts what it does: basic constructs all matches, some 250 events each, and "
        "backtracking none.",
        "without construction merging": "Without construction two thirds of the time are an "
        "event's own, and merging saves a part of the rest.",
    },
    "automata": {
        "10,000 automata alike": "Each event is of one automaton. Of a batch, one automaton among "
        "10,000 gets one event at most, and what the events of a batch share where there is one "
        "automaton is done for each of them.",
    },
    "automata_levels": {
        "output grows with T": "A match that is taken back and found again within one call is not "
        "reported at all; the paper reports both.",
    },
    "automata_ignorable": {
        "with anchors at most": "The line through 90 and 95 % meets 100 % at three quarters of "
        "what is taken at 95 %: so much does not depend on how many events are ignored.",
    },
}
"""By section and by how the statement begins."""


def explained(section: str, statements: Iterable[Statement]) -> list[str]:
    """A line for each statement that is missed and has a reason."""
    reasons = REASONS.get(section, {})
    return [
        f"- *{one.text}*: {reason}"
        for one in statements
        if one.holds is False
        for start, reason in reasons.items()
        if one.text.startswith(start)
    ]
