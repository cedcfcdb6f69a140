"""Lines of an events file that mean harm."""

from __future__ import annotations

import json

from tests.hostile.cases import Case

__all__ = ["LINES"]

NO_JSON = "it is no JSON: "
NESTED = "it is nested too deep; documents have at most 256 levels"
LARGE = "it has more than 16,777,216 bytes; --max-document"


def of(**members: object) -> bytes:
    return json.dumps({"id": "hostile", **members}).encode()


def of_json(text: str) -> bytes:
    return b'{"id": "hostile", "json": %s}' % text.encode()


def nested(opening: str, closing: str, levels: int) -> bytes:
    return of_json(opening * levels + "1" + closing * levels)


LINES = [
    # What is no line of JSON.
    Case("no JSON", lambda: b"once upon a time", NO_JSON),
    Case("half an object", lambda: b'{"id": "hostile", "xml": ', NO_JSON),
    Case("two objects", lambda: of(xml="<a/>") * 2, NO_JSON),
    Case("XML", lambda: b"<a/>", NO_JSON),
    Case("an array", lambda: b"[" + of(xml="<a/>") + b"]", "expected a JSON object"),
    Case("a number", lambda: b"1", "expected a JSON object"),
    Case("NUL", lambda: b"\x00", NO_JSON),
    Case("NUL within", lambda: b'{"id": "host\x00ile", "xml": "<a/>"}', NO_JSON),
    Case("Latin-1", lambda: b'{"id": "hostile", "xml": "<a>\xe9</a>"}', NO_JSON),
    Case(
        "a surrogate in UTF-8",
        lambda: b'{"id": "hostile", "xml": "<a>\xed\xa0\x80</a>"}',
        "is a lone surrogate",
    ),
    Case("UTF-16", lambda: of(xml="<a/>").decode().encode("utf-16"), NO_JSON),
    Case("UTF-32", lambda: of(xml="<a/>").decode().encode("utf-32"), NO_JSON),
    Case("UTF-7", lambda: b"+AHsAIg-id+ACI-: 1}", NO_JSON),
    Case("NaN", lambda: of_json("NaN"), "NaN is no JSON"),
    Case("infinity", lambda: of_json("-Infinity"), "-Infinity is no JSON"),
    Case("a trailing comma", lambda: of_json("[1,]"), NO_JSON),
    # Depth and length.
    Case("100,000 arrays", lambda: nested("[", "]", 100_000), NESTED),
    Case("100,000 objects", lambda: nested('{"a":', "}", 100_000), NESTED),
    Case("1,000,000 brackets, never closed", lambda: b"[" * 1_000_000, NESTED),
    Case("300 arrays", lambda: nested("[", "]", 300), "it is deeper than 256 elements"),
    Case("300 objects", lambda: nested('{"a":', "}", 300), "it is deeper than 256 elements"),
    Case("256 levels", lambda: nested('{"a":', "}", 255), None),
    Case("a line of 17 MB", lambda: of(xml=f'<a k="{"x" * 17_000_000}"/>'), LARGE),
    Case("17 MB of no JSON", lambda: b"x" * 17_000_000, LARGE),
    Case("17 MB of spaces", lambda: b" " * 17_000_000, LARGE),
    Case(
        "100,000 members",
        lambda: of_json(json.dumps(dict.fromkeys(map(str, range(100_000)), 1))),
        None,
    ),
    Case("150,000 values", lambda: of_json("[" + ",".join(["1"] * 150_000) + "]"), None),
    Case("a key of 5 MB", lambda: of_json('{"%s": 1}' % ("k " * 2_500_000)), None),
    Case("a text of 15 MB", lambda: of_json('"%s"' % ("x" * 15_000_000)), None),
    # Numbers.
    Case("an integer of 10,000 digits", lambda: of_json("9" * 10_000), "4300 digits"),
    Case("a number beyond all doubles", lambda: of_json("1e400"), "beyond all doubles"),
    Case("a number below all doubles", lambda: of_json("1e-400"), None),
    Case(
        "an exponent of 1,000,000 digits", lambda: of_json("1e" + "9" * 10**6), "beyond all doubles"
    ),
    Case("a fraction of 1,000,000 digits", lambda: of_json("0." + "9" * 10**6), None),
    # Characters.
    Case("half a surrogate pair in XML", lambda: of(xml="<a>\ud800</a>"), "is a lone surrogate"),
    Case(
        "half a surrogate pair in JSON",
        lambda: of(json={"a": "\ud800"}),
        "cannot be read as a tree",
    ),
    Case("half a surrogate pair in a key", lambda: of(json={"\ud800": "a"}), r"key holds U\+D800"),
    Case("half a surrogate pair in an id", lambda: of(id="\ud800", xml="<a/>"), r"`id` .* U\+D800"),
    Case(
        "half a surrogate pair in a stream",
        lambda: of(stream="\udfff", xml="<a/>"),
        r"`stream` holds U\+DFFF",
    ),
    Case("NUL in a key", lambda: of(json={"a": [{"\0": 1}]}), r"a key holds U\+0000"),
    Case("a control character in a key", lambda: of(json={"\x01": "a"}), r"a key holds U\+0001"),
    Case("a control character in an id", lambda: of(id="\x01", xml="<a/>"), r"`id` holds U\+0001"),
    Case("a key that is no name", lambda: of(json={"a b\n\x85\U0001f600": "a"}), None),
    Case("NUL in XML", lambda: of(xml="<a>\x00</a>"), "line 1, column"),
    Case("NUL in JSON", lambda: of(json={"a": "\x00"}), "cannot be read as a tree"),
    Case("a terminal's escapes in an id", lambda: of(id="\x1b]0;pwned\x07", xml="<"), r"\\x1b\]0;"),
    # Envelopes.
    Case("neither XML nor JSON", of, "neither `xml`"),
    Case("XML that is no text", lambda: of(xml=["<a/>"]), "neither `xml`"),
    Case("an id that is no text", lambda: of(id={"a": 1}, xml="<a/>"), "`id` must be a string"),
    Case(
        "a stream that is no text", lambda: of(stream=[1], xml="<a/>"), "expected the name of a st"
    ),
    Case(
        "a time that is none", lambda: of(timestamp="soon", xml="<a/>"), "neither seconds nor ISO"
    ),
    Case("a time out of all range", lambda: of(timestamp=1e300, xml="<a/>"), "out of range"),
    Case("a time of 100 digits", lambda: of(timestamp=10**100, xml="<a/>"), "out of range"),
    Case("a time that is true", lambda: of(timestamp=True, xml="<a/>"), "neither seconds nor ISO"),
    Case(
        "a member twice", lambda: b'{"id": "x", "id": "hostile", "xml": "<", "xml": "<a/>"}', None
    ),
    Case("a key twice", lambda: of_json('{"a": 1, "a": 2}'), None),
    Case(
        "XML within that means harm",
        lambda: of(xml='<!DOCTYPE a [<!ENTITY e "x">]><a>&e;</a>'),
        "five",
    ),
]
