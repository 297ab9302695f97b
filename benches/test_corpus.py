"""The generator gives the same bytes for the same seed, and text like natural text."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import naive

from benches import corpus

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


def _digest(concepts: Iterable[corpus.Concept]) -> str:
    digest = hashlib.sha256()
    for concept in concepts:
        digest.update("\0".join(concept).encode())
    return digest.hexdigest()


def test_the_same_arguments_give_the_same_bytes() -> None:
    first, second, other = (
        _digest(corpus.concepts(count=60, sources=2, seed=seed, body_bytes=1_000)) for seed in (7, 7, 8)
    )
    assert first == second
    assert first != other


def test_the_command_writes_the_generated_concepts(tmp_path: Path) -> None:
    corpus.main([str(tmp_path), "--concepts", "40", "--sources", "2", "--seed", "3", "--body-bytes", "800"])
    generated = {
        (concept.source_id, concept.concept_id): concept.text
        for concept in corpus.concepts(count=40, sources=2, seed=3, body_bytes=800)
    }
    written = {
        (
            source.id,
            path.relative_to(tmp_path / source.path).as_posix().removesuffix(".md"),
        ): path.read_bytes()
        for source in naive.read_manifest(tmp_path / "catalog.json")
        for path in (tmp_path / source.path).rglob("*.md")
        if path.name != "index.md"
    }
    assert {key: text.encode() for key, text in generated.items()} == written
    assert len(written) == 40


def test_every_concept_can_be_read_and_contains_the_words_of_all() -> None:
    for concept in corpus.concepts(count=100, seed=1, body_bytes=1_000):
        document = naive.read_document(concept.text.encode())
        assert document.title
        assert document.concept_type
        words = naive.fold(document.body)
        assert all(naive.fold(word) in words for word in corpus.IN_EVERY_CONCEPT)


def test_frontmatter_has_every_form() -> None:
    documents = [naive.read_document(one.text.encode()) for one in corpus.concepts(count=200, body_bytes=200)]
    assert {document.status for document in documents} == {"draft", "stable", "deprecated"}
    assert {document.trust_tier for document in documents} == {
        "unverified",
        "machine_confirmed",
        "human_reviewed",
    }
    assert {bool(document.tags) for document in documents} == {True, False}
    assert {document.stale_after is None for document in documents} == {True, False}


def test_bodies_have_about_the_mean_size_asked_for() -> None:
    bodies = [
        naive.read_document(one.text.encode()).body for one in corpus.concepts(count=600, body_bytes=2_000)
    ]
    mean = sum(len(body.encode()) for body in bodies) / len(bodies)
    assert 1_700 < mean < 2_300


def test_a_growing_text_keeps_getting_new_words_but_fewer() -> None:
    distinct: set[str] = set()
    sizes: list[int] = []
    for number, concept in enumerate(corpus.concepts(count=800, body_bytes=1_000), start=1):
        distinct.update(concept.text.upper().split())
        if number in (200, 400, 800):
            sizes.append(len(distinct))
    first, second, third = sizes
    # Heaps' law: twice the text has about 1.5 times the distinct words.
    assert 1.25 < second / first < 1.8
    assert 1.25 < third / second < 1.8
