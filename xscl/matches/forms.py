"""A query and a row -> its match's sides, and what the match says: the id, a line, a result.

A *form* is what all matches of a query have in common; what they say beyond that is put together of
their sides.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache
from hashlib import sha256
from itertools import groupby
from operator import itemgetter

from xscl.documents.document import Document
from xscl.language.syntax import Select
from xscl.matches.nodes import BoundNode
from xscl.matches.results import JSONForm, XMLForm, dumps, json_form, xml_form
from xscl.matches.sides import AttributeName, Block, Codes, Kind, Side
from xscl.times import to_seconds

__all__ = ["MatchForm", "Sides", "time_of"]

_KINDS = 1_000
"""So many kinds of matches of a query are remembered."""


class MatchForm:
    """What the matches of a query have in common, or of queries alike but for name and constants:
    the SELECT, the stream that they are published to, and, of a row's columns, those of the blocks'
    output nodes and of the variables that the SELECT names, each with its block."""

    def __init__(
        self,
        select: Select,
        stream: str | None,
        outputs: Sequence[int],
        variables: Sequence[tuple[str, int, int]],
    ) -> None:
        self.stream = stream
        self._select = select
        self._outputs = tuple(outputs)
        self._variables = tuple(variables)
        self._kinds: dict[tuple[Kind, ...], tuple[bytes, str, bool]] = {}

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """The blocks."""
        made = []
        for block, output in enumerate(self._outputs):
            own = [(name, column) for name, column, of in self._variables if of == block]
            names = tuple(name for name, _ in own)
            made.append(
                Block(
                    columns=(output, *(column for _, column in own)),
                    names=names,
                    place={None: 0, **{name: place for place, name in enumerate(names, 1)}},
                    selects=self._select is not None,
                    xml=() if self._xml is None else self._xml.parts[block],
                    json=() if self._json is None else self._json.places[block],
                    runs=tuple(run for of, run in self._runs if of == block),
                )
            )
        return tuple(made)

    def is_json(self, sides: Sequence[Side]) -> bool:
        """Whether the result is a JSON value."""
        if self._xml is None or self._json is None:
            return self._xml is None
        return all(side.document.json for side in sides)

    def xml(self, sides: Sequence[Side]) -> str:
        """The result as XML; raises TypeError where the SELECT is a JSON constructor."""
        if self._xml is None:
            raise TypeError("the result of a JSON constructor is no XML")
        return self._xml.text([side.xml_pieces or side.xml for side in sides])

    def json(self, sides: Sequence[Side]) -> str:
        """The result, which is JSON, as text."""
        assert self._json is not None
        return self._json.text([side.json_pieces or side.json for side in sides])

    def bindings(self, sides: Sequence[Side]) -> dict[str, BoundNode]:
        """The nodes of the variables, in the SELECT's order."""
        nodes = [side.variables for side in sides]
        return {name: nodes[block][name] for name, _, block in self._variables}

    def values(self, sides: Sequence[Side]) -> str:
        """The string values of variables, as members of JSON."""
        pieces = [side.value_pieces or side.values for side in sides]
        members = [pieces[block][number] for block, number in self._value_places]
        return ", ".join(filter(None, members))

    def id(self, query: str, sides: Sequence[Side]) -> str:
        """The stable id of a match: a hash of the query's name, its documents (stream, id), nodes
        and bindings (node number and, for an attribute, its name)."""
        said = [side.said for side in sides]
        rest, _, _ = self._kind(sides, tuple([kind for _, _, kind in said]))
        return _id(_named(query, self.stream)[0], [named for _, named, _ in said], rest)

    def line(self, query: str, sides: Sequence[Side]) -> str:
        """A match as JSON."""
        names = [side.names or side.said for side in sides]
        documents, named, kinds = zip(*names, strict=True)
        known = self._kinds.get(kinds)
        rest, nodes, is_json = known or self._kind(sides, kinds)
        head, query_and_stream = _named(query, self.stream)
        if is_json:
            result = self.json(sides)
        else:
            assert self._escaped is not None
            result = self._escaped.text([side.escaped_pieces or side.escaped for side in sides])
        return (
            f'{{"id": "{_id(head, named, rest)}", {query_and_stream}, "time": {_time(sides)}, '
            f'"documents": [{", ".join(documents)}], {nodes}, '
            f'"values": {{{self.values(sides)}}}, "result": {result}}}'
        )

    @cached_property
    def _xml(self) -> XMLForm | None:
        return xml_form(self._select, len(self._outputs), self._block_of)

    @cached_property
    def _escaped(self) -> XMLForm | None:
        """The form of XML results as strings of JSON."""
        return None if self._xml is None else self._xml.escaped()

    @cached_property
    def _json(self) -> JSONForm | None:
        return json_form(self._select, len(self._outputs), self._block_of)

    @cached_property
    def _block_of(self) -> dict[str, int]:
        return {name: block for name, _, block in self._variables}

    @cached_property
    def _runs(self) -> list[tuple[int, tuple[str, ...]]]:
        """The variables by block, as far as they follow one another."""
        by_block = groupby(self._variables, itemgetter(2))
        return [(block, tuple(name for name, _, _ in some)) for block, some in by_block]

    @cached_property
    def _value_places(self) -> list[tuple[int, int]]:
        """Of each run its block, and which of the block's it is."""
        seen: Counter[int] = Counter()
        places = []
        for block, _ in self._runs:
            places.append((block, seen[block]))
            seen[block] += 1
        return places

    def _kind(self, sides: Sequence[Side], kinds: tuple[Kind, ...]) -> tuple[bytes, str, bool]:
        """What matches of a kind have in common: what follows the documents in what their ids are
        made of; their streams, nodes and bindings as members of JSON; whether results are JSON."""
        found = self._kinds.get(kinds)
        if found is None:
            outputs = [side.output for side in sides]
            nodes = self.bindings(sides)
            bound = [(name, node.number, node.attribute) for name, node in sorted(nodes.items())]
            rest = dumps([[(node.number, node.attribute) for node in outputs], bound])
            members = {
                "streams": [side.document.source for side in sides],
                "nodes": [node.number for node in outputs],
                "bindings": {name: node.number for name, node in nodes.items()},
            }
            if len(self._kinds) >= _KINDS:
                self._kinds.clear()
            after = rest[1:].encode("utf-8", "surrogatepass")
            found = self._kinds[kinds] = after, dumps(members)[1:-1], self.is_json(sides)
        return found


