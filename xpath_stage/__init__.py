"""Stage 1: documents in, witnesses of all registered tree patterns out (section 6.3).

`patterns` says what can be asked for, `automaton` shares it, `paths` runs the automaton once
per path, `filters` tests nodes, `evaluator` walks a document; `documents` parses.
"""

from xpath_stage.documents import ATTRIBUTE, MalformedDocument, parse, string_value
from xpath_stage.evaluator import Witnesses, XPathEvaluator
from xpath_stage.paths import Accept
from xpath_stage.patterns import Definition, Filter, Spine, Step
from xpath_stage.strings import Strings

__all__ = [
    "ATTRIBUTE",
    "Accept",
    "Definition",
    "Filter",
    "MalformedDocument",
    "Spine",
    "Step",
    "Strings",
    "Witnesses",
    "XPathEvaluator",
    "parse",
    "string_value",
]
