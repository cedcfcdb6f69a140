"""Any events file is envelopes or errors; any envelope is a document or an error."""

from __future__ import annotations

import json
import sys
import tempfile
from io import StringIO
from pathlib import Path

import atheris

with atheris.instrument_imports(
    include=["xscl.sources.envelopes", "xscl.documents.intake", "xscl.xpath_stage"]
):
    from xscl.documents.intake import Intake
    from xscl.documents.retention import Retention
    from xscl.documents.trees import nodes_of, parsed
    from xscl.errors import DocumentError
    from xscl.sinks.dead_letters import write_dead_letter
    from xscl.sources.envelopes import read_events

LIMIT = 1_000
FOLDER = Path(tempfile.mkdtemp(prefix="xscl-fuzz-"))
INTAKE = Intake(None, Retention(lambda _: ()))


def one_input(data: bytes) -> None:
    """Reads a file, decompressed if it is gzipped, and ingests its content."""
    file = FOLDER / ("e.jsonl.gz" if data[:2] == b"\x1f\x8b" else "e.jsonl")
    file.write_bytes(data)
    errors: list[DocumentError] = []
    for envelope in read_events(str(file), errors.append, max_document=LIMIT):
        assert len(json.dumps(envelope, ensure_ascii=False)) <= 10 * LIMIT
        try:
            document = INTAKE.document(envelope)
            root = parsed(document)
        except DocumentError as error:
            errors.append(error)
            continue
        assert len(nodes_of(document, 0).elements) == sum(1 for _ in root.iter("*"))
    letters = StringIO()
    for error in errors:
        assert error.problem in str(error)
        write_dead_letter(error, letters)
    assert len(letters.getvalue().splitlines()) == len(errors)


if __name__ == "__main__":
    atheris.Setup(sys.argv, one_input)
    atheris.Fuzz()
