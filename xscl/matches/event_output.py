"""An output of event queries: an event, which may still be a document, and what is derived from it,
once for all queries that have it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast

from xscl.documents.document import Document
from xscl.documents.events import Event, EventNode
from xscl.matches.nodes import BoundNode
from xscl.matches.sides import AttributeName
from xscl.pattern_stage.layouts import END, START
from xscl.xpath_stage import ATTRIBUTE

if TYPE_CHECKING:
    from xscl.pattern_stage.plan.outputs import Root

__all__ = ["Output"]

P = ParamSpec("P")
T = TypeVar("T")


class Output(Sequence[Any]):
    """An output: its root, its event, and the document that it still is, if it is one; a sequence
    of that document's side, for `Match`."""

    __slots__ = ("_attribute_name", "_made", "_node", "document", "event", "root")

    def __init__(
        self,
        root: Root,
        event: Event,
        document: Document | None = None,
        node: EventNode | None = None,
        attribute_name: AttributeName | None = None,
    ) -> None:
        self.root = root
        self.event = event
        self.document = document
        self._node = node
        self._attribute_name = attribute_name
        self._made: dict[object, Any] = {}

    def once(self, key: object, make: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> T:
        """The value under a key, made on first use."""
        try:
            found: T = self._made[key]
        except KeyError:
            found = self._made[key] = make(*arguments, **named)
        return found

    @property
    def start(self) -> int:
        """When it begins, in microseconds."""
        return cast(int, self.event[START])

    @property
    def time(self) -> int:
        """When it ends."""
        return cast(int, self.event[END])

    @property
    def attributes(self) -> dict[str, Any]:
        """Its attributes as JSON values, which nothing changes."""
        return self.once("attributes", self.root.attributes, self.event)

    def __len__(self) -> int:
        return int(self.document is not None)

    def __getitem__(self, place: Any) -> Any:
        return [*self][place]

    def __iter__(self) -> Iterator[OutputSide]:
        if self.document is not None:
            yield OutputSide(self.document, self.node(self.code))

    @property
    def code(self) -> int:
        """The code of the output node."""
        return 0 if self._node is None else self._node.code

    @property
    def bound(self) -> Iterator[tuple[str, BoundNode]]:
        """The nodes of the block's variables."""
        for name, code in () if self._node is None else self._node.bound:
            yield name, self.node(code)

    def node(self, code: int) -> BoundNode:
        """The node of a code."""
        assert self.document is not None
        name = None if self._attribute_name is None else self._attribute_name(code)
        return BoundNode(self.document, code % ATTRIBUTE, name)


class OutputSide:
    """The document that an output is, and the node in it."""

    __slots__ = ("document", "output")

    def __init__(self, document: Document, output: BoundNode) -> None:
        self.document, self.output = document, output
