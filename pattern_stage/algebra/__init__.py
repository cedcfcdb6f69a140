"""The algebra of event queries: plans in, compiled operators out (patterns-cel.md, section 3).

`nodes` has the operators, each in a file of its own with how an attribute of its events is read;
`terms` are what conditions and items are made of, `texts` their Python, `compiled` that as
functions, `attributes` all that an event has.  `layout` is where a source's attributes stand.
"""

from pattern_stage.algebra.attributes import attributes
from pattern_stage.algebra.compiled import (
    admits,
    function,
    goes_on,
    iterated,
    mapped,
    reader,
)
from pattern_stage.algebra.layout import NULL, Layout
from pattern_stage.algebra.texts import Texts

__all__ = [
    "NULL",
    "Layout",
    "Texts",
    "admits",
    "attributes",
    "function",
    "goes_on",
    "iterated",
    "mapped",
    "reader",
]
