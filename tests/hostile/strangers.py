"""What a stranger may send to a server, drawn: documents, names, queries and bytes that are no
request.  Nothing of it is of the stream `Good`."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from urllib.parse import quote

__all__ = ["Request", "bytes_of_no_request", "drawn_request"]

JSON, XML, LINES = "application/json", "application/xml", "application/x-ndjson"

TEXTS = [
    "\ud800", "\udfff\ud800", "x\udc80", "\0", "\x01", "\x1f", "\ufffe", "\uffff", "\x1b[2J\x07",
    "\x7f",
    "\u202e", "\U0001f600", "", " ", "\n", "\t", "a b", "1", "item", "json", "k", "a:b", "{u}a",
    "..", "<a>",
    "&e;", "'", '"', "%", "%00", "\\", "x" * 3_000, "--", "(:", "$1", ":p", "Good2", "__proto__",
]  # fmt: skip

NUMBERS = [
    "0", "-0", "1e400", "-1e400", "1e-400", "9" * 5_000, "9" * 19, "-" + "9" * 40, "NaN",
    "Infinity",
    "1" + "0" * 400, "0.1", "1e308", "true", "null", "01", "+1", "0x1",
]  # fmt: skip

TIMES: list[object] = [
    None, 0, -1, 1e300, -1e300, 10**30, float("nan"), float("inf"), "9999-12-31", "0001-01-01",
    "9999-12-31T23:59:59-23:59", "now", "", "\ud800", True, [], {}, 1e11, 99_999_999_999,
    "2026-02-30",
]  # fmt: skip

BODIES: list[tuple[str, bytes]] = [
    (JSON, b"[" * 100_000), (JSON, b'{"a":' * 300 + b"1" + b"}" * 300), (JSON, b"\xff\xfe{}"),
    (JSON, b'{"a": "\xed\xa0\x80"}'), (JSON, b""), (JSON, b"\0"), (JSON, b'{"a": 1}{"a": 2}'),
    (JSON, b'{"k": "1", "k": ["1"]}'), (JSON, b"\xef\xbb\xbf{}"), (JSON, b'{"a": "\\ud83d"}'),
    (JSON, b'{"k": ' + b"[" * 250 + b"1" + b"]" * 250 + b"}"),
    (JSON, b'"' + b"\\u0000" * 999 + b'"'),
    (XML, b"<a>" * 300 + b"</a>" * 300), (XML, b"<a>&#0;</a>"), (XML, b"<a>&#xD800;</a>"),
    (XML, b"<a"),
    (XML, b"<a>\0</a>"), (XML, b"<a>\xed\xa0\x80</a>"), (XML, b""),
    (XML, b"<?xml version='1.1'?><a/>"),
    (XML, b"<?xml version='1.0' encoding='utf-16'?><a/>"), (XML, "<a>\u00e9</a>".encode("utf-16")),
    (XML, b"<!DOCTYPE a [<!ENTITY b 'x'><!ENTITY c '" + b"&b;" * 99 + b"'>]><a>&c;</a>"),
    (XML, b"<!DOCTYPE a [" + b"".join(b"<!ENTITY e%d '%b'>" % (n, b"&e%d;" % (n - 1) * 9)
                                      for n in range(1, 20)) + b"]><a>&e19;</a>"),
    (XML, b"<!DOCTYPE a SYSTEM 'file:///etc/passwd'><a/>"), (XML, b"<a b='1' b='2'/>"),
    (XML, b"<a " + b"".join(b"k%d='' " % n for n in range(11_000)) + b"/>"),
    (XML, b"<k xmlns='\x01'/>"), (XML, b"<?k \x01?><a/>"), (XML, b"<a><![CDATA[\x02]]></a>"),
]  # fmt: skip

QUERIES = [
    "S//a", "S//a (: {} :)", "S//a[b = '{}']", "-- name: {}\nS//a", "SELECT <r k='{}'/> FROM S",
    'SELECT {{"{}": 1}} FROM S/json', "S/json/'{}'", "EVENT SEQ(S a, !S b) WHERE [{}] WITHIN 1 s",
    "SELECT {} FROM FILTER{{k = '{}'}}(S)", "S//a[matches(., '{}')]", "S//a[b = :p]", "{}",
    "DECLARE STREAM S({}); SELECT k FROM S", "S//a PUBLISH {}", "EVENT SEQ(S a, S b) WITHIN {} s",
    "(" * 500, "S//a[" * 300, "S//a->x JOIN {{x = y, {} days}} S//b->y", ";" * 99, "-- {}",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Request:
    """A request by its parts."""

    method: str
    path: str
    body: bytes | None = None
    headers: dict[str, str] = field(default_factory=dict)


def _text(random: Random) -> str:
    text = random.choice(TEXTS)
    return text if random.random() < 0.5 else f"k{text}{random.randrange(9)}"


def _value(random: Random, levels: int = 3) -> str:
    """A value of JSON as text, or what is nearly one."""
    kind = random.randrange(6 if levels else 3)
    if kind == 0:
        return random.choice(NUMBERS)
    if kind < 3:
        return json.dumps(_text(random))
    if kind == 3:
        return f"[{', '.join(_value(random, levels - 1) for _ in range(random.randrange(3)))}]"
    return _object(random, levels - 1)


def _object(random: Random, levels: int = 3) -> str:
    members = [f"{json.dumps(_text(random))}: {_value(random, levels)}" for _ in range(2)]
    return f'{{"k": "{random.randrange(3)}", {", ".join(members)}}}'


def _escaped(text: str) -> str:
    return quote(text.encode("utf-8", "surrogatepass"), safe="")


def _document(random: Random) -> Request:
    kind, body = random.choice(BODIES)
    if random.random() < 0.6:
        kind, body = JSON, _object(random).encode("utf-8", "surrogatepass")
    stream = "S" if random.random() < 0.7 else f"S{_escaped(_text(random))}"
    path = f"/streams/{stream}?timestamp={_escaped(str(random.choice(TIMES)))}"
    if random.random() < 0.3:
        path = f"/streams/{stream}/documents/{_escaped(_text(random)) or 'x'}"
        return Request("PUT", path, body, {"Content-Type": kind})
    if random.random() < 0.7:
        path = f"/streams/{stream}"
    return Request("POST", path, body, {"Content-Type": kind})


def _line(random: Random) -> Request:
    members: dict[str, object] = {"id": _text(random)}
    if random.random() < 0.3:
        members["stream"] = random.choice(["S", f"S{_text(random)}", [], 1, "\0q"])
    if random.random() < 0.4:
        members[random.choice(["timestamp", "start"])] = random.choice(TIMES)
    if random.random() < 0.1:
        members = {"advance": random.choice(["9999-12-31", 9e10, 1e300, "\ud800", None, []])}
    lines = json.dumps(members)[:-1]
    if "advance" not in members:
        lines += f', "json": {_object(random)}'
    return Request("POST", "/streams/S", f"{lines}}}\n".encode(), {"Content-Type": LINES})


def _query(random: Random) -> Request:
    text = random.choice(QUERIES)
    asked: dict[str, object] = {
        "text": text.format(_text(random), _text(random)) if "{" in text else text,
        "params": {random.choice(["p", _text(random)]): "VALUE"},
    }
    where = random.choice(["/queries", "/queries", "/check", "/explain"])
    if where == "/queries":
        asked["history"] = random.random() < 0.3
        if random.random() < 0.6:
            asked["name"] = f"h{_text(random)}"
    body = json.dumps(asked).replace('"VALUE"', _value(random, 1))
    if where == "/queries" and random.random() < 0.3:
        asked.pop("name", None)
        named = f"/queries/h{_escaped(_text(random))}"
        return Request("PUT", named, json.dumps(asked).encode(), {"Content-Type": JSON})
    return Request("POST", where, body.encode(), {"Content-Type": JSON})


def _other(random: Random) -> Request:
    text = _escaped(_text(random))
    paths = ["/queries/h{}", "/matches/{}", "/matches?after={}", "/matches?query={}", "/{}",
    "/stats",
             "/queries/h{}/why", "/queries/pending/why?document={}", "/streams/S{}/feed.atom",
             "/documents?stream={}&limit=5", "/matches?newest={}", "/explain?text={}"]  # fmt: skip
    if random.random() < 0.2:
        token = json.dumps({"token": _text(random)}).encode()
        return Request("POST", "/session", token, {"Content-Type": JSON})
    method = random.choice(["GET", "GET", "DELETE", "HEAD", "PATCH"])
    return Request(method, random.choice(paths).format(text))


_KINDS: list[Callable[[Random], Request]] = [_document] * 4 + [_line] * 3 + [_query] * 3 + [_other]


def drawn_request(random: Random) -> Request:
    """A request of a stranger."""
    return random.choice(_KINDS)(random)


def bytes_of_no_request(random: Random) -> bytes:
    """Bytes that a stranger sends, and then goes."""
    post = b"POST /streams/S HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    known = [
        random.randbytes(200), b"GET / HTTP/1.1\r\nHost: [::1]evil.example\r\n\r\n",
        post + b"Content-Length: 99\r\n\r\n{", post + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n",
        post + b"Content-Length: 1e3\r\n\r\n",
        post + b"Content-Encoding: gzip\r\nContent-Length: 2\r\n\r\n{}",
        b"GET /%00%ff%2f HTTP/1.1\r\nHost: localhost\r\nX: \xff\xfe\r\n\r\n", b"\r\n" * 500,
        b"GET /matches?live=1 HTTP/1.1\r\nHost: localhost\r\nLast-Event-ID: \xff-1\r\n\r\n",
        post + b"Content-Length: 20\r\nExpect: 100-continue\r\n\r\n",
        b"GET /\xf0\x28 HTTP/1.1\r\n\r\n",
    ]  # fmt: skip
    return random.choice(known)
