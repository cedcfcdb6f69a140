"""The fields of a document that are its id and its time -> members of its envelope.

A field is named by its path: of JSON a member's name or several with `/` or `.` between them, of
XML the names of elements, an attribute's with `@` at the end.  `mtime` is when the file was last
modified; a member of that name is `./mtime`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from lxml import etree

from xscl.files.gzipped import opened
from xscl.sources.limits import TOO_DEEP
from xscl.times import from_timestamp, to_seconds

__all__ = ["MODIFIED", "Fields", "field_of", "timestamp_of", "xml_field"]

MODIFIED = "mtime"
"""The name of a file's last modification among the fields."""

_NUMBER = re.compile(r"-?\d{1,20}(?:\.\d{1,20})?", re.ASCII)
_COMPACT_DATE = re.compile(r"(?:19|20)\d{6}", re.ASCII)
_UNITS = ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3))
"""Numbers of so much at least are so many parts of a second: the year 5138 in seconds is 1973 in
milliseconds, and so on."""
_LARGEST = 1e20
"""Not even nanoseconds are so many; an integer without a limit may be no float, either."""


@dataclass(frozen=True, slots=True)
class Fields:
    """The fields of a stream's documents that are their id and their time; None is no field."""

    id: str | None = None
    time: str | None = None

    def of_json(self, value: object, modified: float | None) -> dict[str, object]:
        """The members of an envelope that a JSON value gives; `modified` is when its file was, None
        if it is of none.  Raises ValueError with the reason where it does not give them."""
        members: dict[str, object] = {}
        if self.id is not None:
            members["id"] = _id(_there(field_of(value, self.id), self.id, "id"))
        if self.time is not None:
            of_file = self.time == MODIFIED and modified is not None
            found = modified if of_file else field_of(value, self.time)
            members["timestamp"] = timestamp_of(_there(found, self.time, "time"))
        return members

    def of_xml(self, source: Path | BinaryIO, modified: float) -> dict[str, object]:
        """The same of a document of XML, read as far as it takes; of one that is malformed before
        that, nothing: its parser reports where."""
        members: dict[str, object] = {}
        try:
            for name, path in (("id", self.id), ("timestamp", self.time)):
                if path is not None:
                    found = modified if path == MODIFIED else xml_field(source, path)
                    value = _there(found, path, "id" if name == "id" else "time")
                    members[name] = _id(value) if name == "id" else timestamp_of(value)
        except etree.XMLSyntaxError:
            return {}
        return members


def field_of(value: object, path: str) -> object:
    """The value at a path, None where there is none; of an array, the first that has one.

    >>> field_of({"a": [{}, {"b": 7}], "c.d": 8}, "a.b"), field_of({"c.d": 8}, "c.d")
    (7, 8)
    """
    if isinstance(value, dict) and path in value:
        return value[path]
    steps = [step for step in path.split("/" if "/" in path else ".") if step not in ("", ".")]
    try:
        return _along(value, steps)
    except RecursionError as error:
        raise ValueError(TOO_DEEP) from error


def _along(value: object, steps: list[str]) -> object:
    if isinstance(value, list):
        return next((found for one in value if (found := _along(one, steps)) is not None), None)
    if not steps:
        return value
    return _along(value.get(steps[0]), steps[1:]) if isinstance(value, dict) else None


def xml_field(source: Path | BinaryIO, path: str) -> str | None:
    """The text of the first element or attribute at a path: anywhere, unless it begins with `/`.
    Names count without prefixes.  Raises XMLSyntaxError for what is malformed before it.

    >>> import io
    >>> xml_field(io.BytesIO(b"<a><b><c d='7'>8</c></b></a>"), "b/c/@d")
    '7'
    """
    if isinstance(source, Path):
        with opened(source) as file:
            return xml_field(file, path)
    source.seek(0)
    rooted = path.startswith("/") and not path.startswith("//")
    steps = [step.rpartition(":")[2] for step in path.split("/") if step not in ("", ".")]
    attribute = steps.pop().lstrip("@") if steps and "@" in path.rpartition("/")[2] else None
    names: list[str] = []
    for event, element in etree.iterparse(
        source, events=("start", "end"), no_network=True, resolve_entities=False
    ):
        if event == "start":
            names.append(etree.QName(element).localname if isinstance(element.tag, str) else "")
        here = names == steps if rooted else not steps or names[-len(steps) :] == steps
        if here and attribute is not None and event == "start":
            for name, text in element.attrib.items():
                if etree.QName(name).localname == attribute:
                    return str(text)
        if event == "end":
            if here and attribute is None:
                return "".join(str(text) for text in element.itertext())
            names.pop()
            if not _may_be_part(names, steps, rooted):
                element.clear()
                # The root may have comments before it, which no element has.
                above = element.getparent()
                while above is not None and element.getprevious() is not None:
                    del above[0]
    return None


def _may_be_part(names: list[str], steps: list[str], rooted: bool) -> bool:
    """Whether an element's parents have one whose text is asked for."""
    return any(
        names[:end] == steps if rooted else names[max(0, end - len(steps)) : end] == steps
        for end in range(len(steps), len(names) + 1)
    )


def timestamp_of(value: object) -> object:
    """A timestamp as an envelope has it: of a number the seconds, be it in seconds or in thousands
    of parts of them; of a text that, ISO 8601, or a date as feeds write it.  Raises ValueError.

    >>> timestamp_of("1163462400000"), timestamp_of("Tue, 14 Nov 2006 00:00:00 GMT")
    (1163462400.0, 1163462400.0)
    """
    if isinstance(value, str):
        text = value.strip()
        if not _NUMBER.fullmatch(text) or _COMPACT_DATE.fullmatch(text):
            return _of_text(text)
        value = float(text) if "." in text else int(text)
    if isinstance(value, int | float) and not isinstance(value, bool):
        if abs(value) >= _LARGEST:
            raise ValueError("its time is out of range")
        for least, parts in _UNITS:
            if abs(value) >= least:
                value = value / parts
                break
    return to_seconds(from_timestamp(value))


def _of_text(text: str) -> float:
    try:
        return to_seconds(from_timestamp(text))
    except ValueError as error:
        from xscl.feeds.dates import seconds_of

        seconds = seconds_of(text)
        if seconds is None:
            raise ValueError(f"{error}, and no date as feeds write it") from None
        return seconds


def _there(value: object, path: str, option: str) -> object:
    if value is None or value == "":
        raise ValueError(f"it has no `{path}`, which --{option} names")
    return value


def _id(value: object) -> str:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError(f"its id is a {type(value).__name__}; expected a text or a number")
    return str(value)
