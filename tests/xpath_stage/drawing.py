"""Random documents and spines, and what libxml2's XPath says to them, one step at a time."""

from __future__ import annotations

from decimal import Decimal
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from hypothesis import strategies as st
from lxml import etree

from xscl.xpath_stage import (
    ATTRIBUTE,
    Changes,
    Filter,
    Row,
    Spine,
    Step,
    Strings,
    Witnesses,
    XPathEvaluator,
    evaluate_text,
)

URI = "urn:u"
PREFIXES = (("p", URI),)
NAMES = ["a", "a", "b", "b", "c", "p:a"]
TESTS = ["a", "a", "b", "b", "c", "*", f"{{{URI}}}a", "{*}a"]
ATTRIBUTES = ["@k", "@k", "@m", "@*", f"@{{{URI}}}k", "@{*}k"]
CONDITIONS = [
    "b",
    "not(b)",
    "@k",
    "@k = '1'",
    ". = '1'",
    ". != ''",
    ".//b",
    ".//@m",
    "p:a",
    "count(*) = 1",
    "b[2]",
    "b = c",
    "b = '1'",
    "a != '2'",
    "b > 1",
    "a <= 1",
    ". >= 2",
    "@k = b",
    "string-length(.) > 1",
    "text() and not(@k)",
    "self::node()[@m] or *[@k]",
]
POSITIONS = ["1", "2", "last()", "last() - 1", "b", "@k", ". = '1'", ". != '1'"]
ON_ATTRIBUTES = [". = '1'", ". != ''", "number(.) >= 1", "string-length(.) = 0", "not(. = '2')"]
ATTRIBUTE_POSITIONS = ["1", "last()", ". = '1'"]
BEFORE, AFTER = "<!--before--><?before it?>", "<!--after-->"
VALUES = [
    None,
    (),
    (),
    ("lower-case",),
    ("normalize-space",),
    ("number",),
    ("normalize-space", "lower-case"),
]

_text = st.sampled_from(["", "", "1", "2", "1 ", "x", "\n", "a&b", "é"])
_attributes = st.dictionaries(
    st.sampled_from(["k", "m", "p:k"]), st.sampled_from(["1", "2", "", "x<"]), max_size=2
)
_noise = st.sampled_from(["<!--a-->", "<?a b?>", "<![CDATA[1]]>", "<![CDATA[<a/>]]>", "&#49;"])


def _element(name: str, attributes: dict[str, str], content: list[str]) -> str:
    written = "".join(f" {n}={quoteattr(v)}" for n, v in attributes.items())
    return f'<{name} xmlns:p="{URI}"{written}>{"".join(content)}</{name}>'


