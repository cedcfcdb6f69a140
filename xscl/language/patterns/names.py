"""The names of a pattern: its components by their variables, and what a bare name reads."""

from __future__ import annotations

from xscl.language.syntax import Attribute, EventPattern, Read

__all__ = ["bare_attribute", "component_names"]


def component_names(source: EventPattern) -> list[str]:
    """The names of a pattern's components, in order: of one without a variable its place, `_1`."""
    return [
        f"_{number}" if one.variable is None else one.variable.text
        for number, one in enumerate(source.components, 1)
    ]


def bare_attribute(read: Read) -> Attribute:
    """The attribute that a read names by itself, in a pattern of one component."""
    if read.variable is None:
        assert read.attribute is not None
        return read.attribute
    return Attribute((read.variable.text,), None, False, read.at)
