"""What a transaction writes is read as it was, whether it is a row or many of each relation."""

from __future__ import annotations

from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest

from xscl.documents.document import Document
from xscl.durable.changes import CALLBACK, Changes, Counters, Kept, Undelivered
from xscl.durable.state_file import StateFile

TEXTS = ["", 'it\'s $1 ? \0 "x" \U0001f600', "<a>é</a>", "null"]
BODIES = [
    *((text, False) for text in TEXTS),
    (b"<a>\xe9</a>", False),
    (b'{"a": "\xc3\xa9"}', True),
    (b"\xff", True),
]


@pytest.mark.parametrize("count", range(1, 6))
def test_what_was_written_is_read_and_what_has_gone_is_not(tmp_path: Path, count: int) -> None:
    numbers = range(count)
    texts = [TEXTS[number % len(TEXTS)] for number in numbers]
    names = [f"{number} {text}" for number, text in enumerate(texts)]
    documents = [
        Document(number, text, name, 2**62 + number, *BODIES[-1 - number])
        for number, text, name in zip(numbers, texts, names, strict=True)
    ]
    kept = [
        Kept(number, name, number, text, None if number % 2 else text, -number, number, number > 1)
        for number, text, name in zip(numbers, texts, names, strict=True)
    ]
    undelivered = [
        Undelivered(number, CALLBACK, name, text, text, None if number % 2 else text)
        for number, text, name in zip(numbers, texts, names, strict=True)
    ]
    came = Changes(
        documents=documents,
        texts={number: (text, number) for number, text in zip(numbers, texts, strict=True)},
        subscribed={one.name: one for one in kept},
        reviews=[(number, number, texts[:number]) for number in numbers],
        inputs=dict(zip(names, texts, strict=True)),
        documents_read=[(name, name) for name in names],
        outputs=dict(zip(names, numbers, strict=True)),
        counts=Counter(dict(zip(names, numbers, strict=True))),
        undelivered=undelivered,
    )
    path = tmp_path / "s.duckdb"
    with closing(StateFile(path, "test", 2**24)) as file:
        file.commit(came, Counters(next_number=count))
    with closing(StateFile(path, "test", 2**24)) as file:
        read = [(one.number, one.stream, one.id, one.time, one.body) for one in file.documents()]
        assert read == [(one.number, one.stream, one.id, one.time, one.body) for one in documents]
        assert list(file.subscriptions()) == kept
        assert file.undelivered(CALLBACK) == undelivered
        assert (file.texts(), file.inputs()) == (came.texts, came.inputs)
        assert (file.outputs(), file.counts()) == (came.outputs, came.counts)
        assert file.reviews() == came.reviews
        assert file.counters() == Counters(next_number=count)
        assert all(file.documents_read(name, [name, "x"]) == {name} for name in names)
        gone = Changes(
            gone=[*numbers],
            cancelled={*names},
            inputs=dict.fromkeys(names, "anew"),
            outputs=dict.fromkeys(names, -1),
        )
        file.commit(gone, None)
        assert not [*file.documents(), *file.subscriptions(), *file.undelivered(CALLBACK)]
        assert not file.counts()
        assert {*file.inputs().values()} == {"anew"}
        assert {*file.outputs().values()} == {-1}
        assert file.inputs().keys() == file.outputs().keys() == {*names}
