"""Stage 1: documents in, witnesses of all registered tree patterns out (section 6.3).

`patterns` are the input of this package.  `automaton` merges them, and `paths` runs the automaton
once per path (`transitions` lead to paths, `leaf_paths` say which rows a path leaves).  `filters`
tests nodes: `functions` adds what XPath 1.0 lacks, `constants` finds the constants that hold.
`evaluator` walks a document within the bounds of `work`.  For a large document it walks
`parser_events`, over a tree that is `pruned` as it grows.

The walk leaves a trace (`traces`), from which the rows of a layout follow (`layouts`,
`equal_leaves`).  Documents of one structure share a layout, as far as filters hold alike
(`structures`); the next such document is only cut (`bodies`), not parsed.  So are texts of whose
nodes events are read (`alike_texts`).  Spines come and go while
documents flow: `live.registered` counts them, `live.upkeep` updates the paths.  `values` has
functions on strings, `parsing` builds trees and cuts texts.
"""

from xscl.xpath_stage.alike_texts import AlikeTexts, CutText, Reached
from xscl.xpath_stage.bodies import evaluate_json, evaluate_text, evaluate_value, json_value
from xscl.xpath_stage.constants import (
    Constant,
    Constants,
    Satisfied,
    decimal_text,
    number_of_constant,
)
from xscl.xpath_stage.evaluator import XPathEvaluator
from xscl.xpath_stage.functions import EXTENSIONS, compared
from xscl.xpath_stage.layouts import Layout, Row, Witnesses
from xscl.xpath_stage.leaf_paths import Accept, Changes
from xscl.xpath_stage.parser_events import evaluate_parser_events
from xscl.xpath_stage.parsing.characters import NO_XML, foreign_character
from xscl.xpath_stage.parsing.documents import ATTRIBUTE, MalformedDocument, parse, string_value
from xscl.xpath_stage.parsing.json_documents import (
    decode_name,
    encode_name,
    json_tree,
    json_values,
    number_text,
)
from xscl.xpath_stage.parsing.json_shapes import are_flat, plain_copies, read_exactly
from xscl.xpath_stage.parsing.markup import written_as_it_is
from xscl.xpath_stage.parsing.pruned import PIECE, PrunedDocument
from xscl.xpath_stage.patterns import Definition, Family, Filter, Spine, Step, Test
from xscl.xpath_stage.strings import Strings
from xscl.xpath_stage.texts import likeness
from xscl.xpath_stage.texts.likeness import MEASURES, Alike, alike_of
from xscl.xpath_stage.values import apply, double_of
from xscl.xpath_stage.work import ExcessiveDocument

__all__ = [
    "ATTRIBUTE",
    "EXTENSIONS",
    "MEASURES",
    "NO_XML",
    "PIECE",
    "Accept",
    "Alike",
    "AlikeTexts",
    "Changes",
    "Constant",
    "Constants",
    "CutText",
    "Definition",
    "ExcessiveDocument",
    "Family",
    "Filter",
    "Layout",
    "MalformedDocument",
    "PrunedDocument",
    "Reached",
    "Row",
    "Satisfied",
    "Spine",
    "Step",
    "Strings",
    "Test",
    "Witnesses",
    "XPathEvaluator",
    "alike_of",
    "apply",
    "are_flat",
    "compared",
    "decimal_text",
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
    "likeness",
    "number_of_constant",
    "number_text",
    "parse",
    "plain_copies",
    "read_exactly",
    "string_value",
    "written_as_it_is",
]
