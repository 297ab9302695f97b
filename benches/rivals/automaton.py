"""Builds one automaton from all terms of a batch, and runs it over the corpus once."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Any

from benches.documents import Corpus, distinct_terms, terms_of
from benches.rivals.arrays import empty_scores, ranking_of
from benches.rivals.base import Exactness, Ranking, Rival, module
from benches.rivals.scan import BODY, META, TITLE

if TYPE_CHECKING:
    from collections.abc import Sequence


class AhoCorasick(Rival):
    """Finds every term of the batch in every text, then sums the scores of each question's terms."""

    name = "Aho-Corasick over the corpus, whole batch at once"
    exactness = Exactness.EXACT
    packages = ("ahocorasick_rs", "numpy")
    answers_single = False

    def __init__(self) -> None:
        self._fields: list[tuple[str, str, str]] = []

    def load(self, corpus: Corpus) -> None:
        self._fields = list(zip(corpus.titles, corpus.metas, corpus.bodies, strict=True))

    def search(self, text: str, *, limit: int | None = None) -> Ranking:
        return self._answers([text], limit)[0]

    def batch(self, texts: Sequence[str], *, limit: int) -> list[Ranking]:
        return self._answers(texts, limit)

    def _answers(self, texts: Sequence[str], limit: int | None) -> list[Ranking]:
        numbers = {term: number for number, term in enumerate(distinct_terms(texts))}
        found = self._find(list(numbers))
        rankings: list[Ranking] = []
        for text in texts:
            scores = empty_scores(len(self._fields))
            for term, count in terms_of(text).items():
                positions, points = found[numbers[term]]
                scores[positions] += points if count == 1 else points * count
            rankings.append(ranking_of(scores, limit))
        return rankings

    def _find(self, terms: list[str]) -> list[tuple[Any, Any]]:
        """For each term, the positions that contain it and its score at each."""
        numpy = module("numpy")
        matches = module("ahocorasick_rs").AhoCorasick(terms).find_matches_as_indexes
        found, worths, sizes = array("i"), array("h"), array("i")
        for title, meta, body in self._fields:
            worth = dict.fromkeys([number for number, _, _ in matches(body, overlapping=True)], BODY)
            for number in {number for number, _, _ in matches(meta, overlapping=True)}:
                worth[number] = worth.get(number, 0) + META
            for number in {number for number, _, _ in matches(title, overlapping=True)}:
                worth[number] = worth.get(number, 0) + TITLE
            found.extend(worth.keys())
            worths.extend(worth.values())
            sizes.append(len(worth))
        numbers = numpy.asarray(found)
        order = numpy.argsort(numbers, kind="stable")
        positions = numpy.repeat(numpy.arange(len(self._fields)), numpy.asarray(sizes))[order]
        points = numpy.asarray(worths)[order]
        ends = numpy.cumsum(numpy.bincount(numbers, minlength=len(terms)))[:-1]
        return list(zip(numpy.split(positions, ends), numpy.split(points, ends), strict=True))
