"""A scan with a string library that uses SIMD instructions."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from benches.documents import Corpus, terms_of
from benches.rivals.arrays import empty_scores, ranking_of
from benches.rivals.base import Exactness, Ranking, Rival, module
from benches.rivals.scan import BODY, META, TITLE

if TYPE_CHECKING:
    from collections.abc import Callable


class SimdScan(Rival):
    """Folds all texts once, and searches them with StringZilla's ``find``."""

    name = "scan with a SIMD string library (StringZilla)"
    exactness = Exactness.EXACT
    packages = ("stringzilla", "numpy")

    def __init__(self) -> None:
        self._find: Callable[[bytes, bytes], int] = bytes.find
        self._bodies: list[bytes] = []
        self._short_fields: list[tuple[int, _Joined]] = []

    def load(self, corpus: Corpus) -> None:
        self._find = module("stringzilla").find
        self._bodies = [body.encode() for body in corpus.bodies]
        self._short_fields = [(TITLE, _Joined(corpus.titles)), (META, _Joined(corpus.metas))]

    def search(self, text: str, *, limit: int | None = None) -> Ranking:
        find = self._find
        scores = empty_scores(len(self._bodies))
        for term, count in terms_of(text).items():
            needle = term.encode()
            scores[[index for index, body in enumerate(self._bodies) if find(body, needle) >= 0]] += (
                BODY * count
            )
            for worth, field in self._short_fields:
                scores[field.positions_with(needle)] += worth * count
        return ranking_of(scores, limit)


class _Joined:
    """Short texts joined in one buffer: this takes one call of ``find`` for each match, not for each text."""

    def __init__(self, texts: list[str]) -> None:
        pieces = [text.encode() for text in texts]
        self._text: Any = module("stringzilla").Str(b"\n".join(pieces))
        self._ends = list(accumulate(len(piece) + 1 for piece in pieces))

    def positions_with(self, needle: bytes) -> list[int]:
        positions: list[int] = []
        at = self._text.find(needle)
        while at >= 0:
            position = bisect_right(self._ends, at)
            positions.append(position)
            at = self._text.find(needle, self._ends[position])
        return positions
