"""Many questions at once are answered as if each had been asked alone."""

from __future__ import annotations

import itertools
import operator
import pickle
from collections import deque
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from making.asking import RESOLVERS, codes, names, outcome
from making.bundles import write_tree
from making.catalogs import write_manifest
from making.clocks import NOON, at_noon
from okf_catalog import (
    FileKnowledgeCatalog,
    GroupedKnowledgeResolver,
    KnowledgeBatch,
    KnowledgeQuery,
    KnowledgeResolver,
    KnowledgeResolverRouter,
    MergedKnowledgeResolver,
    StalePolicy,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

QUERIES: list[KnowledgeQuery | str] = [
    "word",
    KnowledgeQuery("word", resolver_strategy="merged"),
    KnowledgeQuery("word", resolver_strategy="merged", fairness_quota=1),
    KnowledgeQuery("word", resolver_strategy="priority_weighted", fairness_quota=10**30),
    KnowledgeQuery("word", "WORD"),
    KnowledgeQuery("nowhere"),
    KnowledgeQuery("word", permitted_source_ids={"low", "also"}),
    KnowledgeQuery("word", permitted_source_ids=()),
    KnowledgeQuery("word", stale_policy=StalePolicy.tolerate(10**30)),
    KnowledgeQuery("word", source_visibility_policy=lambda _, source: source.id != "also"),
    "word word",
    "word",
]


@pytest.fixture(params=RESOLVERS)
def resolver(catalog: FileKnowledgeCatalog, request: pytest.FixtureRequest) -> KnowledgeResolver:
    return RESOLVERS[request.param](catalog, clock=at_noon)


@pytest.fixture
def batch(catalog: FileKnowledgeCatalog) -> KnowledgeBatch:
    return KnowledgeResolverRouter(catalog).search_batch(QUERIES)


# Answers


def test_each_question_of_a_batch_gets_the_answer_it_gets_alone(resolver: KnowledgeResolver) -> None:
    batch = resolver.search_batch(QUERIES)
    assert [*batch] == [resolver.search(query) for query in QUERIES]


def test_the_answers_of_a_batch_are_in_the_order_of_the_questions(resolver: KnowledgeResolver) -> None:
    queries = [KnowledgeQuery(f"word {n}") for n in range(300)]
    assert [context.query.text for context in resolver.search_batch(queries)] == [q.text for q in queries]
    for context, query in zip(resolver.search_batch(queries), queries, strict=True):
        assert context.query is query


@pytest.mark.parametrize("limit", [0, 1, 2, 3, 4, 5, 6, 1000, 2**32 - 1, 2**32, 2**63, 10**30])
def test_a_limit_keeps_the_top_of_each_answer(resolver: KnowledgeResolver, limit: int) -> None:
    for context, query in zip(resolver.search_batch(QUERIES, limit=limit), QUERIES, strict=True):
        alone = resolver.search(query)
        assert context.passages == alone.passages[:limit]
        # A limit changes no diagnostic: the passages beyond it were found.
        assert context.diagnostics == alone.diagnostics


def test_a_batch_without_a_limit_keeps_all_passages(resolver: KnowledgeResolver) -> None:
    assert [*resolver.search_batch(QUERIES, limit=None)] == [*resolver.search_batch(QUERIES)]


def test_a_limit_is_applied_after_fairness(tmp_path: Path) -> None:
    write_tree(tmp_path, {f"a/{n}.md": f"---\ntitle: word\n---\nword {n}" for n in range(50)})
    write_tree(tmp_path, {"b/last.md": "word", "c/last.md": "word"})
    manifest = write_manifest(tmp_path, [{"id": name, "path": name} for name in "abc"])
    with FileKnowledgeCatalog(manifest, watch_for_changes=False) as catalog:
        resolver = MergedKnowledgeResolver(catalog, default_fairness_quota=2)
        (context,) = resolver.search_batch(["word"], limit=6)
        assert names(context) == ["a/0", "a/1", "b/last", "a/10", "a/11", "c/last"]


@pytest.mark.parametrize("collect", [list, tuple, iter, deque, dict.fromkeys])
def test_any_collection_of_questions_makes_a_batch(
    resolver: KnowledgeResolver, collect: Callable[[Any], Any]
) -> None:
    texts = ["word", "nowhere"]
    assert [*resolver.search_batch(collect(texts))] == [resolver.search(text) for text in texts]


def test_a_batch_reads_a_generator_once(resolver: KnowledgeResolver) -> None:
    given: list[int] = []

    def queries() -> Iterator[str]:
        for n in range(3):
            given.append(n)
            yield f"word {n}"

    assert len(resolver.search_batch(queries())) == 3
    assert given == [0, 1, 2]


def test_a_batch_can_be_empty(resolver: KnowledgeResolver) -> None:
    batch = resolver.search_batch([])
    assert len(batch) == 0
    assert [*batch] == []
    assert not batch
    assert outcome(operator.getitem, batch, 0) is IndexError


def test_a_batch_logs_a_problem_file_once(
    catalog: FileKnowledgeCatalog, shelf: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write_tree(shelf, {"low/bad.md": b"\0"})
    KnowledgeResolverRouter(catalog).search_batch(QUERIES)
    assert len(caplog.records) == 1
    KnowledgeResolverRouter(catalog).search_batch(QUERIES)
    assert len(caplog.records) == 1


# One instant, one snapshot


def test_all_questions_of_a_batch_see_one_instant(tmp_path: Path) -> None:
    write_tree(tmp_path, {"b/a.md": f"---\nstale_after: {NOON.isoformat()}\n---\nword"})
    manifest = write_manifest(tmp_path, [{"id": "s", "path": "b"}])
    ticks = itertools.count(-2)

    def clock() -> datetime:
        return NOON + timedelta(microseconds=next(ticks))

    with FileKnowledgeCatalog(manifest, watch_for_changes=False) as catalog:
        resolver = GroupedKnowledgeResolver(catalog, clock=clock)
        queries = [KnowledgeQuery("word", stale_policy=StalePolicy.STRICT)] * 50
        found = [[len(context.passages) for context in resolver.search_batch(queries)] for _ in range(3)]
    assert found == [[1] * 50, [1] * 50, [0] * 50]
    assert next(ticks) == 1


def test_all_questions_of_a_batch_see_one_snapshot(catalog: FileKnowledgeCatalog, shelf: Path) -> None:
    """The policy of the first question reloads; the last one is still answered from the snapshot before."""

    def reloading(scope: object, source: object) -> bool:
        write_manifest(shelf, [{"id": "new", "path": "low"}])
        catalog.reload()
        return True

    resolver = GroupedKnowledgeResolver(catalog)
    before = [resolver.search("word") for _ in range(2)]
    batch = resolver.search_batch([KnowledgeQuery("word", source_visibility_policy=reloading), "word"])
    assert catalog.current.generation == 4
    assert [context.generation for context in batch] == [1, 1]
    assert [context.passages for context in batch] == [context.passages for context in before]
    assert resolver.search("word").generation == 4


def test_a_batch_outlives_its_catalog(catalog: FileKnowledgeCatalog) -> None:
    resolver = KnowledgeResolverRouter(catalog)
    alone = [resolver.search(query) for query in QUERIES]
    batch = resolver.search_batch(QUERIES)
    catalog.close()
    assert [*batch] == alone


# The sequence


def test_a_batch_is_indexed_like_a_list(batch: KnowledgeBatch) -> None:
    whole = [*batch]
    for index in (*range(-len(whole) - 2, len(whole) + 2), 2**63, -(2**70), True):
        assert outcome(operator.getitem, batch, index) == outcome(operator.getitem, whole, index)
    for index in ("0", 1.0, None, (0, 1)):
        assert outcome(operator.getitem, batch, index) is TypeError


def test_a_slice_of_a_batch_is_a_batch(batch: KnowledgeBatch) -> None:
    whole = [*batch]
    bounds = [None, 0, 1, 5, -1, -3, len(whole), len(whole) + 1, 2**63, -(2**63)]
    for start, stop, step in itertools.product(bounds, bounds, [None, 1, 2, -1, -5, 2**63]):
        part = batch[start:stop:step]
        assert isinstance(part, KnowledgeBatch)
        assert len(part) == len(whole[start:stop:step])
        assert [context.query for context in part] == [context.query for context in whole[start:stop:step]]
    assert [*batch[2:][::-1][1:4]] == whole[2:][::-1][1:4]
    assert outcome(operator.getitem, batch, slice(None, None, 0)) is ValueError


def test_a_batch_makes_an_answer_when_it_is_read(batch: KnowledgeBatch) -> None:
    assert batch[0] is not batch[0]
    assert batch[0] == batch[0]
    # A slice makes no answer and copies none.
    assert batch[2:]._answers is batch._answers  # pyright: ignore[reportPrivateUsage]


def test_batches_compare_and_hash_by_their_answers(
    catalog: FileKnowledgeCatalog, batch: KnowledgeBatch
) -> None:
    again = KnowledgeResolverRouter(catalog).search_batch(QUERIES)
    assert again == batch
    assert hash(again) == hash(batch)
    assert batch[1:4] == again[1:4]
    assert batch[0:1] == batch[0:1]
    assert batch[:1] != batch[1:2]
    assert batch[:2] != batch[:3]
    assert batch != KnowledgeResolverRouter(catalog).search_batch(QUERIES, limit=1)
    assert batch != [*batch]
    assert batch[0] in batch
    assert KnowledgeResolverRouter(catalog).search("other") not in batch


def test_a_batch_never_changes(batch: Any) -> None:
    for act in (
        lambda: operator.setitem(batch, 0, batch[1]),
        lambda: operator.delitem(batch, 0),
    ):
        assert outcome(act) is TypeError
    for name in ("append", "extend", "insert", "pop", "clear", "sort"):
        assert not hasattr(batch, name)


def test_the_answers_of_a_batch_can_be_pickled(catalog: FileKnowledgeCatalog) -> None:
    batch = KnowledgeResolverRouter(catalog).search_batch(["word", "nowhere"])
    assert pickle.loads(pickle.dumps(list(batch))) == list(batch)
    assert [codes(context) for context in pickle.loads(pickle.dumps([*batch[1:]]))] == [
        [("NO_MATCHES", None)]
    ]
