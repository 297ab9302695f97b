"""Readers, a writer, a reloader and a closer at the same time, with and without a global interpreter lock."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from making.catalogs import make_catalog, write_manifest
from okf_catalog import CatalogClosedError, KnowledgeQuery, MergedKnowledgeResolver

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

ROUNDS = 150


def test_the_time_of_a_query_of_many_terms_does_not_multiply_with_the_body(tmp_path: Path) -> None:
    files = {"big.md": "abcd efgh\n" * 200_000 + "needle\n"}
    with make_catalog(tmp_path, {"a": {"files": files}}, max_question_bytes=1 << 20) as catalog:
        terms = " ".join(["needle", *(f"x{number:x}y" for number in range(20_000))])
        context = MergedKnowledgeResolver(catalog).search(terms)
        # If each term scanned the body, this would take a minute.
        assert [passage.excerpt for passage in context.passages] == ["needle"]


class Race:
    """A catalog of two bundles, and what threads do with it until it is closed."""

    def __init__(self, directory: Path) -> None:
        files = {f"{number}.md": "word whole" for number in range(20)}
        self.directory = directory
        self.catalog = make_catalog(directory, {name: {"files": files} for name in ("a", "b")})
        self.resolver = MergedKnowledgeResolver(self.catalog)
        self.written = threading.Event()
        self.faults: list[BaseException] = []
        self.answered: list[int] = []

    def read(self) -> None:
        query = KnowledgeQuery("word whole", fairness_quota=1)
        try:
            while True:
                answer = self.resolver.search(query)
                assert all(passage.score == 2 for passage in answer.passages)
                assert {passage.source_id for passage in answer.passages} <= {"a", "b"}
                batch = self.resolver.search_batch([query, "whole"], limit=5)
                assert all(len(one.passages) <= 5 for one in batch)
                self.answered.append(answer.generation)
        except CatalogClosedError:
            pass

    def write(self) -> None:
        for number in range(ROUNDS):
            path = self.directory / "ab"[number % 2] / f"{number % 25}.md"
            if number % 3 == 0:
                path.unlink(missing_ok=True)
            else:
                path.with_suffix(".new").write_text("word whole", encoding="utf-8")
                path.with_suffix(".new").replace(path)
        self.written.set()

    def reload(self) -> None:
        number = 0
        while not self.written.is_set():
            number += 1
            names = ["a", "b"] if number % 2 else ["b"]
            write_manifest(self.directory, [{"id": name, "path": name} for name in names])
            self.catalog.reload()
            self.catalog.report()

    def close(self) -> None:
        assert self.written.wait(60)
        self.catalog.close()

    def guarded(self, act: Callable[[], None]) -> Callable[[], None]:
        """``act``, whose error ends the race and is kept for the test to show."""

        def run() -> None:
            try:
                act()
            except BaseException as fault:  # noqa: BLE001  (the test shows it)
                self.faults.append(fault)
                self.written.set()

        return run


def test_readers_a_writer_a_reloader_and_a_closer_run_together(tmp_path: Path) -> None:
    race = Race(tmp_path)
    acts = [*[race.read] * 4, race.write, race.reload, race.close]
    threads = [threading.Thread(target=race.guarded(act)) for act in acts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert not any(thread.is_alive() for thread in threads)
    assert race.faults == [] or all(isinstance(fault, CatalogClosedError) for fault in race.faults), (
        race.faults
    )
    assert len(race.answered) > 0
