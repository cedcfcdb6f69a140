"""The algebra of event queries: plans in, compiled operators out (patterns-cel.md, section 3).

`nodes` has the operators, each in a file of its own, with how an attribute of its events is read;
`terms` are what conditions and items are made of, `texts` their Python, `compiled` that as
functions.  `attributes` are all that an event has, `identity` says which events are one,
`normal_form` has fewer ways to say the same, `localised` makes equal operators one.  `layout` is
where a source's attributes stand.
"""

from pattern_stage.algebra.attributes import attributes, published, reader
from pattern_stage.algebra.compiled import (
    admits,
    function,
    goes_on,
    iterated,
    mapped,
)
from pattern_stage.algebra.functions import NAMES
from pattern_stage.algebra.identity import frozen, is_document, same
from pattern_stage.algebra.layout import NULL, Layout
from pattern_stage.algebra.localised import Localised, Operators, inputs
from pattern_stage.algebra.normal_form import normal_form
from pattern_stage.algebra.texts import Texts

__all__ = [
    "NAMES",
    "NULL",
    "Layout",
    "Localised",
    "Operators",
    "Texts",
    "admits",
    "attributes",
    "frozen",
    "function",
    "goes_on",
    "inputs",
    "is_document",
    "iterated",
    "mapped",
    "normal_form",
    "published",
    "reader",
    "same",
]
