"""Flowcharts: whatever a query holds, they are well-formed."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.xscl.explain.drawing import queries
from tests.xscl.explain.subscribed import dissected
from xscl.explain import as_mermaid
from xscl.explain.mermaid import label

ID = r"[qs]\w+"
LABEL = r'"[^"]*"'
SHAPES = (rf"\[{LABEL}\]", rf"\(\[{LABEL}\]\)", rf"\[\({LABEL}\)\]", rf"\{{\{{{LABEL}\}}\}}")
NODE = re.compile(rf"({ID})(?:{'|'.join(SHAPES)})")
SUBGRAPH = re.compile(rf"subgraph ({ID})\[{LABEL}\]")
EDGE = re.compile(rf"({ID}) (?:-->|-\.-\|{LABEL}\||==>\|{LABEL}\|) ({ID})")


def unescaped(escaped: str) -> list[str]:
    """What Mermaid shows of a label, line by line."""
    assert escaped[0] == escaped[-1] == '"'
    lines = escaped[1:-1].split("<br/>")
    return [re.sub(r"#(\d+);", lambda code: chr(int(code[1])), line) for line in lines]


def check(chart: str) -> set[str]:
    """That a chart is of the few forms of lines used here, that subgraphs close, that nodes have
    ids of their own, and that edges end at nodes or subgraphs; returns these."""
    first, *lines = chart.splitlines()
    assert first == "flowchart LR"
    known: set[str] = set()
    edges = []
    depth = 0
    for line in map(str.strip, lines):
        edge = EDGE.fullmatch(line)
        found = NODE.fullmatch(line) or SUBGRAPH.fullmatch(line)
        if edge is not None:
            edges.append(edge)
        elif found is not None:
            assert found[1] not in known
            known.add(found[1])
            depth += found.re is SUBGRAPH
        else:
            assert line == "end"
            depth -= 1
        assert depth >= 0
    assert depth == 0
    assert all({edge[1], edge[2]} <= known for edge in edges)
    return known


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=1, max_size=3))
def test_labels_survive(lines: list[str]) -> None:
    escaped = label(*lines)
    assert unescaped(escaped) == lines
    assert '"' not in escaped[1:-1]
    # Nothing that another reading of labels (Markdown, icons, comments, styles) may stumble on.
    bare = re.sub(r"#\d+;|<br/>", "", escaped[1:-1])
    assert not set(bare) & set('#;<>"`\\*_:%&|[]{}~!@$^-+.\n\r\t')


@pytest.mark.parametrize(
    "text",
    [
        """S//'say "hi" #quot; <b>'->x[. = "]); end" = ']-->'] JOIN {x = y} S//'`'->y""",
        "S//'%% {x} | `y`'->x JOIN {x = y' AND x != '#35;'} S//'é 日本 end'->y'",
        "S//end->end JOIN {end = style} S//subgraph->style",
    ],
)
def test_whatever_names_and_filters_hold(text: str) -> None:
    check(as_mermaid(dissected(text)))


@settings(deadline=None)
@given(st.lists(queries(), min_size=1, max_size=2))
def test_any_queries(texts: list[str]) -> None:
    check(as_mermaid(dissected(";\n".join(texts))))


def test_streams_connect_queries() -> None:
    queries = dissected(
        "-- name: one\nS//a->x PUBLISH P;\n-- name: two\nP//b->y JOIN {y = z} (T//c)/c->z"
    )
    chart = as_mermaid(queries)
    known = check(chart)
    (published,) = (name for name in known if f'{name}[("P")]' in chart)
    assert f'q1d1b1 ==>|"PUBLISH"| {published}' in chart
    assert f"{published} --> q2d1b1" in chart
    assert "q2u1d1b1 --> q2d1b2" in chart


def test_what_is_forbidden_is_tied_to_the_state_that_it_lies_before() -> None:
    text = "EVENT SEQ(!L l, A a, !N n, B b, !M m) WHERE [id] AND n.x > 1 WITHIN 10"
    drawn = [line.strip() for line in as_mermaid(dissected(text)).splitlines()]
    boxes = [line for line in drawn if "x" in line.partition("[")[0] and '["' in line]
    shown = [unescaped(line[line.index("[") + 1 : -1]) for line in boxes]
    assert [one[0] for one in shown] == ["!l", "!n", "!m"]
    assert any("n.x > 1" in line for line in shown[1])
    ties = [line.split(" -.- ")[1] for line in drawn if " -.- " in line]
    assert ties == ["q1s0", "q1s1", "q1s2"]


def test_a_stream_leads_to_the_state_that_an_automaton_starts_in() -> None:
    arcs = '{"from": "a", "to": "b", "event": "e"}, {"from": "b", "to": "f", "event": "e"}'
    described = (
        f'{{"states": ["f", "b", "a"], "start": "a", "events": {{"e": "S"}}, "final": ["f"], '
        f'"arcs": [{arcs}], "within": 5}}'
    )
    lines = as_mermaid(dissected(f"AUTOMATON {described}")).splitlines()
    (fed,) = (line.split(" --> ")[1] for line in lines if line.strip().startswith("s1 -->"))
    assert any(line.strip() == f'{fed}(("a"))' for line in lines)


def test_no_query_is_a_flowchart_too() -> None:
    assert check(as_mermaid([])) == set()


def test_arcs_of_an_automaton() -> None:
    """An ignorable arc is dashed, one whose life ends is grey; each final state publishes."""
    arcs = (
        '{"from": "a", "to": "f", "event": "e"}, '
        '{"from": "f", "to": "b", "event": "e", "until": 9}, '
        '{"from": "b", "to": "b", "event": "e", "kind": "ignore"}'
    )
    described = f'{{"events": {{"e": "S"}}, "final": ["f"], "arcs": [{arcs}], "within": 5}}'
    lines = as_mermaid(dissected(f"S//x->y;\nAUTOMATON {described} PUBLISH P")).splitlines()
    drawn = [line.strip() for line in lines]
    assert 'q2s2 -.->|"a2<br/>ignore e"| q2s2' in drawn
    assert any(line.startswith('q2s1 ==>|"PUBLISH"|') for line in drawn)
    (style,) = (line for line in drawn if line.startswith("linkStyle"))
    arrows = [line for line in drawn if "->" in line or "==>" in line or "-.-" in line]
    assert arrows[int(style.split()[1])].startswith("q2s1 -->|")
