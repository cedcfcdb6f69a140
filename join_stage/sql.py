"""A conjunctive query rendered as SQL by sqlglot, in steps that no optimiser can spoil.

A plain join of all atoms meets plans that are nearly cross products.  The steps instead follow the
term: each atom is projected immediately to the variables that anything else needs, the atoms are
joined one after the other, and after each join two things keep the intermediate result small.
Variables that nothing later needs are projected out, duplicates with them (existential variables
never multiply, as in Yannakakis' algorithm); and the result must agree with some row of R_T, by a
semi-join with its projection.  R_T itself is joined last.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlglot import exp

from xscl.join_stage.term import Atom, Comparison, ConjunctiveQuery

__all__ = ["to_sql"]


def to_sql(query: ConjunctiveQuery, dialect: str = "duckdb") -> str:
    """The SQL text of a query: its columns are the head's variables, its rows are distinct."""
    return _final(query).sql(dialect=dialect, identify=True)


def _final(query: ConjunctiveQuery) -> exp.Select:
    """The last step: what the atoms leave, joined with R_T."""
    bound: list[str] = []
    pending = list(query.comparisons)
    steps = []
    for index in range(len(query.body)):
        step, bound, pending = _step(query, index, bound, pending)
        steps.append(step)
    columns = {v: exp.column(v, "b") for v in bound}
    on = [(c, v) for c, v in query.rows.arguments if v in bound]
    final = exp.select().from_(exp.to_table(_name(len(steps) - 1), alias="b"))
    final = _join(final, exp.to_table(query.rows.relation, alias="t"), "t", on)
    for column, variable in query.rows.arguments:
        first = columns.setdefault(variable, exp.column(column, "t"))
        if variable not in bound and first.name != column:
            final = final.where(exp.EQ(this=first, expression=exp.column(column, "t")))
    for comparison in pending:
        final = final.where(_condition(comparison, columns))
    final = final.select(*(columns[v].as_(v) for v in query.head))
    # A variable of R_T that is not in the head is no cause of duplicates if `r` determines it.
    determined = set(query.rows.variables) if "r" in query.head else set()
    if not columns.keys() <= {*query.head, *determined}:
        final = final.distinct()
    for index, step in enumerate(steps):
        final = final.with_(_name(index), as_=step, materialized=True)
    return final


def _name(index: int) -> str:
    return f"step_{index}"


def _step(
    query: ConjunctiveQuery, index: int, bound: Sequence[str], pending: Sequence[Comparison]
) -> tuple[exp.Select, list[str], list[Comparison]]:
    """One atom joined to the steps before it.

    `bound` are the variables that these leave, `pending` the comparisons not made yet; returns both
    updated.
    """
    atom, later = query.body[index], query.body[index + 1 :]
    asked = _needed_variables(query, later, pending).union(bound)
    shared = [v for v in atom.variables if v in bound]
    projected = _projection(atom, [v for v in atom.variables if v in asked])
    projected = _reduced(projected, atom, query.rows.relation, query.rows.arguments)
    columns = {v: exp.column(v, "a") for v in atom.variables}
    columns.update((v, exp.column(v, "b")) for v in bound)
    if index:
        before = _name(index - 1)
        projected = _reduced(projected, atom, before, [(v, v) for v in shared])
        select = exp.select().from_(exp.to_table(before, alias="b"))
        select = _join(select, projected.subquery("a"), "a", [(v, v) for v in shared])
    else:
        select = exp.select().from_(projected.subquery("a"))
    now = [c for c in pending if c.variables <= columns.keys()]
    pending = [c for c in pending if c not in now]
    left = [v for v in columns if v in _needed_variables(query, later, pending)]
    for comparison in now:
        select = select.where(_condition(comparison, columns))
    known = [(c, columns[v]) for c, v in query.rows.arguments if v in left]
    if index and later and len(known) > 1:
        select = select.where(_exists(query.rows.relation, known))
    return _distinct(select, [columns[v] for v in left]), left, pending


