"""A query and a row -> its match's sides, and the content of the match: the id, a line, a result.

A *form* is the common part of all matches of a query; their other parts are composed of their
sides.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache, partial
from itertools import accumulate, chain, groupby
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from xscl.documents.document import Document
from xscl.join_stage import picking
from xscl.matches.heads import hexed, named
from xscl.matches.nodes import BoundNode
from xscl.matches.result_forms import JSONForm, XMLForm, dumps
from xscl.matches.sides import AttributeName, Block, Codes, Kind, LineKind, Side
from xscl.times import to_seconds

if TYPE_CHECKING:
    from xscl.language.syntax import Select

__all__ = ["MatchForm", "Sides"]

_PIECES = "\0"
"""Marks the places of a result's pieces in the text around them, which has no such character."""

_KINDS = 1_000
"""The maximal number of cached kinds of matches of a query."""


class MatchForm:
    """The common part of the matches of a query, or of queries that are the same up to name and
    constants: the SELECT, the stream that they are published to, and, of a row's columns, those of
    the blocks' output nodes and of the variables that the SELECT names, each with its block."""

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
        self._lines: dict[tuple[LineKind, ...], _Line] = {}

    @cached_property
    def blocks(self) -> tuple[tuple[tuple[int, ...], Block], ...]:
        """The blocks, each with the columns of a row that its sides' codes come from: the output
        node's first.  Blocks with the same part in a result are merged."""
        made: dict[object, Block] = {}
        blocks = []
        for block, output in enumerate(self._outputs):
            own = [(name, column) for name, column, of in self._variables if of == block]
            names = tuple(name for name, _ in own)
            xml = None if self._xml is None else self._xml.parts[block]
            json = None if self._json is None else self._json.places[block]
            runs = tuple(run for of, run in self._runs if of == block)
            place: dict[str | None, int] = {
                None: 0,
                **{name: place for place, name in enumerate(names, 1)},
            }
            one = Block(names, place, self._select is not None, xml, json, runs)
            blocks.append(
                ((output, *(column for _, column in own)), made.setdefault((names, xml, json), one))
            )
        return tuple(blocks)

    def time(self, sides: Sequence[Side]) -> float:
        """The time of the latest document, in seconds."""
        return to_seconds(max([side.document.time for side in sides]))

    def start(self, sides: Sequence[Side]) -> float | None:
        """The start of the document of a match of one, in seconds, if the document has one."""
        start = sides[0].document.start if len(sides) == 1 else None
        return None if start is None else to_seconds(start)

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
        return _id(named(query, self.stream)[0], [one for _, one, _ in said], rest).decode()

    def line(self, query: str, sides: Sequence[Side]) -> bytes:
        """A match as a line of JSON, in UTF-8."""
        return next(self.lines(query, (sides,)))

    def lines(self, query: str, matches: Iterable[Sequence[Side]]) -> Iterator[bytes]:
        """Matches of a query as lines of JSON, in UTF-8; each is composed of what its sides have
        cached, by a pattern for their kinds."""
        head, query_and_stream = named(query, self.stream)
        lines, flat = self._lines, chain.from_iterable
        for sides in matches:
            kinds, documents, times, texts = zip(
                *[side.line_parts or side.parts for side in sides], strict=True
            )
            line = lines.get(kinds) or self._line(sides, kinds)
            members = line.pick(tuple(flat(texts)))
            if line.result is not None:
                members = (*members, line.result(sides).encode())
            yield line.pattern % (
                _id(head, documents, line.rest),
                query_and_stream,
                _as_json(max(times)),
                *members,
            )

    @cached_property
    def _xml(self) -> XMLForm | None:
        from xscl.matches.results import in_blocks, xml_form

        return xml_form(self._select, len(self._outputs), in_blocks(self._block_of))

    @cached_property
    def _json(self) -> JSONForm | None:
        from xscl.matches.results import in_blocks, json_form

        return json_form(self._select, len(self._outputs), in_blocks(self._block_of))

    @cached_property
    def _block_of(self) -> dict[str, int]:
        return {name: block for name, _, block in self._variables}

    @cached_property
    def _runs(self) -> list[tuple[int, tuple[str, ...]]]:
        """The variables by block, grouped as far as they are consecutive."""
        by_block = groupby(self._variables, itemgetter(2))
        return [(block, tuple(name for name, _, _ in some)) for block, some in by_block]

    @cached_property
    def _value_places(self) -> list[tuple[int, int]]:
        """For each run its block, and its index among the block's runs."""
        seen: Counter[int] = Counter()
        places = []
        for block, _ in self._runs:
            places.append((block, seen[block]))
            seen[block] += 1
        return places

    def _kind(self, sides: Sequence[Side], kinds: tuple[Kind, ...]) -> tuple[bytes, str, bool]:
        """The common part of matches of a kind: the part of the input of their ids after the
        documents; their streams, nodes and bindings as members of JSON; whether results are
        JSON."""
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

    def _line(self, sides: Sequence[Side], kinds: tuple[LineKind, ...]) -> _Line:
        """The common part of lines whose sides are of some kinds."""
        rest, nodes, is_json = self._kind(sides, tuple([one.kind for one in kinds]))
        # The texts of all sides in a row: for each side the document, values and pieces of the
        # result.
        begins = [0, *accumulate(len(one.full) for one in kinds)]
        full = [text for one in kinds for text in one.full]
        runs = Counter(block for block, _ in self._runs)
        values = [begins[block] + 1 + number for block, number in self._value_places]
        values = [place for place in values if full[place]]
        pieces: list[int] = []
        shown, result = "%s", None
        if is_json:
            result = self.json
        elif self._json is not None and any(side.document.json for side in sides):
            result = self._xml_in_json
        else:
            assert self._xml is not None
            places = self._xml.pieces
            pieces = [begins[block] + 1 + runs[block] + number for block, number in places]
            pieces = [place for place in pieces if full[place]]
            around = _literal(self._xml.around(_PIECES if pieces else ""))
            shown = around.replace(_PIECES, "%s" * len(pieces))
        pattern = (
            '{"id": "%s", %s, "time": %s, '
            f'"documents": [{", ".join(["%s"] * len(sides))}], {_literal(nodes)}, '
            f'"values": {{{", ".join(["%s"] * len(values))}}}, "result": {shown}}}\n'
        )
        if len(self._lines) >= _KINDS:
            self._lines.clear()
        made = self._lines[kinds] = _Line(
            rest, pattern.encode(), picking([*begins[:-1], *values, *pieces]), result
        )
        return made

    def _xml_in_json(self, sides: Sequence[Side]) -> str:
        return dumps(self.xml(sides))


