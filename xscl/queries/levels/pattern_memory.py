"""What patterns remember over a restart, as texts of JSON by query.

An event is named by its document and nodes, as its number may be another one afterwards; what a run
of an automaton has found is at a negative place, and is as it is.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

from xscl.documents.events import EventNodes

if TYPE_CHECKING:
    from xscl.pattern_stage.memory import Memory

__all__ = ["memories_in", "text_of_memory"]


def text_of_memory(memory: Memory, nodes: EventNodes) -> str:
    """The text of a memory; where only matches that do not overlap were reported, these alone."""
    reported = [[partition, time] for partition, time in memory.reported]
    if not memory.early and not memory.missed:
        return json.dumps(reported)
    early = [
        [time, [[at, event if at < 0 else nodes.named(event)] for at, event in events]]
        for time, events in memory.early
        if all(at < 0 or nodes.has(event) for at, event in events)
    ]
    missed = [[nodes.named(event), time] for event, time in memory.missed if nodes.has(event)]
    return json.dumps({"reported": reported, "early": early, "missed": missed})


def memories_in(texts: Mapping[int, str], nodes: EventNodes) -> dict[int, Memory]:
    """The memories of some texts, as far as their events are retained."""
    from xscl.pattern_stage.memory import Memory

    memories = {}
    for number, text in texts.items():
        kept = json.loads(text)
        memory = memories[number] = Memory()
        reported = kept if isinstance(kept, list) else kept["reported"]
        for partition, time in reported:
            memory.reported.append((None if partition is None else tuple(partition), time))
        if isinstance(kept, list):
            continue
        for time, events in kept["early"]:
            found = [(at, tuple(name) if at < 0 else nodes.numbered(name)) for at, name in events]
            memory.early.append((time, [(at, one) for at, one in found if one is not None]))
        for name, time in kept["missed"]:
            if (event := nodes.numbered(name)) is not None:
                memory.missed.append((event, time))
    return memories