def _needed_variables(
    query: ConjunctiveQuery, later: Iterable[Atom], pending: Iterable[Comparison]
) -> set[str]:
    """The variables that the head, R_T, later atoms and open comparisons mention."""
    return {
        *query.head,
        *query.rows.variables,
        *(v for atom in later for v in atom.variables),
        *(v for comparison in pending for v in comparison.variables),
    }


def _projection(atom: Atom, variables: Sequence[str]) -> exp.Select:
    """The distinct values of an atom's variables; a variable of two columns requires them to
    agree."""
    columns: dict[str, str] = {}
    select = exp.select().from_(exp.to_table(atom.relation, alias="x"))
    for column, variable in atom.arguments:
        first = columns.setdefault(variable, column)
        if first != column:
            select = select.where(
                exp.EQ(this=exp.column(first, "x"), expression=exp.column(column, "x"))
            )
    return _distinct(select, [exp.column(columns[v], "x").as_(v) for v in variables])


def _distinct(select: exp.Select, columns: Sequence[exp.Expr]) -> exp.Select:
    """Distinct rows; of no column at all it is one row, if anything holds."""
    return select.select(*(columns or [exp.Literal.number(1).as_("holds")])).distinct()


def _reduced(
    projection: exp.Select, atom: Atom, relation: str, columns: Iterable[tuple[str, str]]
) -> exp.Select:
    """An atom's projection, restricted to rows that agree with a relation on some of its
    variables."""
    of_variable = {variable: column for column, variable in atom.arguments}
    shared = [(c, exp.column(of_variable[v], "x")) for c, v in columns if v in of_variable]
    return projection.where(_exists(relation, shared)) if shared else projection


def _exists(relation: str, columns: Iterable[tuple[str, exp.Column]]) -> exp.Exists:
    """A semi-join: whether the relation has a row with these values in these columns."""
    inner = exp.select(exp.Literal.number(1)).from_(exp.to_table(relation, alias="t"))
    for column, value in columns:
        inner = inner.where(exp.EQ(this=exp.column(column, "t"), expression=value))
    return exp.Exists(this=inner)


def _join(
    select: exp.Select,
    other: exp.Subquery | exp.Alias | exp.Table,
    alias: str,
    on: Sequence[tuple[str, str]],
) -> exp.Select:
    """Joins the previous result, as `b`, on columns of the other's and variables of its own."""
    if not on:
        return select.join(other, join_type="cross")
    equal = (
        exp.EQ(this=exp.column(column, alias), expression=exp.column(variable, "b"))
        for column, variable in on
    )
    return select.join(other, on=exp.and_(*equal))


_OPERATORS = {"=": exp.EQ, "!=": exp.NEQ, "<": exp.LT, "<=": exp.LTE, ">": exp.GT, ">=": exp.GTE}


def _condition(comparison: Comparison, columns: dict[str, exp.Column]) -> exp.Condition:
    """Section 3 of the language: by number where both are doubles, NaN never in order, else by
    codepoint (the order of UTF-8 bytes).  What equals nothing has a number below 0."""
    operator = _OPERATORS[comparison.operator]

    def compared(index: int) -> exp.Binary:
        sides = (comparison.left[index], comparison.right[index])
        left, right = (columns[variable].copy() for variable in sides)
        return operator(this=left, expression=right)

    if len(comparison.left) == 1:
        if comparison.operator not in ("=", "!="):
            return compared(0)
        zero, left = exp.Literal.number(0), columns[comparison.left[0]].copy()
        if comparison.operator == "=":
            return exp.and_(compared(0), exp.GTE(this=left, expression=zero))
        return exp.paren(exp.or_(compared(0), exp.LT(this=left, expression=zero)))
    doubles = [columns[v] for v in (comparison.left[1], comparison.right[1])]
    castable = (exp.not_(exp.Is(this=double.copy(), expression=exp.null())) for double in doubles)
    numbers = (exp.not_(exp.IsNan(this=double.copy())) for double in doubles)
    ordered = exp.and_(*numbers, compared(1))
    return exp.Case().when(exp.and_(*castable), ordered).else_(compared(0))
