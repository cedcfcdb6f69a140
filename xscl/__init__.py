"""XSCL: standing queries that join documents with each other, by value, as they stream by.

engine = xscl.Engine()
engine.load(text_of_a_query_file)
for match in engine.run(envelopes): ...
"""

from xscl._shadow import refuse_shadowing_packages

# Before anything of ours is imported from the packages that another one could shadow.
refuse_shadowing_packages()

from join_stage import Strategies
from xscl.engine import Engine
from xscl.errors import DocumentError, QueryError, QuerySyntaxError, StateError, XSCLError
from xscl.evaluation.match_groups import MatchGroup, MatchGroups
from xscl.garbage import collect_rarely
from xscl.matches.arrow import to_arrow
from xscl.matches.match import Match
from xscl.matches.published import MatchStream
from xscl.queries.subscription import Subscription
from xscl.version import __version__ as __version__

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
