"""Stage 1: documents in, witnesses of all registered tree patterns out (section 6.3).

`patterns` are the things to ask for, `automaton` shares it, `paths` runs the automaton once
per path (`transitions` lead there, `leaf_paths` are what rows are left for), `filters` tests
nodes (`functions` has what XPath 1.0 has not, `constants` finds those that hold), `evaluator`
walks a document within the bounds of `work`; of a large one it walks `parser_events`, of a tree
that is `pruned` as it grows.  The walk leaves a trace (`traces`), which stands for the rows of a
layout (`layouts`, `equal_leaves`); documents of one structure share it (`structures`), and the
next of them is only cut (`bodies`), not parsed.  Spines come and go while documents flow:
`live.registered` counts them, `live.upkeep` lets the paths follow.  `values` are functions on
strings, `parsing` has trees and what is cut.
"""

from xpath_stage.bodies import evaluate_json, evaluate_text, evaluate_value, json_value
from xpath_stage.constants import Constant, Constants, Held
from xpath_stage.evaluator import XPathEvaluator
from xpath_stage.functions import EXTENSIONS, compared
from xpath_stage.layouts import Layout, Row, Witnesses
from xpath_stage.leaf_paths import Accept, Changes
from xpath_stage.parser_events import evaluate_parser_events
from xpath_stage.parsing.characters import NO_XML, foreign_character
from xpath_stage.parsing.documents import ATTRIBUTE, MalformedDocument, parse, string_value
from xpath_stage.parsing.json_documents import (
    decode_name,
    encode_name,
    json_tree,
    json_values,
    number_text,
)
from xpath_stage.parsing.json_shapes import are_flat, plain_copies, read_exactly
from xpath_stage.parsing.pruned import PIECE, PrunedDocument
from xpath_stage.patterns import Definition, Family, Filter, Spine, Step, Test
from xpath_stage.strings import Strings
from xpath_stage.values import apply, double_of
from xpath_stage.work import ExcessiveDocument

__all__ = [
    "ATTRIBUTE",
    "EXTENSIONS",
    "NO_XML",
    "PIECE",
    "Accept",
    "Changes",
    "Constant",
    "Constants",
    "Definition",
    "ExcessiveDocument",
    "Family",
    "Filter",
    "Held",
    "Layout",
    "MalformedDocument",
    "PrunedDocument",
    "Row",
    "Spine",
    "Step",
    "Strings",
    "Test",
    "Witnesses",
    "XPathEvaluator",
    "apply",
    "are_flat",
    "compared",
    "decode_name",
    "double_of",
    "encode_name",
    "evaluate_json",
    "evaluate_parser_events",
    "evaluate_text",
    "evaluate_value",
    "foreign_character",
    "json_tree",
    "json_value",
    "json_values",
    "number_text",
    "parse",
    "plain_copies",
    "read_exactly",
    "string_value",
]
