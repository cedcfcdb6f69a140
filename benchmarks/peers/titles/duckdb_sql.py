"""DuckDB: titles joined by a token that they share, then their Jaccard index over the lists of
tokens."""

import json
import sys
from pathlib import Path

import duckdb

SQL = """
    WITH candidate AS (
        SELECT DISTINCT a.place AS one, b.place AS other
        FROM token a JOIN token b ON a.word = b.word AND a.place < b.place
    )
    SELECT one, other FROM candidate
    JOIN title a ON a.place = one JOIN title b ON b.place = other
    WHERE len(list_intersect(a.words, b.words))
        >= $least * len(list_distinct(list_concat(a.words, b.words)))
"""


def main(folder: Path, least: float) -> None:
    titles = json.loads((folder / "titles.json").read_text())
    expected = {tuple(pair) for pair in json.loads((folder / "pairs.json").read_text())}
    database = duckdb.connect()
    database.execute("SET threads = 1")
    database.execute("CREATE TABLE title (place INTEGER, words VARCHAR[])")
    (folder / "rows.jsonl").write_text(
        "".join(
            json.dumps({"place": place, "words": sorted({*title.lower().split()})}) + "\n"
            for place, title in enumerate(titles)
        )
    )
    database.execute(
        f"INSERT INTO title SELECT place, words FROM read_json('{folder / 'rows.jsonl'}', "
        "format = 'nd', columns = {place: 'INTEGER', words: 'VARCHAR[]'})"
    )
    database.execute("CREATE TABLE token AS SELECT place, unnest(words) AS word FROM title")
    found = {*database.execute(SQL, {"least": least}).fetchall()}
    print(json.dumps({"found": len(found & expected), "others": len(found - expected)}))


main(Path(sys.argv[1]), float(sys.argv[2]))
