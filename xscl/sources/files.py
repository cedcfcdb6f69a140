"""Document files: each file that a pattern names is one document of a stream, `*.json` of JSON."""

from __future__ import annotations

import glob
import io
import json
import os
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from xscl.documents.bodies import LARGE
from xscl.errors import DocumentError, XSCLError
from xscl.files.gzipped import is_gzipped, opened
from xscl.sources.envelopes import no_constant
from xscl.sources.fields import Fields
from xscl.sources.limits import MAX_DOCUMENT, read_body, too_large, unreadable
from xscl.xpath_stage import PIECE

__all__ = ["read_documents"]


def read_documents(
    pattern: str,
    stream: str,
    on_error: Callable[[DocumentError], object],
    *,
    max_document: int = MAX_DOCUMENT,
    fields: Fields = Fields(),  # noqa: B008 - it is frozen
) -> Iterator[dict[str, object]]:
    """The files of a pattern (`feeds/*.xml`, `**` for any depth), by path.

    A document's id is its path, its time that of its arrival, but for `fields`; a large one of XML
    is not read here, but when it is published.  Raises XSCLError if there is no such file; one that
    cannot be read, or has more than `max_document` bytes, goes to `on_error`.
    """
    if os.path.isdir(pattern):
        raise XSCLError(f"it is a folder; write which of its files: {_files_of(pattern)!r}")
    found = glob.iglob(pattern, recursive=True)
    paths = sorted(path for path in found if not os.path.isdir(path))
    if not paths:
        raise XSCLError(f"no file matches {pattern!r}")
    return _read(paths, stream, on_error, max_document, fields)


def _read(
    paths: list[str],
    stream: str,
    on_error: Callable[[DocumentError], object],
    limit: int,
    fields: Fields,
) -> Iterator[dict[str, object]]:
    for path in paths:
        try:
            modified = os.stat(path).st_mtime
            large = not _is_json(path) and LARGE < _size(path, limit) <= limit
            body = b"" if large else read_body(path, limit)
            content: dict[str, object] = (
                {"xml": Path(path)} if large else _content(path, body, limit)
            )
            source = Path(path) if large else io.BytesIO(body)
            given = (
                fields.of_json(content["json"], modified)
                if "json" in content
                else fields.of_xml(source, modified)
            )
        except OSError as error:
            problem = error.strerror or str(error)
            on_error(DocumentError(problem, stream=stream, document=path))
        except ValueError as error:
            on_error(unreadable(str(error), stream=stream, document=path, raw=body))
        else:
            yield {"stream": stream, "id": path, **content, **given}


def _files_of(folder: str) -> str:
    """The pattern of the files in a folder, by the ending that most of them have."""
    below = [Path(at, name) for at, _, names in os.walk(folder) for name in names][:1_000]
    endings = Counter(path.suffix for path in below if path.suffix).most_common(1)
    deep = "" if any(path.parent == Path(folder) for path in below) or not below else "**/"
    return f"{folder.rstrip('/')}/{deep}*{endings[0][0] if endings else '.xml'}"


def _is_json(path: str) -> bool:
    return path.lower().removesuffix(".gz").endswith(".json")


def _size(path: str, limit: int) -> int:
    """The bytes of a document, decompressed; of one that has more than the limit, as many more as
    it takes to see that."""
    # A pipe gives its bytes once.
    if not os.path.isfile(path) or not is_gzipped(path):
        return os.path.getsize(path)
    size = 0
    with opened(path) as file:
        while size <= limit and (piece := file.read(PIECE)):
            size += len(piece)
    return size


def _content(path: str, body: bytes, limit: int) -> dict[str, object]:
    """The body's member in an envelope; raises ValueError with the reason where it has none."""
    if len(body) > limit:
        raise ValueError(too_large(limit))
    if not _is_json(path):
        return {"xml": body}
    try:
        return {"json": json.loads(body, parse_constant=no_constant)}
    except RecursionError:
        raise ValueError("it is nested too deep; documents have at most 256 levels") from None
    except ValueError as error:
        raise ValueError(f"it is no JSON: {error}") from error
