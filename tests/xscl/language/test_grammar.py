"""The grammar's tables that are kept: of the grammar that there is, and good for nothing else."""

from __future__ import annotations

import re
from pathlib import Path

import lark
import pytest

from xscl.language import grammar as module
from xscl.language.checks.names import NAME, SYMBOLS, is_name, is_plain, plain_form
from xscl.language.problem_words import expected
from xscl.xpath_stage import NO_XML

_START = (
    "A-Z_a-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02ff\u0370-\u037d\u037f-\u1fff\u200c\u200d"
    "\u2070-\u218f\u2c00-\u2fef\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\ufffd\U00010000-\U000effff"
)
"""XML 1.0, production 4, without the colon."""

ALL = "".join(map(chr, range(0x110000)))


TEXTS: dict[module.Grammar, tuple[str, str]] = {
    "grammar": ("query", "SELECT * FROM S//a->x[./b > 3] JOIN {x = y, 1 day} R//c->y"),
    "patterns": (
        "pattern",
        "PATTERN SEQ(A+ a[], !S//b[c > 3] b) WHERE skip_till_any_match {a[i].p > 80%*b.p}",
    ),
    "events": (
        "event_query",
        "SELECT *, 80% AS n FROM FILTER{NOT x < 3}(S) FOLD{, DUR <= 5 min} S//b->x[c > 3]",
    ),
    "automata": ("fence", "NOT (e.x > 80%*n) AND reg.n = max(e.'a b'/c/@d, -1) OR TRUE"),
    "eql": (
        "eql_query",
        "SELECT A.x FROM (t A; (u//b[c > 3] B | w)+) WHERE FILTER(A.x/2 > PREV(B.y)), A.z = 1",
    ),
}


def same(which: module.Grammar, one: lark.Lark, other: lark.Lark) -> bool:
    first, second = (
        [(each.name, each.pattern.to_regexp(), each.priority) for each in of.terminals]
        for of in (one, other)
    )
    assert first == second
    assert one.rules == other.rules
    start, text = TEXTS[which]
    return one.parse(text, start=start) == other.parse(text, start=start)


@pytest.mark.parametrize("which", module.STARTS)
def test_the_tables_that_are_kept_are_of_the_grammar(which: module.Grammar) -> None:
    """`python -m xscl.language.grammar` writes them again, by whatever lark is installed."""
    _, grammar = module.name_of(which).split(b", ")
    kept = (module._FOLDER / f"{which}.tables").read_bytes().split(b"\n", 1)[0]
    assert kept.endswith(grammar.strip()), kept
    assert same(which, module.grammar(which), module.compiled(which))


@pytest.mark.parametrize("name", [b"lark 0.1, grammar 0\n", b""])
def test_tables_of_another_grammar_are_not_read(
    name: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for file in module._FOLDER.glob("*.lark"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    for which in module.STARTS:
        (tmp_path / f"{which}.tables").write_bytes(name + b"what cannot be read")
    kept = {which: module.grammar(which) for which in module.STARTS}
    monkeypatch.setattr(module, "_FOLDER", tmp_path)
    for which in module.STARTS:
        assert same(which, module.grammar.__wrapped__(which), kept[which])


@pytest.mark.parametrize("which", module.STARTS)
def test_tables_for_plain_texts_read_them_as_those_for_any(which: module.Grammar) -> None:
    start, text = TEXTS[which]
    plain, whole = module.grammar(which, plain=True), module.grammar(which)
    assert plain.parse(text, start=start) == whole.parse(text, start=start)
    patterns = [one.pattern.to_regexp() for one in plain.terminals]
    assert len(patterns) == len(whole.terminals)
    assert any("\u2000" in one.pattern.to_regexp() for one in whole.terminals)
    assert not any("\u2000" in one or r"\u2000" in one for one in patterns)


def test_the_plain_form_of_a_name_is_exact_for_plain_texts() -> None:
    plain = [one for one in ALL if is_plain(one)]
    assert plain == [*map(chr, range(0x80)), *map(chr, SYMBOLS)]
    for before in ("", "a"):
        for one in plain:
            text = before + one
            assert (re.fullmatch(plain_form(NAME), text) is None) == (
                re.fullmatch(NAME, text) is None
            )


def test_names_are_those_of_xml() -> None:
    for of_xml, ours in (
        (f"[{_START}]", ""),
        (f"[-{_START}.0-9\xb7\u0300-\u036f\u203f\u2040]", "a"),
    ):
        named = set(re.findall(of_xml, ALL))
        assert named == {one for one in ALL if is_name(ours + one)}
    no_xml = re.findall("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", ALL)
    assert no_xml == NO_XML.findall(ALL)


@pytest.mark.parametrize("which", module.STARTS)
def test_what_may_follow_has_a_word_wherever_a_text_can_end(which: module.Grammar) -> None:
    table = module.compiled(which).parser.parser._parse_table
    for state, actions in table.states.items():
        terminals = [name for name in actions if name.isupper() or name.startswith("_")]
        if terminals := [name for name in terminals if name.strip("_$").isupper()]:
            assert expected(terminals, "the end", which), (state, terminals)
