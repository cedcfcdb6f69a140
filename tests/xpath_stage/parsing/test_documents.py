"""Documents as they come: what is read, and with which words the others are refused."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.architecture.packages import PACKAGES, ROOT
from xscl.xpath_stage import MalformedDocument, Strings, parse, string_value


def nested(depth: int) -> str:
    return "<a>" * depth + "x" + "</a>" * depth


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        pytest.param("", r"it is empty; expected an XML element", id="empty"),
        pytest.param(b"", r"it is empty; expected an XML element", id="no bytes"),
        pytest.param(" \n ", r"it is empty; expected an XML element", id="blank"),
        pytest.param("\ufeff", r"it is empty; expected an XML element", id="a BOM alone"),
        pytest.param("<a><b></a>", r"line 1, column \d+: .*b.*a", id="unclosed inside"),
        pytest.param("<a>\n<b>", r"line 2, column \d+: .*end.*", id="unclosed at the end"),
        pytest.param("hello", r"line 1, column 1: .*", id="no element"),
        pytest.param("<a/><b/>", r"line 1, column 5: .*", id="two elements"),
        pytest.param("<a>&nbsp;</a>", r"line 1, column \d+: .*nbsp.*", id="unknown entity"),
        pytest.param("<p:a/>", r"line 1, column \d+: .*p.*", id="unknown prefix"),
        pytest.param("<a k='1' k='2'/>", r"line 1, column \d+: .*k.*", id="attribute twice"),
        pytest.param("<a>\x00</a>", r"line 1, column \d+: .*", id="a zero character"),
        pytest.param("<a>\ud800</a>", r"character 3 is a lone surrogate", id="surrogate"),
        pytest.param("<a>\udfff", r"character 3 is a lone surrogate", id="surrogate, unclosed"),
        pytest.param(nested(300), r".*it is deeper than 256 elements", id="300 levels"),
        pytest.param("<a>é</a>".encode("latin-1"), r"line 1, column \d+: .*", id="latin-1 bytes"),
        pytest.param(
            "<?xml version='1.0' encoding='ascii'?><a>é</a>".encode(),
            r"line 1, column \d+: .*",
            id="bytes that declare another encoding",
        ),
        pytest.param(
            b"<?xml version='1.0' encoding='klingon'?><a/>",
            r"line 1, column \d+: .*klingon.*",
            id="unknown encoding",
        ),
    ],
)
def test_what_is_no_document(document: str | bytes, reason: str) -> None:
    with pytest.raises(MalformedDocument, match=f"^{reason}$"):
        parse(document)


def test_as_deep_as_it_may_be() -> None:
    assert string_value(parse(nested(256))) == "x"
    with pytest.raises(MalformedDocument, match="deeper than 256"):
        parse(nested(257))


@pytest.mark.parametrize(
    "document",
    [
        "<a>é</a>",
        "\ufeff<a>é</a>",
        "<?xml version='1.0' encoding='latin-1'?><a>é</a>",
        "<?xml version='1.0' encoding='utf-16'?><a>é</a>",
        "<?xml version='1.0' encoding='klingon'?><a>é</a>",
        "<a>é</a>".encode(),
        "\ufeff<a>é</a>".encode(),
        "<a>é</a>".encode("utf-16"),
        "<?xml version='1.0' encoding='utf-8'?><a>é</a>".encode("utf-16"),
        "<?xml version='1.0' encoding='iso-8859-1'?><a>é</a>".encode("latin-1"),
    ],
)
def test_encodings(document: str | bytes) -> None:
    """Text is Unicode whatever it declares; bytes are what they declare."""
    assert string_value(parse(document)) == "é"


FIVE = "&lt;&gt;&amp;&quot;&apos;"


@pytest.mark.parametrize(
    "document",
    [
        f"<a k='{FIVE}'>{FIVE}</a>",
        f"<!DOCTYPE a><a>{FIVE}</a>",
        f'<!DOCTYPE a SYSTEM "a.dtd"><a>{FIVE}</a>',
        f'<!DOCTYPE a [<!ENTITY e "never used">]><a>{FIVE}</a>',
        f'<!DOCTYPE a [<!ENTITY % l SYSTEM "l.ent">%l;]><a k="{FIVE}">{FIVE}</a>',
        f'<!DOCTYPE a [<!ENTITY amp "redefined">]><a>{FIVE}</a>',
        f'<!DOCTYPE a [<!ENTITY e "x">]><a>{FIVE}<!-- &e; --><?p &e;?></a>',
    ],
)
def test_the_five_entities(document: str) -> None:
    for written in (document, document.encode(), document.encode("utf-16")):
        assert _read(written) == "<>&\"'"


def test_what_only_looks_like_an_entity() -> None:
    assert _read('<!DOCTYPE a [<!ENTITY e "x">]><a><![CDATA[&e;]]>&#38;e;</a>') == "&e;&e;"


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        ('<!DOCTYPE a [<!ENTITY e "x">]><a>&e;</a>', "it uses the entity 'e'; only the five"),
        ('<!DOCTYPE a [<!ENTITY e "x">]><a k="&e;"/>', "it uses the entity 'e'; only the five"),
        ('<!DOCTYPE a [<!ENTITY é "x">]><a>ü&é;</a>', "it uses the entity 'é'; only the five"),
        ('<!DOCTYPE a [<!ENTITY e SYSTEM "f">]><a>&e;</a>', "it uses the entity 'e'; only the"),
        ('<!DOCTYPE a SYSTEM "f"><a>&nbsp;</a>', "Entity 'nbsp' not defined; only the five"),
        ('<!DOCTYPE a SYSTEM "f"><a k="&nbsp;"/>', "Entity 'nbsp' not defined; only the five"),
        ('<!DOCTYPE a [<!ENTITY % p SYSTEM "f">%p;]><a>&e;</a>', "Entity 'e' not defined; only"),
        (
            "<!DOCTYPE a [<!ENTITY % p '<!ENTITY e \"x\">'>%p;]><a>&e;</a>",
            "only the five",
        ),
    ],
)
def test_other_entities_are_refused(document: str, reason: str) -> None:
    for written in (document, document.encode(), document.encode("utf-16")):
        with pytest.raises(MalformedDocument, match=reason):
            parse(written)


def test_no_parser_lifts_its_bounds() -> None:
    """`huge_tree` occurs where it is refused, and nowhere else."""
    lines = [
        line
        for package in (*PACKAGES, "datasets")
        for path in sorted((ROOT / package).rglob("*.py"))
        for line in path.read_text(encoding="utf-8").splitlines()
    ]
    assert [line for line in lines if re.search("huge_tree(?!.*False)", line)] == []


def test_attributes_up_to_their_bounds() -> None:
    many = " ".join(f'k{i}="v"' for i in range(10_000))
    assert len(parse(f"<a {many}/>").attrib) == 10_000
    assert len(parse(f'<a k="{"x" * 1_000_000}"/>').get("k", "")) == 1_000_000
    for document, reason in [
        (f'<r><a {many} k="v"/></r>', "an element of more than 10,000 attributes"),
        (f'<r><a k="{"x" * 1_000_001}"/></r>', "an attribute of more than 1,000,000 characters"),
        (f'<a k="{"x" * 11_000_000}"/>', "white space of more than 10,000,000 bytes"),
        (f"<a>{'x' * 11_000_000}</a>", "a text of more than 10,000,000 bytes"),
    ]:
        with pytest.raises(MalformedDocument, match=reason):
            parse(document)


def test_a_refusal_has_the_place_and_the_text_there() -> None:
    with pytest.raises(MalformedDocument) as refused:
        parse("<a>\n<b>")
    assert refused.value.position["line"] == 2
    assert refused.value.raw == "<a>\n<b>"


def test_entities_that_multiply_are_refused() -> None:
    """A billion laughs."""
    entities = "".join(f'<!ENTITY e{level} "{f"&e{level - 1};" * 10}">' for level in range(1, 10))
    bomb = f'<!DOCTYPE a [<!ENTITY e0 "lol">{entities}]><a>&e9;</a>'
    with pytest.raises(MalformedDocument, match="line 1, column"):
        parse(bomb)


def test_entities_that_hold_themselves_are_refused() -> None:
    with pytest.raises(MalformedDocument, match="line 1, column"):
        parse('<!DOCTYPE a [<!ENTITY e "&f;"><!ENTITY f "&e;">]><a>&e;</a>')


def _read(document: str | bytes) -> str:
    """The text of a document, or why it has none."""
    try:
        return str(string_value(parse(document)))
    except MalformedDocument as refused:
        return str(refused)


EXTERNAL = [
    '<!DOCTYPE a [<!ENTITY e SYSTEM "{url}">]><a>&e;</a>',
    '<!DOCTYPE a [<!ENTITY e PUBLIC "x" "{url}">]><a>&e;</a>',
    '<!DOCTYPE a [<!ENTITY % p SYSTEM "{url}">%p;]><a>x</a>',
    '<!DOCTYPE a SYSTEM "{url}"><a>&e;</a>',
    '<a xmlns:xi="http://www.w3.org/2001/XInclude"><xi:include href="{url}" parse="text"/></a>',
]


@pytest.mark.parametrize("by_url", [True, False])
@pytest.mark.parametrize("number", range(len(EXTERNAL)))
def test_nothing_is_read_from_elsewhere(number: int, by_url: bool, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text('<!ENTITY e "SECRET">' if number in (2, 3) else "SECRET")
    document = EXTERNAL[number].format(url=secret.as_uri() if by_url else secret)
    assert "SECRET" not in _read(document)


@given(st.text() | st.binary())
def test_whatever_comes_is_read_or_refused(document: str | bytes) -> None:
    assert isinstance(_read(document), str)


def test_strings_are_numbered_once_and_never_again() -> None:
    strings = Strings()
    one, two = strings.intern("x"), strings.intern("y")
    assert strings.intern("x") == one != two
    assert strings.take() == [(one, "x"), (two, "y")]
    assert strings.take() == []
    strings.drop(["x"])
    assert len(strings) == 1
    again = strings.intern("x")
    assert again not in (one, two)
    assert strings.take() == [(again, "x")]
