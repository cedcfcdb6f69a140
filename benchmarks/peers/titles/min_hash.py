"""datasketch: MinHash LSH with 128 permutations for candidates, then their Jaccard index."""

import json
import sys
from pathlib import Path

from datasketch import MinHash, MinHashLSH


def main(folder: Path, least: float) -> None:
    titles = json.loads((folder / "titles.json").read_text())
    expected = {tuple(pair) for pair in json.loads((folder / "pairs.json").read_text())}
    index = MinHashLSH(threshold=least, num_perm=128)
    sets = [{*title.lower().split()} for title in titles]
    found = set()
    for place, words in enumerate(sets):
        hashed = MinHash(num_perm=128)
        hashed.update_batch([word.encode() for word in words])
        for other in index.query(hashed):
            if len(words & sets[other]) >= least * len(words | sets[other]):
                found.add((other, place))
        index.insert(place, hashed)
    print(json.dumps({"found": len(found & expected), "others": len(found - expected)}))


main(Path(sys.argv[1]), float(sys.argv[2]))
