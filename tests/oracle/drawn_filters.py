"""Random node tests, paths and filter conditions over the whole whitelist.

What is drawn is likely for documents of a kind: `xml`, `json`, or `mixed`.  For `plain` ones, XML
without namespaces, it is XPath 1.0.
"""

from __future__ import annotations

from hypothesis import strategies as st

from tests.oracle.terms import (
    Call,
    Condition,
    Filter,
    Negation,
    Number,
    Operation,
    Path,
    Step,
    Text,
)

__all__ = ["conditions", "node_test", "plain_path"]

_TESTS = ("a", "b", "*", "*", "*") * 3 + ("c", "*:a", "'a'", "item")
_KEYWORDS = ("or", "div", "not", "from", "text")
_IN_XML = (*_TESTS, *_TESTS, *_KEYWORDS, "p:a", "p:b", "dc:a", "atom:b", "*:b", "*:c")
_IN_JSON = (*_TESTS, *_TESTS, "json", "'b c'", "'dc:creator'", '"1st"', "é", *_KEYWORDS)
_IN_PLAIN = ("a", "a", "a", "b", "b", "b", "*", "*", "*", "c")
_ATTRIBUTES = ("@k", "@k", "@k", "@m", "@*", "@*", "@dc:k", "@xml:lang")
_TEXTS = ("1", "2", "x", "x y", "", "1.0", "it's", 'a "b"')
_NUMBERS = ("1", "1", "2", "0", "1.5", ".5", "3.", "10")
_PATTERNS = ("^1", "x|X", "[0-9]+$", "^$", ".", "x.y")
_COMPARISONS = ("=", "=", "=", "!=", "!=", "<", "<=", ">", ">=")
_TEXT_FUNCTIONS = ("string", "normalize-space", "lower-case", "upper-case")


@st.composite
def node_test(draw: st.DrawFn, kinds: str, *, attribute: bool = False) -> str:
    if kinds == "plain":
        return "@k" if attribute else draw(st.sampled_from(_IN_PLAIN))
    if attribute:
        return draw(st.sampled_from(_ATTRIBUTES))
    return draw(st.sampled_from(_IN_JSON if kinds != "xml" else _IN_XML))


@st.composite
def plain_path(draw: st.DrawFn, kinds: str, *, levels: int = 1) -> Path:
    """Steps from a variable, that bind nothing."""
    path = []
    length = draw(st.sampled_from([1, 1, 2]))
    for place in range(length):
        attribute = place == length - 1 and kinds != "json" and draw(st.integers(0, 3)) == 0
        test = draw(node_test(kinds, attribute=attribute))
        filters: tuple[Filter, ...] = ()
        if levels and draw(st.integers(0, 3)) == 0:
            positional = test != "@*"
            condition = conditions(kinds, positional=positional, top=True, levels=levels - 1)
            filters = (Filter((draw(condition),)),)
        path.append(Step(draw(st.sampled_from(["/", "/", "//"])), test, None, filters))
    return tuple(path)


@st.composite
def _relative_path(draw: st.DrawFn, kinds: str, levels: int) -> Path:
    shape = draw(st.integers(0, 5))
    if shape == 0:
        return (Step("/", "."),)
    if shape == 1:
        text = Step(draw(st.sampled_from(["/", "//"])), "text()")
        return (text,) if draw(st.booleans()) else (Step("/", draw(node_test(kinds))), text)
    path = draw(plain_path(kinds, levels=min(levels, 1)))
    return (Step("/", "."), *path) if shape == 2 else path


