"""XSCL: standing queries that join documents with each other, by value, as they stream by.

engine = xscl.Engine()
engine.load(text_of_a_query_file)
for match in engine.run(envelopes): ...
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from xscl._shadow import refuse_shadowing_packages

# Before anything of ours is imported from the packages that another one could shadow.
refuse_shadowing_packages()

from xscl.version import __version__ as __version__

if TYPE_CHECKING:
    from join_stage import Strategies
    from xscl.engine import Engine
    from xscl.errors import DocumentError, QueryError, QuerySyntaxError, StateError, XSCLError
    from xscl.evaluation.match_groups import MatchGroup, MatchGroups
    from xscl.garbage import collect_rarely
    from xscl.matches.arrow import to_arrow
    from xscl.matches.match import Match
    from xscl.matches.published import MatchStream
    from xscl.queries.subscription import Subscription

__all__ = [
    "DocumentError",
    "Engine",
    "Match",
    "MatchGroup",
    "MatchGroups",
    "MatchStream",
    "QueryError",
    "QuerySyntaxError",
    "StateError",
    "Strategies",
    "Subscription",
    "XSCLError",
    "collect_rarely",
    "to_arrow",
]

_HOMES = {
    "Engine": "xscl.engine",
    "Match": "xscl.matches.match",
    "MatchGroup": "xscl.evaluation.match_groups",
    "MatchGroups": "xscl.evaluation.match_groups",
    "MatchStream": "xscl.matches.published",
    "Strategies": "join_stage",
    "Subscription": "xscl.queries.subscription",
    "collect_rarely": "xscl.garbage",
    "to_arrow": "xscl.matches.arrow",
}
"""Where what is exported is defined; an error, where it is not here."""


if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        """What is exported is imported when it is asked for: who reads feeds needs no engine."""
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(import_module(_HOMES.get(name, "xscl.errors")), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return [*globals(), *__all__]
