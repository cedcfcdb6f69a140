"""Files of parameters: what is a number, what a text, and what is no such file."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xscl import XSCLError
from xscl.cli.parameters import read_parameters

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)


def _parameters(path: Path, content: str | bytes) -> list[dict[str, object]]:
    path = path / "p.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return list(read_parameters(path))


def test_columns_of_numbers_and_of_text(tmp_path: Path) -> None:
    found = _parameters(
        tmp_path,
        "name,code,least,share,mixed,said\r\n"
        '1,007,7,-0.5,1,"a ""b"", c\r\nd"\r\n'
        "2,7,-12,1e2,,ä\r\n",
    )
    assert found == [
        {
            "name": "1",
            "code": "007",
            "least": 7,
            "share": -0.5,
            "mixed": "1",
            "said": 'a "b", c\r\nd',
        },
        {"name": "2", "code": "7", "least": -12, "share": 100.0, "mixed": "", "said": "ä"},
    ]
    assert [type(row["least"]) for row in found] == [int, int]


@pytest.mark.parametrize(
    "cell",
    [
        *("+1", "1.", ".5", "0x1", "1_0", " 1", "1 ", "NaN", "1e999", "-", "١", "", "1" * 400),
        *(str(2**53 + 1), str(-(2**53) - 1)),
    ],
)
def test_what_is_no_number(tmp_path: Path, cell: str) -> None:
    assert _parameters(tmp_path, f'a,b\n1,"{cell}"\n') == [{"a": 1, "b": cell}]


EXACT = st.integers(-(2**53), 2**53)
"""Integers that are doubles, too."""


@given(st.lists(st.tuples(TEXTS, TEXTS)), st.lists(EXACT | st.floats(-1e300, 1e300)))
def test_what_a_csv_writer_wrote(
    tmp_path_factory: pytest.TempPathFactory, texts: list[tuple[str, str]], numbers: list[float]
) -> None:
    path = tmp_path_factory.mktemp("csv") / "p.csv"
    length = min(len(texts), len(numbers))
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_ALL)
        writer.writerow(["x", "n", "y"])
        for (x, y), n in zip(texts, numbers, strict=False):
            writer.writerow(["x" + x, json.dumps(n), "y" + y])
    assert list(read_parameters(path)) == [
        {"x": "x" + x, "n": n, "y": "y" + y}
        for (x, y), n in zip(texts[:length], numbers[:length], strict=True)
    ]


def test_blank_lines_a_byte_order_mark_and_no_rows(tmp_path: Path) -> None:
    assert _parameters(tmp_path, "\ufeffa\n\n1\n\n2\n\n") == [{"a": 1}, {"a": 2}]
    assert _parameters(tmp_path, "a,b\n") == []


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("", "line 1: the file is empty; expected a header"),
        ("\n\n", "line 1: the file is empty; expected a header"),
        ("a,b\n1,2\n1\n", "line 3: found 1 cells; expected 2"),
        ('a,b\n"1\n",2\n1,2,3\n', "line 4: found 3 cells; expected 2"),
        ("a,b,a\n", "line 1: two columns are named 'a'; rename one"),
        ("\na,,b\n", "line 2: column 2 of the header has no name"),
        ('a,b\n1,2\n"x,3\n', "line 3: it is no CSV: unexpected end of data"),
        ('a,b\n"x"y,3\n', "line 2: it is no CSV: "),
        (b"a,b\n1,2\n\xff,3\n", "line 3: it is not UTF-8: invalid start byte"),
    ],
)
def test_what_is_no_parameter_file(tmp_path: Path, content: str | bytes, problem: str) -> None:
    with pytest.raises(XSCLError, match=f"p\\.csv, {problem}"):
        _parameters(tmp_path, content)
