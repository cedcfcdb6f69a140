"""Document files: each file that a pattern names is one document of a stream, `*.json` of JSON."""

from __future__ import annotations

import glob
import json
from collections.abc import Callable, Iterator

from xscl.errors import DocumentError, XSCLError
from xscl.sources.events import no_constant

__all__ = ["read_documents"]


def read_documents(
    pattern: str, stream: str, on_error: Callable[[DocumentError], object]
) -> Iterator[dict[str, object]]:
    """The files of a pattern (`feeds/*.xml`, `**` for any depth), by path.

    A document's id is its path, its time that of its arrival.  Raises XSCLError if there is no
    such file; one that cannot be read goes to `on_error`.
    """
    paths = sorted(glob.glob(pattern, recursive=True))
    if not paths:
        raise XSCLError(f"no file matches {pattern!r}")
    return _read(paths, stream, on_error)


def _read(
    paths: list[str], stream: str, on_error: Callable[[DocumentError], object]
) -> Iterator[dict[str, object]]:
    for path in paths:
        try:
            with open(path, "rb") as file:
                body = file.read()
        except OSError as error:
            problem = error.strerror or str(error)
            on_error(DocumentError(problem, stream=stream, document=path))
            continue
        envelope: dict[str, object] = {"stream": stream, "id": path, "xml": body}
        if path.lower().endswith(".json"):
            try:
                envelope = {
                    "stream": stream,
                    "id": path,
                    "json": json.loads(body, parse_constant=no_constant),
                }
            except (ValueError, RecursionError) as error:
                on_error(DocumentError(f"it is no JSON: {error}", stream=stream, document=path))
                continue
        yield envelope