@st.composite
def _texts(draw: st.DrawFn, kinds: str, levels: int) -> Condition:
    shape = draw(st.integers(0, 9))
    if shape < 3 or levels <= 0:
        return Text(draw(st.sampled_from(_TEXTS)))
    if shape < 7:
        return draw(_relative_path(kinds, levels - 1))
    if shape < 9:
        name = draw(st.sampled_from(_TEXT_FUNCTIONS[: 2 if kinds == "plain" else 4]))
        if name in ("string", "normalize-space") and draw(st.booleans()):
            return Call(name)
        return Call(name, (draw(_texts(kinds, levels - 1)),))
    if draw(st.integers(0, 2)) == 0:
        # Of numbers, those that XPath 1.0 and libxml2 certainly write equally.
        number = st.builds(Number, st.sampled_from(_NUMBERS)) | st.builds(
            lambda path: Call("count", (path,)), _relative_path(kinds, levels - 1)
        )
        truth = conditions(kinds, positional=False, levels=levels - 1)
        return Call("string", (draw(number | truth),))
    name = draw(st.sampled_from(["substring-before", "substring-after"]))
    return Call(name, (draw(_texts(kinds, levels - 1)), draw(_texts(kinds, levels - 1))))


@st.composite
def _numbers(draw: st.DrawFn, kinds: str, levels: int, positional: bool) -> Condition:
    shape = draw(st.integers(0, 9))
    if shape < 3 or levels <= 0:
        return Number(draw(st.sampled_from(_NUMBERS)))
    if shape < 5:
        return Call("count", (draw(_relative_path(kinds, levels - 1)),))
    if shape == 5:
        if draw(st.booleans()):
            return Call("string-length")
        return Call("string-length", (draw(_texts(kinds, levels - 1)),))
    if shape == 6:
        if draw(st.booleans()):
            return Call("number")
        return Call("number", (draw(_values(kinds, levels - 1, positional)),))
    if shape == 7:
        return Call("last") if positional else Negation(draw(_numbers(kinds, 1, positional)))
    sign = draw(st.sampled_from(["+", "-", "*", "div", "mod"]))
    left, right = (draw(_values(kinds, levels - 1, positional)) for _ in range(2))
    return Operation(sign, left, right)


@st.composite
def _values(draw: st.DrawFn, kinds: str, levels: int, positional: bool) -> Condition:
    match draw(st.integers(0, 12)):
        case 0 | 1 | 2:
            return draw(_numbers(kinds, levels, positional))
        case 3 | 4 | 5:
            return draw(_texts(kinds, levels))
        case 6 if levels > 0:
            return draw(conditions(kinds, positional=False, levels=levels - 1))
    return draw(_relative_path(kinds, levels))


@st.composite
def conditions(
    draw: st.DrawFn, kinds: str, *, positional: bool, top: bool = False, levels: int = 2
) -> Condition:
    """A condition that holds or not; at the top of a filter also a position, if allowed."""
    shape = draw(st.integers(0, 13))
    if top and positional and shape in (0, 13):
        simple: list[Condition] = [Number("1"), Number("1"), Number("2"), Call("last")]
        return draw(st.sampled_from(simple) | _numbers(kinds, 2, True))
    if shape < 4:
        return draw(_relative_path(kinds, levels))
    if shape < 8 or levels <= 0:
        sign = draw(st.sampled_from(_COMPARISONS))
        left, right = (draw(_values(kinds, levels, positional)) for _ in range(2))
        return Operation(sign, left, right)
    if shape < 10:
        names = ["contains", "starts-with", "ends-with", "matches"]
        name = draw(st.sampled_from(names[:2] if kinds == "plain" else names))
        second: Condition
        if name == "matches":
            second = Text(draw(st.sampled_from(_PATTERNS)))
        else:
            second = draw(_texts(kinds, levels - 1))
        return Call(name, (draw(_texts(kinds, levels)), second))
    if shape == 10 and kinds != "plain":
        name = draw(st.sampled_from(["exists", "empty"]))
        return Call(name, (draw(_relative_path(kinds, levels)),))
    inner = conditions(kinds, positional=positional, levels=levels - 1)
    if shape in (10, 11):
        return Call("not", (draw(inner),))
    sign = draw(st.sampled_from(["and", "or"]))
    if draw(st.integers(0, 15)) == 0:
        sign = draw(st.sampled_from(["=", "!=", "<"]))
    return Operation(sign, draw(inner), draw(inner))
