"""Draws conditions and values over the attributes of events."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from tests.oracle.event_algebra.schemas import Schema
from tests.oracle.event_algebra.syntax import (
    And,
    Compare,
    Condition,
    Dur,
    Function,
    Length,
    Not,
    Number,
    Operation,
    Or,
    Ref,
    Scalar,
    String,
    Test,
    Truth,
)

__all__ = ["NAMES", "Side", "condition", "ref", "term"]

NAMES = ("Name", "P", "V")
FUNCTIONS = (
    *("string-length", "lower-case", "upper-case", "normalize-space", "concat", "string"),
    *("number", "abs", "min", "max"),
)
SIGNS = ("=", "!=", "!=", "<", "<=", ">", ">=")


@dataclass(frozen=True)
class Side:
    deco: str | None
    schema: Schema

    def names(self) -> list[str]:
        return [*self.schema.names, *(NAMES if self.schema.open else ())]


def ref(draw: st.DrawFn, sides: Sequence[Side]) -> Ref | Number:
    side = draw(st.sampled_from([one for one in sides if one.names()] or list(sides)))
    if not side.names():
        return Number(1.0)
    deco: Any = side.deco
    return Ref(deco, draw(st.sampled_from(side.names())))


def term(draw: st.DrawFn, sides: Sequence[Side]) -> Scalar:
    read = ref(draw, sides)
    match draw(st.sampled_from([*["ref"] * 5, "sum", "product", "share", "function", "minus"])):
        case "sum":
            return Operation(draw(st.sampled_from("+-")), read, Number(1.0))
        case "product":
            sign = draw(st.sampled_from("*/"))
            return Operation(sign, read, Number(draw(st.sampled_from([0.0, 0.5, 2.0]))))
        case "share":
            return Operation("*", Number(0.5, True), read)
        case "minus":
            return Operation("-", None, read)
        case "function":
            name = draw(st.sampled_from(FUNCTIONS))
            more = (ref(draw, sides),) if name in ("concat", "min", "max") else ()
            return Function(name, (read, *more))
    return read


def _constant(draw: st.DrawFn) -> Scalar:
    texts = [String("a"), String("b"), String("2"), String("")]
    numbers = [Number(1.0), Number(2.0), Number(3.0), Number(3.5)]
    return draw(st.sampled_from(texts + numbers + numbers))


def _atom(draw: st.DrawFn, sides: Sequence[Side]) -> Condition:
    kinds = ["constant"] * 3 + ["like"] * 4 + ["equal", "two", "two", "age", "test", "truth"]
    match draw(st.sampled_from(kinds)):
        case "age":
            ages = [None, *(one.deco for one in sides if one.deco)]
            length = Length(draw(st.sampled_from([0, 500_000, 1_000_000, 3_000_000, 6_000_000])))
            age = Dur(draw(st.sampled_from(ages)))  # type: ignore[arg-type]
            pair = (age, length) if draw(st.booleans()) else (length, age)
            return Compare(draw(st.sampled_from([*SIGNS, "<=", "<="])), *pair)  # type: ignore[arg-type]
        case "test":
            name = draw(st.sampled_from(["contains", "starts-with", "ends-with", "matches"]))
            return Test(name, ref(draw, sides), String(draw(st.sampled_from(["a", "b", "2"]))))
        case "truth":
            return Truth(draw(st.sampled_from([True, True, False])))
        case "constant":
            pair = term(draw, sides), _constant(draw)
            return Compare(draw(st.sampled_from(SIGNS)), *pair)  # type: ignore[arg-type]
        case "like":
            # As queries mostly are: one name of two events, or a plain bound.
            names = [name for name in sides[-1].names() if name in sides[0].names()] or ["P"]
            name, bound = draw(st.sampled_from(names)), Number(1.0)
            decos: list[Any] = [sides[-1].deco, sides[0].deco]
            if len(sides) == 1:
                return Compare(draw(st.sampled_from([">=", "!="])), Ref(decos[0], name), bound)  # type: ignore[arg-type]
            pair = Ref(decos[0], name), Ref(decos[1], name)
            return Compare(draw(st.sampled_from(["=", "=", ">=", ">"])), *pair)  # type: ignore[arg-type]
        case "equal":
            pair = ref(draw, sides[-1:]), ref(draw, sides[:-1] or sides)
            return Compare(draw(st.sampled_from("==!"))[0].replace("!", "!="), *pair)  # type: ignore[arg-type]
    pair = term(draw, sides[-1:]), term(draw, sides)
    return Compare(draw(st.sampled_from(SIGNS)), *pair)  # type: ignore[arg-type]


def condition(draw: st.DrawFn, sides: Sequence[Side]) -> Condition | None:
    match draw(st.sampled_from([*["none"] * 4, *["atom"] * 5, "and", "and", "or", "not"])):
        case "none":
            return None
        case "atom":
            return _atom(draw, sides)
        case "not":
            return Not(_atom(draw, sides))
    parts = tuple(_atom(draw, sides) for _ in range(draw(st.sampled_from([2, 2, 3]))))
    if draw(st.sampled_from([False, False, True])):
        return And((_atom(draw, sides), Or(parts)))
    return draw(st.sampled_from([And, And, Or]))(parts)