class _Line(NamedTuple):
    """The common part of lines of a kind: the part of the input of ids after the documents; the
    pattern of a line; the indices of the sides' texts that follow id, query and time; and a
    function for the result, which comes last, None where it is among these texts."""

    rest: bytes
    pattern: bytes
    pick: Callable[[tuple[object, ...]], tuple[object, ...]]
    result: Callable[[Sequence[Side]], str] | None


class Sides:
    """The sides of some matches, each once."""

    def __init__(self, attribute_name: AttributeName) -> None:
        self.attribute_name = attribute_name
        # By kind; and by the codes of rows, those and functions for others.
        self._made: dict[tuple[Block, Codes], dict[int, Side]] = {}
        self._known: dict[tuple[MatchForm, Codes], list[tuple[dict[int, Side], _Make]]] = {}

    def of(
        self,
        form: MatchForm,
        codes: Codes,
        numbers: Sequence[int],
        held: Mapping[int, Document],
    ) -> tuple[Side, ...]:
        """The sides of a row of some codes, given the numbers of its documents, which are
        `held`."""
        of_blocks = self._known.get((form, codes)) or self._of_codes(form, codes)
        return tuple(
            [
                known.get(number) or make(held[number])
                for (known, make), number in zip(of_blocks, numbers, strict=True)
            ]
        )

    def _of_codes(self, form: MatchForm, codes: Codes) -> list[tuple[dict[int, Side], _Make]]:
        of_blocks = self._known[form, codes] = []
        for columns, block in form.blocks:
            own = tuple([codes[column] for column in columns])
            known = self._made.setdefault((block, own), {})
            of_blocks.append((known, partial(_make, known, block, own, self.attribute_name)))
        return of_blocks


def _make(
    known: dict[int, Side],
    block: Block,
    codes: Codes,
    attribute_name: AttributeName,
    document: Document,
) -> Side:
    # No method: an object that refers to itself would stay, with its texts, until cycles are
    # collected.
    side = known[document.number] = Side(block, document, codes, attribute_name)
    return side


_Make = Callable[[Document], Side]


def _id(head: bytes, documents: Sequence[bytes], rest: bytes) -> bytes:
    return hexed(head, b"%b], %b" % (b", ".join(documents), rest))


def _literal(text: str) -> str:
    """A text as a pattern has it."""
    return text.replace("%", "%%")


@lru_cache(maxsize=10_000)
def _as_json(time: int) -> bytes:
    return repr(to_seconds(time)).encode()
