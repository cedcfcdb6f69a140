"""Terms and conditions over the attributes of events.

A leaf is what a term reads: in patterns, attributes of the events of components (`Read`,
`Aggregate`, `Length`); in event queries, attributes by name of the event on a *side* (`Column`,
`Age`): 0 the left or only input (`$1`), 1 the right one (`$2`), 2 the last iteration of an Iterate
(`$`); in automata, attributes of the event that an arc takes (`Read`) and fields of the register
(`Register`).  Constants are separate, as places in a tuple, so that queries that differ in them are
one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum, auto
from typing import Any, Literal

__all__ = [
    "EVERYTHING",
    "MISSING",
    "NULL",
    "RANGES",
    "STEP",
    "XML_ATTRIBUTE",
    "Age",
    "Aggregate",
    "And",
    "Arithmetic",
    "Attribute",
    "Call",
    "Column",
    "Comparison",
    "Constant",
    "ForAll",
    "Form",
    "Index",
    "Leaf",
    "Length",
    "Negative",
    "Not",
    "Or",
    "Predicate",
    "Range",
    "Read",
    "Register",
    "Slot",
    "Spread",
    "Term",
    "TextTest",
    "Truth",
    "is_number",
    "leaves",
    "parts",
    "rebuilt",
]

# Attributes.

STEP = "\x1f"
"""Between the steps of a path in the name of an attribute, whose last one may be `@name`, and
between a variable and those."""

XML_ATTRIBUTE = "\x1e"
"""Before the name of an XML attribute, the last step of a path: a member may begin with `@`."""

MISSING = object()
"""The value of an attribute that an event lacks, as None is JSON's null."""


class _Null:
    """JSON's null as the value of a slot; None is missing."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "NULL"

    def __reduce__(self) -> str:
        return "NULL"


NULL = _Null()


@dataclass(frozen=True, slots=True)
class Attribute:
    """An attribute of an event: the names of the steps from its output node, the first of which may
    be a variable of its block, then the name of an XML attribute: `x/y/@z`.

    Neither is the string value of the output node itself.  `own` is an attribute of every event:
    the time of its document in seconds, or its document's id.
    """

    steps: tuple[str, ...] = ()
    attribute: str | None = None
    own: Literal["timestamp", "document"] | None = None

    @classmethod
    def named(cls, name: str) -> Attribute:
        """The attribute of a name in an event query, where `document()` and `timestamp()` are those
        of every event, and `STEP` is between the steps of a path."""
        match name:
            case "document()":
                return cls(own="document")
            case "timestamp()":
                return cls(own="timestamp")
            case _ if STEP in name:
                *steps, last = name.split(STEP)
                attribute = last[1:] if last.startswith(XML_ATTRIBUTE) else None
                steps = steps[1:] if steps[0] == "" else steps
                return cls((*steps, last) if attribute is None else (*steps,), attribute)
            case _:
                return cls((name,))

    def __post_init__(self) -> None:
        if self.own is not None and (self.steps or self.attribute is not None):
            raise ValueError(f"{self.own} has no path")


class Form(Enum):
    """The form in which an attribute is read: its string value, its number, or (in the algebra
    only) the JSON value as it is."""

    TEXT = auto()
    NUMBER = auto()
    VALUE = auto()


@dataclass(frozen=True, slots=True)
class Slot:
    """A place in the tuple of an event.  In form TEXT a str; in form NUMBER a float, NaN where the
    text is not castable to xs:double; in form VALUE a JSON value, `algebra.NULL` for null; None
    where the event lacks the attribute."""

    attribute: Attribute
    form: Form


EVERYTHING = Slot(Attribute(), Form.VALUE)
"""All attributes of an event by name, for results that show all of them."""


# Leaves.


@dataclass(frozen=True, slots=True)
class Constant:
    """The constant at a place of the query's tuple of constants: a float where `number`
    (microseconds, an int, alongside an `Age`), else a str."""

    place: int
    number: bool


class Index(Enum):
    """Which event of a Kleene component is read: `a[1]`, `a[i]`, `a[i-1]`, `a[a.LEN]`."""

    FIRST = auto()
    EACH = auto()
    PREVIOUS = auto()
    LAST = auto()


@dataclass(frozen=True, slots=True)
class Read:
    """An attribute of the event of a component, by its place; `index` for a Kleene one only."""

    component: int
    attribute: Attribute
    index: Index | None = None

    @property
    def number(self) -> bool:
        """Whether it is a number by itself, which no event lacks."""
        return self.attribute.own == "timestamp"


@dataclass(frozen=True, slots=True)
class Aggregate:
    """An aggregate over the events of a Kleene component; with `previous` over those before the
    one that `Index.EACH` reads, `a[..i-1]`.  Only `count` has no attribute."""

    function: Literal["avg", "sum", "min", "max", "count"]
    component: int
    attribute: Attribute | None
    previous: bool = False

    def __post_init__(self) -> None:
        if self.attribute is None and self.function != "count":
            raise ValueError(f"{self.function} is of an attribute")


@dataclass(frozen=True, slots=True)
class Length:
    """The number of events of a Kleene component, `a.LEN`."""

    component: int


Side = int
"""0 the left or only input, 1 the right one, 2 the last iteration, 3 what is the latest of these;
from `RANGES` on the values of a `ForAll`."""

RANGES = 4


@dataclass(frozen=True, slots=True)
class Column:
    """An attribute of the event on a side, by the name that the input's schema has for it."""

    side: Side
    name: str


