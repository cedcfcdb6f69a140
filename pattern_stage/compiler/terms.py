"""Terms, comparisons and conjuncts to Python text: the rules of numbers, NaN and missing values.

Who compiles says by `Reads` where a value stands.  A comparison that reads a missing attribute
is true if its event belongs to an ANY component, else false (patterns-sase.md, section 2).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from pattern_stage.pattern import (
    Aggregate,
    Arithmetic,
    Comparison,
    Conjunct,
    Constant,
    Form,
    Length,
    Negative,
    Read,
    Term,
)

__all__ = ["Reads", "comparison_text", "conjunct_text", "is_number", "leaves", "value_text"]

Leaf = Constant | Read | Aggregate | Length

_ORDER = {
    "<": ("less", False),
    "<=": ("at_most", False),
    ">": ("less", True),
    ">=": ("at_most", True),
}


class Reads(Protocol):
    """Python text for what terms are made of."""

    def read(self, read: Read, form: Form) -> str:
        """An attribute; None at run time where the event lacks it."""

    def wild(self, read: Read) -> bool:
        """Whether the event belongs to an ANY component."""

    def aggregate(self, aggregate: Aggregate) -> str:
        """An aggregate."""

    def length(self, length: Length) -> str:
        """A number of events."""

    def constant(self, constant: Constant, form: Form) -> str:
        """A constant."""


def leaves(term: Term) -> Iterator[Leaf]:
    """What a term is made of."""
    if isinstance(term, Arithmetic):
        yield from leaves(term.left)
        yield from leaves(term.right)
    elif isinstance(term, Negative):
        yield from leaves(term.operand)
    else:
        yield term


def is_number(term: Term) -> bool:
    """Whether a term is a number by itself."""
    return term.number if isinstance(term, Constant | Read) else True


def number_text(term: Term, reads: Reads) -> str:
    """A term as a number, NaN where it is none; what it reads must not be missing."""
    match term:
        case Constant():
            return reads.constant(term, Form.NUMBER)
        case Read():
            return reads.read(term, Form.NUMBER)
        case Aggregate():
            return reads.aggregate(term)
        case Length():
            return reads.length(term)
        case Negative(operand):
            return f"(-{number_text(operand, reads)})"
        case Arithmetic("/", left, right):
            return f"divide({number_text(left, reads)}, {number_text(right, reads)})"
        case Arithmetic("%", left, right):
            return f"remainder({number_text(left, reads)}, {number_text(right, reads)})"
        case Arithmetic(operator, left, right):
            return f"({number_text(left, reads)} {operator} {number_text(right, reads)})"


def comparison_text(comparison: Comparison, reads: Reads) -> str:
    """A comparison."""
    left, right, operator = comparison.left, comparison.right, comparison.operator
    if is_number(left) or is_number(right):
        return _guarded(comparison, reads, _numbers(operator, left, right, reads), Form.NUMBER)
    texts = [_text(term, reads, Form.TEXT) for term in (left, right)]
    if operator in ("=", "!="):
        holds = f"{texts[0]} {'==' if operator == '=' else '!='} {texts[1]}"
    else:
        name, turned = _ORDER[operator]
        sides = [
            f"{_text(term, reads, Form.TEXT)}, {_text(term, reads, Form.NUMBER)}"
            for term in ((right, left) if turned else (left, right))
        ]
        holds = f"{name}({', '.join(sides)})"
    return _guarded(comparison, reads, holds, Form.TEXT)


def conjunct_text(conjunct: Conjunct, reads: Reads) -> str:
    """Comparisons joined by OR."""
    return "(" + " or ".join(comparison_text(one, reads) for one in conjunct) + ")"


def value_text(term: Term, constant: Constant, operator: str, reads: Reads) -> str:
    """The text of a value that a gate compares: None if missing, PASS if that passes."""
    if is_number(term) or constant.number:
        plain, wild = missing_texts(term, reads, Form.NUMBER)
        text = number_text(term, reads)
    else:
        assert isinstance(term, Read)
        plain, wild = missing_texts(term, reads, Form.TEXT)
        text = reads.read(term, Form.TEXT)
        if operator not in ("=", "!="):
            text = f"({text}, {reads.read(term, Form.NUMBER)})"
    guarded = plain != [text]
    if guarded and plain:
        there = " and ".join(f"{one} is not None" for one in plain)
        text = f"({text} if {there} else None)"
    if wild:
        missing = " or ".join(f"{one} is None" for one in wild)
        text = f"(PASS if {missing} else {text})"
    return text


def missing_texts(term: Term, reads: Reads, form: Form) -> tuple[list[str], list[str]]:
    """What must not be missing in a term: of plain components, and of ANY components."""
    plain, wild = dict[str, None](), dict[str, None]()
    for leaf in leaves(term):
        if isinstance(leaf, Read) and not leaf.number:
            (wild if reads.wild(leaf) else plain)[reads.read(leaf, form)] = None
    return [*plain], [*wild]


def _text(term: Term, reads: Reads, form: Form) -> str:
    if isinstance(term, Constant):
        return reads.constant(term, form)
    assert isinstance(term, Read)
    return reads.read(term, form)


def _numbers(operator: str, left: Term, right: Term, reads: Reads) -> str:
    texts = number_text(left, reads), number_text(right, reads)
    if operator == "!=":
        return f"differ({texts[0]}, {texts[1]})"
    return f"{texts[0]} {'==' if operator == '=' else operator} {texts[1]}"


def _guarded(comparison: Comparison, reads: Reads, holds: str, form: Form) -> str:
    sides = [missing_texts(term, reads, form) for term in (comparison.left, comparison.right)]
    plain = dict.fromkeys(sides[0][0] + sides[1][0])
    wild = dict.fromkeys(sides[0][1] + sides[1][1])
    there = " and ".join([*(f"{one} is not None" for one in plain), holds])
    return "(" + " or ".join([*(f"{one} is None" for one in wild), f"({there})"]) + ")"
