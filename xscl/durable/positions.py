"""How far each source of a run was read, so that the next run continues there.

An events file has a position: the place after the last line of the last batch, with a hash of the
bytes before it (of a compressed file, of its first), by which the same file is known that has only
grown; another one of that name is read from its beginning.  Of files and feeds it is remembered
which documents were read.  Standard input has neither.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from hashlib import blake2b
from typing import TYPE_CHECKING

from xscl.documents.batches import in_batches
from xscl.files.gzipped import is_gzipped, opened
from xscl.sources.envelopes import Place
from xscl.sources.limits import printable_path
from xscl.xpath_stage import foreign_character

if TYPE_CHECKING:
    from xscl.durable.keeper import Keeper

__all__ = ["Mark", "Positions"]

Envelope = dict[str, object]

Mark = tuple[str, Place | str] | None
"""What a document says of its source once it is read: the source, and the place after it or its
id; None where a source has no positions."""

_TAIL = 1024
_AT_ONCE = 1_000


class Positions:
    """The positions of a state file, and those that it is to have next.

    `say` reports a file that is another than before.
    """

    def __init__(self, keeper: Keeper, say: Callable[[str], object]) -> None:
        self._keeper = keeper
        self._positions = keeper.positions()
        self._say = say
        self._paths: dict[str, str] = {}
        self.failures = 0
        """How often something of a source could not be read."""

    def lines(
        self, kind: str, path: str, read: Callable[[Place | None], Iterable[tuple[Envelope, Place]]]
    ) -> Iterator[tuple[Envelope, Mark]]:
        """The envelopes of a file's lines or rows that were not read before; `read` gives those
        after a place."""
        if path == "-" or not os.path.isfile(path):
            # A pipe has none, by whatever name.
            for envelope, _ in read(None):
                yield envelope, None
            return
        source = f"{kind} {printable_path(os.path.abspath(path))}"
        while source in self._paths:
            # A file that is named twice is read twice.
            source += " again"
        self._paths[source] = path
        for envelope, place in read(self._place(source, path)):
            yield envelope, (source, place)

    def documents(
        self, source: str, envelopes: Iterable[Envelope]
    ) -> Iterator[tuple[Envelope, Mark]]:
        """The documents of a source that were not read by an earlier run; when it is read to its
        end, without a failure, those that it no longer has are forgotten."""
        source, failures = printable_path(source), self.failures
        for some in in_batches(envelopes, _AT_ONCE):
            ids = [str(envelope["id"]) for envelope in some]
            # No document has an id that can be written nowhere, as the name of a file may be.
            known = self._keeper.known(source, [id for id in ids if not foreign_character(id)])
            for id, envelope in zip(ids, some, strict=True):
                if foreign_character(id):
                    yield envelope, None
                elif id not in known:
                    yield envelope, (source, id)
        if self.failures == failures:
            self._keeper.read_whole(source)

    def note(self, marks: Iterable[Mark], refused: Container[str] = ()) -> None:
        """Notes in the transaction that is open what was read; a document of a `refused` id is read
        again by the next run, as it may be mended by then."""
        last: dict[str, Place] = {}
        for mark in marks:
            match mark:
                case (source, Place() as place):
                    last[source] = place
                case (source, str(id)) if id not in refused:
                    self._keeper.read(source, id)
        for source, place in last.items():
            written = {
                "line": place.lines,
                "offset": place.offset,
                "others": place.others,
                "tail": _tail(self._paths[source], place.offset),
            }
            self._keeper.read_to(source, json.dumps(written))

    def _place(self, source: str, path: str) -> Place:
        position: Mapping[str, object] = json.loads(self._positions.get(source, "{}"))
        if not position:
            return Place()
        # Rows had the bytes before them in their ids, not their numbers, where none is noted.
        line, offset, others = (position.get(name, 1) for name in ("line", "offset", "others"))
        place = Place(int(str(line)), int(str(offset)), int(str(others)))
        # Of a compressed file none was noted once.
        if position.get("tail") in (None, _tail(path, place.offset)):
            return place
        self._say(f"{path} is not the file that was read before: it is read from its beginning")
        return Place(others=place.others + 1)


def _tail(path: str, offset: int) -> str:
    """A hash of the bytes before a place; of a compressed file those at its beginning: to come to
    the others, all before them would have to be decompressed."""
    start = 0 if is_gzipped(path) else max(0, offset - _TAIL)
    with opened(path) as file:
        file.seek(start)
        return blake2b(file.read(min(offset - start, _TAIL)), digest_size=16).hexdigest()
