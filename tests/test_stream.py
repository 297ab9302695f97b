"""Streams: answers one after the other."""

from __future__ import annotations

import itertools
import threading
from typing import TYPE_CHECKING

import pytest
from making.catalogs import make_catalog
from okf_catalog import CatalogClosedError, KnowledgeQuery, KnowledgeResolverRouter

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

WORDS = ["tax", "net", "refund", "revenue", "order"]


@pytest.fixture
def resolver(tmp_path: Path) -> Iterator[KnowledgeResolverRouter]:
    files = {f"{a}/{b}.md": f"---\ntitle: {a} {b}\n---\n{b} of {a}\n" for a in WORDS for b in WORDS}
    with make_catalog(
        tmp_path, {"sales": {"files": files}, "other": {"files": files, "priority": 5}}
    ) as catalog:
        yield KnowledgeResolverRouter(catalog, default_strategy="merged")


def queries(count: int) -> list[str]:
    return [f"{WORDS[i % 5]} {WORDS[i // 5 % 5]} {i}" for i in range(count)]


@pytest.mark.parametrize("count", [0, 1, 255, 256, 257, 1000])
@pytest.mark.parametrize("limit", [None, 0, 3])
def test_a_stream_yields_what_a_batch_holds(
    resolver: KnowledgeResolverRouter, count: int, limit: int | None
) -> None:
    streamed = list(resolver.search_stream(queries(count), limit=limit))
    assert streamed == list(resolver.search_batch(queries(count), limit=limit))


def test_an_endless_stream_of_questions_is_read_only_a_little_ahead(
    resolver: KnowledgeResolverRouter,
) -> None:
    taken = 0

    def endless() -> Iterator[str]:
        nonlocal taken
        for number in itertools.count():
            taken += 1
            yield f"tax {number}"

    stream = resolver.search_stream(endless(), limit=1)
    for answer in itertools.islice(stream, 10):
        assert len(answer.passages) == 1
    assert taken <= 1024
    stream.close()  # type: ignore[attr-defined]  # a generator, which the annotation need not promise


def test_a_refused_question_is_refused_when_its_turn_comes(resolver: KnowledgeResolverRouter) -> None:
    stream = resolver.search_stream([*queries(300), " ", "tax"])
    assert len(list(itertools.islice(stream, 300))) == 300
    with pytest.raises(ValueError, match=r"^queries\[300\]: text"):
        next(stream)
    assert list(stream) == []


def test_an_error_of_the_questions_comes_after_the_answers_before_it(
    resolver: KnowledgeResolverRouter,
) -> None:
    def broken() -> Iterator[str]:
        yield "tax"
        raise KeyError("mine")

    stream = resolver.search_stream(broken())
    assert next(stream).query.text == "tax"
    with pytest.raises(KeyError, match="mine"):
        next(stream)


@pytest.mark.parametrize("limit", [-1, True, "3"])
def test_a_wrong_limit_is_refused_at_once(resolver: KnowledgeResolverRouter, limit: int) -> None:
    with pytest.raises((TypeError, ValueError), match="limit"):
        resolver.search_stream(["tax"], limit=limit)


def test_one_string_is_refused_as_a_stream_of_questions(resolver: KnowledgeResolverRouter) -> None:
    with pytest.raises(TypeError, match="queries"):
        resolver.search_stream("tax")


def test_all_answers_of_a_stream_see_one_state_of_the_files(tmp_path: Path) -> None:
    with make_catalog(tmp_path, {"a": {"files": {"x.md": "before"}}}) as catalog:
        resolver = KnowledgeResolverRouter(catalog)
        stream = resolver.search_stream(["before"] * 600)
        assert len(next(stream).passages) == 1
        (next(tmp_path.rglob("x.md"))).write_text("after", encoding="utf-8")
        catalog.reload()
        assert all(len(answer.passages) == 1 for answer in stream)
        assert len(resolver.search("before").passages) == 0


def test_policies_are_called_on_the_thread_that_takes_the_answers(resolver: KnowledgeResolverRouter) -> None:
    threads: set[int] = set()

    def policy(*_: object) -> bool:
        threads.add(threading.get_ident())
        return True

    query = KnowledgeQuery("tax", source_visibility_policy=policy)
    assert len(list(resolver.search_stream([query] * 600))) == 600
    assert threads == {threading.get_ident()}


def test_a_stream_of_a_closed_catalog_ends_with_its_error(tmp_path: Path) -> None:
    catalog = make_catalog(tmp_path, {"a": {"files": {"x.md": "tax"}}})
    stream = KnowledgeResolverRouter(catalog).search_stream(["tax"] * 2000)
    next(stream)
    catalog.close()
    with pytest.raises(CatalogClosedError):
        list(stream)


def test_an_abandoned_stream_ends_its_threads(resolver: KnowledgeResolverRouter) -> None:
    before = threading.active_count()
    for _ in range(20):
        stream = resolver.search_stream(queries(2000), limit=1)
        next(stream)
        stream.close()  # type: ignore[attr-defined]  # a generator, which the annotation need not promise
    assert threading.active_count() == before
