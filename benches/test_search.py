"""Every engine answers single questions. The answers are compared before they are timed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from benches import rivals
from benches.rivals import Exactness, Rival
from benches.test_rivals import opened

if TYPE_CHECKING:
    from pytest_benchmark.fixture import BenchmarkFixture

    from benches.documents import Corpus
    from benches.ours import Ours, Positions
    from benches.queries import QueryMaker, QuerySet

KINDS = ("mixed", "short", "everywhere", "selective", "misses")
EXACT = (Exactness.EXACT, Exactness.LONG_TERMS)


def _questions(maker: QueryMaker, kind: str) -> QuerySet:
    made: QuerySet = getattr(maker, kind)(20)
    return made


@pytest.mark.parametrize("kind", KINDS)
def test_search(benchmark: BenchmarkFixture, ours: Ours, maker: QueryMaker, kind: str) -> None:
    benchmark.group = f"search: {kind}"
    texts = _questions(maker, kind).texts
    benchmark(lambda: [ours.answer(text) for text in texts])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "rival", [rival for rival in rivals.ALL if rival.answers_single], ids=lambda rival: rival.__name__
)
def test_search_by_a_rival(
    benchmark: BenchmarkFixture,
    ours: Ours,
    concepts: Corpus,
    positions: Positions,
    maker: QueryMaker,
    rival: type[Rival],
    kind: str,
) -> None:
    benchmark.group = f"search: {kind}"
    other = opened(rival, concepts)
    texts = [text for text in _questions(maker, kind).texts if other.can_answer(text)]
    if not texts:
        pytest.skip("the rival can answer none of these questions")
    if rival is rivals.Stateless:
        texts = texts[:1]
    if other.exactness in EXACT:
        for text in texts:
            assert other.search(text).rows() == positions.ranking(ours.search(text)).rows(), text
    benchmark(lambda: [other.search(text) for text in texts])
