"""The sizes of all that an engine holds, by kind and by stream."""

from __future__ import annotations

from collections import Counter

from xscl.documents.bodies import Body, size_of
from xscl.documents.document import Document
from xscl.documents.intake import Intake
from xscl.join_stage import JoinProcessor
from xscl.memory.relations import Relations
from xscl.queries.catalogue import Catalogue
from xscl.stream_names import public_name
from xscl.times import to_seconds
from xscl.xpath_stage import Strings, XPathEvaluator

__all__ = ["stats"]


def stats(
    intake: Intake,
    queries: Catalogue,
    xpath: XPathEvaluator,
    join: JoinProcessor,
    strings: Strings,
    relations: Relations,
) -> dict[str, object]:
    """The dict of `Engine.stats`; nothing changes by it.

    `documents`, `composites`, `witnesses` (rows of the join state), `strings` and `bytes` (of
    documents' bodies) are held now; `taken` documents have come and `skipped` ones not; `streams`
    has the documents, witnesses, bytes and latest timestamp of each.  `watermark` is in seconds,
    None while nothing is ever late.  Of the queries: their number, the `shared_queries` that those
    alike but for `constants` have in common and the number of different constants, their `rows` of
    R_T, `templates`, `value_joins`, and in stage 1 the `automaton_states` and path-table entries
    (`paths`).

    `in_process` is what is held at hand for documents that come singly or in small batches: the
    `slices` of the view cache, the `bytes` it has, about, and the `signatures` remembered.
    `joined` counts what was joined that way so far: the `documents`; slices asked for (`hits` and
    `misses`) and `evicted`; the document `pairs` with something in common, the signatures
    `evaluated` for them, and the `plain_pairs` that were evaluated one by one.

    `patterns` has, of patterns, the number of `queries`, the `templates` and `automata` that these
    share, the `runs` that are under way, the `epochs` that automata retain, the events that are
    `waiting` for the watermark, and those that were `dropped` for queries that do not wait.

    `event_queries` has, of these, their number (`queries`), the `m-ops` that they share with their
    `members`, operators that are alike but for constants; of their `states`, one for each NEXT or
    FOLD and its constants, those that are `active`, the `instances` in them and how often events
    have `touched` one; the events that are `waiting`, and those `dropped`, as of patterns.

    `memory` has the bytes of the relations and of documents' bodies, in memory and, as `…_filed`,
    in temporary files, and how many statements have needed more than the relations' share
    (`relations_exceeded`); bodies that are held as they were published, where memory has no bound,
    are only in `bytes`.
    """
    in_memory, filed = relations.sizes()
    counts = join.registry.counts()
    watermark = intake.watermark
    skipped = intake.skipped
    held: Counter[str] = Counter()
    sizes_of: Counter[str] = Counter()
    latest: dict[str, int] = {}
    for document in intake.retained.values():
        stream = document.source
        held[stream] += 1
        sizes_of[stream] += _size(document)
        latest[stream] = max(document.time, latest.get(stream, document.time))
    witnesses = {public_name(stream): n for stream, n in join.witnesses_by_stream().items()}
    streams = {
        stream: {
            "documents": held[stream],
            "witnesses": witnesses.get(stream, 0),
            "bytes": sizes_of[stream],
            "latest": to_seconds(latest[stream]),
        }
        for stream in held
    }
    return {
        "documents": len(intake.retained),
        "composites": len(intake.composites),
        "witnesses": join.rows,
        "strings": len(strings),
        "bytes": sizes_of.total(),
        "taken": intake.documents,
        "skipped": {
            "malformed": skipped.malformed,
            "duplicate": skipped.duplicate,
            "late": skipped.late,
            "unknown": skipped.unknown,
        },
        "watermark": None if watermark is None else to_seconds(watermark),
        "queries": len(queries),
        "shared_queries": len(queries.shared),
        "constants": xpath.constants.sizes()[1],
        "automaton_states": len(xpath.automaton),
        "paths": len(xpath.paths),
        "templates": counts["templates"],
        "rows": counts["rows"],
        "value_joins": counts["value_joins"],
        "in_process": join.in_process(),
        "joined": join.joined(),
        "patterns": queries.levels.stats(),
        "event_queries": queries.levels.event_stats(),
        "memory": {
            "relations": in_memory,
            "relations_filed": filed,
            "relations_exceeded": relations.exceeded,
            "bodies": intake.bodies.memory,
            "bodies_filed": intake.bodies.filed,
        },
        "streams": streams,
    }


def _size(document: Document) -> int:
    body = document.body
    if body is None:
        return 0
    return size_of(body if isinstance(body, str | bytes | Body) else str(body))
