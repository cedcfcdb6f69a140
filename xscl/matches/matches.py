"""The matches of a step as a list that shows itself as a table, and becomes one of Arrow or pandas
with the members of the results as columns."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

from xscl.counts import counted
from xscl.matches.match import Match
from xscl.notebook import MOST_ROWS, short, table
from xscl.times import rfc3339
from xscl.xpath_stage import parse

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Matches"]

_OWN = ("id", "query", "time", "retracts", "documents")


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
                "; ".join(f"{name}: {value}" for name, value in _members(one)),
            )
            for one in islice(self, MOST_ROWS)
        )
        heads = ("query", "time", "documents", "result")
        return table(counted(len(self), "match"), rows, heads=heads, of=len(self))

    def to_arrow(self) -> pa.Table:
        """A table, a row for each: its id, query, time (seconds), whether it `retracts`, its
        documents, and a column for each member of the results: of XML, for each element below the
        root.  A member that is named like one of the others has `result.` before its name; one
        whose values are of several types is text.  `xscl.to_arrow` has the results whole."""
        import pyarrow as pa

        columns: dict[str, list[Any]] = {name: [] for name in _OWN}
        for place, one in enumerate(self):
            own = (one.id, one.query, one.time, one.retracts, list(one.documents))
            for name, value in zip(_OWN, own, strict=True):
                columns[name].append(value)
            for name, value in _members(one):
                of = columns.setdefault(f"result.{name}" if name in _OWN else name, [])
                of += [None] * (place - len(of))
                if len(of) == place:
                    of.append(value)
        for values in columns.values():
            values += [None] * (len(self) - len(values))
        types = dict(zip(_OWN, _types(), strict=True))
        arrays = {name: _array(some, types.get(name)) for name, some in columns.items()}
        return pa.table(arrays)

    def to_pandas(self) -> Any:
        """The same as a DataFrame; raises ImportError without pandas."""
        return self.to_arrow().to_pandas()


def _members(match: Match) -> Iterator[tuple[str, Any]]:
    """The members of a result; what is no object is one named `result`."""
    result = match.result
    if isinstance(result, dict):
        yield from result.items()
    elif isinstance(result, str) and not match.json:
        children = list(parse(result).iterchildren("*"))
        if not children:
            yield "result", result
        for child in children:
            name = str(child.tag).rpartition("}")[2]
            yield name, "".join(map(str, child.itertext())).strip()
    else:
        yield "result", result


def _types() -> list[Any]:
    import pyarrow as pa

    return [pa.string(), pa.string(), pa.float64(), pa.bool_(), pa.list_(pa.string())]


def _array(values: list[Any], of: Any) -> pa.Array:
    import pyarrow as pa

    try:
        return pa.array(values, of)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
        return pa.array([None if one is None else str(one) for one in values], pa.string())
