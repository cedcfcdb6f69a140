"""What the wheel says of the project, and the page that PyPI makes of it."""

from __future__ import annotations

import re
import zipfile
from email.message import Message
from email.parser import Parser
from pathlib import Path

import pytest

import xscl
from tests.artefacts.processes import ROOT
from tests.documentation.test_citations import sections

HERE = re.compile(
    r"https://(?:github\.com/xscl/xscl/blob|raw\.githubusercontent\.com/xscl/xscl)"
    rf"/v{re.escape(xscl.__version__)}/([^#]*)(?:#(.*))?"
)
"""Where a file of this version is, once the version has its tag."""


@pytest.fixture(scope="module")
def metadata(wheel: Path) -> Message:
    archive = zipfile.ZipFile(wheel)
    (name,) = [one for one in archive.namelist() if one.endswith(".dist-info/METADATA")]
    return Parser().parsestr(archive.read(name).decode())


def test_the_project_says_where_it_is(metadata: Message) -> None:
    addresses = dict(one.split(", ") for one in metadata.get_all("Project-URL", []))
    assert addresses.keys() == {"Documentation", "Repository", "Issues", "Changelog"}
    assert all(one.startswith("https://") for one in addresses.values())


def test_what_development_needs_is_not_offered_to_users(metadata: Message) -> None:
    assert {*metadata.get_all("Provides-Extra", [])} == {"serve", "spark"}


def test_links_and_pictures_work_on_the_page(metadata: Message) -> None:
    """Each is an address, and what is of this repository is in it."""
    assert metadata["Description-Content-Type"] == "text/markdown"
    page = metadata.get_payload()
    assert isinstance(page, str)
    links = re.findall(r"(!?)\[[^]]*\]\(([^)]*)\)", page)
    assert len(links) > 20
    found = [(picture, HERE.fullmatch(link)) for picture, link in links]
    for (_, link), (picture, at) in zip(links, found, strict=True):
        assert link.startswith("https://"), link
        if at is not None:
            file, section = ROOT / at[1], at[2]
            assert file.is_file(), link
            assert section is None or section in sections(file), link
            assert bool(picture) == ("raw" in link), "a picture is shown, a page is read"
    assert sum(at is not None for _, at in found) > 20
    assert any(picture and at is not None for picture, at in found)
