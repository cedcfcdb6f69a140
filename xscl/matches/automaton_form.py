"""A run of an automaton that has come to a final state -> what its match says: the id, the register
as a result."""

from __future__ import annotations

from hashlib import sha256
from math import isfinite
from typing import TYPE_CHECKING

from xscl.language.syntax import Described
from xscl.matches.pattern_form import PatternForm, Taken
from xscl.matches.result_forms import dumps

if TYPE_CHECKING:
    from xscl.language.syntax import Query
    from xscl.patterns.compile_automaton import CompiledAutomaton

__all__ = ["AutomatonForm", "shown"]


class AutomatonForm(PatternForm):
    """What the matches of an automaton have in common."""

    def __init__(self, query: Query, compiled: CompiledAutomaton) -> None:
        self.stream = None if query.publish is None else query.publish.text
        automaton, source = compiled.automaton, query.source
        self._names = (*automaton.by, *automaton.register)
        assert isinstance(source, Described)
        self._selected = source.fields

    def id(self, query: str, taken: Taken) -> str:
        """The stable id of a match: a hash of query, documents, nodes, start, time and register."""
        computed = taken.row.computed
        assert computed is not None
        head = super().id(query, taken)
        said = [head, computed.start, computed.time, [*map(shown, computed.values)]]
        return sha256(dumps(said).encode("utf-8", "surrogatepass")).hexdigest()[:32]

    def is_json(self, taken: Taken) -> bool:
        """The result is a JSON object."""
        return True

    def json(self, taken: Taken) -> str:
        """The register as an object, or the fields of it that are selected."""
        computed = taken.row.computed
        assert computed is not None
        fields = dict(zip(self._names, map(shown, computed.values), strict=True))
        if self._selected is not None:
            fields = {name: fields[field] for field, name in self._selected}
        return dumps(fields)

    def xml(self, taken: Taken) -> str:
        """A register is no XML."""
        raise TypeError("the result of an automaton is JSON")


def shown(value: object) -> object:
    """A value of the register as JSON: null where it is missing or infinite."""
    if isinstance(value, float):
        if not isfinite(value):
            return None
        return int(value) if value.is_integer() else value
    return value
