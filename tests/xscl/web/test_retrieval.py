"""Each rule of safety and boundedness, by real HTTP over the loopback interface."""

from __future__ import annotations

import gzip
import os
import shutil
import socket
import ssl
import subprocess
import time
import traceback
import zlib
from collections.abc import Iterator
from itertools import repeat
from pathlib import Path

import brotli
import pytest

from tests.xscl.web.loopback import Reply, Request, Server, rss, serving
from xscl.web.exchange import Response, Validators
from xscl.web.proxies import ProxySettings
from xscl.web.retrieval import HTTPRetrieval, RetrievalError, user_agent
from xscl.web.targets import BadAddress, Credentials, split_credentials

FEED = rss(("1", "one"))
MEBIBYTE = 1 << 20
NONE = Validators()


@pytest.fixture
def server(server: Server) -> Server:
    server.site["/feed"] = Reply(body=FEED)
    return server


def get(
    url: str,
    *,
    validators: Validators = NONE,
    credentials: Credentials | None = None,
    **options: object,
) -> Response:
    settings = {
        "agent": b"test",
        "allow_private": True,
        "limit": MEBIBYTE,
        "seconds": 20.0,
        **options,
    }
    return HTTPRetrieval(**settings)(url, validators, credentials)  # type: ignore[arg-type]


def test_the_user_agent_has_the_contact(server: Server) -> None:
    get(server.url("/feed"), agent=user_agent("1.2", "https://me.example/bot"))
    assert server.requests[0].headers["user-agent"] == b"xscl/1.2 (+https://me.example/bot)"


@pytest.mark.parametrize("contact", ["a\r\nX-Evil: 1", "me (you)", "mé"])
def test_a_contact_that_no_header_can_hold_is_refused(contact: str) -> None:
    with pytest.raises(ValueError, match="no address"):
        user_agent("1.2", contact)


def test_validators_go_out_as_the_bytes_that_they_are(server: Server) -> None:
    etag, modified = b'W/"\xe9  odd , bytes"', b"Mon, 1 Jun 2026 9:5:03 +0000"
    get(server.url("/feed"), validators=Validators(etag, modified))
    headers = server.requests[0].headers
    assert (headers["if-none-match"], headers["if-modified-since"]) == (etag, modified)


def test_validators_come_in_as_the_bytes_that_they_are(server: Server) -> None:
    etag = b'W/"\xe9  odd , bytes"'
    server.site["/feed"] = Reply(headers=(("ETag", etag), ("last-modified", b"yesterday")))
    headers = get(server.url("/feed")).headers
    assert (headers["etag"], headers["last-modified"]) == (etag, b"yesterday")


@pytest.mark.parametrize(
    ("coding", "body"),
    [
        (b"gzip", gzip.compress(FEED, mtime=0)),
        (
            b"x-gzip",
            gzip.compress(FEED[:50], mtime=0) + gzip.compress(FEED[50:], mtime=0) + b"\0\0",
        ),
        (b"deflate", zlib.compress(FEED)),
        (b"deflate", zlib.compress(FEED, wbits=-15)),
        (b"br", brotli.compress(FEED)),
        (b"br, gzip", gzip.compress(brotli.compress(FEED), mtime=0)),
        (b"identity", FEED),
    ],
)
def test_compressed_bodies_are_read(server: Server, coding: bytes, body: bytes) -> None:
    server.site["/z"] = Reply(headers=(("Content-Encoding", coding),), body=body)
    assert get(server.url("/z")).body == FEED
    assert server.requests[0].headers["accept-encoding"] == b"gzip, br"


def test_a_file_that_is_gzipped_as_it_lies_there_is_read(server: Server) -> None:
    coded = (("Content-Encoding", b"gzip"),)
    for headers, body in (((), gzip.compress(FEED)), (coded, gzip.compress(gzip.compress(FEED)))):
        server.site["/z"] = Reply(headers=headers, body=body)
        assert get(server.url("/z")).body == FEED


def _bombs() -> dict[bytes, bytes]:
    """100 MiB of zeros by each coding, made piece by piece: the peak of memory is measured."""
    pieces = [b"\0" * MEBIBYTE] * 100
    packed, wrapped, by_brotli = (
        zlib.compressobj(wbits=31),
        zlib.compressobj(),
        brotli.Compressor(quality=4),
    )
    once = b"".join(map(packed.compress, pieces)) + packed.flush()
    return {
        b"gzip": once,
        b"deflate": b"".join(map(wrapped.compress, pieces)) + wrapped.flush(),
        b"br": b"".join(map(by_brotli.process, pieces)) + by_brotli.finish(),
        b"gzip, gzip": gzip.compress(once),
    }


