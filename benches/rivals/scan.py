"""Scans in plain Python: of all texts, or of the vocabulary."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from typing import TYPE_CHECKING

from benches.documents import Corpus, terms_of
from benches.rivals.base import Exactness, Ranking, Rival

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

TITLE, META, BODY = 3, 2, 1
"""The score of a match in each field (K3)."""


def ranking_of(scores: Sequence[int] | dict[int, int], limit: int | None) -> Ranking:
    """Ranks the positions with a score, best first; equal scores are ordered by position."""
    if isinstance(scores, dict):
        matched = sorted(scores)
        matched.sort(key=scores.__getitem__, reverse=True)
    else:
        matched = [position for position, score in enumerate(scores) if score]
        matched.sort(key=scores.__getitem__, reverse=True)
    matched = matched[:limit]
    return Ranking(matched, [scores[position] for position in matched])


class TextScan(Rival):
    """Folds all texts once, and searches them with ``in``."""

    name = "scan folded text, plain Python"
    exactness = Exactness.EXACT

    def __init__(self) -> None:
        self._fields: list[tuple[int, list[str]]] = []
        self._size = 0

    def load(self, corpus: Corpus) -> None:
        self._fields = [(TITLE, corpus.titles), (META, corpus.metas), (BODY, corpus.bodies)]
        self._size = len(corpus)

    def search(self, text: str, *, limit: int | None = None) -> Ranking:
        scores = [0] * self._size
        for term, count in terms_of(text).items():
            for worth, texts in self._fields:
                points = worth * count
                for position in [index for index, field in enumerate(texts) if term in field]:
                    scores[position] += points
        return ranking_of(scores, limit)


class VocabularyScan(Rival):
    """Scans one string of all distinct tokens with ``find``. Each token has posting lists of its concepts."""

    name = "vocabulary scan in plain Python"
    exactness = Exactness.EXACT

    def __init__(self) -> None:
        self._vocabulary = ""
        self._starts: list[int] = []
        # For each token, the positions of concepts that have it in the title, in the meta text, in the body.
        self._postings: list[tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]] = []
        self._size = 0

    def load(self, corpus: Corpus) -> None:
        self._size = len(corpus)
        fields = [_postings(corpus.titles), _postings(corpus.metas), _postings(corpus.bodies)]
        tokens = sorted(set[str]().union(*fields))
        self._vocabulary = "\n".join(tokens)
        self._starts = []
        start = 0
        for token in tokens:
            self._starts.append(start)
            start += len(token) + 1
        title, meta, body = fields
        self._postings = [
            (tuple(title.get(token, ())), tuple(meta.get(token, ())), tuple(body.get(token, ())))
            for token in tokens
        ]

    def search(self, text: str, *, limit: int | None = None) -> Ranking:
        scores = [0] * self._size
        for term, count in terms_of(text).items():
            tokens = self._tokens_with(term)
            for field, worth in enumerate((TITLE, META, BODY)):
                points = worth * count
                lists = [found for token in tokens if (found := self._postings[token][field])]
                if not lists:
                    continue
                for position in lists[0] if len(lists) == 1 else set[int]().union(*lists):
                    scores[position] += points
        return ranking_of(scores, limit)

    def _tokens_with(self, term: str) -> list[int]:
        vocabulary, starts = self._vocabulary, self._starts
        found: list[int] = []
        at = vocabulary.find(term)
        while at >= 0:
            token = bisect_right(starts, at) - 1
            found.append(token)
            if token + 1 == len(starts):
                break
            at = vocabulary.find(term, starts[token + 1])
        return found


def _postings(texts: Iterable[str]) -> dict[str, list[int]]:
    postings: defaultdict[str, list[int]] = defaultdict(list)
    for position, text in enumerate(texts):
        for token in set(text.split()):
            postings[token].append(position)
    return postings
