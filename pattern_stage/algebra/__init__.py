"""The algebra of event queries: plans in, compiled operators out (docs/semantics.md#operators).

`nodes` has the operators, each in a file of its own, with how an attribute of its events is read;
conditions and items consist of `terms`, `texts` has their Python, `compiled` that as functions.
`attributes` are all that an event has, `identity` says which events are equal, `normal_form`
reduces the ways to write a plan, `localised` makes equal operators one.
"""

from xscl.pattern_stage.algebra.attributes import attributes, published, reader
from xscl.pattern_stage.algebra.compiled import (
    admits,
    continues,
    events,
    function,
    history,
    iterated,
    mapped,
    texts_of,
)
from xscl.pattern_stage.algebra.functions import NAMES
from xscl.pattern_stage.algebra.identity import frozen, is_document, is_union, may_repeat, same
from xscl.pattern_stage.algebra.localised import Localised, Operators, typed
from xscl.pattern_stage.algebra.normal_form import normal_form
from xscl.pattern_stage.algebra.numbered import numbered
from xscl.pattern_stage.algebra.texts import SideTexts
from xscl.pattern_stage.layouts import Layouts
from xscl.pattern_stage.values.terms import NULL

__all__ = [
    "NAMES",
    "NULL",
    "Layouts",
    "Localised",
    "Operators",
    "SideTexts",
    "admits",
    "attributes",
    "continues",
    "events",
    "frozen",
    "function",
    "history",
    "is_document",
    "is_union",
    "iterated",
    "mapped",
    "may_repeat",
    "normal_form",
    "numbered",
    "published",
    "reader",
    "same",
    "texts_of",
    "typed",
]
