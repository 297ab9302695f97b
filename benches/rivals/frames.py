"""Columns of strings in a data frame."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benches.documents import Corpus, distinct_terms, terms_of
from benches.rivals.arrays import ranking_of
from benches.rivals.base import Exactness, Ranking, Rival, module
from benches.rivals.scan import BODY, META, TITLE

if TYPE_CHECKING:
    from collections.abc import Sequence

_FIELDS = (("title", TITLE), ("meta", META), ("body", BODY))
_AT_ONCE = 64
"""Questions that share one pass over the data frame."""


class Polars(Rival):
    """``str.contains`` with literals, on all cores."""

    name = "Polars `str.contains`"
    exactness = Exactness.EXACT
    packages = ("polars", "numpy")

    def __init__(self) -> None:
        self._frame: Any = None

    def load(self, corpus: Corpus) -> None:
        columns = {"title": corpus.titles, "meta": corpus.metas, "body": corpus.bodies}
        self._frame = module("polars").DataFrame(columns).rechunk()

    def search(self, text: str, *, limit: int | None = None) -> Ranking:
        polars = module("polars")
        points = [_points(term) * count for term, count in terms_of(text).items()]
        scores = self._frame.select(polars.sum_horizontal(points).cast(polars.Int16).alias("score"))
        return ranking_of(scores["score"].to_numpy(), limit)

    def batch(self, texts: Sequence[str], *, limit: int) -> list[Ranking]:
        """Answers 64 questions in one pass, and searches each of their terms once."""
        polars = module("polars")
        rankings: list[Ranking] = []
        for start in range(0, len(texts), _AT_ONCE):
            group = texts[start : start + _AT_ONCE]
            terms = distinct_terms(group)
            names = {term: f"term {number}" for number, term in enumerate(terms)}
            points = [_points(term).cast(polars.Int16).alias(name) for term, name in names.items()]
            scores = [
                polars.sum_horizontal(
                    [polars.col(names[term]) * count for term, count in terms_of(text).items()]
                )
                .cast(polars.Int16)
                .alias(str(number))
                for number, text in enumerate(group)
            ]
            columns = self._frame.select(points).select(scores)
            rankings += [ranking_of(columns[str(number)].to_numpy(), limit) for number in range(len(group))]
        return rankings


def _points(term: str) -> Any:
    polars = module("polars")
    return polars.sum_horizontal(
        [
            polars.col(column).str.contains(term, literal=True).cast(polars.Int16) * worth
            for column, worth in _FIELDS
        ]
    )
