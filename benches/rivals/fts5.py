"""SQLite's full text search with the trigram tokenizer."""

from __future__ import annotations

import sqlite3

from benches.documents import Corpus, terms_of
from benches.rivals.arrays import empty_scores, ranking_of
from benches.rivals.base import Exactness, Ranking, Rival
from benches.rivals.scan import BODY, META, TITLE

_TABLES = (("title", TITLE), ("meta", META), ("body", BODY))


class TrigramFts5(Rival):
    """Folded texts in memory, one table for each field.

    This is the fastest arrangement of those tried. One table with three columns takes three times as long,
    because a match in one column reads the positions of all columns. Summing scores in SQL is slower too.
    """

    name = "SQLite FTS5, trigram tokenizer"
    exactness = Exactness.LONG_TERMS
    packages = ("numpy",)

    def __init__(self) -> None:
        self._database = sqlite3.connect(":memory:")
        self._size = 0

    @classmethod
    def missing(cls) -> str | None:
        reason = super().missing()
        if reason is None and sqlite3.sqlite_version_info < (3, 34):
            reason = f"SQLite {sqlite3.sqlite_version} has no trigram tokenizer"
        return reason

    def load(self, corpus: Corpus) -> None:
        self._size = len(corpus)
        run = self._database.execute
        for table, texts in (("title", corpus.titles), ("meta", corpus.metas), ("body", corpus.bodies)):
            run(
                f"CREATE VIRTUAL TABLE {table} USING fts5"
                "(text, tokenize='trigram case_sensitive 1', content='', columnsize=0)"
            )
            self._database.executemany(f"INSERT INTO {table}(rowid, text) VALUES (?, ?)", enumerate(texts))
            run(f"INSERT INTO {table}({table}) VALUES ('optimize')")
        self._database.commit()

    def search(self, text: str, *, limit: int | None = None) -> Ranking:
        run = self._database.execute
        scores = empty_scores(self._size)
        for term, count in terms_of(text).items():
            phrase = '"' + term.replace('"', '""') + '"'
            for table, worth in _TABLES:
                rows = run(f"SELECT rowid FROM {table} WHERE {table} MATCH ?", (phrase,))
                scores[[position for (position,) in rows]] += worth * count
        return ranking_of(scores, limit)
