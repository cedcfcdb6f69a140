"""Writes a query as XQuery: a function that returns its matches over the global `$documents`.

A block is a FLWOR expression over one document, its variables the `for` clauses, grouped by those
that anything else names.  A join is a FLWOR over the blocks in order of the text: for each a
document and one of these groups, and after the last block of an operator's right operand its
predicate.  It is grouped once more, by the output variables.  So a match is a distinct assignment
of these for which the others exist: docs/semantics.md#matches-of-joins, word by word.

Sub-queries are queries here that feed a stream (stages.py); what a query publishes, and who reads
it, is no matter of this module.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path

from tests.oracle.terms import (
    Block,
    Branch,
    Compared,
    Constructor,
    Insert,
    Item,
    Join,
    Logical,
    Number,
    Predicate,
    Query,
    Side,
    Source,
    Step,
    Text,
    VariablePath,
    blocks_of,
    operators_of,
    selected_paths,
)
from tests.oracle.xquery_filters import (
    filters_in_xquery,
    path_in_xquery,
    quoted,
    test_in_xquery,
)

__all__ = ["PROLOG", "declarations", "query_in_xquery"]

PROLOG = (Path(__file__).parent / "functions.xq").read_text(encoding="utf-8")

_BRACES = {"{{": "&#x7B;", "}}": "&#x7D;"}
"""Saxon takes some braces in a row for an expression."""


def query_in_xquery(name: str, query: Query) -> str:
    """The declarations of a query, `local:NAME()` among them."""
    return _Writer(name, query).query()


def _compared(predicate: Predicate | None) -> Iterator[VariablePath]:
    match predicate:
        case Logical(_, parts):
            for part in parts:
                yield from _compared(part)
        case Compared(left, _, right):
            for side in (left, right):
                if isinstance(side.value, VariablePath):
                    yield side.value


class _Writer:
    def __init__(self, name: str, query: Query) -> None:
        self._name = name
        self._query = query
        self._fresh = count(1)
        self._variables: dict[str, str] = {}  # of the query → of XQuery
        self._blocks: dict[str, int] = {}  # of the query → its block

    def query(self) -> str:
        query, name = self._query, self._name
        clauses, outputs, own = [], [], []
        for number, block in enumerate(blocks_of(query.source)):
            before = set(self._variables)
            ranges, output = self._block(block)
            clauses.append(ranges)
            outputs.append(output)
            self._blocks |= dict.fromkeys(set(self._variables) - before, number)
        used = {path.variable for path in selected_paths(query.select)}
        for operator in operators_of(query.source):
            used |= {path.variable for path in _compared(operator.predicate)}
        for number, output in enumerate(outputs):
            matter = {self._variables[v] for v in used if self._blocks[v] == number} | {output}
            own.append(sorted(matter))
        functions = [
            f"declare function local:{name}-{number}($root as document-node()) as map(*)* {{\n"
            f"{ranges}\n{_grouped(matter)}"
            f"return map {{ {', '.join(f'{v[1:]!r}: {v}' for v in matter)} }}\n}};\n"
            for number, (ranges, matter) in enumerate(zip(clauses, own, strict=True))
        ]
        return "".join(functions) + self._matches(own, outputs)

    def _matches(self, own: Sequence[Sequence[str]], outputs: Sequence[str]) -> str:
        query, name = self._query, self._name
        blocks = blocks_of(query.source)
        paths = list(selected_paths(query.select))
        chosen = {path.variable for path in paths}
        given = sorted({*outputs, *(self._variables[variable] for variable in chosen)})
        documents = [f"$document{number}" for number in range(len(blocks))]
        lines = [f"declare function local:{name}() as map(*)* {{"]
        for number, block in enumerate(blocks):
            lines.append(
                f"let $all{number} := $documents[?stream = {quoted(str(block.stream))}] ! "
                f"map:put(., 'found', array {{ local:{name}-{number}(?root) }})[exists(?found?*)]"
            )
        clauses: list[list[str]] = [[] for _ in blocks]
        self._conditions(query.source, range(len(blocks)), clauses)
        for number, variables in enumerate(own):
            earlier = "".join(f"[?number != $document{n}?number]" for n in range(number))
            lines.append(f"for $document{number} in $all{number}{earlier}")
            lines.append(f"for $found{number} in $document{number}?found?*")
            lines += [f"let {variable} := $found{number}?{variable[1:]}" for variable in variables]
            lines += clauses[number]
        lines.append(_grouped(given, documents))
        bindings = ", ".join(
            f"{quoted(variable)}: local:node({self._variables[variable]})?1"
            for variable in sorted(chosen)
        )
        references = ", ".join(
            f"local:nodes($document{self._blocks[path.variable]}, {self._nodes(path)})"
            for path in paths
        )
        found = ", ".join(
            f"local:nodes({document}, {output})"
            for document, output in zip(documents, outputs, strict=True)
        )
        lines.append(f"return map {{ 'query': {quoted(name)}, 'outputs': [{found}]")
        lines.append(f", 'bindings': map {{ {bindings} }}")
        lines.append(f", 'selected': [{references}], 'xml': {self._result(outputs)} }}\n}};\n")
        return "\n".join(lines)

    def _conditions(self, source: Source, blocks: range, clauses: list[list[str]]) -> None:
        """Adds to each block's clauses what can be decided after it; `blocks` are the source's."""
        if not isinstance(source, Join):
            return
        operator, left = source.operator, len(blocks_of(source.left))
        self._conditions(source.left, blocks[:left], clauses)
        self._conditions(source.right, blocks[left:], clauses)
        here = clauses[blocks[-1]]
        here.append(f"where {_in_time(source, blocks[:left], blocks[left:])}")
        if operator.predicate is not None:
            here.append(f"where {self._predicate(operator.predicate)}")

    # Blocks.

    def _block(self, block: Block) -> tuple[str, str]:
        """The `for` clauses, and the variable of the output node."""
        clauses: list[str] = []
        if not block.path:
            variable = f"$v{next(self._fresh)}"
            return f"for {variable} in $root/*", variable
        output = self._steps(block.path, "$root", clauses)
        return "\n".join(clauses), output

    def _steps(self, path: Sequence[Step], context: str, clauses: list[str]) -> str:
        for step in path:
            variable = f"$v{next(self._fresh)}"
            if step.variable is not None:
                self._variables[step.variable] = variable
            where = "/." if step.test == "." else step.axis + test_in_xquery(step.test)
            clauses.append(f"for {variable} in {context}{where}{filters_in_xquery(step.filters)}")
            context = variable
            for filter in step.filters:
                for part in filter.parts:
                    if isinstance(part, Branch):
                        self._steps(part.path, variable, clauses)
        return context

    def _nodes(self, path: VariablePath) -> str:
        return path_in_xquery(path.path, self._variables[path.variable])

    # Predicates.

    def _predicate(self, predicate: Predicate) -> str:
        if isinstance(predicate, Logical):
            sign = f" {predicate.sign.lower()} "
            return f"({sign.join(map(self._predicate, predicate.parts))})"
        left, right = self._side(predicate.left), self._side(predicate.right)
        match predicate.sign:
            case "=":
                holds = "local:equal($left, $right)"
            case "!=":
                holds = "not(local:equal($left, $right))"
            case sign:
                holds = f"local:ordered($left, '{sign}', $right)"
        return f"(some $left in {left}, $right in {right} satisfies {holds})"

    def _side(self, side: Side) -> str:
        match side.value:
            case Text(value):
                written = quoted(value)
            case Number(number):
                written = f"xs:double('{number}')"
            case VariablePath():
                written = f"({self._nodes(side.value)} ! string(.))"
        for function in side.functions:
            called = "local:cast" if function == "number" else function
            written = f"({written} ! {called}(string(.)))"
        return written

    # Results.

    def _result(self, outputs: Sequence[str]) -> str:
        select = self._query.select
        match select:
            case "" | "*":
                copies = ", ".join(f"local:copy({output})" for output in outputs)
                whole = copies if len(outputs) == 1 else f"<result>{{{copies}}}</result>"
            case tuple():
                whole = f"<result>{{{', '.join(map(self._item, select))}}}</result>"
            case Constructor():
                return f"local:xml({self._constructed(select)})"
            case _:
                return "''"
        return f"local:xml({whole})"

    def _item(self, item: Item) -> str:
        nodes = self._nodes(item.path)
        if item.alias is None:
            return f"({nodes}) ! local:copy(.)"
        return f"({nodes}) ! element {item.alias} {{string(.)}}"

    def _constructed(self, constructor: Constructor) -> str:
        """The constructor itself; its inserts precede it, out of reach of its namespaces."""
        inserts: list[str] = []
        written = self._element(constructor, inserts)
        bound = " ".join(f"let $i{place} := {value}" for place, value in enumerate(inserts))
        return f"{bound} return {written}" if bound else written

    def _element(self, constructor: Constructor, inserts: list[str]) -> str:
        def inserted(insert: Insert, text: bool) -> str:
            nodes = self._nodes(insert.path)
            as_text = f"string-join(({nodes}) ! string(.), ' ')"
            inserts.append(as_text if text else f"({nodes}) ! local:copy(.)")
            return f"{{$i{len(inserts) - 1}}}"

        head = "".join(
            f' {"xmlns" + (prefix and ":" + prefix)}="{uri}"'
            for prefix, uri in constructor.namespaces
        )
        for name, parts in constructor.attributes:
            value = "".join(
                _BRACES.get(p, p) if isinstance(p, str) else inserted(p, True) for p in parts
            )
            head += f' {name}="{value}"'
        content = ""
        for part in constructor.content:
            match part:
                case str():
                    content += _BRACES.get(part, part)
                case Insert():
                    content += inserted(part, part.string)
                case Constructor():
                    content += self._element(part, inserts)
        return f"<{constructor.name}{head}>{content}</{constructor.name}>"


def _grouped(variables: Iterable[str], documents: Iterable[str] = ()) -> str:
    """Clauses that leave each assignment of the variables once."""
    variables = list(variables)
    identity = ", ".join(f"generate-id({variable})" for variable in variables)
    heads = "".join(
        f"let {variable} := head({variable})\n" for variable in (*variables, *documents)
    )
    return f"group by $identity := string-join(({identity}), ' ')\n{heads}"


def _in_time(join: Join, left: range, right: range) -> str:
    """The time constraint between the documents of two operands."""
    later = f"({_time('max', right)} - {_time('max', left)})"
    window = join.operator.window
    if join.operator.kind == "FOLLOWED BY":
        reach = "" if window is None else f" and {later} <= {window!r}"
        return f"{_time('min', right)} > {_time('max', left)}{reach}"
    return "true()" if window is None else f"abs({later}) <= {window!r}"


def _time(function: str, blocks: range) -> str:
    return f"{function}(({', '.join(f'$document{number}?time' for number in blocks)}))"


def declarations(namespaces: Mapping[str, str]) -> str:
    """Prefixes for node tests."""
    return "".join(
        f"declare namespace {prefix} = {quoted(uri)};\n" for prefix, uri in namespaces.items()
    )
