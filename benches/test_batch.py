"""Every engine answers many questions at once. The answers are compared before they are timed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from benches import rivals
from benches.compare import LIMIT
from benches.ours import Ours, Positions
from benches.rivals import Exactness, Rival
from benches.test_rivals import opened

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_benchmark.fixture import BenchmarkFixture

    from benches.documents import Corpus
    from benches.queries import QueryMaker

GROUP = "batch: 200 mixed questions"


def _texts(maker: QueryMaker) -> list[str]:
    return list(maker.mixed(200).texts)


@pytest.mark.parametrize("threads", [1, None], ids=["one thread", "all cores"])
def test_batch(benchmark: BenchmarkFixture, manifest: Path, maker: QueryMaker, threads: int | None) -> None:
    benchmark.group = GROUP
    texts = _texts(maker)
    with Ours(manifest, threads=threads) as ours:
        assert len(ours.batch(texts, limit=LIMIT)) == len(texts)
        benchmark(lambda: ours.batch(texts, limit=LIMIT))


@pytest.mark.parametrize("rival", rivals.ALL, ids=lambda rival: rival.__name__)
def test_batch_by_a_rival(
    benchmark: BenchmarkFixture,
    ours: Ours,
    concepts: Corpus,
    positions: Positions,
    maker: QueryMaker,
    rival: type[Rival],
) -> None:
    benchmark.group = GROUP
    other = opened(rival, concepts)
    # These answer one question after the other, and slowly: two questions are enough.
    texts = _texts(maker)[: 2 if rival in (rivals.Stateless, rivals.Ripgrep) else None]
    if other.exactness in (Exactness.EXACT, Exactness.LONG_TERMS):
        answers = ours.batch(texts, limit=LIMIT)
        for text, ranking, context in zip(texts, other.batch(texts, limit=LIMIT), answers, strict=True):
            assert ranking.rows() == positions.ranking(context).rows(), text
    benchmark(lambda: other.batch(texts, limit=LIMIT))
