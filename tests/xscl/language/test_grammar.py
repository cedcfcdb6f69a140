"""The grammar's tables that are kept: of the grammar that there is, and good for nothing else."""

from __future__ import annotations

import re
from pathlib import Path

import lark
import pytest

from xscl.language import grammar as module
from xscl.language.checks.names import NO_XML, is_name

_START = (
    "A-Z_a-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02ff\u0370-\u037d\u037f-\u1fff\u200c\u200d"
    "\u2070-\u218f\u2c00-\u2fef\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\ufffd\U00010000-\U000effff"
)
"""XML 1.0, production 4, without the colon."""

ALL = "".join(map(chr, range(0x110000)))


def same(one: lark.Lark, other: lark.Lark) -> bool:
    first, second = (
        [(each.name, each.pattern.to_regexp(), each.priority) for each in of.terminals]
        for of in (one, other)
    )
    assert first == second
    assert one.rules == other.rules
    text = "SELECT * FROM S//a->x[./b > 3] JOIN {x = y, 1 day} R//c->y"
    return one.parse(text, start="query") == other.parse(text, start="query")


def test_the_tables_that_are_kept_are_of_the_grammar() -> None:
    """`python -m xscl.language.grammar` writes them anew, by whatever lark is installed."""
    text = module._text()
    _, grammar = module.name_of(text).split(b", ")
    kept = module._TABLES.read_bytes().split(b"\n", 1)[0]
    assert kept.endswith(grammar.strip()), kept
    assert same(module.grammar(), module.compiled(text))


@pytest.mark.parametrize("name", [b"lark 0.1, grammar 0\n", b""])
def test_tables_of_another_grammar_are_not_read(
    name: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = tmp_path / "grammar.tables"
    kept.write_bytes(name + b"what cannot be read")
    kept.with_suffix(".lark").write_bytes(module._TABLES.with_suffix(".lark").read_bytes())
    monkeypatch.setattr(module, "_TABLES", kept)
    assert same(module.grammar.__wrapped__(), module.grammar())


def test_names_are_those_of_xml() -> None:
    for of_xml, ours in (
        (f"[{_START}]", ""),
        (f"[-{_START}.0-9\xb7\u0300-\u036f\u203f\u2040]", "a"),
    ):
        named = set(re.findall(of_xml, ALL))
        assert named == {one for one in ALL if is_name(ours + one)}
    no_xml = re.findall("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", ALL)
    assert no_xml == NO_XML.findall(ALL)
