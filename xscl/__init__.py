"""XSCL: standing queries that join documents with each other, by value, as they stream by.

engine = xscl.Engine()
engine.load(text_of_a_query_file)
for match in engine.run(envelopes): ...
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from xscl.version import __version__ as __version__

if TYPE_CHECKING:
    from xscl.engine import Engine
    from xscl.errors import DocumentError, QueryError, QuerySyntaxError, StateError, XSCLError
    from xscl.evaluation.groups.match_groups import MatchGroup, MatchGroups
    from xscl.garbage import collect_rarely
    from xscl.join_stage import Strategies
    from xscl.language.automata.description import Arc, Automaton
    from xscl.matches.arrow import to_arrow
    from xscl.matches.match import Match, Retraction
    from xscl.matches.published import MatchStream
    from xscl.queries.subscription import Subscription

__all__ = [
    "Arc",
    "Automaton",
    "DocumentError",
    "Engine",
    "Match",
    "MatchGroup",
    "MatchGroups",
    "MatchStream",
    "QueryError",
    "QuerySyntaxError",
    "Retraction",
    "StateError",
    "Strategies",
    "Subscription",
    "XSCLError",
    "collect_rarely",
    "to_arrow",
]

_HOMES = {
    "Arc": "xscl.language.automata.description",
    "Automaton": "xscl.language.automata.description",
    "Engine": "xscl.engine",
    "Match": "xscl.matches.match",
    "MatchGroup": "xscl.evaluation.groups.match_groups",
    "MatchGroups": "xscl.evaluation.groups.match_groups",
    "MatchStream": "xscl.matches.published",
    "Retraction": "xscl.matches.match",
    "Strategies": "xscl.join_stage",
    "Subscription": "xscl.queries.subscription",
    "collect_rarely": "xscl.garbage",
    "to_arrow": "xscl.matches.arrow",
}
"""Where each exported name is defined; a name that is missing here is an error."""


if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        """Exported names are imported on demand: a program that only reads feeds needs no
        engine."""
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(import_module(_HOMES.get(name, "xscl.errors")), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