def _elements(children: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    content = st.lists(children | children | _text.map(escape) | _noise, max_size=5)
    return st.builds(_element, st.sampled_from(NAMES), _attributes, content)


documents = st.recursive(
    st.builds(_element, st.sampled_from(NAMES), _attributes, _text.map(escape).map(lambda t: [t])),
    _elements,
    max_leaves=12,
).map(lambda root: f"{BEFORE}{root}{AFTER}")
"""Elements with repeated names, some in a namespace; attributes, text, and what is no node."""


def spelled(test: str) -> str:
    """A node test as XPath 1.0."""
    attribute, name = ("@", test[1:]) if test.startswith("@") else ("", test)
    if name.startswith("{*}"):
        return f"{attribute}*[local-name() = '{name[3:]}']"
    if name.startswith("{"):
        return f"{attribute}p:{name.rpartition('}')[2]}"
    return attribute + name


@st.composite
def steps(draw: st.DrawFn, *, last: bool) -> Step:
    """A step; only the last one may be an attribute's."""
    attribute = last and draw(st.integers(0, 3)) == 0
    test = draw(st.sampled_from(ATTRIBUTES if attribute else TESTS))
    filters = []
    if draw(st.integers(0, 3)) == 0:
        positions = draw(
            st.lists(
                st.sampled_from(ATTRIBUTE_POSITIONS if attribute else POSITIONS),
                min_size=1,
                max_size=2,
            )
        )
        expression = spelled(test) + "".join(f"[{position}]" for position in positions)
        filters.append(Filter(expression, PREFIXES, positional=True))
    conditions = st.sampled_from(ON_ATTRIBUTES if attribute else CONDITIONS)
    if draw(st.integers(0, 2)) == 0:
        filters += [Filter(text, PREFIXES) for text in draw(st.lists(conditions, max_size=2))]
    return Step(draw(st.sampled_from(["child", "descendant", "descendant"])), test, tuple(filters))


@st.composite
def spines(draw: st.DrawFn, stream: str = "S") -> Spine:
    """One to four steps, any of them marked (some twice) in addition to the last one."""
    length = draw(st.integers(1, 4))
    path = tuple(draw(steps(last=index == length - 1)) for index in range(length))
    marks = [*draw(st.lists(st.integers(0, length - 1), max_size=2)), length - 1]
    return Spine(stream, path, tuple(sorted(marks)), draw(st.sampled_from(VALUES)))


Node = tuple[int, str | None]


def under(functions: tuple[str, ...], text: str) -> str:
    """A string value under functions, of the texts that are drawn here."""
    for function in functions:
        if function == "lower-case":
            text = text.lower()
        elif function == "normalize-space":
            text = " ".join(text.split())
        else:
            digits = text.strip()
            # JavaScript's numbers have no exponent below 1e21.
            text = f"{Decimal(repr(float(digits))):.0f}" if digits.isdigit() else "NaN"
    return text


class Oracle:
    """Evaluates a spine step by step, as nested `for` loops would."""

    def __init__(self, text: str) -> None:
        self.tree = etree.ElementTree(etree.fromstring(text))
        self.numbers = {e: i for i, e in enumerate(self.tree.getroot().iter(etree.Element))}

    def tuples(self, spine: Spine) -> dict[tuple[Node, ...], str]:
        """The marked nodes of each way through the steps, with the leaf's string value."""
        found: dict[tuple[Node, ...], str] = {}

        def walk(context: Any, index: int, marked: tuple[Node, ...]) -> None:
            if index == len(spine.steps):
                text = context if isinstance(context, str) else context.xpath("string()")
                found[marked] = under(spine.value or (), str(text))
                return
            for node in self._step(context, spine.steps[index]):
                here = (self.node(node),) * spine.marks.count(index)
                walk(node, index + 1, (*marked, *here))

        walk(None, 0, ())
        return found

    def _step(self, context: Any, step: Step) -> list[Any]:
        expression = spelled(step.test)
        for filter in step.filters:
            expression = filter.expression if filter.positional else expression
        expression += "".join(f"[{f.expression}]" for f in step.filters if not f.positional)
        if context is None:
            axis = "/" if step.axis == "child" else "//"
            return list(self.tree.xpath(axis + expression, namespaces=dict(PREFIXES)))
        axis = "" if step.axis == "child" else ".//"
        return list(context.xpath(axis + expression, namespaces=dict(PREFIXES)))

    def node(self, found: Any) -> Node:
        attribute = getattr(found, "attrname", None)
        element = found if attribute is None else found.getparent()
        return self.numbers[element], attribute


class Stage:
    """An evaluator, and a receiver that stores its witnesses according to its changes."""

    def __init__(self) -> None:
        self.strings = Strings()
        self.evaluator = XPathEvaluator(self.strings)
        self.accepts: dict[tuple[int, int], set[tuple[int, ...]]] = {}
        self.rows: list[Row] = []
        self._documents = 0
        self._since: dict[int, int] = {}

    def register(self, one: Spine) -> int:
        """The number of a spine, which is read from the next document on."""
        number = self.evaluator.register(one)
        self._since.setdefault(number, self._documents)
        return number

    def evaluate(self, text: str) -> int:
        """Evaluates a document; returns its number."""
        witnesses = Witnesses()
        evaluate_text(self.evaluator, "S", text, self._documents, witnesses)
        self.rows += witnesses.rows()
        self._documents += 1
        return self._documents - 1

    def catch_up(self) -> Changes:
        """Takes the changes, and does with the witnesses kept what they say."""
        changes = self.evaluator.take_changes()
        moved = dict(changes.moved)
        dead = moved.keys()
        for leaf in (*moved.values(), *changes.unvalued):
            assert leaf is None or self.evaluator.spines_of(leaf)
        assert dead.isdisjoint(accept.path for accept in changes.accepts)
        self.accepts = {
            (path, spine): ways
            for (path, spine), ways in self.accepts.items()
            if path not in dead and spine not in changes.gone
        }
        for accept in changes.accepts:
            assert accept.spine in self._since
            assert accept.spine not in changes.gone
            ways = self.accepts.setdefault((accept.path, accept.spine), set())
            assert accept.depths not in ways
            ways.add(accept.depths)
        unvalued = set(changes.unvalued)
        kept, self.rows = self.rows, []
        for document, node, path, string, chain in kept:
            target = moved.get(path, path)
            if target is not None:
                string = None if target in unvalued else string
                self.rows.append((document, node, target, string, chain))
        return changes

    def strings_kept(self) -> set[int]:
        """The leaf paths that have a row with a string."""
        return {path for _, _, path, string, _ in self.rows if string is not None}

    def found(self, number: int, document: int) -> list[tuple[tuple[Node, ...], Any]] | None:
        """The marked nodes of a spine and the leaf's string value, as often as found; None if the
        document came before the spine."""
        if document < self._since[number]:
            return None
        values = {number: value for value, number in self.strings.numbers.items()}
        found = []
        for of, node, path, string, chain in self.rows:
            assert chain[-1] == node
            for depths in self.accepts.get((path, number), ()) if of == document else ():
                marked = tuple(self._node(chain[depth]) for depth in depths)
                # A number that no string has is of a value that equals nothing.
                found.append((marked, None if string is None else values.get(string, "NaN")))
        return found

    def tuples(self, asked: list[Spine], text: str) -> list[list[tuple[tuple[Node, ...], Any]]]:
        """What spines, registered once more, find in a document."""
        numbers = [self.register(one) for one in asked]
        document = self.evaluate(text)
        self.catch_up()
        return [self.found(number, document) or [] for number in numbers]

    def _node(self, code: int) -> Node:
        return code % ATTRIBUTE, self.evaluator.attribute_name(code)
