"""The page's files: no script or style in the markup, no markup made of text, nothing from
elsewhere; each file that one names is there, and each that is there is named."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from lxml import html

import xscl.serve
from tests.xscl.serve.asking import serving

PAGE = Path(str(xscl.serve.__file__)).parent / "page"
FILES = sorted(PAGE.iterdir())
MODULES = [file for file in FILES if file.suffix == ".js"]
KINDS = {".html": "text/html", ".css": "text/css", ".js": "javascript", ".svg": "image/svg+xml"}


def test_the_markup_has_no_script_and_no_style_in_it() -> None:
    root = html.fromstring((PAGE / "index.html").read_text(encoding="utf-8"))
    for element in root.iter("*"):
        assert element.tag != "style"
        assert not [name for name in element.attrib if name.startswith("on") or name == "style"]
        if element.tag == "script":
            assert not element.text
            assert element.get("type") == "module"
    ids = [str(element.get("id")) for element in root.iter("*") if element.get("id")]
    assert len(ids) == len(set(ids))
    assert root.get("lang")
    assert root.xpath("//main[@id='main']")
    assert root.xpath("//a[@class='skip'][@href='#main']")
    assert root.xpath("//*[@aria-live]")


@pytest.mark.parametrize("file", MODULES, ids=lambda file: file.name)
def test_text_stays_text(file: Path) -> None:
    code = file.read_text(encoding="utf-8")
    forbidden = (
        r"\b(?:inner|outer)HTML|insertAdjacentHTML|document\.write|DOMParser|createContextual"
        r"|\beval\b|\bFunction\(|setTimeout\(\s*[\"'`]|\.srcdoc|\bimport\("
    )
    assert not re.findall(forbidden, code)
    assert "style:" not in code.replace("font-style:", "")


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_nothing_from_elsewhere(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    assert set(re.findall(r"\w+://[\w./]*", text)) <= {"http://www.w3.org/2000/svg"}
    for named in re.findall(r"from \"\./([\w.]+)\"|/page/([\w.]+)", text):
        assert (PAGE / "".join(named)).is_file()


def test_each_file_is_used_and_served() -> None:
    texts = {file.name: file.read_text(encoding="utf-8") for file in FILES}
    with serving() as server:
        for name in texts:
            others = (text for other, text in texts.items() if other != name)
            assert name == "index.html" or any(name in text for text in others)
            answer, body = server.raw("GET", "/" if name == "index.html" else f"/page/{name}")
            assert answer.status == 200
            assert body.decode() == texts[name]
            assert KINDS[Path(name).suffix] in answer.headers["Content-Type"]
            policy = answer.headers["Content-Security-Policy"]
            assert "script-src 'self'" in policy
            assert "unsafe" not in policy
