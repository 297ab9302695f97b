"""Many threads, one catalog: every answer was right at some moment during its search (D5, F1)."""

from __future__ import annotations

import asyncio
import hashlib
import json
import pickle
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest
from making.bundles import write_tree
from making.catalogs import write_manifest
from making.processes import in_child
from okf_catalog import (
    CatalogClosedError,
    FileKnowledgeCatalog,
    KnowledgeQuery,
    KnowledgeResolverRouter,
    KnowledgeResolverStrategy,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

READERS = 8
SECONDS = 1.5


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    for bundle in "xyz":
        write_tree(
            tmp_path / bundle, {f"d{n % 3}/{n}.md": f"---\ntitle: word {n}\n---\nword" for n in range(30)}
        )
    return tmp_path


def open_catalog(directory: Path) -> FileKnowledgeCatalog:
    manifest = write_manifest(directory, [{"id": f"s{name}", "path": name} for name in "xyz"])
    return FileKnowledgeCatalog(manifest, watch_for_changes=False)


def race(write: Callable[[], None], read: Callable[[], None]) -> None:
    """One thread writes while eight read; an error in any of them fails the test."""
    stop = threading.Event()
    start = threading.Barrier(READERS + 1)

    def repeat(act: Callable[[], None]) -> int:
        start.wait()
        count = 0
        try:
            while not stop.is_set():
                act()
                count += 1
        finally:
            stop.set()
        return count

    with ThreadPoolExecutor(READERS + 1) as pool:
        futures = [pool.submit(repeat, act) for act in (write, *[read] * READERS)]
        stop.wait(SECONDS)
        stop.set()
        assert all(future.result() > 0 for future in futures)


def test_every_answer_is_a_state_that_existed_during_its_search(directory: Path) -> None:
    path = directory / "x" / "changing.md"
    begun = done = 0

    def write() -> None:
        nonlocal begun, done
        begun += 1
        scratch = path.with_name("scratch")
        scratch.write_text(f"---\ntitle: version {begun:05}\n---\nchanging {begun:05}\n")
        scratch.replace(path)
        done = begun

    write()
    with open_catalog(directory) as catalog:
        resolver = KnowledgeResolverRouter(catalog)

        def read() -> None:
            before = done
            context = resolver.search("changing")
            after = begun
            (passage,) = context.passages
            number = int(passage.excerpt.removeprefix("changing "))
            assert passage.title == f"version {number:05}"
            assert before <= number <= after

        race(write, read)


def test_documents_that_are_added_and_removed_are_found_whole_or_not_at_all(directory: Path) -> None:
    files = {f"new/{n}.md": f"coming\n{n}" for n in range(5)}
    arrival = write_tree(directory / "arrival", files) / "new"
    place = directory / "y" / "new"

    def write() -> None:
        arrival.rename(place)
        place.rename(arrival)

    with open_catalog(directory) as catalog:
        resolver = KnowledgeResolverRouter(catalog)

        def read() -> None:
            context = resolver.search("coming word")
            assert not context.diagnostics
            assert sum(passage.score == 4 for passage in context.passages) == 90
            assert {p.bundle_relative_path for p in context.passages if p.score == 1} <= files.keys()

        race(write, read)


def test_an_answer_comes_from_one_snapshot(directory: Path) -> None:
    """Odd generations have one set of sources, even ones another."""
    with open_catalog(directory) as catalog:
        resolver = KnowledgeResolverRouter(catalog)
        rows = [[{"id": "even", "path": "x"}], [{"id": f"s{name}", "path": name} for name in "xyz"]]

        # The manifest is not replaced atomically; no other thread reads it.
        def write() -> None:
            next_generation = catalog.current.generation + 1
            write_manifest(directory, rows[next_generation % 2])
            assert catalog.reload().generation == next_generation

        def read() -> None:
            context = resolver.search("word")
            sources = {passage.source_id for passage in context.passages}
            assert sources == ({"sx", "sy", "sz"} if context.generation % 2 else {"even"})

        race(write, read)


def test_the_first_search_of_many_threads_reads_once_and_answers_all(directory: Path) -> None:
    for _ in range(5):
        with open_catalog(directory) as catalog, ThreadPoolExecutor(READERS) as pool:
            resolver = KnowledgeResolverRouter(catalog)
            start = threading.Barrier(READERS)

            def search(
                start: threading.Barrier = start, resolver: KnowledgeResolverRouter = resolver
            ) -> bytes:
                start.wait()
                return pickle.dumps(resolver.search("word").passages)

            answers = {future.result() for future in [pool.submit(search) for _ in range(READERS)]}
            assert len(answers) == 1


def test_closing_a_catalog_ends_its_searches_with_an_error(directory: Path) -> None:
    for _ in range(10):
        catalog = open_catalog(directory)
        resolver = KnowledgeResolverRouter(catalog)
        expected = resolver.search("word")

        def search(resolver: KnowledgeResolverRouter = resolver, expected: object = expected) -> None:
            with suppress(CatalogClosedError):
                while True:
                    assert resolver.search("word") == expected

        with ThreadPoolExecutor(READERS) as pool:
            futures = [pool.submit(search) for _ in range(READERS)]
            time.sleep(0.01)
            catalog.close()
            for future in futures:
                future.result(timeout=30)
        # Answers from before stay.
        assert len(expected.passages) == 90


def test_many_threads_can_read_one_answer(directory: Path) -> None:
    with open_catalog(directory) as catalog, ThreadPoolExecutor(READERS) as pool:
        context = KnowledgeResolverRouter(catalog).search("word")
        touched = [
            pool.submit(lambda: [hash(passage) for passage in context.passages]) for _ in range(READERS)
        ]
        assert len({tuple(future.result()) for future in touched}) == 1

        shared = iter(context.passages)
        shares = [pool.submit(lambda: [p.concept_id + p.source_id for p in shared]) for _ in range(READERS)]
        everything = [name for share in shares for name in share.result()]
        assert sorted(everything) == sorted(p.concept_id + p.source_id for p in context.passages)


def test_async_searches_run_side_by_side(directory: Path) -> None:
    with open_catalog(directory) as catalog:
        resolver = KnowledgeResolverRouter(catalog)

        async def search_all() -> list[object]:
            return [*await asyncio.gather(*(resolver.search_async(f"word {n}") for n in range(30)))]

        assert asyncio.run(search_all()) == [resolver.search(f"word {n}") for n in range(30)]


def test_policies_are_called_in_the_thread_that_asks(directory: Path) -> None:
    with open_catalog(directory) as catalog, ThreadPoolExecutor(READERS) as pool:
        resolver = KnowledgeResolverRouter(catalog)

        def search() -> None:
            callers: set[int] = set()

            def policy(scope: object, source: object) -> bool:
                callers.add(threading.get_ident())
                return True

            resolver.search(KnowledgeQuery("word", source_visibility_policy=policy))
            assert callers == {threading.get_ident()}

        for future in [pool.submit(search) for _ in range(50)]:
            future.result()


def test_a_forked_child_searches_at_once(directory: Path) -> None:
    with open_catalog(directory) as catalog:
        resolver = KnowledgeResolverRouter(catalog)
        expected = pickle.dumps(resolver.search("word").passages)
        assert in_child(lambda: pickle.dumps(resolver.search("word").passages) == expected)

        def sees_changes() -> bool:
            write_tree(directory / "x", {"born.md": "newborn"})
            return len(resolver.search("newborn").passages) == 1

        assert in_child(sees_changes)
        assert len(resolver.search("newborn").passages) == 1


def test_a_child_forked_during_searches_can_search(directory: Path) -> None:
    """Threads of the parent do not exist in the child; no lock that they held stays locked there."""
    stop = threading.Event()
    with open_catalog(directory) as catalog, ThreadPoolExecutor(READERS) as pool:
        resolver = KnowledgeResolverRouter(catalog)
        expected = pickle.dumps(resolver.search("word").passages)

        def search() -> None:
            while not stop.is_set():
                resolver.search("word")

        searches = [pool.submit(search) for _ in range(READERS)]
        try:
            for _ in range(20):
                assert in_child(lambda: pickle.dumps(resolver.search("word").passages) == expected)
        finally:
            stop.set()
        for search_result in searches:
            search_result.result()


SCRIPT = """
import hashlib, json, os, pickle, sys
count = int(sys.argv[2])
if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:count])
from okf_catalog import *
with FileKnowledgeCatalog(sys.argv[1], watch_for_changes=False) as catalog:
    resolver = KnowledgeResolverRouter(catalog)
    queries = [
        KnowledgeQuery(text, resolver_strategy=strategy, fairness_quota=2)
        for text in ("word", "1", "word 2", "none")
        for strategy in KnowledgeResolverStrategy
    ]
    answers = [*map(resolver.search, queries), *resolver.search_batch(queries)]
    answers = [(tuple(answer.passages), answer.diagnostics, answer.generation) for answer in answers]
    print(json.dumps(hashlib.sha256(pickle.dumps(answers)).hexdigest()))
"""


def test_the_bytes_of_an_answer_do_not_depend_on_how_many_threads_made_it(directory: Path) -> None:
    open_catalog(directory).close()
    digests = {
        json.loads(
            subprocess.run(
                [sys.executable, "-c", SCRIPT, str(directory / "catalog.json"), str(count)],
                check=True,
                capture_output=True,
                text=True,
                timeout=60,
            ).stdout
        )
        for count in (1, 2, 64)
        for _ in range(2)
    }
    assert len(digests) == 1
    assert len(digests.pop()) == len(hashlib.sha256().hexdigest())


def test_threads_get_the_same_answers_under_every_strategy(directory: Path) -> None:
    with open_catalog(directory) as catalog, ThreadPoolExecutor(READERS) as pool:
        resolver = KnowledgeResolverRouter(catalog)
        queries = [
            KnowledgeQuery("word 1", resolver_strategy=strategy) for strategy in KnowledgeResolverStrategy
        ]
        alone = [resolver.search(query) for query in queries]
        assert [*pool.map(resolver.search, queries * 50)] == alone * 50
