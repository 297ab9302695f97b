"""Which scoring and which unit a question reaches the engine with (V1, V9)."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from making.asking import RESOLVERS, Entrance
from making.memory import ALICE, USER, wrote
from making.providing import unexpected, user
from okf_catalog import (
    FileKnowledgeCatalog,
    FileMemoryStore,
    InMemoryKnowledgeCatalog,
    InMemorySource,
    KnowledgeContextProvider,
    KnowledgeQuery,
    KnowledgeResolverRouter,
    KnowledgeScoring,
    KnowledgeUnit,
    open_knowledge,
)

if TYPE_CHECKING:
    from pathlib import Path

WEIGHTED, BM25F = KnowledgeScoring
CONCEPT, SECTION = KnowledgeUnit

Asked = list[tuple[str, str]]

each_scoring = pytest.mark.parametrize("scoring", [None, WEIGHTED, BM25F])
each_unit = pytest.mark.parametrize("unit", KnowledgeUnit)
each_default = pytest.mark.parametrize(
    "defaults", [{}, {"default_scoring": WEIGHTED}, {"default_scoring": "bm25f"}]
)


def chosen(scoring: KnowledgeScoring | None, defaults: dict[str, Any]) -> KnowledgeScoring:
    """What the contract says: the query's, or else the host's, or else weighted terms."""
    return scoring or KnowledgeScoring(defaults.get("default_scoring", WEIGHTED))


# Resolvers


def everything(*_: object) -> bool:
    """A policy that lets every caller see every source."""
    return True


@each_default
@each_scoring
@each_unit
def test_the_scoring_of_a_query_beats_that_of_the_host(
    ask: Entrance,
    asked: Asked,
    scoring: KnowledgeScoring | None,
    unit: KnowledgeUnit,
    defaults: dict[str, Any],
) -> None:
    assert ask(KnowledgeQuery("word", scoring=scoring, unit=unit), **defaults).passages
    # A batch says after its questions how texts are asked.
    assert asked[0] == (chosen(scoring, defaults).value, unit.value)


@each_default
@pytest.mark.parametrize("policy", [None, everything])
def test_a_text_is_asked_with_the_scoring_of_the_host(
    ask: Entrance, asked: Asked, defaults: dict[str, Any], policy: Any
) -> None:
    assert ask("word", default_source_visibility_policy=policy, **defaults).passages
    assert set(asked) == {(chosen(None, defaults).value, "concept")}


@each_default
def test_a_batch_asks_each_query_with_its_own_scoring(
    catalog: FileKnowledgeCatalog, asked: Asked, defaults: dict[str, Any]
) -> None:
    queries = [KnowledgeQuery("word", scoring=scoring, unit=unit) for scoring, unit in EVERY]
    for make in RESOLVERS.values():
        asked.clear()
        assert len(make(catalog, **defaults).search_batch([*queries, "word"])) == len(queries) + 1
        default = chosen(None, defaults).value
        assert asked == [
            *((chosen(scoring, defaults).value, unit.value) for scoring, unit in EVERY),
            # Of texts the engine gets no more than this one question.
            (default, "concept"),
        ]


@each_default
def test_a_stream_asks_each_query_with_its_own_scoring(
    catalog: FileKnowledgeCatalog, asked: Asked, defaults: dict[str, Any]
) -> None:
    resolver = KnowledgeResolverRouter(catalog, **defaults)
    queries = [KnowledgeQuery("word", scoring=scoring, unit=unit) for scoring, unit in EVERY]
    assert len(list(resolver.search_stream([*queries, "word"]))) == len(queries) + 1
    default = (chosen(None, defaults).value, "concept")
    assert asked == [
        default,
        *((chosen(scoring, defaults).value, unit.value) for scoring, unit in EVERY),
        default,
    ]


EVERY = [(scoring, unit) for scoring in (None, WEIGHTED, BM25F) for unit in KnowledgeUnit]


@each_scoring
@each_unit
def test_a_query_has_one_answer_in_a_search_a_batch_and_a_stream(
    catalog: FileKnowledgeCatalog, scoring: KnowledgeScoring | None, unit: KnowledgeUnit
) -> None:
    query = KnowledgeQuery("a word", scoring=scoring, unit=unit)
    for name in ("router", "router to merged", "host"):
        resolver: Any = RESOLVERS[name](catalog)
        alone = resolver.search(query)
        assert alone == resolver.search_batch([query])[0] == next(resolver.search_stream([query]))


@pytest.mark.parametrize("scoring", KnowledgeScoring)
def test_a_text_has_the_answer_of_a_query_that_names_the_scoring(
    ask: Entrance, scoring: KnowledgeScoring
) -> None:
    text = ask("a word", default_scoring=scoring)
    named = ask(KnowledgeQuery("a word", scoring=scoring))
    assert (text.passages, text.diagnostics) == (named.passages, named.diagnostics)


@each_default
def test_a_host_passes_its_scoring_to_the_router(shelf: Path, asked: Asked, defaults: dict[str, Any]) -> None:
    with open_knowledge(shelf / "catalog.json", watch_for_changes=False, **defaults) as knowledge:
        knowledge.search("word")
        list(knowledge.search_stream(["word"]))
    assert set(asked) == {(chosen(None, defaults).value, "concept")}


def test_a_host_without_a_default_scores_weighted_terms(shelf: Path, asked: Asked) -> None:
    with open_knowledge(shelf / "catalog.json", watch_for_changes=False) as knowledge:
        knowledge.search("word")
    assert asked == [("weighted_terms", "concept")]


def test_a_catalog_of_texts_obeys_scoring_and_unit(asked: Asked) -> None:
    with InMemoryKnowledgeCatalog([InMemorySource("s", {"a": "a word"})]) as catalog:
        resolver = KnowledgeResolverRouter(catalog, default_scoring="bm25f")
        resolver.search(KnowledgeQuery("word", unit="section"))
        resolver.search(KnowledgeQuery("word", scoring="weighted_terms"))
    assert asked == [("bm25f", "section"), ("weighted_terms", "concept")]


# Memory


@each_scoring
@each_unit
def test_a_memory_is_read_with_the_scoring_and_the_unit_of_the_query(
    store: FileMemoryStore, asked: Asked, scoring: KnowledgeScoring | None, unit: KnowledgeUnit
) -> None:
    wrote(store, ALICE, USER, "a word")
    query = KnowledgeQuery("word", scoring=scoring, unit=unit)
    assert len(store.read(ALICE, query).passages) == 1
    assert asyncio.run(store.read_async(ALICE, query)) == store.read(ALICE, query)
    assert set(asked) == {((scoring or WEIGHTED).value, unit.value)}


def test_a_memory_is_read_with_weighted_terms_whatever_the_default_of_the_host(
    memories: FileKnowledgeCatalog, asked: Asked
) -> None:
    path = memories.current.manifest_directory / "catalog.json"
    with open_knowledge(path, watch_for_changes=False, default_scoring=BM25F) as knowledge:
        assert knowledge.memory is not None
        knowledge.memory.read(ALICE, "word")
        knowledge.memory.read(ALICE, KnowledgeQuery("word"))
    assert asked == [("weighted_terms", "concept")] * 2


# Providers


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, ["bm25f", "bm25f"]),
        ({"scoring": "weighted_terms"}, ["weighted_terms", "weighted_terms"]),
        ({"scoring": WEIGHTED}, ["weighted_terms", "weighted_terms"]),
        ({"scoring": BM25F}, ["bm25f", "bm25f"]),
        # The resolver of this test has a default of its own, and a memory has none.
        ({"scoring": None}, ["bm25f", "weighted_terms"]),
    ],
)
def test_a_provider_asks_both_sides_with_its_scoring(
    memories: FileKnowledgeCatalog, asked: Asked, options: dict[str, Any], expected: list[str]
) -> None:
    resolver = KnowledgeResolverRouter(memories, default_scoring=BM25F)
    provider = KnowledgeContextProvider(
        resolver, FileMemoryStore(memories), on_internal_error=unexpected, **options
    )
    provider.provide([user("word")])
    asyncio.run(provider.provide_async([user("word")]))
    assert [scoring for scoring, _ in asked] == expected * 2
