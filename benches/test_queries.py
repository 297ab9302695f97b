"""Questions are repeatable, distinct, and of the kind that their name says."""

from __future__ import annotations

from typing import TYPE_CHECKING

import naive
import pytest

from benches import queries
from benches.queries import QueryMaker
from benches.rivals import TextScan

if TYPE_CHECKING:
    from benches.documents import Corpus


@pytest.fixture(scope="module")
def scan(concepts: Corpus) -> TextScan:
    rival = TextScan()
    rival.load(concepts)
    return rival


def test_the_same_seed_gives_the_same_questions(concepts: Corpus) -> None:
    first, second, other = (QueryMaker(concepts, seed=seed).all_kinds(200) for seed in (1, 1, 2))
    assert first == second
    assert first != other


def test_a_batch_repeats_no_question(maker: QueryMaker) -> None:
    texts = maker.mixed(3_000).texts
    assert len(texts) == len(set(texts)) == 3_000
    assert all(queries.are_all_long(text) for text in texts)
    assert {len(text.split()) for text in texts} == set(range(1, 9))


def test_all_kinds_has_short_terms_too(maker: QueryMaker) -> None:
    texts = maker.all_kinds(500).texts
    assert len(texts) == len(set(texts)) == 500
    assert any(len(naive.terms_of(text)[0]) == 1 for text in texts)


def test_words_in_every_concept_are_in_every_concept(
    maker: QueryMaker, scan: TextScan, concepts: Corpus
) -> None:
    for text in maker.everywhere(10).texts:
        assert len(scan.search(text).positions) == len(concepts)


def test_selective_questions_match_little_and_misses_nothing(maker: QueryMaker, scan: TextScan) -> None:
    for text in maker.selective(20).texts:
        assert 1 <= len(scan.search(text).positions) <= 20
    for text in maker.misses(20).texts:
        assert not scan.search(text).positions