def test_a_bomb_ends_at_the_limit_and_takes_no_memory(server: Server) -> None:
    bombs = _bombs()
    for coding, body in bombs.items():
        server.site["/bomb"] = Reply(headers=(("Content-Encoding", coding),), body=body)
        before = _memory()
        with pytest.raises(RetrievalError, match="larger than 4,194,304 bytes"):
            get(server.url("/bomb"), limit=4 * MEBIBYTE)
        assert _memory() - before < 64 * MEBIBYTE


def _memory() -> int:
    """Bytes that the process has had at most."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) * 1024
    raise AssertionError("no VmHWM")


@pytest.mark.parametrize(
    ("coding", "body", "reason"),
    [
        (b"gzip", gzip.compress(FEED, mtime=0)[:-20], "ends early"),
        (b"br", brotli.compress(FEED)[:-5], "ends early"),
        (b"gzip", b"no gzip at all", "cannot be decompressed"),
        (b"br", b"\xff" * 50, "cannot be decompressed"),
        (b"zstd", FEED, "nobody asked for"),
        (b"gzip, gzip, gzip", FEED, "coded 3 times"),
    ],
)
def test_a_body_that_is_not_what_it_says_is_refused(
    server: Server, coding: bytes, body: bytes, reason: str
) -> None:
    server.site["/z"] = Reply(headers=(("Content-Encoding", coding),), body=body)
    with pytest.raises(RetrievalError, match=reason):
        get(server.url("/z"))


def test_a_body_is_bounded_whatever_length_it_gives(server: Server) -> None:
    server.site["/told"] = Reply(raw=b"HTTP/1.1 200 X\r\nContent-Length: 99999999999\r\n\r\nx")
    sent = []

    def endless() -> Iterator[bytes]:
        while True:
            sent.append(1)
            yield b"x" * 65536

    server.site["/untold"] = Reply(pieces=endless)
    for path in ("/told", "/untold"):
        with pytest.raises(RetrievalError, match="larger than"):
            get(server.url(path), limit=MEBIBYTE)
    assert len(sent) < 1000


def test_a_server_that_dribbles_ends_with_the_time(server: Server) -> None:
    def dribble() -> Iterator[bytes]:
        while True:
            time.sleep(0.05)
            yield b"x"

    server.site["/body"] = Reply(pieces=dribble)
    server.site["/head"] = Reply(raw=b"HTTP/1.1 200 X\r\n", pieces=dribble)
    server.site["/silent"] = Reply(raw=b"", pieces=lambda: iter([time.sleep(60) or b""]))
    for path in ("/body", "/head", "/silent"):
        with pytest.raises(RetrievalError, match="too long"):
            get(server.url(path), seconds=0.5)


def test_heads_without_end_are_ended(server: Server) -> None:
    def endless(piece: bytes) -> Reply:
        return Reply(raw=b"HTTP/1.1 200 X\r\n", pieces=lambda: repeat(piece))

    server.site["/fields"] = endless(b"X-Field: " + b"x" * 1000 + b"\r\n")
    server.site["/field"] = endless(b"x" * 1000)
    for path in ("/fields", "/field"):
        with pytest.raises(RetrievalError, match="no answer"):
            get(server.url(path))
    server.site["/in a moment"] = Reply(
        raw=b"", pieces=lambda: repeat(b"HTTP/1.1 100 Continue\r\n\r\n")
    )
    server.site["/in%20a%20moment"] = server.site["/in a moment"]
    with pytest.raises(RetrievalError, match="too long"):
        get(server.url("/in a moment"), seconds=0.5)


def test_the_time_is_for_all_redirects_together(server: Server) -> None:
    def slowly(request: Request) -> Reply:
        time.sleep(0.2)
        return Reply(302, (("Location", request.path.encode() + b"x"),))

    for hops in range(9):
        server.site["/" + "x" * hops] = slowly
    with pytest.raises(RetrievalError, match="too long"):
        get(server.url("/"), seconds=0.5)


@pytest.mark.parametrize(
    "raw", [b"", b"no http\r\n\r\n", b"HTTP/1.1 200 X\r\nContent-Length: 9\r\n\r\nx"]
)
def test_what_is_no_answer_is_reported(server: Server, raw: bytes) -> None:
    server.site["/odd"] = Reply(raw=raw)
    with pytest.raises(RetrievalError, match="no answer"):
        get(server.url("/odd"))


def test_redirects_are_followed_and_permanent_ones_distinguished(server: Server) -> None:
    def to(path: str, status: int) -> Reply:
        return Reply(status, (("Location", path.encode()),))

    server.site |= {
        "/a": to("/b?x=%C3%A9 é", 301),
        "/b?x=%C3%A9%20%C3%A9": to("/c#part", 308),
        "/c": to("/d", 302),
        "/d": to("/feed", 301),
    }
    response = get(server.url("/a"))
    assert (response.status, response.url, response.body) == (200, server.url("/feed"), FEED)
    assert response.moved_to == server.url("/c"), "what follows a temporary redirect is temporary"
    assert get(server.url("/c")).moved_to is None


def test_redirects_in_a_circle_end(server: Server) -> None:
    server.site["/a"] = Reply(302, (("Location", b"/b"),))
    server.site["/b"] = Reply(302, (("Location", b"/a"),))
    with pytest.raises(RetrievalError, match="in a circle"):
        get(server.url("/a"))
    assert len(server.requests) == 2


def test_redirects_that_never_end_are_ended(server: Server) -> None:
    for hop in range(50):
        server.site[f"/{hop}"] = Reply(302, (("Location", b"/%d" % (hop + 1)),))
    with pytest.raises(RetrievalError, match="more than 8 redirects"):
        get(server.url("/0"))
    assert len(server.requests) == 9


@pytest.mark.parametrize(
    "location",
    ["file:///etc/passwd", "ftp://127.0.0.1/x", "gopher://127.0.0.1/", "javascript:1", "http://[1"],
)
def test_redirects_lead_to_http_alone(server: Server, location: str) -> None:
    server.site["/a"] = Reply(302, (("Location", location.encode()),))
    with pytest.raises(RetrievalError, match=r"address|server"):
        get(server.url("/a"))


def test_a_redirect_without_a_place_is_reported(server: Server) -> None:
    server.site["/a"] = Reply(302)
    with pytest.raises(RetrievalError, match="without saying where"):
        get(server.url("/a"))


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "2130706433", "0x7f.1", "0", "[::1]", "[::ffff:127.0.0.1]"]
)
def test_this_machine_is_not_asked_unless_allowed(server: Server, host: str) -> None:
    with pytest.raises(RetrievalError, match=r"not of the public Internet|no address"):
        get(server.url("/feed", host), allow_private=False)
    assert not server.requests


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with the key and the self-signed certificate of feeds.example."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("openssl, which makes the certificate, is not there")
    folder = tmp_path_factory.mktemp("certificate")
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    request = (
        "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=feeds.example "
        f"-addext subjectAltName=DNS:feeds.example -keyout {key} -out {certificate}"
    )
    subprocess.run([openssl, *request.split()], check=True, capture_output=True)
    certificate.write_bytes(key.read_bytes() + certificate.read_bytes())
    return certificate


@pytest.fixture
def secured(certificate: Path) -> Iterator[Server]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    with serving(context) as server:
        server.site["/feed"] = Reply(body=FEED)
        yield server


def test_https_is_for_the_name_though_the_address_is_connected_to(
    secured: Server, certificate: Path
) -> None:
    trust = ssl.create_default_context(cafile=str(certificate))
    options = {"trust": trust, "resolve": lambda host, port: ["127.0.0.1"]}
    url = secured.url("/feed", "feeds.example").replace("http:", "https:")
    assert get(url, **options).body == FEED
    with pytest.raises(RetrievalError, match="Hostname mismatch"):
        get(url.replace("feeds.", "other."), **options)


def test_a_certificate_of_nobody_is_refused(secured: Server) -> None:
    url = secured.url("/feed", "feeds.example").replace("http:", "https:")
    with pytest.raises(RetrievalError, match="self-signed certificate"):
        get(url, resolve=lambda host, port: ["127.0.0.1"])
    assert not secured.requests


PUBLIC = "192.0.43.8"
"""An address of the public Internet; in these tests it leads to the loopback interface."""


@pytest.fixture
def connected(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The addresses that connections were made to: the public one leads here, others nowhere."""
    addresses = []
    create = socket.create_connection

    def connect(address: tuple[str, int], *rest: object, **named: object) -> socket.socket:
        addresses.append(address[0])
        if address[0] != PUBLIC:
            raise ConnectionRefusedError(f"a test must not connect to {address[0]}")
        return create(("127.0.0.1", address[1]), *rest, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(socket, "create_connection", connect)
    return addresses


def test_a_redirect_into_the_network_is_refused_where_it_leads(
    server: Server, connected: list[str]
) -> None:
    location = server.url("/feed", "inside.example").encode()
    server.site["/a"] = Reply(301, (("Location", location),))
    addresses = {"outside.example": [PUBLIC], "inside.example": ["10.0.0.7"]}
    with pytest.raises(RetrievalError, match=r"inside.example is at 10.0.0.7"):
        get(
            server.url("/a", "outside.example"),
            allow_private=False,
            resolve=lambda host, port: addresses[host],
        )
    assert connected == [PUBLIC]
    assert len(server.requests) == 1


def test_a_name_server_that_changes_its_mind_gains_nothing(
    server: Server, connected: list[str]
) -> None:
    """DNS re-binding: public when it is checked, this machine at the next question."""
    answers = iter([PUBLIC, "127.0.0.1"])
    asked = []

    def resolve(host: str, port: int) -> list[str]:
        asked.append(host)
        return [next(answers)]

    url = server.url("/feed", "rebinding.example")
    assert get(url, allow_private=False, resolve=resolve).body == FEED
    assert (asked, connected) == (["rebinding.example"], [PUBLIC]), "asked once, and held to it"
    with pytest.raises(RetrievalError, match=r"127.0.0.1, which is not of the public"):
        get(url, allow_private=False, resolve=resolve)
    assert connected == [PUBLIC]


def test_a_name_is_checked_again_at_every_hop(server: Server, connected: list[str]) -> None:
    answers = iter([PUBLIC, "::ffff:169.254.169.254"])
    server.site["/a"] = Reply(302, (("Location", b"/feed"),))
    with pytest.raises(RetrievalError, match=r"not of the public Internet"):
        get(
            server.url("/a", "rebinding.example"),
            allow_private=False,
            resolve=lambda host, port: [next(answers)],
        )
    assert connected == [PUBLIC]


def test_of_several_addresses_only_the_public_ones_are_tried(
    server: Server, connected: list[str]
) -> None:
    response = get(
        server.url("/feed", "both.example"),
        allow_private=False,
        resolve=lambda host, port: ["127.0.0.1", "10.0.0.1", PUBLIC],
    )
    assert (response.body, connected) == (FEED, [PUBLIC])


def test_passwords_go_to_their_own_server_alone(server: Server) -> None:
    with serving() as other:
        other.site["/feed"] = Reply(body=FEED)
        server.site["/a"] = Reply(301, (("Location", b"/b"),))
        server.site["/b"] = Reply(301, (("Location", other.url("/feed").encode()),))
        url, credentials = split_credentials(server.url("/a", "me:p%40ss@127.0.0.1"))
        assert "ss" not in repr(credentials) + url
        get(url, credentials=credentials)
        sent = [request.headers.get("authorization") for request in server.requests]
        assert sent == [b"Basic bWU6cEBzcw=="] * 2
        assert "authorization" not in other.requests[0].headers


def test_a_redirect_cannot_bring_its_own_password(server: Server) -> None:
    location = server.url("/feed", "you:secret@127.0.0.1").encode()
    server.site["/a"] = Reply(302, (("Location", location),))
    response = get(server.url("/a"))
    assert "authorization" not in server.requests[-1].headers
    assert "secret" not in response.url


@pytest.mark.parametrize(
    "host", ["[nowhere", "a\u2100b", "a.example:port", "[::1", "", "x" * 70 + "\u00e4"]
)
def test_no_message_of_a_bad_address_has_its_password(host: str) -> None:
    with pytest.raises(BadAddress) as raised:
        split_credentials(f"http://me:geheim@{host}/feed")
    reported = "".join(traceback.format_exception(raised.value))
    assert "geheim" not in reported.partition("BadAddress")[2]
    assert "is no address" in str(raised.value) or "names no server" in str(raised.value)


def test_the_environment_gives_passwords_and_proxies(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in os.environ if name.lower().endswith("_proxy")]:
        monkeypatch.delenv(name)
    (tmp_path / "netrc").write_text("machine feeds.example login me password it\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    monkeypatch.setenv("HTTP_PROXY", server.url("").replace("//", "//by:proxy@"))
    monkeypatch.setenv("http_proxy", server.url("").replace("//", "//by:proxy@"))
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    server.site["http://feeds.example/feed"] = Reply(body=FEED)
    proxies = ProxySettings.of_environment()
    public = {"resolve": lambda host, port: ["127.0.0.1"], "proxies": proxies}
    assert get("http://feeds.example/feed", **public).body == FEED
    headers = server.requests[-1].headers
    assert headers["authorization"] == b"Basic bWU6aXQ="
    assert headers["proxy-authorization"] == b"Basic Ynk6cHJveHk="
    get(server.url("/feed"), proxies=proxies)
    assert server.requests[-1].path == "/feed", "no_proxy was not heeded"


def test_a_proxy_is_not_asked_for_what_is_refused(server: Server) -> None:
    proxies = ProxySettings({"http": server.url("")})
    for host in ("169.254.169.254", "127.0.0.1", "[::ffff:10.0.0.1]"):
        with pytest.raises(RetrievalError, match="not of the public Internet"):
            get(f"http://{host}/", allow_private=False, proxies=proxies)
    assert not server.requests
