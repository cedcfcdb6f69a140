"""Writes a query as XQuery: a function that gives its matches over the global `$documents`.

A block is a FLWOR expression over one document, its variables the `for` clauses, grouped by
those that anything else names.  A join is a FLWOR over pairs of documents and of these groups,
grouped once more, by the output variables.  So a match is a distinct assignment of these for
which the others exist: section 4 of the language, word by word.
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
    JoinedBy,
    Logical,
    Number,
    Predicate,
    Query,
    Side,
    Step,
    Text,
    VariablePath,
)
from tests.oracle.xquery_filters import (
    filters_in_xquery,
    path_in_xquery,
    quoted,
    test_in_xquery,
)

__all__ = ["PROLOG", "declarations", "query_in_xquery", "selected_paths"]

PROLOG = (Path(__file__).parent / "functions.xq").read_text(encoding="utf-8")

_BRACES = {"{{": "&#x7B;", "}}": "&#x7D;"}
"""Saxon takes some braces in a row for an expression."""


def query_in_xquery(name: str, query: Query) -> str:
    """The declarations of a query, `local:NAME()` among them."""
    return _Writer(name, query).query()


def selected_paths(query: Query) -> list[VariablePath]:
    """The paths of the SELECT, in its order."""
    return list(_paths(query.select))


def _paths(select: object) -> Iterator[VariablePath]:
    match select:
        case VariablePath():
            yield select
        case Item(path) | Insert(path):
            yield path
        case Constructor():
            for _, parts in select.attributes:
                yield from _paths(parts)
            yield from _paths(select.content)
        case dict():
            yield from _paths(tuple(select.values()))
        case tuple() | list():
            for part in select:
                yield from _paths(part)


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
        predicate = None if query.operator is None else query.operator.predicate
        clauses, outputs, own = [], [], []
        for number, block in enumerate(query.blocks):
            before = set(self._variables)
            ranges, output = self._block(block)
            clauses.append(ranges)
            outputs.append(output)
            self._blocks |= dict.fromkeys(set(self._variables) - before, number)
        paths = selected_paths(query)
        used = {path.variable for path in (*paths, *_compared(predicate))}
        for number, output in enumerate(outputs):
            matter = {self._variables[v] for v in used if self._blocks[v] == number} | {output}
            own.append(sorted(matter))
        functions = [
            f"declare function local:{name}-{number}($root as document-node()) as map(*)* {{\n"
            f"{ranges}\n{_grouped(matter)}"
            f"return map {{ {', '.join(f'{v[1:]!r}: {v}' for v in matter)} }}\n}};\n"
            for number, (ranges, matter) in enumerate(zip(clauses, own, strict=True))
        ]
        return "".join(functions) + self._join(own, outputs, predicate)

    def _join(
        self, own: Sequence[Sequence[str]], outputs: Sequence[str], predicate: Predicate | None
    ) -> str:
        query, name = self._query, self._name
        sides = range(len(query.blocks))
        bound = {path.variable for path in selected_paths(query)}
        given = sorted({*outputs, *(self._variables[variable] for variable in bound)})
        documents = [f"$document{side}" for side in sides]
        lines = [f"declare function local:{name}() as map(*)* {{"]
        for side, block in enumerate(query.blocks):
            lines.append(
                f"let $all{side} := $documents[?stream = {quoted(block.stream)}]"
                f" ! map:put(., 'found', array {{ local:{name}-{side}(?root) }})"
            )
        lines += [f"for $document{side} in $all{side}" for side in sides]
        if query.operator is not None:
            lines.append(f"where {_in_time(query.operator)}")
        for side, variables in enumerate(own):
            lines.append(f"for $found{side} in $document{side}?found?*")
            lines += [f"let {variable} := $found{side}?{variable[1:]}" for variable in variables]
        if predicate is not None:
            lines.append(f"where {self._predicate(predicate)}")
        lines.append(_grouped(given, documents))
        document_of = {variable: f"$document{side}" for variable, side in self._blocks.items()}
        bindings = ", ".join(
            f"{quoted(variable)}: local:node({self._variables[variable]})?1"
            for variable in sorted(bound)
        )
        references = ", ".join(
            f"local:nodes({document_of[path.variable]}, {self._nodes(path)})"
            for path in selected_paths(query)
        )
        found = ", ".join(
            f"local:nodes($document{side}, {output})" for side, output in enumerate(outputs)
        )
        lines.append(f"return map {{ 'query': {quoted(name)},")
        lines.append(f"'documents': array {{ ({', '.join(documents)}) ! ?id }}")
        lines.append(f", 'outputs': [{found}], 'bindings': map {{ {bindings} }}")
        lines.append(f", 'selected': [{references}], 'xml': {self._result(outputs)} }}\n}};\n")
        return "\n".join(lines)

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
        """The constructor itself; its inserts stand before it, out of reach of its namespaces."""
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


def _in_time(operator: JoinedBy) -> str:
    later = "($document1?time - $document0?time)"
    window = "" if operator.window is None else f" and {later} <= {operator.window!r}"
    if operator.kind == "FOLLOWED BY":
        return f"{later} > 0{window}"
    reach = "" if operator.window is None else f" and abs({later}) <= {operator.window!r}"
    return f"$document0?number != $document1?number{reach}"


def declarations(namespaces: Mapping[str, str]) -> str:
    """Prefixes for node tests."""
    return "".join(
        f"declare namespace {prefix} = {quoted(uri)};\n" for prefix, uri in namespaces.items()
    )
