"""Syntax trees back to text: the conditions of a query as its writer wrote them.

The tree is printed, not the text cut out, because a condition may be part of a filter and a
parameter's value is in no text.  A node test is taken from the text where it is, so that
its prefix is the one that was declared.  The law: the printed text parses to the printed tree.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from xscl.language.checks.names import NAME, PREDECLARED, STRING, NamePattern, is_name, unquoted
from xscl.language.conditions import LOOSENESS
from xscl.language.scan import scan
from xscl.language.syntax import (
    Binary,
    Block,
    Comparison,
    Condition,
    Function,
    Literal,
    Negative,
    Parameter,
    Path,
    Side,
    Step,
    SubQuery,
    VariablePath,
    Wrapped,
)
from xscl.stream_names import is_internal, public_name
from xscl.xpath_stage import decimal_text

__all__ = ["Wording", "literal"]

_TEST = NamePattern(rf"@?[ \t\r\n]*(?:{STRING}|\*:{NAME}|{NAME}(?::{NAME})?|\*)")
_PREFIXES = {uri: prefix for prefix, uri in PREDECLARED.items()}


class Wording:
    """Prints the syntax of one query; `text` is what the query was read from."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._plain = text.isascii()

    def block(self, block: Block | SubQuery) -> str:
        """A block with its filters; of a sub-query only the path, after its name if it has one."""
        stream = "(…)"
        if isinstance(block, Block):
            name = block.stream.text
            stream = f"({public_name(name)})" if is_internal(name) else _stream(name)
        return stream + "".join(step.axis + self.step(step) for step in block.steps)

    def step(self, step: Step) -> str:
        """A step without its axis."""
        return self.bare(step) + "".join(f"[{self.condition(c)}]" for c in step.filters)

    def bare(self, step: Step) -> str:
        """A step without its axis and its filters."""
        binding = "" if step.variable is None else f"->{step.variable.text}"
        return self.test(step) + binding

    def test(self, step: Step) -> str:
        """A node test as it is in the text; a step that is in none by its name."""
        if step.test in (".", "text()"):
            return step.test
        test = _TEST.form(self._plain)
        found = test.match(self._text, step.at) or test.match(self._uncommented, step.at)
        local = step.test.rpartition("}")[2].removeprefix("@")
        if found is not None:
            name = found[0].removeprefix("@").strip()
            text = unquoted(name) if name[0] in "'\"" else name.rpartition(":")[2]
            if text in (local, step.test.removeprefix("{}")):
                return ("@" if found[0][0] == "@" else "") + name
        return self._clark(step.test)

    def path(self, steps: Sequence[Step]) -> str:
        """A relative path."""
        first, *others = steps
        return self.step(first) + "".join(step.axis + self.step(step) for step in others)

    def condition(self, condition: Condition, tightness: int = 0) -> str:
        """A condition of a filter, without the brackets."""
        match condition:
            case Path():
                return self.path(condition.steps)
            case Literal():
                return literal(condition)
            case Function():
                arguments = ", ".join(self.condition(a) for a in condition.arguments)
                return condition.name + _parenthesised(arguments)
            case Negative():
                operand = self.condition(condition.operand, 7)
                # `--` would begin a comment.
                return f"- {operand}" if operand.startswith("-") else f"-{operand}"
            case Binary(operator):
                level = LOOSENESS[operator]
                if operator in ("and", "or"):
                    chain = _chained(condition, operator)
                    text = f" {operator} ".join(self.condition(one, level + 1) for one in chain)
                else:
                    left = self.condition(condition.left, level)
                    text = f"{left} {operator} {self.condition(condition.right, level + 1)}"
                return _parenthesised(text) if level < tightness else text
            case Parameter():
                return f":{condition.name}"

    def comparison(self, comparison: Comparison) -> str:
        """A comparison of a predicate."""
        left, right = self.side(comparison.left), self.side(comparison.right)
        if comparison.least is not None:
            by = "" if comparison.operator == "words" else f", '{comparison.operator}'"
            return f"similar({left}, {right}{by}) >= {self.side(comparison.least)}"
        return f"{left} {comparison.operator} {right}"

    def side(self, side: Side) -> str:
        """A side of a comparison."""
        match side:
            case VariablePath():
                steps = "".join(step.axis + self.step(step) for step in side.steps)
                return side.variable.text + steps
            case Literal():
                return literal(side)
            case Wrapped():
                return side.function + _parenthesised(self.side(side.operand))
            case Parameter():
                return f":{side.name}"

    @cached_property
    def _uncommented(self) -> str:
        """The text with spaces for its comments, which may stand after an `@`."""
        return scan(self._text).text

    def _clark(self, test: str) -> str:
        if test.startswith("{}"):
            return _string(test[2:])
        attribute, name = ("@", test[1:]) if test.startswith("@") else ("", test)
        uri, _, local = name.rpartition("}")
        if uri in ("", "{"):
            return attribute + (local if is_name(local) or name == "*" else _string(local))
        uri = uri[1:]
        prefix = "*:" if uri == "*" else f"{_PREFIXES[uri]}:" if uri in _PREFIXES else f"{{{uri}}}"
        return attribute + prefix + local


def _stream(name: str) -> str:
    """The name of a stream, in quotes where it is no name: in patterns it may be any text."""
    return name if is_name(name) else _string(name)


def _chained(condition: Condition, operator: str) -> list[Condition]:
    """The operands of a chain of `and` or of `or`.

    A chain is read as a balanced tree: one of another shape is a chain of its two sides.
    """
    if not (isinstance(condition, Binary) and condition.operator == operator):
        return [condition]
    sides = condition.left, condition.right
    left, right = (_chained(side, operator) for side in sides)
    return left + right if len(left) - len(right) in (0, 1) else list(sides)


def _parenthesised(text: str) -> str:
    """A text in parentheses; `(:` would begin a comment."""
    return f"( {text})" if text.startswith(":") else f"({text})"


def literal(constant: Literal) -> str:
    """A constant."""
    if isinstance(constant.value, str):
        return _string(constant.value)
    # The language knows no exponents.
    return decimal_text(float(constant.value))


def _string(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
