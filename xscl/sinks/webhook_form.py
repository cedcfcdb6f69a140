"""What a webhook is sent with the match: headers of a file or the environment, and the form of
its body.

Headers may hold passwords: no message shows more of them than the number of their line.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from string import Template

from xscl.errors import XSCLError

__all__ = ["VARIABLE", "BodyForm", "Headers", "body_form", "headers_from"]

Headers = Mapping[str, bytes]
"""By name, in lower case."""

VARIABLE = "XSCL_WEBHOOK_HEADERS"

_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_VALUE = re.compile(r"[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?")
_OURS = frozenset({"host", "content-length", "transfer-encoding", "connection", "idempotency-key"})
_JSON = re.compile(r"application/(?:[\w.+-]+\+)?json\b", re.IGNORECASE)

_MEMBERS = (
    *("id", "query", "stream", "time", "documents", "streams", "nodes", "variables", "start"),
    *("bindings", "values", "result", "retract", "match"),
)
"""What a body may name: the members of a match, the id of one that is taken back, which has no
other members than its query and stream, and all of it."""


class _Form(Template):
    """`$query`, `${result.title}`; `$$` is a dollar."""

    idpattern = r"(?a:[a-z]+(?:\.\w+)*)"
    flags = re.NOFLAG


BodyForm = Callable[[bytes], bytes]
"""From a match as JSON to the body that is sent."""


def headers_from(path: str | None) -> Headers:
    """The headers of a file, else those of the environment: a line `Name: value` each; empty lines
    and those that begin with `#` are passed over.  Raises XSCLError for what is no header."""
    if path is None:
        return _headers(os.environ.get(VARIABLE, ""), VARIABLE)
    return _headers(_read(path, "--webhook-headers"), f"--webhook-headers {path}")


def _headers(text: str, place: str) -> Headers:
    found: dict[str, bytes] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        name, colon, value = (part.strip() for part in line.partition(":"))
        if not (colon and _NAME.fullmatch(name) and _VALUE.fullmatch(value)):
            raise XSCLError(f"{place}, line {number}: it is no header; write Name: value")
        if name.lower() in _OURS:
            raise XSCLError(f"{place}, line {number}: the header {name} is not yours to set")
        if name.lower() in found:
            raise XSCLError(f"{place}, line {number}: the header {name} is there twice")
        found[name.lower()] = value.encode("ascii")
    return found


def body_form(path: str | None, content_type: bytes | None) -> BodyForm | None:
    """The form of a file, None for the match as it is.

    The file is JSON, and stays JSON whatever a match holds, unless the webhook's headers have
    another Content-Type: then it is a text.  Raises XSCLError for what is neither, and for a
    placeholder that no match has.
    """
    if path is None:
        return None
    text = _read(path, "--webhook-body")
    place = f"--webhook-body {path}"
    form = _Form(text)
    if not form.is_valid():
        raise XSCLError(f"{place}: a $ is no placeholder; write $query, ${{query}}, or $$ for $")
    for name in form.get_identifiers():
        if name.partition(".")[0] not in _MEMBERS:
            known = ", ".join(_MEMBERS)
            raise XSCLError(f"{place}: a match has no {name!r}; there are: {known}")
    if content_type is not None and not _JSON.match(content_type.decode("ascii")):
        return _TextForm(form)
    try:
        return _JSONForm(json.loads(text))
    except (ValueError, RecursionError) as error:
        raise XSCLError(
            f"{place} is no JSON ({error}); fix it, or give a Content-Type of another kind among "
            "the headers"
        ) from error


def _read(path: str, option: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise XSCLError(f"{option} {path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise XSCLError(f"{option} {path} is no UTF-8 text: byte {error.start} is wrong") from None


@dataclass(frozen=True, slots=True)
class _TextForm:
    form: _Form

    def __call__(self, match: bytes) -> bytes:
        """The text, with what the match has in the places of placeholders."""
        return self.form.substitute(_Texts(json.loads(match))).encode("utf-8", "replace")


@dataclass(frozen=True, slots=True)
class _JSONForm:
    form: object

    def __call__(self, match: bytes) -> bytes:
        """The JSON: a string that is one placeholder becomes the value, within others it is
        text."""
        return json.dumps(self._filled(self.form, _Texts(json.loads(match)))).encode()

    def _filled(self, form: object, texts: _Texts) -> object:
        match form:
            case dict():
                return {name: self._filled(member, texts) for name, member in form.items()}
            case list():
                return [self._filled(member, texts) for member in form]
            case str():
                whole = _Form.pattern.fullmatch(form)
                name = whole and (whole["named"] or whole["braced"])
                return texts.value(name) if name else _Form(form).substitute(texts)
        return form


class _Texts(dict[str, str]):
    """What a match has by name, as text; nothing where it lacks a member of a member."""

    def __init__(self, match: Mapping[str, object]) -> None:
        super().__init__()
        self._match = match

    def value(self, name: str) -> object:
        """A member as it is; None where there is none."""
        first, *rest = name.split(".")
        value: object = self._match if first == "match" else self._match.get(first)
        for part in rest:
            value = value.get(part) if isinstance(value, dict) else None
        return value

    def __missing__(self, name: str) -> str:
        value = self.value(name)
        if isinstance(value, str):
            return value
        return "" if value is None else json.dumps(value, ensure_ascii=False)
