"""The matches of a step as a list that shows itself as a table, and becomes one of Arrow or pandas
with the members of the results as columns."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING, Any

from xscl.counts import counted
from xscl.matches.match import Match
from xscl.matches.result_forms import dumps
from xscl.notebook import MOST_ROWS, short, table
from xscl.times import rfc3339
from xscl.xpath_stage import MalformedDocument, parse

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Matches"]

_OWN = re.compile(r"(result\.)*(id|query|time|retracts|documents)")
"""Names that a member cannot have as a column: those of the other columns, and what they become."""


class Matches(list[Match]):
    """Matches, in order.

    >>> Matches().to_arrow().column_names
    ['id', 'query', 'time', 'retracts', 'documents']
    """

    def _repr_html_(self) -> str:
        rows = (
            (
                f"taken back: {one.query}" if one.retracts else one.query,
                rfc3339(one.time),
                short(one.documents),
                "; ".join(f"{name}: {_text(value) or ''}" for name, value in _members(one)),
            )
            for one in islice(self, MOST_ROWS)
        )
        heads = ("query", "time", "documents", "result")
        return table(counted(len(self), "match"), rows, heads=heads, of=len(self))

    def to_arrow(self) -> pa.Table:
        """A table, a row for each: its id, query, time (seconds), whether it `retracts`, its
        documents, and a column for each member of the results: of XML, for each name of elements
        below the root.  Where some result has several values of a name (several elements, or an
        array of JSON), all have a list of them.  A column whose values are of several types has
        their texts (`true`, `1.5`; objects and arrays as JSON).  A member that is named like one
        of the other columns has `result.` before its name.  `xscl.to_arrow` has the results
        whole."""
        import pyarrow as pa

        own = {
            "id": pa.array([one.id for one in self], pa.string()),
            "query": pa.array([one.query for one in self], pa.string()),
            "time": pa.array([one.time for one in self], pa.float64()),
            "retracts": pa.array([one.retracts for one in self], pa.bool_()),
            "documents": pa.array([one.documents for one in self], pa.list_(pa.string())),
        }
        members: dict[str, list[Any]] = {}
        for place, one in enumerate(self):
            for name, value in _members(one):
                members.setdefault(name, [None] * len(self))[place] = value
        columns = {
            f"result.{name}" if _OWN.fullmatch(name) else name: _array(values)
            for name, values in members.items()
        }
        return pa.table({**own, **columns})

    def to_pandas(self) -> Any:
        """The same as a DataFrame; raises ImportError without pandas."""
        return self.to_arrow().to_pandas()


def _members(match: Match) -> Iterator[tuple[str, Any]]:
    """The members of a result; what is no object is one named `result`."""
    result = match.result
    if isinstance(result, dict):
        yield from result.items()
    elif isinstance(result, str) and not match.json:
        found: dict[str, list[str]] = {}
        children: Iterable[Any] = ()
        with suppress(MalformedDocument):
            # A result is a level deeper than its documents, and may be too deep to be read.
            children = parse(result).iterchildren("*")
        for child in children:
            name = str(child.tag).rpartition("}")[2]
            found.setdefault(name, []).append("".join(map(str, child.itertext())).strip())
        if not found:
            yield "result", result
        for name, texts in found.items():
            yield name, texts if len(texts) > 1 else texts[0]
    else:
        yield "result", result


def _array(values: list[Any]) -> pa.Array:
    """A column of members, whose type is the one that all values have: lists where some are, texts
    where no other type has all."""
    import pyarrow as pa

    listed = any(isinstance(one, list) for one in values)
    if listed:
        values = [one if one is None or isinstance(one, list) else [one] for one in values]
    try:
        return pa.array(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
        if not listed:
            return pa.array(map(_text, values), pa.string())
        texts = (None if some is None else [*map(_text, some)] for some in values)
        return pa.array(texts, pa.list_(pa.string()))


def _text(value: object) -> str | None:
    """The text of a member, of an object or an array its JSON; None of null."""
    from xscl.documents.attributes import text_of_member

    if value is None:
        return None
    return dumps(value) if isinstance(value, dict | list) else text_of_member(value)
