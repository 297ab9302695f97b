"""The stateless way: reads the bundles for every search."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import naive

from benches.rivals.base import Exactness, Ranking, Rival

if TYPE_CHECKING:
    from benches.documents import Corpus


class Stateless(Rival):
    """The plain-Python model of the tests, which keeps nothing between two questions."""

    name = "reload and scan, plain Python (the stateless way)"
    exactness = Exactness.EXACT
    most_concepts = 20_000

    def __init__(self) -> None:
        self._manifest = Path()
        self._positions: dict[tuple[str, str], int] = {}

    def load(self, corpus: Corpus) -> None:
        self._manifest = corpus.manifest
        self._positions = {concept: position for position, concept in enumerate(corpus.ids)}

    def search(self, text: str, *, limit: int | None = None) -> Ranking:
        answer = naive.NaiveCatalog(self._manifest).load().search(text, strategy=naive.MERGED)
        passages = answer.passages[:limit]
        return Ranking(
            [self._positions[passage.source_id, passage.concept_id] for passage in passages],
            [passage.score for passage in passages],
        )