class Sides:
    """The sides of some matches, each once."""

    def __init__(self, attribute_name: AttributeName) -> None:
        self._attribute_name = attribute_name
        self._known: dict[MatchForm, list[tuple[Block, _Pick, dict[_Key, Side]]]] = {}

    def of(
        self, form: MatchForm, codes: Sequence[int], documents: Sequence[Document]
    ) -> tuple[Side, ...]:
        """The sides of a row of some codes, given its documents."""
        blocks = self._known.get(form)
        if blocks is None:
            blocks = [(block, _picking(block.columns), {}) for block in form.blocks]
            self._known[form] = blocks
        sides = []
        for (block, pick, known), document in zip(blocks, documents, strict=True):
            key = document.number, pick(codes)
            side = known.get(key)
            if side is None:
                side = known[key] = Side(block, document, key[1], self._attribute_name)
            sides.append(side)
        return tuple(sides)


_Pick = Callable[[Sequence[int]], Codes]
_Key = tuple[int, Codes]


def _picking(columns: Sequence[int]) -> _Pick:
    if len(columns) == 1:
        (column,) = columns
        return lambda codes: (codes[column],)
    return itemgetter(*columns)


@lru_cache(maxsize=10_000)
def _named(query: str, stream: str | None) -> tuple[bytes, str]:
    """What an id is made of up to the documents, and a query and a stream as members of JSON."""
    head = f"[{dumps(query)}, [".encode("utf-8", "surrogatepass")
    return head, dumps({"query": query, "stream": stream})[1:-1]


def _id(head: bytes, documents: Sequence[bytes], rest: bytes) -> str:
    return sha256(b"%b%b], %b" % (head, b", ".join(documents), rest)).hexdigest()[:32]


def time_of(sides: Sequence[Side]) -> float:
    """The time of the latest document, in seconds."""
    return to_seconds(max([side.document.time for side in sides]))


def _time(sides: Sequence[Side]) -> str:
    return _as_json(max([side.document.time for side in sides]))


@lru_cache(maxsize=10_000)
def _as_json(time: int) -> str:
    return repr(to_seconds(time))
