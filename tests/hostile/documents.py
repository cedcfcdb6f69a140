"""XML documents that mean harm, as the bytes of a file."""

from __future__ import annotations

import gzip
import random

from tests.hostile.cases import Case

__all__ = ["DOCUMENTS", "ELSEWHERE"]

ONLY_FIVE = "only the five entities of XML are read"
MULTIPLY = "its entities multiply; only the five"
DEEP = "it is deeper than 256 elements"
LARGE = "it has more than 16,777,216 bytes; --max-document"
BUFFER = "it has a tag, an attribute or white space of more than 10,000,000 bytes"


def laughs(reference: str = "<a>&e9;</a>") -> bytes:
    levels = (f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 10))
    return f'<!DOCTYPE a [<!ENTITY e0 "lol">{"".join(levels)}]>{reference}'.encode()


def parameter_laughs() -> bytes:
    levels = (f'<!ENTITY % e{n} "{f"&#37;e{n - 1};" * 10}">' for n in range(1, 10))
    return f'<!DOCTYPE a [<!ENTITY % e0 "<!--lol-->">{"".join(levels)}%e9;]><a/>'.encode()


def quadratic() -> bytes:
    return f'<!DOCTYPE a [<!ENTITY e "{"x" * 50_000}">]><a>{"&e;" * 50_000}</a>'.encode()


def hidden_laughs() -> bytes:
    """A billion laughs whose every mark of a document type is written in UTF-7."""
    text = laughs().decode().replace("<!", "+ADwAIQ-").replace("&", "+ACY-")
    return b'<?xml version="1.0" encoding="UTF-7"?>' + text.encode()


def attributes(number: int) -> bytes:
    return b"<a %s/>" % b" ".join(b'k%d=""' % n for n in range(number))


def in_encoding(name: str) -> bytes:
    return f'<?xml version="1.0" encoding="{name}"?><a>é</a>'.encode()


def noise() -> bytes:
    return random.Random(6).randbytes(100_000)


DOCUMENTS = [
    # Entities and document types.
    Case("billion laughs", laughs, MULTIPLY),
    Case("billion laughs in an attribute", lambda: laughs('<a k="&e9;"/>'), MULTIPLY),
    Case("billion laughs of parameter entities", parameter_laughs, MULTIPLY),
    Case("billion laughs in UTF-16", lambda: laughs().decode().encode("utf-16"), MULTIPLY),
    Case("billion laughs in UTF-7", hidden_laughs, "entit"),
    Case("quadratic blow-up", quadratic, ONLY_FIVE),
    Case("a small entity", lambda: b'<!DOCTYPE a [<!ENTITY e "x">]><a>&e;</a>', ONLY_FIVE),
    Case("in an attribute", lambda: b'<!DOCTYPE a [<!ENTITY e "x">]><a k="&e;"/>', ONLY_FIVE),
    Case("an entity within itself", lambda: b'<!DOCTYPE a [<!ENTITY e "&e;">]><a>&e;</a>', "loop"),
    Case(
        "a default attribute that multiplies",
        lambda: (
            b'<!DOCTYPE a [<!ATTLIST b k CDATA "%s">]><a>%s</a>'
            % (b"x" * 900_000, b"<b/>" * 100_000)
        ),
        MULTIPLY,
    ),
    Case("an undeclared entity", lambda: b"<a>&nbsp;</a>", "Entity 'nbsp' not defined"),
    Case(
        "50,000 declarations", lambda: b"<!DOCTYPE a [%s]><a/>" % (b'<!ENTITY e "">' * 50_000), None
    ),
    # Depth, width, length.
    Case("100,000 levels", lambda: b"<a>" * 100_000 + b"</a>" * 100_000, DEEP),
    Case("5,000,000 levels, never closed", lambda: b"<a>" * 5_000_000, DEEP),
    Case("an attribute of 17 MB", lambda: b'<a k="%s"/>' % (b"x" * 17_000_000), LARGE),
    Case("an attribute of 12 MB", lambda: b'<a k="%s"/>' % (b"x" * 12_000_000), BUFFER),
    Case(
        "an attribute of 5 MB",
        lambda: b'<a k="%s"/>' % (b"x" * 5_000_000),
        "more than 1,000,000 ch",
    ),
    Case("1,000,000 attributes", lambda: attributes(1_000_000), BUFFER),
    Case("100,000 attributes", lambda: attributes(100_000), "more than 10,000 attributes"),
    Case("one attribute a million times", lambda: b"<a %s/>" % (b'k="" ' * 1_000_000), "redefined"),
    Case(
        "a text of 12 MB", lambda: b"<a>%s</a>" % (b"x" * 12_000_000), "a text of more than 10,000"
    ),
    Case("a comment of 12 MB", lambda: b"<!--%s--><a/>" % (b"x" * 12_000_000), "too big"),
    Case("a name of 1 MB", lambda: b"<%s/>" % (b"n" * 1_000_000), "Name too long"),
    Case("17 MB of zeros", lambda: b"\x00" * 17_000_000, LARGE),
    Case("250,000 siblings", lambda: b"<a>%s</a>" % (b"<b>x</b>" * 250_000), None),
    Case("250,000 comments", lambda: b"<a>%s</a>" % (b"<!-- -->" * 250_000), None),
    Case("white space of 15 MB", lambda: b"<a/>" + b" " * 15_000_000, BUFFER),
    # Characters and encodings.
    Case("NUL in a text", lambda: b"<a>\x00</a>", "line 1, column"),
    Case("NUL in a name", lambda: b"<a\x00b/>", "line 1, column"),
    Case("nothing but NUL", lambda: b"\x00" * 1000, "line 1, column"),
    Case("a control character", lambda: b"<a>\x08</a>", "line 1, column"),
    Case("a reference to NUL", lambda: b"<a>&#0;</a>", "line 1, column"),
    Case("a reference beyond Unicode", lambda: b"<a>&#x110000;</a>", "line 1, column"),
    Case("a reference to a surrogate", lambda: b"<a>&#xd800;</a>", "line 1, column"),
    Case("Latin-1 without a word", lambda: "<a>é</a>".encode("latin-1"), "line 1, column"),
    Case("half a character of UTF-8", lambda: b"<a>\xc3</a>", "line 1, column"),
    Case("overlong UTF-8", lambda: b"<a>\xc0\xbc</a>", "line 1, column"),
    Case("a surrogate in UTF-8", lambda: b"<a>\xed\xa0\x80</a>", "line 1, column"),
    Case(
        "a lone surrogate in UTF-16",
        lambda: b"\xff\xfe<\0a\0>\0\x00\xd8<\0/\0a\0>\0",
        "line 1, col",
    ),
    Case("an unknown encoding", lambda: in_encoding("klingon"), "klingon"),
    Case("UTF-16 that is UTF-8", lambda: in_encoding("utf-16"), "line 1, column"),
    Case("ASCII that is UTF-8", lambda: in_encoding("ascii"), "line 1, column"),
    Case("UTF-16", lambda: "<a>é</a>".encode("utf-16"), None),
    Case("UTF-32", lambda: "<a>é</a>".encode("utf-32"), None),
    Case("UTF-7", lambda: b'<?xml version="1.0" encoding="UTF-7"?><a>+AOk-</a>', None),
    Case("EBCDIC", lambda: '<?xml version="1.0"?><a/>'.encode("cp037"), "line 1, column"),
    # What is no document.
    Case("nothing", lambda: b"", "it is empty"),
    Case("noise", noise, "line 1, column"),
    Case("a compressed document", lambda: gzip.compress(b"<a/>"), None),
    Case("two documents", lambda: b"<a/><a/>", "line 1, column 5"),
    Case(
        "a CDATA section never closed", lambda: b"<a><![CDATA[" + b"x" * 100_000, "line 1, column"
    ),
    Case("a comment never closed", lambda: b"<a><!-- " + b"- " * 100_000, "line 1, column"),
    Case(
        "100,000 prefixes",
        lambda: b"<a %s/>" % b" ".join(b'xmlns:p%d="u"' % n for n in range(100_000)),
        None,
    ),
]

