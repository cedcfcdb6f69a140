"""Any text is queries, each of which can be dissected, or errors with their places."""

from __future__ import annotations

import sys

import atheris

with atheris.instrument_imports(
    include=["xscl.language", "xscl.dissection.dissect", "xscl.language.normal_form"]
):
    from xscl.dissection.dissect import dissect
    from xscl.language import parse
    from xscl.language.parameters import bind


def one_input(data: bytes) -> None:
    """Parses a text; dissects what is good of it."""
    text = data.decode("utf-8", "surrogateescape")
    queries, errors = parse(text)
    lines = text.count("\n") + 1
    for error in errors:
        assert 1 <= error.line <= lines
        assert error.column >= 1
        assert error.problem in str(error)
    names = [query.name for query in queries]
    assert len(set(names)) == len(names)
    for query in queries:
        bound, unbound = bind(query, {})
        if not unbound:
            assert dissect(bound).query.name == query.name


if __name__ == "__main__":
    atheris.Setup(sys.argv, one_input)
    atheris.Fuzz()
