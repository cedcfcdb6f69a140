"""Random SELECT clauses over the variables of a query."""

from __future__ import annotations

from hypothesis import strategies as st

from tests.oracle.drawn_filters import plain_path
from tests.oracle.terms import Constructor, Insert, Item, JSONConstructor, Select, VariablePath

__all__ = ["selects"]

_NAMES = ("r", "t", "p1", "from", "dc:t", "p:t")
_LITERALS = (
    "&#x31;",
    "&#32;",
    "<?p {q}?>",
    '<e k="&#x20;\'"/>',
    "]&gt;",  # after an expression and before a CDATA section, SaxonC stumbles over `]]&gt;`
    "it's",
    "x",
    " ",
    "\n  ",
    "&amp;",
    "{{",
    "}}",
    "<![CDATA[ <{a}> ]]>",
    "<!-- {c} -->",
    "a -- b;",
)
_IN_ATTRIBUTES = ("\n", "&#xA;", "x", " ", "&lt;", "{{", "}}", "'", "--", ";")
_PLAIN_LITERALS = ("it's", "x", "&amp;", "{{")
_CONSTANTS = ("x", "{x1}", 1, 1.5, -2, True, False, None)


@st.composite
def _paths(draw: st.DrawFn, names: list[str], kinds: str) -> VariablePath:
    path = draw(plain_path(kinds)) if draw(st.integers(0, 3)) == 0 else ()
    return VariablePath(draw(st.sampled_from(names)), path)


@st.composite
def _constructors(draw: st.DrawFn, names: list[str], kinds: str, levels: int) -> Constructor:
    plain = kinds == "plain"
    attributes = {}
    some = ["k", "m"] if plain else ["k", "m", "p:k", "xml:lang"]
    for name in draw(st.lists(st.sampled_from(some), max_size=2, unique=True)):
        texts = st.sampled_from(("x", "'") if plain else _IN_ATTRIBUTES)
        parts = texts | st.builds(Insert, _paths(names, kinds))
        attributes[name] = tuple(draw(st.lists(parts, max_size=3)))
    namespaces: tuple[tuple[str, str], ...] = ()
    if not plain and draw(st.integers(0, 9)) == 0:
        prefix, uri = draw(st.sampled_from([("", "urn:d"), ("p", "urn:p"), ("z", "urn:z")]))
        namespaces = ((prefix, uri),)
    inserts = st.builds(Insert, _paths(names, kinds), st.booleans())
    literals = st.sampled_from(_PLAIN_LITERALS if plain else _LITERALS)
    within: st.SearchStrategy[str | Insert | Constructor] = st.one_of(inserts, inserts, literals)
    if levels:
        within |= _constructors(names, kinds, levels - 1)
    content = draw(st.lists(within, max_size=4))
    name = draw(st.sampled_from(_NAMES[: 2 if plain else None]))
    if namespaces and namespaces[0][0] and ":" not in name:
        name = f"{namespaces[0][0]}:{name}"
    return Constructor(name, namespaces, tuple(attributes.items()), tuple(content))


@st.composite
def _json(draw: st.DrawFn, names: list[str], kinds: str, levels: int) -> JSONConstructor:
    members: dict[str, object] = {}
    for key in draw(st.lists(st.sampled_from(["t", "b c", "é", ""]), max_size=3, unique=True)):
        members[key] = draw(_json_parts(names, kinds, levels))
    return members


@st.composite
def _json_parts(draw: st.DrawFn, names: list[str], kinds: str, levels: int) -> object:
    shape = draw(st.integers(0, 7))
    if shape == 0:
        return draw(st.sampled_from(_CONSTANTS))
    if shape < 3 and levels:
        if shape == 1:
            return draw(_json(names, kinds, levels - 1))
        return draw(st.lists(_json_parts(names, kinds, levels - 1), max_size=3))
    path = draw(_paths(names, kinds))
    return [path] if shape < 5 else path


@st.composite
def selects(draw: st.DrawFn, names: list[str], kinds: str) -> Select:
    """Nothing, `*`, a list, or a constructor."""
    shapes = ["", "*", "list", "list", "xml", "xml", "json"]
    shape = draw(st.sampled_from(shapes[:-1] if kinds == "plain" else shapes))
    if shape in ("", "*") or not names:
        return "*" if shape == "*" else ""
    if shape == "xml":
        return draw(_constructors(names, kinds, 1))
    if shape == "json":
        return draw(_json(names, kinds, 1))
    aliases = st.none() | st.sampled_from(
        ["v", "a", "title", "dc:t"][: 3 if kinds == "plain" else 4]
    )
    items = st.builds(Item, _paths(names, kinds), aliases)
    return tuple(draw(st.lists(items, min_size=1, max_size=3)))