ELSEWHERE = [
    Case(
        "an external entity", lambda: b'<!DOCTYPE a [<!ENTITY e SYSTEM "{}">]><a>&e;</a>', ONLY_FIVE
    ),
    Case("in public", lambda: b'<!DOCTYPE a [<!ENTITY e PUBLIC "e" "{}">]><a>&e;</a>', ONLY_FIVE),
    Case("an external entity, unused", lambda: b'<!DOCTYPE a [<!ENTITY e SYSTEM "{}">]><a/>', None),
    Case(
        "a parameter entity",
        lambda: b'<!DOCTYPE a [<!ENTITY % p SYSTEM "{}">%p;]><a>&e;</a>',
        ONLY_FIVE,
    ),
    Case(
        "a parameter entity that sends what it reads",
        lambda: (
            b"<!DOCTYPE a [<!ENTITY % f SYSTEM '{}'><!ENTITY % s \"<!ENTITY &#37; t SYSTEM "
            b"'{}?%f;'>\">%s;%t;]><a/>"
        ),
        "PEReferences forbidden",
    ),
    Case("an external document type", lambda: b'<!DOCTYPE a SYSTEM "{}"><a>&e;</a>', ONLY_FIVE),
    Case("an external document type, unused", lambda: b'<!DOCTYPE a SYSTEM "{}"><a/>', None),
    Case(
        "an XInclude",
        lambda: (
            b'<a xmlns:x="http://www.w3.org/2001/XInclude"><x:include href="{}" parse="text"/></a>'
        ),
        None,
    ),
    Case("a style sheet", lambda: b'<?xml-stylesheet href="{}" type="text/xsl"?><a/>', None),
    Case(
        "a schema",
        lambda: (
            b'<a xmlns:i="http://www.w3.org/2001/XMLSchema-instance" '
            b'i:noNamespaceSchemaLocation="{}"/>'
        ),
        None,
    ),
]
"""Documents that want something read from elsewhere, at the place of the braces."""
