"""rapidfuzz: all pairs by its token_sort_ratio, which is another measure; those above the same
number count."""

import json
import sys
from pathlib import Path

import numpy as np
from rapidfuzz import fuzz, process

ROWS = 500


def main(folder: Path, least: float) -> None:
    titles = [title.lower() for title in json.loads((folder / "titles.json").read_text())]
    expected = {tuple(pair) for pair in json.loads((folder / "pairs.json").read_text())}
    found = set()
    for begin in range(0, len(titles), ROWS):
        some = titles[begin : begin + ROWS]
        degrees = process.cdist(
            some, titles, scorer=fuzz.token_sort_ratio, score_cutoff=100 * least, workers=1
        )
        for one, other in np.argwhere(degrees):
            if begin + one < other:
                found.add((begin + int(one), int(other)))
    print(json.dumps({"found": len(found & expected), "others": len(found - expected)}))


main(Path(sys.argv[1]), float(sys.argv[2]))
