"""Malicious queries: each comes after good ones."""

from __future__ import annotations

from tests.hostile.cases import Case

__all__ = ["QUERIES"]


def q(text: str) -> Case:
    """A query that is refused; the pattern says why after `=>`."""
    query, _, says = text.partition(" => ")
    return Case(query, query.encode, says)


def made(name: str, query: str, says: str | None) -> Case:
    return Case(name, query.encode, says)


PARENTHESES = "(" * 20_000
NESTED = "nested more than 100 deep"

QUERIES = [
    # Evaluators without bound.
    q("S//a[count(1 to 1000000000) = 1] => found `to`"),
    q("S//a[(for $i in 1 to 9 return $i) = 1] => expected"),
    q("S//a[doc('file:///etc/passwd')] => doc"),
    q("S//a[document('http://127.0.0.1/')] => document"),
    q("S//a[unparsed-text('/etc/passwd') = 'x'] => unparsed-text"),
    q("S//a[collection('/')] => collection"),
    q("S//a[system-property('xsl:vendor') = 'x'] => system-property"),
    q("S//a[key('k', 'v')] => key"),
    q("S//a[id('x')] => id"),
    q("S//a[string-join(.//*, 'x') = 'y'] => string-join"),
    q("S//a[replace(., 'a', 'b') = 'c'] => replace"),
    q("S//a[tokenize(., 'a') = 'c'] => tokenize"),
    q("S//a[concat(., .) = 'c'] => concat"),
    q("S//a[ancestor::* = 'x'] => the axis `ancestor::` is not part of the language"),
    q("S//a[preceding::*] => the axis `preceding::` is not part of the language"),
    q("S//a/../b => `..` is not part of the language"),
    q("S//a[$x] => found `[$]`"),
    # Regular expressions.
    q("S//a[matches(., '(?=x)')] => RE2 refuses"),
    q(r"S//a[matches(., '(a)\1')] => RE2 refuses"),
    q("S//a[matches(., '((a{1000}){1000}){1000}')] => RE2 refuses"),
    q("S//a[matches(., '(((')] => RE2 refuses"),
    made("repetition of repetition", "S//a[matches(., '^(x+x+)+y$')]", None),
    made("nested repetition", "S//a[matches(., '^((((x*)*)*)*)*y$')]", None),
    made("equal alternatives", "S//a[matches(., '^(x|x|x|xx)*y$')]", None),
    made("a thousand optional letters", f"S//a[matches(., '{'x?' * 900}{'x' * 900}y')]", None),
    made("many characters at random", f"S//a[matches(., '{'.*' * 500}y')]", None),
    # Depth.
    made("5,000 filters in filters", f"S//a{'[b' * 5_000}{']' * 5_000}", NESTED),
    made("20,000 parentheses", f"S//a[{PARENTHESES}b]", "expected"),
    made("20,000 parentheses, closed", f"S//a[{PARENTHESES}b{')' * 20_000}]", None),
    made("5,000 times not", f"S//a[{'not(' * 5_000}b{')' * 5_000}]", NESTED),
    made("5,000 minus signs", f"S//a[{'-' * 5_000}1 = 1]", NESTED),
    made("20,000 additions", f"S//a[{'+'.join(['1'] * 20_000)} = 1]", NESTED),
    made("5,000 comparisons of comparisons", f"S//a[b{' = b' * 5_000}]", NESTED),
    made(
        "20,000 elements in elements",
        f"SELECT {'<r>' * 20_000}{'</r>' * 20_000} FROM S//a",
        "nested more than 200 deep",
    ),
    made(
        "20,000 objects in objects",
        "SELECT " + '{"k":' * 20_000 + "1" + "}" * 20_000 + " FROM S//a",
        NESTED,
    ),
    made(
        "20,000 arrays in arrays",
        'SELECT {"k": ' + "[" * 20_000 + "1" + "]" * 20_000 + "} FROM S//a",
        NESTED,
    ),
    made(
        "20,000 sub-queries", f"{'(SELECT * FROM ' * 20_000}S{')' * 20_000}", "nested more than 100"
    ),
    made("20,000 comments", "(:" * 20_000, "comment that begins here is not closed"),
    # Numbers of things.
    made("1,000,001 characters", f"S//a[b = '{'x' * 1_000_000}']", "at most 1,000,000 characters"),
    made("2,001 filters", f"S//a{'[b = 1]' * 2_001}", "at most 2,000 filters"),
    made(
        "2,001 steps that bind", f"S//a{''.join(f'[b->v{n}]' for n in range(2_001))}", "2,000 steps"
    ),
    made("2,000 alternatives", f"S//a[{' or '.join(['b = 1'] * 2_000)}]", None),
    made("2,000 conditions", f"S//a[{' and '.join(['not(b)'] * 2_000)}]", None),
    made("4,000 blocks", "S" + " JOIN {} S" * 4_000, "at most 256 blocks"),
    made(
        "4,000 comparisons",
        f"S//a->x JOIN {{{' AND '.join(['x = y'] * 4_000)}}} S//a->y",
        "32 comp",
    ),
    made(
        "2 to the 20 disjuncts",
        f"S//a->x JOIN {{{' AND '.join(['(x = y OR x < y)'] * 20)}}} S//a->y",
        "256 disj",
    ),
    made("300 levels", f"S{'/a' * 300}", "257 levels|256"),
    made("30 searches", f"S{'//*' * 30}", None),
    made("searches in searches", "S//*[.//*[.//*[.//*]]]", None),
    made("all pairs", "S//a[b = b]", None),
    made("20,000 items", f"SELECT {', '.join(['x'] * 20_000)} FROM S//a->x", "at most 2,000 paths"),
    made("2,000 declarations", "DECLARE NAMESPACE p = 'u'; " * 2_000 + "S//p:a", None),
    # Characters, names, numbers.
    made("NUL", "S//\0a", r"found U\+0000, which is no character of XML"),
    made("NUL in a string", "S//a[b = '\0']", r"found U\+0000, which is no character of XML"),
    made("a number of 100,000 digits", f"S//a[b = {'9' * 100_000}]", "greatest double"),
    made("a window of 100,000 digits", f"S//a JOIN {{{'9' * 100_000} days}} S//b", "INF|292,000"),
    made("a name of 500,000 letters", f"S//{'n' * 500_000}", None),
    made("a string never closed", "S//a[b = 'x", "not closed"),
    made("markup never closed", "SELECT <r>" + "<s/>" * 4_000 + " FROM S", "not closed"),
    made(
        "markup with a document type",
        "SELECT <!DOCTYPE r [<!ENTITY e 'x'>]><r/> FROM S",
        "is not closed",
    ),
    made("markup with an entity", "SELECT <r>&e;</r> FROM S", "Entity 'e' not defined"),
]
