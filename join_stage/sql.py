"""A conjunctive query rendered as SQL by sqlglot, in steps that no optimiser can spoil.

A plain join of all atoms meets plans that are nearly cross products.  The steps instead follow
the term: each atom is projected at once to the variables that anything else asks for, the
atoms are joined one after the other, and after each join two things keep the intermediate
result small.  Variables that nothing later asks for are projected out, duplicates with them
(existential variables never multiply, as in Yannakakis' algorithm); and what is left must agree
with some row of R_T, by a semi-join with its projection.  R_T itself is joined last.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlglot import exp

from join_stage.term import Atom, Comparison, ConjunctiveQuery

__all__ = ["to_sql"]


def to_sql(query: ConjunctiveQuery, dialect: str = "duckdb") -> str:
    """The SQL text of a query: its columns are the head's variables, its rows are distinct."""
    return _select(query).sql(dialect=dialect, identify=True)


def _select(query: ConjunctiveQuery) -> exp.Select:
    steps: list[tuple[str, exp.Select]] = []
    bound: list[str] = []
    pending = list(query.comparisons)
    for index, atom in enumerate(query.body):
        later = _asked_for(query, query.body[index + 1 :], pending)
        others = later | set(bound) | {v for c in pending for v in c.variables}
        before = f"step_{index - 1}" if index else None
        shared = [v for v in atom.variables if v in bound]
        projected = _projection(atom, [v for v in atom.variables if v in others])
        projected = _reduced(projected, atom, query.rows.relation, query.rows.arguments)
        source = f"step_{index}"
        if before is None:
            joined = exp.select().from_(projected.subquery("a"))
            origin = dict.fromkeys(atom.variables, "a")
        else:
            projected = _reduced(projected, atom, before, [(v, v) for v in shared])
            joined = exp.select().from_(exp.to_table(before).as_("b"))
            joined = _join(joined, projected.subquery("a"), [("a", v, "b", v) for v in shared])
            origin = dict.fromkeys(bound, "b") | {
                v: "a" for v in atom.variables if v not in bound
            }
        now = [c for c in pending if c.variables <= origin.keys()]
        pending = [c for c in pending if c not in now]
        keep = _asked_for(query, query.body[index + 1 :], pending)
        bound = [v for v in origin if v in keep]
        for comparison in now:
            joined = joined.where(_condition(comparison, origin))
        pruned = [(c, v) for c, v in query.rows.arguments if v in bound]
        if len(pruned) > 1 and before is not None and index + 1 < len(query.body):
            columns = [(c, exp.column(v, origin[v])) for c, v in pruned]
            joined = joined.where(_exists(query.rows.relation, columns))
        joined = joined.select(*(exp.column(v, origin[v]) for v in bound)).distinct()
        steps.append((source, joined))
    last = exp.to_table(steps[-1][0]).as_("b")
    shared = [(c, v) for c, v in query.rows.arguments if v in bound]
    final = exp.select().from_(last)
    final = _join(final, exp.to_table(query.rows.relation).as_("t"), [("t", c, "b", v) for c, v in shared])
    columns = {v: exp.column(c, "t") for c, v in query.rows.arguments}
    columns.update({v: exp.column(v, "b") for v in bound})
    final = final.select(*(columns[v].as_(v) for v in query.head))
    if not set(bound) <= {*query.head, *query.rows.variables}:
        final = final.distinct()
    for name, select in steps:
        final = final.with_(name, as_=select, materialized=True)
    return final


def _asked_for(
    query: ConjunctiveQuery, later: Sequence[Atom], pending: Iterable[Comparison]
) -> set[str]:
    """The variables that the head, R_T, later atoms and open comparisons mention."""
    return {
        *query.head,
        *query.rows.variables,
        *(v for atom in later for v in atom.variables),
        *(v for comparison in pending for v in comparison.variables),
    }


def _projection(atom: Atom, variables: Sequence[str]) -> exp.Select:
    """The distinct values of an atom's variables; a column said twice must agree with itself."""
    columns: dict[str, str] = {}
    select = exp.select().from_(exp.to_table(atom.relation).as_("x"))
    for column, variable in atom.arguments:
        first = columns.setdefault(variable, column)
        if first != column:
            select = select.where(
                exp.EQ(this=exp.column(first, "x"), expression=exp.column(column, "x"))
            )
    return select.select(*(exp.column(columns[v], "x").as_(v) for v in variables)).distinct()


def _reduced(
    projection: exp.Select, atom: Atom, relation: str, columns: Sequence[tuple[str, str]]
) -> exp.Select:
    """An atom's projection, restricted to what a relation with some of its variables holds."""
    of_variable = {variable: column for column, variable in atom.arguments}
    shared = [(c, exp.column(of_variable[v], "x")) for c, v in columns if v in of_variable]
    return projection.where(_exists(relation, shared)) if shared else projection


def _exists(relation: str, columns: Sequence[tuple[str, exp.Expression]]) -> exp.Expression:
    """A semi-join: whether the relation has a row with these values in these columns."""
    inner = exp.select(exp.Literal.number(1)).from_(exp.to_table(relation).as_("t"))
    for column, value in columns:
        inner = inner.where(exp.EQ(this=exp.column(column, "t"), expression=value))
    return exp.Exists(this=inner)


def _join(
    select: exp.Select, other: exp.Expression, on: Sequence[tuple[str, str, str, str]]
) -> exp.Select:
    if not on:
        return select.join(other, join_type="cross")
    return select.join(
        other,
        on=exp.and_(
            *(
                exp.EQ(this=exp.column(column, table), expression=exp.column(other_column, second))
                for table, column, second, other_column in on
            )
        ),
    )


_OPERATORS = {"=": exp.EQ, "!=": exp.NEQ, "<": exp.LT, "<=": exp.LTE, ">": exp.GT, ">=": exp.GTE}


def _condition(comparison: Comparison, origin: dict[str, str]) -> exp.Expression:
    """Section 3 of the language: by number where both are doubles, NaN never in order, else by
    codepoint (the order of UTF-8 bytes)."""
    operator = _OPERATORS[comparison.operator]
    left = [exp.column(v, origin[v]) for v in comparison.left]
    right = [exp.column(v, origin[v]) for v in comparison.right]
    if len(left) == 1:
        return operator(this=left[0], expression=right[0])
    numbers = operator(this=left[1].copy(), expression=right[1].copy())
    ordered = exp.and_(
        exp.not_(exp.IsNan(this=left[1].copy())), exp.not_(exp.IsNan(this=right[1].copy())), numbers
    )
    doubles = exp.and_(*(exp.not_(exp.Is(this=n.copy(), expression=exp.null())) for n in (left[1], right[1])))
    texts = operator(this=left[0], expression=right[0])
    return exp.Case().when(doubles, ordered).else_(texts)
