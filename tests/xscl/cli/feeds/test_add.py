"""`xscl feeds add` as a user types it, against a server of our own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tests.xscl.web.loopback import Reply, Request, Server, rss, serving
from xscl.cli.main import cli
from xscl.errors import XSCLError
from xscl.feeds import Outline, read_opml

PAGE = "<!doctype html><html><head>{}</head></html>"
LINK = '<link rel="alternate" type="application/rss+xml" title="{0}" href="/{0}">'


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as server:
        server.site |= {f"/{name}": Reply(body=rss(title=f"The {name}")) for name in "ab"}
        for names in ("", "a", "ab"):
            links = "".join(map(LINK.format, names))
            server.site[f"/page{names}"] = Reply(body=PAGE.format(links).encode())
        yield server


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path / "feeds.opml"


def add(*arguments: str) -> Result:
    arguments = ("feeds", "add", "--allow-private", *arguments)
    return CliRunner().invoke(cli, arguments, standalone_mode=False)


def test_a_feed_is_added_once(server: Server, file: Path) -> None:
    done = add(server.url("/a"))
    assert (done.return_value, done.stderr) == (0, "")
    assert f"added to feeds.opml: The a, {server.url('/a')}\n" in done.stdout
    assert "`xscl watch QUERIES --feed S=feeds.opml` polls them" in done.stdout
    done = add(server.url("/a#top"), server.url("/b"), "--folder", "Sea")
    assert done.return_value == 0
    assert f"{server.url('/a')} is in feeds.opml already" in done.stdout
    add("--folder", "Sea", server.url("/b?1"))
    server.site["/b?1"] = Reply(body=rss(title="More & more"))
    add("--folder", "Sea", server.url("/b?1"))
    assert read_opml(file.read_bytes()) == [
        Outline(server.url("/a"), "The a"),
        Outline(server.url("/b"), "The b", ("Sea",)),
        Outline(server.url("/b?1"), "More & more", ("Sea",)),
    ]
    assert file.read_text().count('text="Sea"') == 1


def test_a_page_leads_to_its_feed(server: Server, file: Path) -> None:
    done = add(server.url("/pagea"))
    assert done.return_value == 0
    assert f"{server.url('/pagea')} is a web page; the feed that it names: " in done.stdout
    assert read_opml(file.read_bytes()) == [Outline(server.url("/a"), "The a")]


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("/page", "is an HTML page, no RSS, Atom or JSON feed, and names none"),
        ("/pageab", "several feeds; give one of them: http://127.0.0.1:{port}/a (a), http"),
        ("/none", "the server answered 404"),
    ],
)
def test_what_is_no_feed_is_not_added(server: Server, file: Path, path: str, said: str) -> None:
    done = add(server.url(path), server.url("/b"))
    assert done.return_value == 1
    assert said.format(port=server.port) in done.stderr
    assert [feed.title for feed in read_opml(file.read_bytes())] == ["The b"], "the good one is"


def test_a_private_address_is_refused(server: Server, file: Path) -> None:
    done = CliRunner().invoke(cli, ["feeds", "add", server.url("/a")], standalone_mode=False)
    assert done.return_value == 1
    assert "--allow-private" in done.stderr
    assert not file.exists()


OWN = """<?xml version='1.0' encoding='ISO-8859-1'?>
<opml version="1.0"><!-- mine -->
  <head><title>M\xfcller</title></head>
  <body>
    <outline text="Land">
      <outline text="Old" xmlUrl="http://a.example/" custom="yes"/>
    </outline>
  </body>
</opml>
"""


def test_the_rest_of_a_file_stays(server: Server, file: Path) -> None:
    file.write_bytes(OWN.encode("latin-1"))
    assert add(server.url("/a"), "--folder", "Land").return_value == 0
    kept = file.read_bytes().decode("latin-1").splitlines()
    assert [line for line in kept if "/a" not in line or "custom" in line] == OWN.splitlines()
    assert kept[6].startswith("      <outline type=")


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("<html/>", "feeds.opml: it is no OPML; give an OPML file"),
        ("<opml><body><outline xmlUrl='http://a.example/?a&b'/></body></opml>", "fix it first"),
        ("<opml/>", "has no <body>"),
    ],
)
def test_a_file_that_cannot_be_added_to_stays(
    server: Server, file: Path, body: str, said: str
) -> None:
    file.write_text(body)
    done = add(server.url("/a"))
    assert isinstance(done.exception, XSCLError)
    assert said in str(done.exception)
    assert file.read_text() == body


def test_a_feed_that_has_moved_keeps_its_password(server: Server, file: Path) -> None:
    def guarded(request: Request) -> Reply:
        known = "authorization" in request.headers
        return Reply(body=rss(title="The b")) if known else Reply(401)

    server.site["/b"] = guarded
    server.site["/old"] = Reply(301, (("Location", b"/b"),))
    secret = server.url("/old").replace("http://", "http://me:secret@")
    assert add(secret).return_value == 0
    assert "secret" in file.read_text()
    (feed,) = read_opml(file.read_bytes())
    assert feed.address == server.url("/b").replace("http://", "http://me:secret@")
    done = add(secret)
    assert "is in feeds.opml already" in done.stdout
    assert "secret" not in done.stdout


def test_an_address_that_is_listed_is_not_added_under_another(server: Server, file: Path) -> None:
    add(server.url("/a"))
    server.site["/a"] = Reply(301, (("Location", b"/b"),))
    done = add(server.url("/a"))
    assert f"{server.url('/a')} is in feeds.opml already" in done.stdout
    assert len(read_opml(file.read_bytes())) == 1
