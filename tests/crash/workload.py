"""What the runs read that are killed: queries of all kinds that keep state, and posts, replies and
notes of two months, most in order, some late, twice, damaged or of a day that has not come."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path

__all__ = ["LATENESS", "QUERIES", "lines", "write"]

LATENESS = "1 day"

QUERIES = """\
-- name: reply
S//post->p[./id->x] FOLLOWED BY {x = y, 7 days} S//reply->r[./to->y];
-- name: thread
S//post[./id->x] FOLLOWED BY {x = y, 7 days} S//reply[./to->y][./author->u]
  FOLLOWED BY {u = v, 2 days} S//post[./author->v];
-- name: noted
S//post[./id->x] JOIN {x = y, 3 days} S//about->y;
-- name: promo
SELECT <promo by="{u}">{t}</promo>
FROM S//post[./author->u][./title->t][./score > 8]
  FOLLOWED BY {u = v, 12 hours} S//reply[./author->v]
PUBLISH promos;
-- name: answered
promos//promo[./@by->u] FOLLOWED BY {u = v, 1 day} S//reply[./author->v];
-- name: famous
S//post->p[./score > 8]
"""

_DAYS, _START = 60, 1_163_462_400
_AUTHORS = 2_000


def write(folder: Path, documents: int, *, seed: int = 8) -> None:
    """Writes `q.xscl` and `e.jsonl` into a folder."""
    (folder / "q.xscl").write_text(QUERIES, encoding="utf-8")
    (folder / "e.jsonl").write_text("".join(lines(documents, seed)), encoding="utf-8")


def lines(documents: int, seed: int) -> Iterator[str]:
    """The lines of an events file; the last one is sound."""
    random_ = random.Random(seed)
    step = _DAYS * 86_400 / documents
    line = ""
    for number in range(documents):
        time = _START + step * number + random_.uniform(-6, 6) * 3_600
        fate = random_.random()
        if fate < 0.01 and line:
            # As it was, and soon enough to be known.
            yield line
            continue
        if fate < 0.02:
            time -= 3 * 86_400
        elif fate < 0.0205:
            time = 4_102_444_800
        envelope = {"id": f"d{number}", "timestamp": round(time, 3), **_body(random_, number)}
        if 0.03 < fate < 0.035 and number < documents - 1:
            envelope["xml"] = "<post><id>"
            envelope.pop("json", None)
        line = json.dumps(envelope) + "\n"
        yield "{\n" if 0.035 < fate < 0.04 and number < documents - 1 else line


def _body(random_: random.Random, number: int) -> dict[str, object]:
    author = f"a{random_.randrange(_AUTHORS)}"
    near = f"p{max(0, number - random_.randrange(600))}"
    kind = random_.random()
    if kind < 0.5:
        score, title = random_.randrange(10), f"On {random_.randrange(1_000)}"
        markup = f"<id>p{number}</id><author>{author}</author><score>{score}</score>"
        return {"xml": f"<post>{markup}<title>{title}</title></post>"}
    if kind < 0.9:
        return {"xml": f"<reply><to>{near}</to><author>{author}</author></reply>"}
    return {"json": {"about": near, "author": author}}
