"""The Python text of an automaton's functions as it is collected, and its compilation.

Functions are nested in one whose parameter is a query's constants: `make(constants)` returns them
by name.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable

from xscl.pattern_stage.algebra.functions import NAMES as FUNCTIONS
from xscl.pattern_stage.automaton import Functions
from xscl.pattern_stage.gates import PASS
from xscl.pattern_stage.layouts import END, Layouts
from xscl.pattern_stage.pattern import Pattern
from xscl.pattern_stage.values.numbers import NAMES, number_of
from xscl.pattern_stage.values.terms import Constant, Form, Slot

__all__ = ["Texts"]


class Texts:
    """The common context of the functions of one pattern: places of slots, constants, their text so
    far."""

    def __init__(
        self, pattern: Pattern, types: tuple[tuple[int, ...], ...], layouts: Layouts
    ) -> None:
        self.pattern, self.types = pattern, types
        self.positive = tuple(
            place for place, one in enumerate(pattern.components) if not one.negated
        )
        self.fixed = set[int]()
        self._layouts = layouts
        self._functions: dict[str, str] = {}

    def wild(self, component: int) -> bool:
        """Whether it is an ANY component."""
        return self.pattern.components[component].any

    def slot(self, component: int, slot: Slot, event: str = "e") -> str:
        """An attribute of an event of a component."""
        return self.slot_of(self.types[component], slot, event)

    def slot_of(self, types: tuple[int, ...], slot: Slot, event: str = "e") -> str:
        """An attribute of an event of one of some types."""
        if slot.attribute.own == "timestamp":
            time = f"{event}[{END}]"
            return f"({time} / 1000000)" if slot.form is Form.NUMBER else time
        return f"{event}[{self._layouts.place(types, slot)}]"

    def constant(self, constant: Constant, form: Form, given: list[int] | None = None) -> str:
        """A constant that no gate compares, or that is in `C`."""
        if given is not None:
            if constant.place not in given:
                given.append(constant.place)
            text = f"C[{2 * given.index(constant.place) + (form is Form.NUMBER)}]"
        else:
            self.fixed.add(constant.place)
            cast = form is Form.NUMBER and not constant.number
            text = f"{'n' if cast else 'c'}{constant.place}"
        return f"number_text({text})" if constant.number and form is Form.TEXT else text

    def function(self, parameters: str, result: str, *statements: str) -> str:
        """The name of a function, one for all equal ones."""
        body = "".join(f"        {one}\n" for one in statements if one != "pass")
        text = f"({parameters}):\n{body}        return {result}\n"
        name = self._functions.get(text)
        if name is None:
            name = self._functions[text] = f"f{len(self._functions)}"
        return name

    def compiled(self) -> tuple[Callable[[tuple[str | float, ...]], Functions], str]:
        """`make`, and its text."""
        lines = ["def make(constants):\n"]
        for place in sorted(self.fixed):
            lines.append(f"    c{place} = constants[{place}]\n")
            lines.append(
                f"    n{place} = number_of(c{place}) if isinstance(c{place}, str) else c{place}\n"
            )
        for text, name in self._functions.items():
            lines.append(f"    def {name}{text}")
        named = ", ".join(f"{name!r}: {name}" for name in self._functions.values())
        lines.append(f"    return {{{named}}}\n")
        source = "".join(lines)
        names: dict[str, Callable[[tuple[str | float, ...]], Functions]] = {}
        space = {
            **FUNCTIONS,
            **NAMES,
            "bisect_left": bisect_left,
            "PASS": PASS,
            "number_of": number_of,
        }
        exec(compile(source, "<pattern>", "exec"), space, names)
        return names["make"], source
