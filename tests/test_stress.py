"""Readers, a writer, a reloader and a closer at once, with and without a lock around the interpreter."""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING

from making.catalogs import make_catalog
from okf_catalog import CatalogClosedError, KnowledgeQuery, MergedKnowledgeResolver

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

ROUNDS = 150


def test_a_query_of_many_terms_does_not_multiply_with_the_size_of_a_body(tmp_path: Path) -> None:
    files = {"big.md": "abcd efgh\n" * 200_000 + "needle\n"}
    with make_catalog(tmp_path, {"a": {"files": files}}, max_question_bytes=1 << 20) as catalog:
        terms = " ".join(["needle", *(f"x{number:x}y" for number in range(20_000))])
        context = MergedKnowledgeResolver(catalog).search(terms)
        # Term by term this would take a minute, and the run's own bound would end it.
        assert [passage.excerpt for passage in context.passages] == ["needle"]


def test_readers_a_writer_a_reloader_and_a_closer_get_along(tmp_path: Path) -> None:
    sources = {name: {"files": {f"{i}.md": "word whole" for i in range(20)}} for name in ("a", "b")}
    catalog = make_catalog(tmp_path, sources)
    resolver = MergedKnowledgeResolver(catalog)
    faults: list[BaseException] = []
    written = threading.Event()
    answered: list[int] = []

    def read() -> None:
        query = KnowledgeQuery("word whole", fairness_quota=1)
        try:
            while True:
                answer = resolver.search(query)
                assert all(passage.score == 2 for passage in answer.passages)
                assert {passage.source_id for passage in answer.passages} <= {"a", "b"}
                batch = resolver.search_batch([query, "whole"], limit=5)
                assert all(len(one.passages) <= 5 for one in batch)
                answered.append(answer.generation)
        except CatalogClosedError:
            pass

    def write() -> None:
        for number in range(ROUNDS):
            path = tmp_path / "ab"[number % 2] / f"{number % 25}.md"
            if number % 3 == 0:
                path.unlink(missing_ok=True)
            else:
                path.with_suffix(".new").write_text("word whole", encoding="utf-8")
                path.with_suffix(".new").replace(path)
        written.set()

    def reload() -> None:
        number = 0
        while not written.is_set():
            number += 1
            names = ["a", "b"] if number % 2 else ["b"]
            manifest = {"version": 1, "sources": [{"id": name, "path": name} for name in names]}
            (tmp_path / "catalog.json").write_text(json.dumps(manifest), encoding="utf-8")
            catalog.reload()
            catalog.report()

    def close() -> None:
        assert written.wait(60)
        catalog.close()

    def guarded(act: Callable[[], None]) -> Callable[[], None]:
        def run() -> None:
            try:
                act()
            except BaseException as fault:  # noqa: BLE001  # Shown by the test.
                faults.append(fault)
                written.set()

        return run

    acts = [read, read, read, read, write, reload, close]
    threads = [threading.Thread(target=guarded(act)) for act in acts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert not any(thread.is_alive() for thread in threads)
    assert faults == [] or all(isinstance(fault, CatalogClosedError) for fault in faults), faults
    assert len(answered) > 0