@dataclass(frozen=True, slots=True)
class Age:
    """DUR in microseconds: of the event on a side, or None for the composite (of a Select's input:
    side 0)."""

    side: Side | None


@dataclass(frozen=True, slots=True)
class Register:
    """The field at a place of an automaton's register; `number` is its type."""

    place: int
    number: bool


@dataclass(frozen=True, slots=True)
class Spread:
    """From the first start to the last end, in microseconds, of the events of two variables in a
    composite; missing where it lacks one of them."""

    one: str
    other: str


Leaf = Constant | Read | Aggregate | Length | Column | Age | Register | Spread

# Terms.


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """`+ - * /`, and `%`, the remainder with the sign of the dividend, over xs:double."""

    operator: Literal["+", "-", "*", "/", "%"]
    left: Term
    right: Term


@dataclass(frozen=True, slots=True)
class Negative:
    """`- operand`."""

    operand: Term


@dataclass(frozen=True, slots=True)
class Call:
    """A function: `canonical string-length lower-case upper-case normalize-space concat string
    number abs min max similar`; within normal forms `kept`, a number that is missing where it is
    not finite."""

    function: str
    arguments: tuple[Term, ...]


Term = Leaf | Arithmetic | Negative | Call

_NUMERIC = frozenset(
    ["string-length", "number", "abs", "min", "max", "similar", "kept", "count", "sum", "avg"]
)
"""The functions and aggregates whose value is a number."""


def is_number(term: Term) -> bool | None:
    """Whether a term is a number by its form, or a text; None: as the attribute is."""
    match term:
        case Constant(number=number) | Register(number=number):
            return number
        case Read():
            return term.number or None
        case Call("argmax" | "argmin") | Column():
            return None
        case Call(function):
            return function in _NUMERIC
        case _:
            return True


# Conditions.

Mode = Literal["number", "text", "either"]


@dataclass(frozen=True, slots=True)
class Comparison:
    """A comparison, false where a side is missing.  `mode` is decided by the query's text: of
    numbers; of strings (`=`, `!=`); or an order of `either`: numbers where both cast, else strings
    by codepoint."""

    operator: Literal["=", "!=", "<", "<=", ">", ">="]
    left: Term
    right: Term
    mode: Mode

    @classmethod
    def of(cls, operator: Any, left: Term, right: Term) -> Comparison:
        """A comparison of numbers where either side is one by its form."""
        mode: Mode = "text" if operator in ("=", "!=") else "either"
        return cls(operator, left, right, "number" if is_number(left) or is_number(right) else mode)


@dataclass(frozen=True, slots=True)
class TextTest:
    """`contains starts-with ends-with matches`, false where a side is missing."""

    function: Literal["contains", "starts-with", "ends-with", "matches"]
    left: Term
    right: Term


@dataclass(frozen=True, slots=True)
class Truth:
    """TRUE or FALSE."""

    value: bool


@dataclass(frozen=True, slots=True)
class Not:
    """Two-valued: true where the operand is false because an attribute is missing."""

    operand: Predicate


@dataclass(frozen=True, slots=True)
class And:
    """Two predicates or more."""

    parts: tuple[Predicate, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """Two predicates or more."""

    parts: tuple[Predicate, ...]


@dataclass(frozen=True, slots=True)
class Range:
    """Values of an attribute in the composite on a side: of `all` events of its variable, of the
    `last` one, or of the one `before` that."""

    side: Side
    name: str
    which: Literal["all", "last", "before"]


@dataclass(frozen=True, slots=True)
class ForAll:
    """A predicate that holds for all combinations of values, which it reads as the attributes of
    sides from `RANGES` on; true where a range has no events."""

    ranges: tuple[Range, ...]
    part: Predicate


Predicate = Comparison | TextTest | Truth | Not | And | Or | ForAll

# Walks.


def parts(term: object) -> Iterator[Any]:
    """The terms, conditions and tuples that are parts of one."""
    if isinstance(term, tuple):
        yield from term
    elif is_dataclass(term):
        for field in fields(term):
            value = getattr(term, field.name)
            if isinstance(value, tuple) or is_dataclass(value):
                yield value


def leaves(term: object) -> Iterator[Leaf]:
    """The leaves of a term, a condition, or several of them, in their order."""
    if isinstance(term, Leaf):
        yield term
    else:
        for part in parts(term):
            yield from leaves(part)


def rebuilt(term: Any, instead: Callable[[Any], Any]) -> Any:
    """A term, predicate or condition, in which parts are replaced by the result of `instead`; None
    keeps a part, and its own parts are visited."""
    found = instead(term)
    if found is not None:
        return found
    if isinstance(term, tuple):
        return tuple(rebuilt(one, instead) for one in term)
    if is_dataclass(term):
        return type(term)(*(rebuilt(getattr(term, one.name), instead) for one in fields(term)))  # type: ignore[misc]
    return term
